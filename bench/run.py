#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmark programs of build/bench and prints one `name value unit` line per measurement.

Each program prints such lines itself. A measurement that has a bar is repeated: the programs are run five times,
interleaved, and the median is printed, with the bar and whether it is met. With WAITGATE_REFERENCE=LIB (a library with
the libttsim ABI) programs that can drive one print the ratio to it, measured in the same run.
"""
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = int(os.environ.get("WG_BENCH_RUNS", "5"))


def bars():
    """name -> (direction, value) from bench/bars.tsv."""
    table = {}
    for line in open(ROOT / "bench" / "bars.tsv"):
        if line.strip() and not line.startswith("#"):
            name, direction, value = line.split()
            table[name] = (direction, float(value))
    return table


def main():
    programs = [p for p in sorted((ROOT / "build" / "bench").glob("bench_*")) if p.is_file() and os.access(p, os.X_OK)]
    wanted = sys.argv[1:]
    if wanted:
        programs = [p for p in programs if any(w in p.name for w in wanted)]
    values, units = {}, {}
    for _ in range(RUNS):
        for program in programs:
            out = subprocess.run([str(program)], capture_output=True, text=True)
            if out.returncode:
                sys.exit(f"{program.name} failed:\n{out.stdout}{out.stderr}")
            for line in out.stdout.splitlines():
                name, value, unit = line.split(None, 2)
                values.setdefault(name, []).append(float(value))
                units[name] = unit
    table, missed = bars(), 0
    for name, samples in values.items():
        median = statistics.median(samples)
        text = f"{name} {median:.6g} {units[name]}"
        if name in table:
            direction, bar = table[name]
            met = median >= bar if direction == ">=" else median <= bar
            missed += not met
            text += f" (bar {direction} {bar:g}: {'met' if met else 'MISSED'})"
        print(text)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
