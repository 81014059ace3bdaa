#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flags that are polled in C, at every level of optimisation: code that waits is silent, code that does not is
reported.

usage: test_spins.py WAITGATE ROOT
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

LEVELS = ["-O0", "-Og", "-O1", "-Os", "-O2", "-O3"]
# A flag that is read by a separate function, which -O0 does not inline, needs --flag.
CALLED = {("-O0", 4)}


def build(root, core, base, level, idiom, out):
    common = root / "examples/common"
    subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", level, "-ffreestanding", "-nostdlib",
                    "-msmall-data-limit=0", f"-DIDIOM={idiom}", f"-DCORE_{core}", f"-I{common}",
                    f"-Wl,--defsym=__base={base}", "-Wl,--no-warn-rwx-segments", "-T", common / "kernel.ld",
                    common / "crt.S", root / "tests/cli/spins.c", "-lgcc", "-o", out], check=True)


def races(waitgate, arch, cores, *options):
    r = subprocess.run([waitgate, "check", "--arch", arch, "--json", "--max-cycles", "100000", *options, *cores],
                       capture_output=True, text=True, timeout=300)
    return [x["kind"] for x in json.loads(r.stdout)["races"] if x["kind"] != "read-before-write"]


def main():
    waitgate, root = sys.argv[1], pathlib.Path(sys.argv[2])
    idioms = [int(n) for n in re.findall(r"IDIOM == (\d+)", (root / "tests/cli/spins.c").read_text())]
    good, bad = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        writer, reader = pathlib.Path(folder) / "b.elf", pathlib.Path(folder) / "t0.elf"
        build(root, "BRISC", "0x4000", "-O2", 0, writer)
        for level in LEVELS:
            for idiom in idioms:
                build(root, "TRISC0", "0xC000", level, idiom, reader)
                for arch in ["bh", "wh"]:
                    options = ["--flag", "0x80100"] if (level, idiom) in CALLED else []
                    found = races(waitgate, arch, ["--brisc", writer, "--trisc0", reader], *options)
                    ok = bool(found) == (idiom >= 100)
                    good, bad = good + ok, bad + (not ok)
                    if not ok:
                        print(f"FAIL idiom {idiom} with {level} on {arch}: {found}")
    print(f"{good} passed, {bad} failed")
    return 1 if bad or not good else 0


if __name__ == "__main__":
    sys.exit(main())
