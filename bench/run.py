#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmark programs of build/bench and prints one `name value unit` line per measurement.

Every value is the median of seven runs, interleaved: all programs once, then all again; the least and the greatest of the
runs follow it. If bench/bars.tsv sets a bar for a measurement and its median misses it, a line on standard error says so,
and whether any run met it; the status is 1. The host's load before and after is printed: other work makes runs slower.

Where the environment names a library with the libttsim ABI (WAITGATE_REFERENCE, or WAITGATE_REFERENCE_BH and
WAITGATE_REFERENCE_WH; several separated by colons), the micro kernels run on it as well, right after they ran on ours,
and `name_reference` and `name_ratio` lines follow: how many times as fast ours is, the median of the runs' ratios, and beside it
the ratio of both libraries' best runs. Jobs (kernels/job.c) run in a process each: a library that cannot do one ends it.
`abi_jobs_ARCH_ratio` is the geometric mean over those that both can do.

usage: bench/run.py [NAME…]      only programs whose name contains one of these
"""
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
RUNS = int(os.environ.get("WG_BENCH_RUNS", "7"))


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


def jobs():
    names = {path.name.split("_")[1] for path in (BUILD / "bench").glob("job_*_brisc.bin")}
    return [f"job_{name}" for name in sorted(names)]


def drive(library, fatal=True):
    """All measurements of the driver on one library."""
    driver = [BUILD / "bench" / "abi_driver", library, BUILD / "bench"]
    found = measure(driver, fatal)
    for job in jobs():
        found += measure([*driver, job], fatal)
    return found


def load():
    return " ".join(f"{x:.2f}" for x in os.getloadavg())


def verdict(name, samples, unit, bar):
    """What to say if the bar is missed; None: it is met."""
    direction, value = bar
    met = [s >= value if direction == ">=" else s <= value for s in samples]
    median = statistics.median(samples)
    if median >= value if direction == ">=" else median <= value:
        return None
    runs = f"{sum(met)} of {len(met)} runs met it" if any(met) else "no run met it"
    return f"bar missed: {name} is {median:.6g} {unit}, wanted {direction} {value:g}; {runs}"


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

    before = load()
    for _ in range(RUNS):
        for program in programs:
            for line in measure([program]):
                note(*line)
        mine, logs = {}, {}
        for library in ours:
            for name, value, unit in drive(library):
                note(name, value, unit)
                mine[name] = value
        for library in references() if ours else []:
            for name, value, unit in drive(library, fatal=False):
                note(name + "_reference", value, unit)
                if name not in mine:
                    continue
                note(name + "_ratio", mine[name] / value, "x")
                if name.startswith("abi_job_"):
                    logs.setdefault(name[-2:], []).append(math.log(mine[name] / value))
        for arch, those in logs.items():
            note(f"abi_jobs_{arch}_ratio", math.exp(statistics.mean(those)), "x")
    print(f"load of the host before: {before}, after: {load()}")
    table, missed = bars(), 0
    for name, samples in values.items():
        more = ""
        if name.endswith("_ratio") and name[:-6] + "_reference" in values: # rates: the greatest is the best
            best = max(values[name[:-6]]) / max(values[name[:-6] + "_reference"])
            more = f", best against best {best:.6g}"
        print(f"{name} {statistics.median(samples):.6g} {units[name]} ({min(samples):.6g} to {max(samples):.6g}{more})")
        said = verdict(name, samples, units[name], table[name]) if name in table else None
        if said:
            print(said, file=sys.stderr)
            missed += 1
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
