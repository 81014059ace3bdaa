#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generated documents are up to date, and everything generated from the command's table is well-formed.

usage: test_docs.py WAITGATE SOURCE_ROOT

The *tested* column of docs/isa.md is taken as it is (only a whole run of the tests knows it; tests/run.py holds
the page against that); everything else of the page must be current.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import suite
from suite import test

WAITGATE, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])


def run(*args):
    r = subprocess.run([WAITGATE, *map(str, args)], capture_output=True, text=True)
    assert r.returncode == 0, (args, r.stderr)
    return r.stdout


def commands():
    return re.findall(r"^  (\w+) ", run("--help"), re.M)


@test
def help_fits(d):
    """In 80 columns, also if a pager hides how wide the terminal is, and in fewer."""
    unknown = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    for words in [[], *([command] for command in commands())]:
        for env, width in ((unknown, 80), (dict(unknown, COLUMNS="200"), 80), (dict(unknown, COLUMNS="60"), 60)):
            text = subprocess.run([WAITGATE, *words, "--help"], capture_output=True, text=True, env=env).stdout
            wide = [line for line in text.splitlines() if len(line) > width and (width == 80 or "  --" not in line)]
            assert len(text) > 100 and (not wide or (not words and width == 60)), (words, wide)


@test
def isa_page(d):
    page = (ROOT / "docs/isa.md").read_text()
    rows, arch = [], None
    for line in page.splitlines():
        if line.startswith("## "):
            arch = "wh" if "Wormhole" in line else "bh"
        cells = [c.strip() for c in line.split("|")]
        if line.startswith("| 0x"):
            assert cells[-2] in ("yes", "no"), line
            if cells[-2] == "yes":
                rows.append(f"{arch}\t{cells[2]}\n")
    (d / "t.tsv").write_text("".join(rows))
    assert run("isa", "--markdown", "--tests", d / "t.tsv") == page, "run make docs"


@test
def command_line_page(d):
    assert run("--help-markdown") == (ROOT / "docs/cli.md").read_text(), "run make docs"


@test
def support_page(d):
    assert run("isa", "--support") == (ROOT / "docs/support.md").read_text(), "run make docs"


@test
def timing_page(d):
    assert run("isa", "--timing") == (ROOT / "docs/timing_constants.md").read_text(), "run make docs"


@test
def constants_have_sources(d):
    header, table = (ROOT / "src/arch" / name for name in ("arch.h", "constants.def"))
    header, table = header.read_text(), table.read_text()
    timing = re.search(r"typedef struct wg_timing \{(.*?)\} wg_timing;", header, re.S)[1]
    members = set(re.findall(r"^    \w+ (\w+)(?:\[.*?\])?;", timing, re.M)) - {"path"}
    paths = set(re.findall(r"^    WG_PATH_(\w+),", header, re.M)) - {"COUNT"}
    assert len(members) > 20 and len(paths) > 15, (members, paths)
    assert members == set(re.findall(r"^TIMING\((\w+),", table, re.M)), members
    assert paths == set(re.findall(r"^PATH\((\w+),", table, re.M)), paths
    units = re.findall(r"^UNIT_TIME\((\w+), (\d+),", (ROOT / "src/arch/unit_times.def").read_text(), re.M)
    used = "".join(f.read_text() for f in (ROOT / "src/backend").glob("*.c"))
    page = (ROOT / "docs/timing_constants.md").read_text()
    assert len(units) > 10, units
    for name, value in units:
        assert f"WG_TIME_{name}" in used, f"no unit uses {name}"
        assert re.search(rf"^\| `{name}` \| .* \| {value} \| \S+ \|$", page, re.M), f"{name} is not in the page"


@test
def man_pages(d):
    for command in ["", *commands()]:
        page = run("--help-man", *filter(None, [command]))
        assert page.startswith(".TH WAITGATE"), page[:80]
        assert all(re.match(r"\.(TH|SH|B|I|BI|BR|TP|PP)\b", line) for line in page.splitlines() if line.startswith(".")), page
        for option in re.findall(r"^  --([\w-]+)", run(command, "--help"), re.M) if command else []:
            assert f"--{option}" in page.replace("\\-", "-"), option
        if shutil.which("groff"):
            r = subprocess.run(["groff", "-man", "-Tascii", "-ww"], input=page, capture_output=True, text=True)
            assert r.returncode == 0 and not r.stderr, r.stderr
    r = subprocess.run([WAITGATE, "--help-man", "nonsense"], capture_output=True, text=True)
    assert r.returncode == 6 and "--help-man" in r.stderr


