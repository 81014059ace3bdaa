#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The output of --json conforms to docs/waitgate.schema.json, for every command; errors included.

usage: test_schema.py WAITGATE ROOT
"""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys

try:
    import jsonschema
except ImportError:  # a package of Debian's Python
    if sys.executable == "/usr/bin/python3":
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

import suite
from suite import test

WAITGATE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
SCHEMA = json.loads((ROOT / "docs/waitgate.schema.json").read_text())
WHOLE = jsonschema.Draft202012Validator(SCHEMA)


VALID = []  # form and command


def valid(form, *words, cwd=ROOT):
    """The command's output has this form."""
    VALID.append((form, *map(str, words[:1])))
    done = subprocess.run([WAITGATE, *map(str, words), "--json"], capture_output=True, text=True, cwd=cwd, timeout=300)
    said = json.loads(done.stdout)
    jsonschema.Draft202012Validator({"$ref": f"#/$defs/{form}", "$defs": SCHEMA["$defs"]}).validate(said)
    WHOLE.validate(said)
    return said


def every(folder, step=1):
    return sorted((ROOT / folder).rglob("*.tasm"))[::step]


@test
def schema(_):
    """It is a valid schema, and it rejects unknown members."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    said = valid("run", "run", "examples/hello.tasm")
    for broken in ({**said, "surprise": 1}, {k: v for k, v in said.items() if k != "cycles"}, {**said, "result": "fine"}):
        assert list(WHOLE.iter_errors(broken)), broken


@test
def runs(folder):
    for program in every("tests/tasm", 7) + every("examples", 5):
        valid("run", "run", "--stats", "--max-cycles", 50000, program)
    for program in every("tests/races", 12):
        valid("run", "check", "--checks=race,memory,init,sync", "--verify", 200000, program)
    for program in every("examples", 9):
        valid("run", "profile", "--max-cycles", 50000, program)
    for name in ("05_packer_address_bh_fixed", "wait_config_broken"):
        valid("run", "check", "--waits", f"tests/races/{name}.tasm")
    built = pathlib.Path(WAITGATE).parent / "examples"
    cores = valid("run", "profile", *sorted(built.glob("matmul.*.elf")))["cost_profile"]["tracks"]
    assert any("inlined" in c for t in cores for c in t["costs"])
    valid("chip", "profile", built / "relay.yaml")
    assert valid("explore", "explore", "--runs", 20, built / "relay.yaml")["timings"] == 20
    valid("run", "profile", "--what-if", "auto", "examples/handshake.tasm")
    valid("run", "profile", "--what-if", "l1=2x,line:handshake.tasm:17=0", "examples/handshake.tasm")
    assert valid("run", "run", "examples/deadlock.tasm")["hang"]
    valid("run", "trace", "--output", folder / "t.json", "examples/handshake.tasm")
    valid("run", "report", "--output", folder / "r.html", "examples/handshake.tasm")
    assert valid("run", "run", "--max-cycles", 10, "examples/handshake.tasm")["state"]


@test
def others(folder):
    assert valid("explore", "explore", "--runs", 10, "examples/handshake.tasm")["timings"] == 10
    valid("why", "why", "examples/hello.tasm", "--of", "gpr:0:4")
    valid("why", "why", "examples/hello.tasm", "--of", "l1:0x3000[0,1]:bf16")
    (folder / "run.json").write_text(json.dumps(valid("run", "profile", "examples/handshake.tasm")))
    (folder / "other.json").write_text(json.dumps(valid("run", "profile", "examples/core.tasm")))
    assert valid("diff", "diff", folder / "run.json", folder / "other.json")["changes"]
    valid("dis", "dis", "0x45002A08", "0xFF000000")
    (folder / "a.s").write_text("ttnop\n")
    valid("asm", "asm", folder / "a.s")
    for arch in ("bh", "wh"):
        valid("isa", "isa", "--arch", arch)
    valid("explain", "explain")
    valid("code", "explain", "data-race")
    valid("code", "explain", "tensix-wait-replaced")
    for word in ("MVMUL", "B3", "C4", "latched-wait", "MATH_PACK", "semaphore", "0xA2400810", "0xFF000000"):
        valid("topic", "explain", word)
    assert valid("test", "test", "examples/hello.tasm", "examples/deadlock.tasm")["failed"] == 1
    (folder / "chip.yaml").write_text("arch: bh\nmax-cycles: 10\ntiles:\n  - at: [1, 2]\n")
    valid("chip", "run", folder / "chip.yaml")
    (folder / "cluster.yaml").write_text("topology: p300\nfaults:\n  - cut: {link: [0, 2], cycle: 5}\n")
    valid("cluster", "run", folder / "cluster.yaml")
    valid("chip", "profile", "--what-if", "noc=2", folder / "chip.yaml")
    (folder / "chips.yaml").write_text("topology: p300\nchips:\n  - {chip: 0, tiles: [{at: [1, 2]}]}\n")
    assert valid("cluster", "profile", "--what-if", "eth=2", folder / "chips.yaml")["what_if"]
    valid("cluster", "check", "--waits", folder / "chips.yaml")


@test
def about_itself(_):
    """--version and --help, of all commands and of one."""
    version = valid("version", "--version")["waitgate"]
    everything = valid("help", "--help")
    assert everything["waitgate"] == version and len(everything["commands"]) > 12
    for command in everything["commands"]:
        names = {o["name"] for o in command["options"]}
        if "json" in names:
            assert valid("help", command["name"], "--help")["commands"] == [command]
    (run,) = [c for c in everything["commands"] if c["name"] == "run"]
    assert {"name": "brisc", "value": "FILE", "help": "ELF file for core B"} in run["options"]


@test
def files_that_cannot_be_written(folder):
    """The report says so: its status is that of the command, and it has the error."""
    gone = folder / "no/such"
    (folder / "chip.yaml").write_text("arch: bh\nmax-cycles: 10\ntiles:\n  - at: [1, 2]\n")
    (folder / "cluster.yaml").write_text("topology: p300\n")
    for kind, *words in (("run", "run", "--dump", f"0x1000:4={gone}", "examples/core.tasm"), ("run", "report", "--output", gone, "examples/hello.tasm"),
                         ("run", "check", "--sarif", gone, "examples/hello.tasm"), ("chip", "run", "--sarif", gone, folder / "chip.yaml"),
                         ("chip", "report", "--output", gone, folder / "chip.yaml"), ("cluster", "run", "--sarif", gone, folder / "cluster.yaml"),
                         ("test", "test", "--junit", gone, "examples/hello.tasm")):
        said = valid(kind, *words)
        assert said["status"] == 6 and "No such file" in said["error"], (words, said)


@test
def tables(folder):
    """What is printed as a page is available as JSON, too: the same instructions, constants and exceptions."""
    def rows(page, head):
        text = (ROOT / "docs" / page).read_text()
        text = text[text.index(head):].split("\n\n")[0]
        return [[c.strip() for c in line.strip("|").split(" | ")] for line in text.splitlines()[2:]]
    timing = valid("timing", "isa", "--timing")
    assert [c["name"] for c in timing["constants"]] == [r[0].strip("`") for r in rows("timing_constants.md", "| Constant |")]
    wanted = {r[0]: r[1] for r in rows("timing_constants.md", "| Instruction |")}
    said = {i["name"]: ", ".join(str(i["bh"][k] or "varies") for k in ("latency", "interval")) for i in timing["latencies"]}
    assert said == wanted, {k for k in said if said[k] != wanted.get(k)}
    support = {i["name"]: i for i in valid("support", "isa", "--support")["support"]}
    for name, _, *cells in rows("support.md", "| Instruction |"):
        for arch, cell in zip(("bh", "wh"), cells):
            one = support[name].get(arch)
            assert (cell == "–") == (one is None), (name, arch)
            assert one is None or [f"`{f['code']}`" for f in one["findings"]] == [c.split(": ")[1] for c in cell.split("; ") if ": " in c], (name, arch)
    (folder / "a.tests").write_text("one run a.tasm => hang\ntwo check b.tasm fails: a reason\n")
    listed = valid("list", "test", "--list", folder / "a.tests")["list"]
    assert [(t["name"], t["words"], t["expected"], t.get("fails")) for t in listed] == [
        ("one", ["run", "a.tasm"], "hang", None), ("two", ["check", "b.tasm"], "done", "a reason")], listed


@test
def debuggers(folder):
    """A line of JSON for each command of a prompt, and one that says where gdb may connect."""
    elf = pathlib.Path(WAITGATE).parent / "examples/hello.brisc.elf"
    done = subprocess.run([WAITGATE, "debug", "--json", "examples/hello.tasm"], input="step\n\nhelp\nquit\n", capture_output=True, text=True, cwd=ROOT)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    for one in said:
        WHOLE.validate(one)
    assert [(one["command"], one["cycle"]) for one in said] == [("step", 1), ("", 1), ("help", 1)] and "goto" in said[2]["answer"], done.stdout
    with subprocess.Popen([WAITGATE, "gdb", "--json", "--listen", "0", elf], stdout=subprocess.PIPE, text=True) as server:
        said = json.loads(server.stdout.readline())
        WHOLE.validate(said)
        assert said["symbols"] == [str(elf)], said
        socket.create_connection(("127.0.0.1", said["port"])).close()
        server.send_signal(signal.SIGINT)
    valid("error", "gdb", "--listen", "stdio", "examples/hello.tasm")


@test
def every_command(_):
    """No command is left out of these tests."""
    commands = re.findall(r"^  (\w+) ", subprocess.run([WAITGATE, "--help"], capture_output=True, text=True).stdout, re.M)
    tried = {one[1] for one in VALID if one[0] not in ("error", "version") and one[1] != "--help"} | {"debug", "gdb"}
    assert len(commands) > 14 and set(commands) == tried, set(commands) ^ tried


@test
def errors(folder):
    """A command that cannot do its work reports it in JSON, with the text of standard error."""
    (folder / "bad.tasm").write_text(".thread 0\nttnosuch\n")
    for words in (["run", "nowhere.tasm"], ["run", folder / "bad.tasm"], ["frobnicate"], ["run", "--frob"], ["test", "nowhere"],
                  ["explain", "qqqqqqqq"], ["explore", "nowhere.tasm"], ["dis", "nowhere.elf"], ["why", "examples/hello.tasm"],
                  ["diff", "nowhere.json", "nowhere.json"], ["isa", "--markdown"], []):
        done = subprocess.run([WAITGATE, *map(str, words), "--json"], capture_output=True, text=True, cwd=ROOT)
        said = valid("error", *words)
        assert done.returncode == said["status"] == 6 and said["error"] + "\n" == done.stderr.removeprefix("waitgate: "), (words, said)
    done = subprocess.run([WAITGATE, "run", "--", "--json"], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "", done


suite.run()
