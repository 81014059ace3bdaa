#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The usage patterns (pattern_*.tasm) give the right result under any delay: each runs under many seeds.

usage: test_patterns.py WAITGATE DIRECTORY
"""
import pathlib
import subprocess
import sys

SEEDS = 12


def main():
    waitgate, good, bad = sys.argv[1], 0, 0
    for file in sorted(pathlib.Path(sys.argv[2]).glob("pattern_*.tasm")):
        for arch in ("bh", "wh"):
            for seed in range(SEEDS):
                r = subprocess.run([waitgate, "run", "--arch", arch, "--seed", str(seed), "--max-cycles", "200000",
                                    file], capture_output=True, text=True, timeout=300)
                good, bad = good + (r.returncode == 0), bad + (r.returncode != 0)
                if r.returncode:
                    print(f"FAIL {file.name} on {arch} with seed {seed}: status {r.returncode}\n{r.stdout}{r.stderr}")
    print(f"{good} passed, {bad} failed")
    sys.exit(1 if bad or good < 8 * 2 * SEEDS else 0)


main()