@test
def bash_completion(d):
    (d / "c").write_text(run("--help-completion", "bash"))

    def complete(*words):
        script = 'source c; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _waitgate; printf "%s\\n" "${COMPREPLY[@]}"'
        return subprocess.run(["bash", "-c", script, "bash", *words], cwd=d, capture_output=True, text=True,
                              check=True).stdout.split()
    assert set(complete("waitgate", "")) == {*commands(), "--help", "--version"}
    assert complete("waitgate", "ru") == ["run"]
    assert complete("waitgate", "run", "--prof") == ["--profile"]
    assert complete("waitgate", "run", "--profile", "s") == ["silicon"]
    assert complete("waitgate", "dis", "--timel") == []
    assert complete("waitgate", "run", "--stop-on", "un") == ["undefined", "unimplemented"]
    assert complete("waitgate", "check", "--fail-on", "ne") == ["never"] and complete("waitgate", "run", "--stop-on", "ne") == []
    assert complete("waitgate", "check", "--checks", "") == ["race", "memory", "init", "sync"]
    assert complete("waitgate", "check", "--checks", "race,i") == ["race,init"]
    assert complete("waitgate", "run", "--release", "b,t") == ["b,t0", "b,t1", "b,t2"]
    assert complete("waitgate", "why", "--not-finite", "fp") == ["fp16", "fp32"]
    (d / "list").touch()
    assert complete("waitgate", "run", "--max-cycles", "li") == [] and complete("waitgate", "run", "--log", "li") == ["list"]
    assert complete("waitgate", "explain", "latched") == ["latched-wait"]
    assert complete("waitgate", "explain", "semaphore-un") == ["semaphore-uninitialised"]
    assert complete("waitgate", "explain", "data-r") == ["data-race"]
    assert complete("waitgate", "explain", "STALL_MA") == ["STALL_MATH"]
    assert complete("waitgate", "isa", "STALL") == ["STALLWAIT"] and complete("waitgate", "explain", "mvm") == ["MVMUL"]
    assert complete("waitgate", "explain", "semaphore", "") == list("01234567")
    # bash splits --stop-on=un at the =.
    assert complete("waitgate", "run", "--stop-on", "=", "un") == complete("waitgate", "run", "--stop-on", "un")
    assert complete("waitgate", "check", "--checks", "=") == ["race", "memory", "init", "sync"]
    (d / "kernel.tasm").touch()
    assert complete("waitgate", "run", "ker") == ["kernel.tasm"]


@test
def other_completions(d):
    for shell in ("zsh", "fish"):
        text = run("--help-completion", shell)
        assert all(c in text for c in commands()) and "max-cycles" in text
        if shutil.which(shell):
            (d / "c").write_text(text)
            subprocess.run([shell, "-n", d / "c"], check=True)


@test
def zsh_and_fish_complete_values(d):
    """As their users see it, in the shells themselves."""
    assert shutil.which("fish") and shutil.which("zsh"), "scripts/setup --test installs them"
    (d / "waitgate.fish").write_text(run("--help-completion", "fish"))
    (d / "_waitgate").write_text(run("--help-completion", "zsh"))
    home = dict(os.environ, HOME=str(d), TERM="xterm", PATH=f"{pathlib.Path(WAITGATE).resolve().parent}:{os.environ['PATH']}")

    def fish(line):
        done = subprocess.run(["fish", "-c", f"source waitgate.fish; complete -C '{line}'"], cwd=d, capture_output=True, text=True, env=home)
        return dict((*one.split("\t"), "")[:2] for one in done.stdout.splitlines())

    setup = (f"PS1=; unsetopt beep prompt_sp prompt_cr; fpath=({d} $fpath); autoload -U compinit; compinit -u -D; bindkey '^I' complete-word; "
             "print REA''DY\n")

    assert fish("waitgate ru") == {"run": re.search(r"^  run +(.*)", run("--help"), re.M)[1]}, fish("waitgate ru")
    assert fish("waitgate run --prof")["--profile"].startswith("timing from the documentation only")
    for line, found in (("waitgate run --profile s", {"silicon"}), ("waitgate run --stop-on un", {"undefined", "unimplemented"}),
                        ("waitgate explain latched", {"latched-wait"}), ("waitgate explain data-r", {"data-race"}),
                        ("waitgate isa STALLW", {"STALLWAIT"}), ("waitgate check --checks race,i", {"race,init"})):
        assert set(fish(line)) == found, (line, fish(line))
        whole = os.path.commonprefix(sorted(found)) if len(found) == 1 else "unimplemented"
        suite.answers(["env", f"HOME={d}", "TERM=dumb", f"PATH={home['PATH']}", "zsh", "-f", "-i"],
                      ((setup, b"READY"), (line + "\t", whole.encode())))


@test
def clauses_page(d):
    """Every clause is shown by the tests that the page names, and by no others."""
    r = subprocess.run([ROOT / "scripts/clauses", "--check"], capture_output=True, text=True)
    assert r.returncode == 0, r.stdout


