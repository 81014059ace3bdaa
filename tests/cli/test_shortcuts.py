#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shortcuts change nothing: whichever are on, a program gives the same JSON, cycles and states included.

usage: test_shortcuts.py WAITGATE SOURCE_ROOT EXAMPLES
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

WAITGATE, ROOT, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
NAMES = re.findall(r'^WG_FAST_PATH\(\w+, "(\w+)"', (ROOT / "src/fast/fast.def").read_text(), re.M)
failures = []


def run(fast, *args):
    env = {k: v for k, v in os.environ.items() if not k.startswith("WAITGATE_")}
    env.update({"WAITGATE_LOCKSTEP": "1"} if fast == "lockstep" else {"WAITGATE_FAST": fast} if fast else {})
    r = subprocess.run([WAITGATE, "run", "--json", *map(str, args)], capture_output=True, env=env, timeout=300)
    return r.returncode, r.stdout, r.stderr


def same(what, *args, modes):
    wanted = run(None, *args)
    for mode in modes:
        if run(mode, *args) != wanted:
            failures.append(f"{what}: WAITGATE_FAST={mode} gives something else")


def main():
    modes = ["none", "lockstep", *NAMES, *("-" + n for n in NAMES), "-" + ",-".join(NAMES)]
    programs = sorted((ROOT / "examples").glob("*.tasm")) + sorted((ROOT / "tests/tasm").glob("pattern_*_bh.tasm"))
    for program in programs:
        same(program.name, program, modes=modes)
    with tempfile.TemporaryDirectory() as d:
        for arch, kernel in ((a, k) for a in ("bh", "wh") for k in ("matmul", "gelu", "reduce", "tilize", "datacopy_bfp8")):
            elfs = sorted(EXAMPLES.glob(f"{'wh_' if arch == 'wh' else ''}{kernel}.*.elf"))
            if not elfs:
                continue
            dump = pathlib.Path(d) / "l1"
            results = set()
            for mode in (None, "none", *("-" + n for n in NAMES)):
                status, out, _ = run(mode, "--arch", arch, "--max-cycles", 20000, "--dump", f"0:0x80000={dump}", *elfs)
                results.add((status, json.loads(out)["cycles"], dump.read_bytes()))
            if len(results) != 1:
                failures.append(f"{kernel} on {arch}: {len(results)} different results")
    status, _, error = run("pipe", programs[0])
    if status != 1 or b"neither `none` nor a list of shortcuts" not in error:
        failures.append(f"a name that does not exist: {status}, {error}")
    print("\n".join(failures))
    print(f"{0 if failures else 1} passed, {len(failures)} failed")
    return failures


sys.exit(1 if main() else 0)
