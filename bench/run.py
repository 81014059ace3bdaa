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
`abi_jobs_ARCH_ratio` is the geometric mean over those that both can do, `abi_jobs_ARCH_worst_ratio` the least.

Bars for which nothing was measured are named at the end. The libraries are measured at the host's best level of vector code and, if
that is AVX-512, at AVX2 as well, or at the levels that `--simd` names: these measurements have `_at_LEVEL` in their names, and the
same bars hold. `--history FILE` appends what was measured: date, commit, processor, name, median, least, greatest, unit.

usage: bench/run.py [--simd LEVEL]… [--history FILE] [NAME…]      only programs whose name contains one of these
"""
import argparse
import datetime
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
ELSEWHERE = {"cluster_two_ranks_ratio"} # bars of bench/cluster.py


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


def measure(command, fatal=True, level=None):
    """[(name, value, unit)] of one program."""
    more = {"WAITGATE_SIMD": level} if level else {}
    out = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=dict(os.environ, **more))
    if out.returncode and fatal:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{out.stdout}{out.stderr}")
    if out.returncode:
        print(f"{command[1]}: {(out.stderr or out.stdout).strip().splitlines()[-1]}", file=sys.stderr)
    found = re.findall(r"^(\w+) (-?[\d.]+(?:e[+-]?\d+)?) (\S.*)$", out.stdout, re.M)
    return [(name, float(value), unit) for name, value, unit in found]


def jobs():
    names = {path.name.split("_")[1] for path in (BUILD / "bench").glob("job_*_brisc.bin")}
    return [f"job_{name}" for name in sorted(names)]


def drive(library, fatal=True, level=None):
    """All measurements of the driver on one library."""
    driver = [BUILD / "bench" / "abi_driver", library, BUILD / "bench"]
    found = measure(driver, fatal, level)
    for job in jobs():
        found += measure([*driver, job], fatal, level)
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


def processor(field):
    """What the kernel says of the first processor."""
    for line in open("/proc/cpuinfo"):
        if line.startswith(field):
            return line.partition(":")[2].strip()
    return "unknown"


def append_history(file, values, units):
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%MZ")
    with open(file, "a") as to:
        for name, samples in values.items():
            print(date, commit or "unknown", processor("model name"), name, f"{statistics.median(samples):.6g}", f"{min(samples):.6g}",
                  f"{max(samples):.6g}", units[name], sep="\t", file=to)


class Table:
    """What was measured, at all levels."""
    def __init__(self):
        self.values, self.units = {}, {}

    def note(self, name, value, unit):
        self.values.setdefault(name, []).append(value)
        self.units[name] = unit

    def both(self, ours, level):
        """The driver on our libraries, then on the others. A reference chooses its level itself."""
        at = f"_at_{level}" if level else ""
        mine, logs = {}, {}
        for library in ours:
            for name, value, unit in drive(library, level=level):
                self.note(name + at, value, unit)
                mine[name] = value
        for library in references() if ours else []:
            for name, value, unit in drive(library, fatal=False):
                self.note(f"{name}{at}_reference", value, unit)
                if name not in mine:
                    continue
                self.note(f"{name}{at}_ratio", mine[name] / value, "x")
                if name.startswith("abi_job_"):
                    logs.setdefault(name[-2:], []).append(math.log(mine[name] / value))
        for arch, those in logs.items():
            self.note(f"abi_jobs_{arch}{at}_ratio", math.exp(statistics.mean(those)), "x")
            self.note(f"abi_jobs_{arch}_worst{at}_ratio", math.exp(min(those)), "x")

    def print(self):
        """The number of bars that are missed."""
        table, missed = bars(), 0
        for name, samples in self.values.items():
            more = ""
            if name.endswith("_ratio") and name[:-6] + "_reference" in self.values: # rates: the greatest is the best
                best = max(self.values[name[:-6]]) / max(self.values[name[:-6] + "_reference"])
                more = f", best against best {best:.6g}"
            print(f"{name} {statistics.median(samples):.6g} {self.units[name]} ({min(samples):.6g} to {max(samples):.6g}{more})")
            bar = table.get(re.sub("_at_[a-z0-9]+", "", name))
            said = verdict(name, samples, self.units[name], bar) if bar else None
            if said:
                print(said, file=sys.stderr)
                missed += 1
        return missed

    def unchecked(self, table):
        """The bars of this program that nothing was compared with."""
        known = {re.sub("_at_[a-z0-9]+", "", name) for name in self.values}
        return sorted(set(table) - known - ELSEWHERE)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.rpartition("usage: ")[2].strip())
    parser.add_argument("--simd", action="append")
    parser.add_argument("--history")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    levels = args.simd or (["avx2"] if "avx512f" in processor("flags").split() else [])
    programs = [p for p in sorted((BUILD / "bench").glob("bench_*")) if p.is_file() and os.access(p, os.X_OK)]
    ours = [BUILD / f"libttsim_{arch}.so" for arch in ("bh", "wh")]
    driver = BUILD / "bench" / "abi_driver"
    if args.names:
        programs = [p for p in programs if any(w in p.name for w in args.names)]
    if not (BUILD / "bench" / "mop.bin").is_file() or (args.names and not any(w in driver.name for w in args.names)):
        ours = []
    found, before = Table(), load()
    for _ in range(RUNS):
        for program in programs:
            for line in measure([program]):
                found.note(*line)
        for level in [None, *levels]:
            found.both(ours, level)
    print(f"load of the host before: {before}, after: {load()}")
    missed = found.print()
    unchecked = [] if args.names else found.unchecked(bars())
    if unchecked:
        why = "" if references() else " (ratios need WAITGATE_REFERENCE)"
        print(f"bars not checked{why}: {' '.join(unchecked)}", file=sys.stderr)
    if args.history:
        append_history(args.history, found.values, found.units)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
