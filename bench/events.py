#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of the event stream without a reader: this build against one with the calls compiled out.

Builds the second one in build/noevents (-Devents=false), runs `bench_frontend cost` of both in turn, nine times each,
and prints the difference of the medians in percent, with the bar.
"""
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUNS = int(os.environ.get("WG_BENCH_EVENTS_RUNS", "9"))
BAR = 2.0


def build():
    tree = ROOT / "build" / "noevents"
    if not (tree / "build.ninja").is_file():
        subprocess.run(["meson", "setup", str(tree), str(ROOT), "--buildtype=release", "-Devents=false"], check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", str(tree), "bench/bench_frontend"], check=True, stdout=subprocess.DEVNULL)
    return tree / "bench" / "bench_frontend"


def cost(program):
    return float(subprocess.run([str(program), "cost"], check=True, capture_output=True, text=True).stdout)


def main():
    programs = (ROOT / "build" / "bench" / "bench_frontend", build())
    samples = ([], [])
    for _ in range(RUNS):
        for program, times in zip(programs, samples):
            times.append(cost(program))
    on, off = (statistics.median(times) for times in samples)
    percent = (on / off - 1) * 100
    met = percent <= BAR
    print(f"events_off_cost {percent:.2f} % (bar <= {BAR:g}: {'met' if met else 'MISSED'}; {on:.2f} against {off:.2f} ns "
          f"per cycle, medians of {RUNS})")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
