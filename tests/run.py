#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every test suite: one line per suite, then `N passed, N failed`.

The suites are meson's tests of build/ (all of them) and of build/sanitize (the unit suites again, under the
address and undefined behaviour sanitizers); some of them in build/plain, the machine without shortcuts; the fuzz targets of build/fuzz run for a fixed time on their corpora.
With --soak: the suites that have a long form, the fuzz targets for ten minutes each, the suites with host threads
of build/thread under the thread sanitizer, and some suites of build/ under valgrind, which sees uninitialised memory.
Writes build/clauses.tsv (clause, test, architecture, pass|fail) and build/isa_tests.tsv (architecture,
instruction: those whose value and timing tests all passed) from what the tests registered.
"""
import argparse
import concurrent.futures
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"


def suites(build):
    out = subprocess.run(["meson", "introspect", "--tests", str(build)], capture_output=True, text=True, check=True)
    return [dict(t, build=str(build)) for t in json.loads(out.stdout)]


def run_suite(label, test, limit):
    """Runs one meson test; returns (label, rows, passed, failed, seconds, output)."""
    with tempfile.NamedTemporaryFile(suffix=".tsv") as report:
        env = dict(os.environ, **test.get("env", {}), WG_TEST_REPORT=report.name)
        env = {name: value for name, value in env.items() if value != "" or name != "WG_SOAK"}
        env.setdefault("ASAN_OPTIONS", "detect_leaks=1:abort_on_error=0")
        env.setdefault("TSAN_OPTIONS", "halt_on_error=1:die_after_fork=0") # a forked child starts its own threads
        env.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
        start = time.monotonic()
        try:
            done = subprocess.run(test["cmd"], cwd=test.get("workdir") or test["build"], env=env, timeout=limit,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            status, output = done.returncode, done.stdout.decode(errors="replace")
        except OSError as e: # it is not built
            status, output = -1, str(e)
        except subprocess.TimeoutExpired as e:
            status, output = -1, (e.stdout or b"").decode(errors="replace") + f"\ntimed out after {limit} s\n"
        if status == 0 and "after" in test:
            complaints = test["after"]()
            status, output = (1, output + "\n".join(complaints)) if complaints else (0, output)
        seconds = time.monotonic() - start
        rows = [line.rstrip("\n").split("\t") for line in open(report.name)]
    passed = sum(r[3] == "pass" for r in rows)
    failed = len(rows) - passed
    if status != 0 and failed == 0:
        failed = 1          # it crashed outside any test
    elif not rows and status == 0:
        passed = 1          # a script that reports its own result
    return label, rows, passed, failed, seconds, output


# Each fuzz target must cover 90 % of the lines of these files, with its committed corpus and the inputs it finds in its
# time.
PARSERS = {
    "chip": ["cli/chip_yaml.c", "cli/metal_yaml.c", "cli/cluster_yaml.c"],
    "asm": ["isa/assemble.c", "isa/asm_expr.c", "isa/asm_error.c"],
    "dis": ["isa/disasm.c", "cli/words.c"],
    "elf": ["elf/elf.c", "elf/lines.c"],
    "gdb": ["debug/gdb.c"],
    "tasm": ["cli/tasm.c", "cli/tasm_core.c", "cli/tasm_data.c", "cli/tasm_assemble.c", "cli/rv_assemble.c", "cli/rv_encode.c", "cli/rv_operands.c"],
}


def parser_coverage(target, profile):
    """Complaints about lines that the run did not reach."""
    if target.name[len("fuzz_"):] not in PARSERS:
        return []
    merged = profile + ".merged"
    for cmd in (["llvm-profdata", "merge", "-sparse", profile, "-o", merged],
                ["llvm-cov", "export", "-summary-only", str(target), f"-instr-profile={merged}"]):
        out = subprocess.run(cmd, capture_output=True, text=True)
        if out.returncode:
            return [out.stderr.strip()]
    lines = {f["filename"]: f["summary"]["lines"]["percent"] for f in json.loads(out.stdout)["data"][0]["files"]}
    complaints = []
    for source in PARSERS.get(target.name[len("fuzz_"):], []):
        percent = max((p for name, p in lines.items() if name.endswith("/src/" + source)), default=0)
        if percent < 90:
            complaints.append(f"{target.name} reaches {percent:.1f} % of the lines of src/{source}; 90 % are demanded")
    return complaints


# The maximum length of inputs: longer ones find nothing new and take longer.
LONGEST = {"asm": 256, "gdb": 1024, "text": 4096, "snapshot": 400, "guest": 4096, "abi": 640}
# Targets that run devices: in the short form they get less time, most of which the simulation uses.
DEVICES = ("snapshot", "guest", "abi")
# Under the thread sanitizer: chips compute with several host threads.
THREADED = ("grid", "chip", "chip_modes", "noc", "card", "abi", "abi_chip", "streams", "race_noc")
# Under valgrind: suites that read input, and snapshots, which copy everything.
MEMCHECK = ("cli", "tasm", "elf", "chip_yaml", "asm", "isa", "snapshot", "core_csrs", "noc", "hang")


def memcheck(test):
    command = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite",
               "--undef-value-errors=yes", *test["cmd"]]
    return dict(test, cmd=command)


# Also run in the build of the plain machine; `make soak` runs everything there.
PLAIN = {"frontend", "gate", "sync", "ttsync", "ttsync_cores", "matrix_timing", "vector_timing", "unpack_timing", "pack_timing",
         "core_alu", "core_memory", "core_push", "device", "tile", "tile_cores", "noc", "examples", "math_examples", "pipeline",
         "hangs", "tasm_programs"}


# Slow under the sanitizers, and concerned with text or cycles more than with memory: `make soak` runs them there.
SANITIZED_IN_SOAK = {"check", "explore", "metal", "race_delays", "docs", "spins", "endless", "run_command", "schema", "broken",
                     "checks", "state_hash", "core_modes", "chip_modes", "debugger", "matrix_move", "words", "hangs", "mover",
                     "vector_macro", "move_config", "delays", "shortcuts", "poll", "races", "control_device", "frontend_modes",
                     "unpack", "patterns", "rwc", "core_loops", "frontend_device", "browser", "explain", "learn", "waits",
                     "saved", "what_if", "chip", "chip_profile", "traces", "any_word", "robust", "cluster_files", "cluster_processes"}


def runs_in(label, test):
    """Whether `make test` runs a suite in an instrumented build or in that of the plain machine."""
    if label == "plain ":
        return test["name"] in PLAIN
    return "unit" in {name.rpartition(":")[2] for name in test["suite"]} and test["name"] not in SANITIZED_IN_SOAK


def targets(name):
    """The targets of build/NAME that ninja must build for `make test`."""
    build = BUILD / name
    introspected = subprocess.run(["meson", "introspect", "--targets", str(build)], capture_output=True, text=True, check=True)
    files = {t["id"]: [str(pathlib.Path(f).relative_to(build)) for f in t["filename"]] for t in json.loads(introspected.stdout)}
    if name == "fuzz":
        return sorted(f for made in files.values() for f in made if f.startswith("tests/fuzz/fuzz_"))
    wanted = {d for test in suites(build) if runs_in(name + " ", test) for d in test["depends"]}
    return sorted(f for d in wanted for f in files[d])


def fuzz_jobs(seconds, device_seconds):
    folder = BUILD / "fuzz" / "tests" / "fuzz"
    for target in sorted(folder.glob("fuzz_*")) if folder.is_dir() else []:
        if not (target.is_file() and os.access(target, os.X_OK)):
            continue
        corpus = ROOT / "tests" / "fuzz" / "corpus" / target.name[len("fuzz_"):]
        work = BUILD / "fuzz" / "corpus" / target.name
        work.mkdir(parents=True, exist_ok=True)
        device = target.name[len("fuzz_"):] in DEVICES
        cmd = [str(target), f"-max_total_time={device_seconds if device else seconds}", f"-max_len={LONGEST.get(target.name[len('fuzz_'):], 65536)}", "-rss_limit_mb=2048", "-timeout=10",
               "-print_final_stats=1", f"-artifact_prefix={work}/", str(work)]
        if device: # weighing inputs by the rarity of their coverage would take more time than running them
            cmd.append("-entropic=0")
        if corpus.is_dir():
            cmd.append(str(corpus))
        profile = str(work.parent / (target.name + ".profraw"))
        yield {"name": target.name, "cmd": cmd, "build": str(BUILD), "env": {"LLVM_PROFILE_FILE": profile},
               "after": functools.partial(parser_coverage, target, profile)}


def write_tables(rows):
    with open(BUILD / "clauses.tsv", "w") as f:
        for _suite, test, arch, result, clauses, _covers in rows:
            for clause in clauses.split():
                f.write(f"{clause}\t{test}\t{arch}\t{result}\n")
    seen = {}
    for _suite, _test, arch, result, _clauses, covers in rows:
        for cover in covers.split():
            name, _, kind = cover.partition(":")
            seen.setdefault((arch, name), {}).setdefault(kind, set()).add(result)
    tested = sorted(key for key, kinds in seen.items()
                    if kinds.get("value") == {"pass"} and kinds.get("timing") == {"pass"})
    with open(BUILD / "isa_tests.tsv", "w") as f:
        f.writelines(f"{arch}\t{name}\n" for arch, name in tested)
    return set(tested)


def isa_page(tested):
    """What docs/isa.md claims as tested: a claim that does not hold is a failure, a missing one a remark."""
    page, claimed, arch = ROOT / "docs" / "isa.md", set(), None
    for line in page.read_text().splitlines() if page.is_file() else []:
        arch = {"## Blackhole": "bh", "## Wormhole": "wh"}.get(line, arch)
        if line.startswith("| 0x") and line.endswith("| yes |"):
            claimed.add((arch, line.split("|")[2].strip()))
    for arch, name in sorted(tested - claimed):
        print(f"note: docs/isa.md does not know yet that {name} is tested on {arch} (make docs)")
    for arch, name in sorted(claimed - tested):
        print(f"FAIL docs/isa.md says that {name} is tested on {arch}")
    return len(claimed - tested)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--soak", action="store_true", help="only the suites that have a long form, for hours")
    p.add_argument("--fuzz-seconds", type=int, default=int(os.environ.get("WG_FUZZ_SECONDS", "6")))
    p.add_argument("names", nargs="*", help="only suites whose name contains one of these")
    p.add_argument("--targets", metavar="NAME", help="print what build/NAME has to build, and nothing else")
    args = p.parse_args()
    if args.targets:
        print(" ".join(targets(args.targets)))
        return 0

    jobs = []
    for label, build in (("", BUILD), ("sanitize ", BUILD / "sanitize"), ("plain ", BUILD / "plain"), ("thread ", BUILD / "thread")):
        if not (build / "build.ninja").is_file() or (label == "thread " and not args.soak):
            continue
        for test in suites(build):
            if label and not args.soak and not runs_in(label, test):
                continue
            kinds = {name.rpartition(":")[2] for name in test["suite"]}
            if label == "thread ":
                if test["name"] in THREADED:
                    jobs.append((label + test["name"], test, 86400))
                continue
            if not label and args.soak and test["name"] in MEMCHECK:
                jobs.append(("valgrind " + test["name"], dict(memcheck(test), env={"WG_SOAK": ""}), 86400))
            if label == "plain " and args.soak: # everything, in the short form
                jobs.append((label + test["name"], dict(test, env=dict(test.get("env", {}), WG_SOAK="")), 3600))
                continue
            if (label and "unit" not in kinds and not (args.soak and test["name"] == "dis_elf")) or \
                    (args.soak and "soak" not in kinds and test["name"] != "dis_elf"):
                continue
            jobs.append((label + test["name"], test, 86400 if args.soak else 420))
    seconds = 600 if args.soak else args.fuzz_seconds
    for test in fuzz_jobs(seconds, seconds if args.soak else max(1, seconds * 2 // 5)):
        jobs.append((test["name"], test, seconds + 120))
    if args.names:
        jobs = [j for j in jobs if any(n in j[0] for n in args.names)]

    jobs.sort(key=lambda job: not job[0].startswith("sanitize ")) # the long ones first
    rows, passed, failed = [], 0, 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run_suite, *j) for j in jobs]):
            label, suite_rows, ok, bad, seconds, output = done.result()
            rows += [r for r in suite_rows if len(r) == 6]
            passed += ok
            failed += bad
            print(f"{'ok  ' if not bad else 'FAIL'} {label:40} {ok:5} passed {bad:3} failed {seconds:7.1f} s", flush=True)
            if bad:
                sys.stdout.write("\n".join("     | " + line for line in output.splitlines()[-60:]) + "\n")
    if not args.soak and not args.names:
        failed += isa_page(write_tables(rows))
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