@test
def api_page(d):
    """Every public function is named."""
    page = (ROOT / "docs/api.md").read_text()
    for header in sorted((ROOT / "include/waitgate").glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        missing = sorted({f for f in re.findall(r"\b(wg_[a-z0-9_]+)\(", text) if f not in page})
        assert not missing, f"{header.name}: {missing}"


@test
def findings_have_examples(d):
    """Every code has an example; each example's program, on its architectures, gives its finding."""
    catalogue = json.loads(run("explain", "--json"))
    codes, races = ({f["code"] for f in catalogue[kind]} for kind in ("findings", "races"))
    files = {f.stem: f for f in (ROOT / "examples/findings").iterdir()}
    assert set(files) <= codes | races, f"no such finding: {set(files) - codes - races}"
    assert codes | races == set(files), f"no example in examples/findings: {(codes | races) - set(files)}"

    def shows(code):
        text = files[code].read_text()
        own = re.search(r"^\.arch (\w+)", text, re.M)
        for arch in [own[1]] if own else ["bh", "wh"]:
            command, kind, name = ("check", "races", "kind") if code in races else ("run", "findings", "code")
            more = ["--checks", "race,memory,init,sync"] if code in races else []
            r = subprocess.run([WAITGATE, command, *more, "--json", "--max-cycles", "200000", "--arch", arch, files[code]],
                               capture_output=True, text=True)
            if code not in [f[name] for f in json.loads(r.stdout or "{}").get(kind, [])]:
                return f"{code} on {arch}: {r.stderr}"
        return None
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        missing = [m for m in pool.map(shows, [c for c, f in files.items() if f.suffix == ".tasm"]) if m]
    assert not missing, missing


@test
def unit_rules_page(d):
    """Each row: existing codes, reported by the unit's source, asserted by the named test."""
    rows = [[c.strip() for c in line.split("|")[1:-1]] for line in (ROOT / "docs/unit_rules.md").read_text().splitlines()
            if line.startswith("| ") and not line.startswith("| Rule")]
    codes = {f["code"] for f in json.loads(run("explain", "--json"))["findings"]}
    ids = dict(re.findall(r'WG_FINDING\((\w+), "([\w-]+)"', (ROOT / "src/report/findings.def").read_text()))
    ids = {code: "WG_F_" + name for name, code in ids.items()}
    races = set(re.findall(r'WG_RACE\(\w+, "([\w-]+)"', (ROOT / "src/explain/races.def").read_text()))
    own = {i for i in ids.values() for f in ("config", "scalar", "scalar_memory", "misc", "mover", "tdma")
           if re.search(rf"\b{i}\b", (ROOT / f"src/backend/{f}.c").read_text())}
    for _rule, _page, code, tests in rows:
        for c in re.findall(r"`([\w-]+)`", code):
            assert c in codes or c in races, f"no finding {c}"
            own.discard(ids.get(c))
            places = re.findall(r"`([\w/]+)\.(\w+)`", tests)
            assert places, tests
            for file, name in places:
                text = (ROOT / f"tests/unit/{file}.c").read_text()
                body = re.search(rf"^static void {name}\(.*?^}}|^static void {name}\(.*?}}$", text, re.S | re.M)
                assert body and re.search(rf"\({name},", text), f"{file}.{name}"
            bodies = "".join((ROOT / f"tests/unit/{file}.c").read_text() for file, _ in places)
            programs = "".join(p.read_text() for p in (ROOT / "tests/races").glob("sched_*")) if c in races else ""
            assert ids.get(c, "-") in bodies or f'"{c}"' in bodies or f"race {c} " in programs, f"{c}: not asserted by {tests}"
    assert not own, f"reported by these units, not on the page: {own}"
    # Invalid operands: the finding names the value that broke the rule.
    operands = (ROOT / "docs/unit_rules.md").read_text().split("## Operands")[1]
    for c in sorted(set(re.findall(r"`([a-z]+-[a-z0-9-]+)`", operands)) - {"unimplemented-instruction"}):
        example = ROOT / f"examples/findings/{c}.tasm"
        arch = re.search(r"^\.arch (\w+)", example.read_text(), re.M)
        r = subprocess.run([WAITGATE, "run", "--json", "--arch", arch[1] if arch else "bh", example], capture_output=True,
                           text=True)
        details = [f.get("detail") for f in json.loads(r.stdout)["findings"] if f["code"] == c]
        assert details and all(details), f"{c}: {details}"
    assert len(rows) > 20


@test
def cited_pages_exist(d):
    """A page with a lower-case name is one of ours; the others are pages of the instruction set documentation."""
    cited, pages = {}, {p.name for p in (ROOT / "docs").rglob("*.md")}
    for folder in ("src", "include", "tests", "bench"):
        for file in (ROOT / folder).rglob("*.[chd]*"):
            if file.suffix in (".c", ".h", ".def", ".inc"):
                cited.update((name, file) for name in re.findall(r"\b[a-z][\w-]*\.md\b", file.read_text()))
    assert len(cited) > 10 and not cited.keys() - pages, {name: str(cited[name]) for name in cited.keys() - pages}


@test
def contributing_shows_the_tree(d):
    """The excerpts of the worked example are in the file named last."""
    text, shown = (ROOT / "CONTRIBUTING.md").read_text(), 0
    for block in re.finditer(r"^```c\n(.*?)^```", text, re.S | re.M):
        file = re.findall(r"`((?:src|tests)/[\w./]+)`", text[:block.start()])[-1]
        assert block[1] in (ROOT / file).read_text(), f"{file} has no longer:\n{block[1]}"
        shown += 1
    assert shown > 3


@test
def readme_pictures(d):
    """The README's examples agree with the commands' output."""
    shown = re.findall(r"\(`waitgate ((?:run|profile) [^`]+)`\).*?\n\n((?:    [^\n]*\n|\n)+)", (ROOT / "README.md").read_text(), re.S)
    assert len(shown) == 3, [command for command, _ in shown]
    for command, block in shown:
        r = subprocess.run([pathlib.Path(WAITGATE).resolve(), *command.split()], cwd=ROOT, capture_output=True, text=True,
                           env=dict(os.environ, COLUMNS="100"))
        printed = [line.strip() for line in r.stdout.splitlines()]
        for line in block.splitlines():
            assert any(p.startswith(line.strip().rstrip("…").rstrip()) for p in printed), line


@test
def readme_demo(d):
    """The matrix product of `make demo`, if its kernels can be built."""
    host = pathlib.Path(WAITGATE).resolve().parent / "examples/matmul_stream_host"
    if not host.exists():
        return
    printed = subprocess.run([host, "bh"], capture_output=True, text=True, check=True).stdout.splitlines()
    block = re.search(r"from `make demo`:.*?\n\n((?:    [^\n]*\n)+)", (ROOT / "README.md").read_text(), re.S)[1]
    lines = [line[4:] for line in block.splitlines() if line.strip() != "…"]
    assert len(lines) > 8 and all(line in printed for line in lines), [line for line in lines if line not in printed]


@test
def readme_race(d):
    """The race report is what `check` prints of the tutorial's kernel."""
    compiler = shutil.which("riscv64-unknown-elf-gcc")
    if not compiler:
        return
    tutorial = (ROOT / "docs/tutorial.md").read_text()
    for name in ("kernel.c", "build.sh"):
        (d / name).write_text(re.search(rf"^```\w+ file={re.escape(name)}\n(.*?)^```", tutorial, re.S | re.M)[1])
    (d / "examples").symlink_to(ROOT.resolve() / "examples")
    include = str(pathlib.Path(WAITGATE).resolve().parent / "src/isa")
    subprocess.run(["sh", "build.sh"], cwd=d, check=True, env=dict(os.environ, INCLUDE=include))
    r = subprocess.run([pathlib.Path(WAITGATE).resolve(), "check", "kernel.trisc0.elf"], cwd=d, capture_output=True, text=True,
                       env=dict(os.environ, COLUMNS="100"))
    printed = re.sub(r"\((\S*/)?kernel\.c:", "(kernel.c:", r.stdout)
    block = re.search(r"`waitgate check` reports .*?\n\n((?:    [^\n]*\n)+)", (ROOT / "README.md").read_text(), re.S)[1]
    block = "".join(line[4:] + "\n" for line in block.splitlines())
    assert block.count("\n") > 12 and block in printed, f"{block}\n--- printed ---\n{printed}"


@test
def readme_counts(d):
    """Examples of tt-metal that have been run: as many as there are rows in the tables of docs/tt-metal.md."""
    page = (ROOT / "docs/tt-metal.md").read_text()
    said = re.search(r"\[(\d+) of its examples with its host library\].*?\[(\d+) without it\]", (ROOT / "README.md").read_text())
    for count, head in zip(said.groups(), ("behind tt-metal's own host", "without it")):
        section = page.split(f"## What has been run {head}")[1].split("\n## ")[0]
        table = section[section.index("| Example |"):].split("\n\n")[0]
        assert int(count) == len(table.splitlines()) - 2, (head, count)


@test
def links_lead_somewhere(d):
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "exercises").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
            assert "://" in target or (page.parent / target).exists(), f"{page.name}: {target}"
        for target in re.findall(r"`((?:docs|src|tests|examples|exercises|include|bench|scripts)/[\w./*<>-]*)", page.read_text()):
            if "<" not in target:
                assert target.endswith("-") or list(ROOT.glob(target.rstrip("/."))), f"{page.name}: {target}"


suite.run()
