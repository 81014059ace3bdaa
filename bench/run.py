#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmark programs of build/bench and prints one `name value unit` line per measurement.

Every value is the median of five runs, interleaved: all programs once, then all again. If bench/bars.tsv sets a bar for
a measurement and it is missed, a line on standard error says so and the status is 1.

Where the environment names a library with the libttsim ABI (WAITGATE_REFERENCE, or WAITGATE_REFERENCE_BH and
WAITGATE_REFERENCE_WH; several separated by colons), the micro kernels run on it as well, right after they ran on ours,
and `name_reference` and `name_ratio` lines follow: how many times as fast ours is, the median of the runs' ratios.

usage: bench/run.py [NAME…]      only programs whose name contains one of these
"""
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
RUNS = int(os.environ.get("WG_BENCH_RUNS", "5"))


def bars():
    """name -> (direction, value) from bench/bars.tsv."""
    table = {}
    for line in open(ROOT / "bench" / "bars.tsv"):
        if line.strip() and not line.startswith("#"):
            name, direction, value = line.split()
            table[name] = (direction, float(value))
    return table


def references():
    named = [os.environ.get("WAITGATE_REFERENCE" + tail, "") for tail in ("", "_BH", "_WH")]
    return [path for paths in named for path in paths.split(":") if path]


def measure(command, fatal=True):
    """[(name, value, unit)] of one program."""
    out = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if out.returncode and fatal:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{out.stdout}{out.stderr}")
    if out.returncode:
        print(f"{command[1]}: {(out.stderr or out.stdout).strip().splitlines()[-1]}", file=sys.stderr)
    found = re.findall(r"^(\w+) (-?[\d.]+(?:e[+-]?\d+)?) (\S.*)$", out.stdout, re.M)
    return [(name, float(value), unit) for name, value, unit in found]


def main():
    programs = [p for p in sorted((BUILD / "bench").glob("bench_*")) if p.is_file() and os.access(p, os.X_OK)]
    ours = [BUILD / f"libttsim_{arch}.so" for arch in ("bh", "wh")]
    driver = BUILD / "bench" / "abi_driver"
    wanted = sys.argv[1:]
    if wanted:
        programs = [p for p in programs if any(w in p.name for w in wanted)]
    if not (BUILD / "bench" / "mop.bin").is_file() or (wanted and not any(w in driver.name for w in wanted)):
        ours = []
    values, units = {}, {}

    def note(name, value, unit):
        values.setdefault(name, []).append(value)
        units[name] = unit

    for _ in range(RUNS):
        for program in programs:
            for line in measure([program]):
                note(*line)
        mine = {}
        for library in ours:
            for name, value, unit in measure([driver, library, BUILD / "bench"]):
                note(name, value, unit)
                mine[name] = value
        for library in references() if ours else []:
            for name, value, unit in measure([driver, library, BUILD / "bench"], fatal=False):
                note(name + "_reference", value, unit)
                if name in mine:
                    note(name + "_ratio", mine[name] / value, "x")
    table, missed = bars(), 0
    for name, samples in values.items():
        median = statistics.median(samples)
        print(f"{name} {median:.6g} {units[name]}")
        if name in table:
            direction, bar = table[name]
            if not (median >= bar if direction == ">=" else median <= bar):
                print(f"bar missed: {name} is {median:.6g} {units[name]}, wanted {direction} {bar:g}", file=sys.stderr)
                missed += 1
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
