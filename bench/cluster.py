#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well a cluster of chips spreads over processes: measured on this machine, as a model, and what the model says of larger ones.

    cluster_two_ranks_ratio   how many times as fast two processes compute four busy chips as one does
    cluster_N_ranks           nanoseconds per cycle of these chips with N processes, and what the model expects
    exchange_N_BYTES          microseconds that the end of a window takes (bench/exchange.c)
    cluster_galaxy_ring       seconds and memory of the all-reduce on 32 chips

Start-up is excluded by subtracting a short run from a long one. Bars are in bench/bars.tsv.

usage: bench/cluster.py [--page FILE]      the page of the model, written from these measurements if they reach their bars, with its
                                           pictures beside it
"""
import argparse
import math
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
RUNS = int(os.environ.get("WG_BENCH_RUNS", "5"))
CYCLES = int(os.environ.get("WG_BENCH_CYCLES", "60000"))
WINDOW = {"wh": 391, "bh": 527}
CHIPS, TILES = 4, 16
ENV = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def under(ranks, *command):
    return (["mpirun", "-n", str(ranks)] if ranks > 1 else []) + [str(word) for word in command]


def busy(folder, chips):
    """Chips whose tiles multiply and whose Ethernet tiles poll: every window has the same work on all chips."""
    for elf in (BUILD / "examples").glob("matmul.*.elf"):
        (folder / elf.name).write_bytes(elf.read_bytes())
    cores = "".join(f", {core}: matmul.{core}.elf" for core in ("brisc", "trisc0", "trisc1", "trisc2"))
    places = ", ".join(f"[{1 + n % 4}, {2 + n // 4}]" for n in range(TILES))
    path = folder / f"busy{chips}.yaml"
    path.write_text(f"topology: p150x4\nchips:\n  - chip: {{from: 0, to: {chips - 1}}}\n    tiles:\n"
                    f"      - {{at: [{places}]{cores}, load: [{{address: 0x20000, words: [4]}}, {{address: 0x20010, words: [100000000]}}]}}\n")
    return path


def seconds_of(ranks, path, cycles):
    began = time.monotonic()
    done = subprocess.run(under(ranks, BUILD / "waitgate", "run", "--quiet", "--max-cycles", cycles, path), env=ENV, capture_output=True, text=True)
    took = time.monotonic() - began
    if done.returncode != 5:
        sys.exit(f"cluster.py: {path} with {ranks} processes: status {done.returncode}\n{done.stdout}{done.stderr}")
    return took


def per_cycle(ranks, path):
    return (seconds_of(ranks, path, 3 * CYCLES) - seconds_of(ranks, path, CYCLES)) / (2 * CYCLES)


def exchanges(ranks):
    """Microseconds by message size."""
    done = subprocess.run(under(ranks, BUILD / "bench/exchange", BUILD / "libwaitgate_mpi.so"), env=ENV, capture_output=True, text=True)
    found = {int(size): float(us) for size, us in re.findall(r"^exchange_\d+_(\d+) ([\d.]+) us$", done.stdout, re.M)}
    if done.returncode or not found:
        sys.exit(f"cluster.py: exchange: {done.stdout}{done.stderr}")
    return found


def galaxy_ring():
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, time.monotonic()
    subprocess.run([BUILD / "waitgate", "run", "--quiet", BUILD / "examples/galaxy_ring.yaml"], check=True, capture_output=True)
    took, peak = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return took, max(peak, before) / 1024


# ---- The model --------------------------------------------------------------------------------------------------------

class Model:
    """Time per cycle with R processes, each with a processor of its own:

        T(R) = L * m / R + (a + g * log2(R) + b * v) / w

    L: time per cycle of all chips in one process; m: how much more the busiest process has to do than the mean; a, g: the end of a
    window: a + g between two processes, g more for each doubling; b: time per byte; v: bytes that a process sends in a window; w: cycles
    of a window.
    """

    def __init__(self, load, two, four, window, processors):
        self.load, self.window, self.processors = load, window, processors
        self.growth = (max(0.0, four[0] - two[0]) if processors >= 4 else two[0]) * 1e-6
        self.first = two[0] * 1e-6 - self.growth
        self.byte = max(0.0, (two[131072] - two[0]) / 131072 * 1e-6)

    def time(self, ranks, volume=0.0, imbalance=1.0, chips=CHIPS, processors=None):
        if ranks == 1:
            return self.load * chips / CHIPS
        at_once = min(ranks, processors or ranks)
        end = self.first + self.growth * math.log2(ranks) + self.byte * volume
        return self.load * chips / CHIPS * imbalance / at_once + end / self.window

    def efficiency(self, ranks, **more):
        return self.time(1, chips=more.get("chips", CHIPS)) / ranks / self.time(ranks, **more)


# ---- The page ---------------------------------------------------------------------------------------------------------

def picture(model, chips):
    """Efficiency against the number of processes, for several loads of a chip."""
    width, height, left, top = 460, 220, 48, 24
    most = int(math.log2(chips))

    def at(ranks, efficiency):
        return left + math.log2(ranks) / most * width, top + (1 - efficiency) * height

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 150}" height="{top + height + 40}" font-family="monospace" font-size="11">',
             '<rect width="100%" height="100%" fill="#fff"/>']
    for tenth in range(0, 11, 2):
        y = at(1, tenth / 10)[1]
        parts.append(f'<path d="M{left} {y:.0f}H{left + width}" stroke="#ddd"/><text x="6" y="{y + 4:.0f}">{10 * tenth:3d} %</text>')
    for k in range(most + 1):
        x = at(2 ** k, 0)[0]
        parts.append(f'<text x="{x - 6:.0f}" y="{top + height + 18}">{2 ** k}</text>')
    parts.append(f'<text x="{left}" y="{top + height + 34}">processes, of {chips} chips</text>')
    for share, colour in ((1, "#0969da"), (0.1, "#bc4c00"), (0.01, "#8250df")):
        scaled = Model.__new__(Model)
        scaled.__dict__ = {**model.__dict__, "load": model.load * share}
        points = [at(2 ** k, scaled.efficiency(2 ** k, chips=chips)) for k in range(most + 1)]
        parts.append(f'<path d="M{" L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        x, y = points[-1]
        parts.append(f'<text x="{x + 8:.0f}" y="{y + 4:.0f}" fill="{colour}">{100 * share:g} % busy</text>')
    return "\n".join(parts) + "\n</svg>\n"


def page(model, measured, ring):
    rows = "\n".join(f"| {ranks} | {1e9 * took:.0f} | {1e9 * model.time(ranks, processors=model.processors):.0f} | "
                     f"{100 * measured[1] / ranks / took:.0f} % |" for ranks, took in measured.items())
    drawn = "\n".join(f"| {chips} | " + " | ".join(f"{100 * model.efficiency(ranks, chips=chips):.0f} %" if ranks <= chips else "–"
                                                   for ranks in (2, 8, 32, 128, 1024)) + " |" for chips in (32, 1024))
    return f"""<!-- Generated by bench/cluster.py, which `make bench` runs. -->
# How a cluster spreads over processes

Chips compute a window of time alone, then all processes exchange frames and learn what happens next. With R processes, each with a
processor of its own, a cycle takes

    T(R) = L m / R + (a + g log2 R + b v) / w

| | What | Here |
|---|---|---|
| L | time per cycle of all chips in one process | {1e9 * model.load:.0f} ns for {CHIPS} chips of {TILES} tiles each that multiply |
| m | the busiest process's share, over the mean | 1 for a balanced load |
| a, g | the end of a window: a + g between two processes, g more for each doubling of their number | {1e6 * model.first:.1f} µs, {1e6 * model.growth:.1f} µs |
| b | time per byte exchanged | {1e9 * model.byte:.2f} ns |
| v | bytes that a process sends in a window | none here |
| w | cycles of a window: the links' least latency | {WINDOW["bh"]} (Blackhole), {WINDOW["wh"]} (Wormhole) |

`make bench` measures these (`bench/cluster.py`, `bench/exchange.c`), and `bench/cluster.py --page` writes this page. A frame of n bytes
needs n / 18.5 cycles of a link, so that a link contributes at most 10 KiB to v.

With fewer than four processors g cannot be measured: all of a + g is taken as g, which is the worst case. Measured on a machine with {model.processors} processors, which a larger number of processes shares:

| Processes | ns per cycle | the model's | efficiency |
|---|---|---|---|
{rows}

For more processes than this machine has, the model says, with the same load on every chip:

| Chips | 2 processes | 8 | 32 | 128 | 1,024 |
|---|---|---|---|---|---|
{drawn}

![Efficiency of 32 chips](pictures/cluster_32.svg)
![Efficiency of 1,024 chips](pictures/cluster_1024.svg)

The less work a window has, the more its end counts: chips that are 1 % busy are best computed by one process per node.
Windows in which nothing happens anywhere are skipped, and cost nothing.

A Galaxy's 32 chips with a ring all-reduce take {ring[0]:.2f} s and {ring[1]:.0f} MiB in one process.
"""


def main():
    p = argparse.ArgumentParser(description="measures clusters on several processes", usage="bench/cluster.py [--page FILE]")
    p.add_argument("--page", type=pathlib.Path)
    args = p.parse_args()
    if subprocess.run(["which", "mpirun"], capture_output=True).returncode or not (BUILD / "libwaitgate_mpi.so").is_file():
        print("cluster.py: there is no MPI", file=sys.stderr)
        return 0
    values = {}

    def note(name, value, unit):
        values.setdefault((name, unit), []).append(value)

    with tempfile.TemporaryDirectory() as scratch:
        path = busy(pathlib.Path(scratch), CHIPS)
        for _ in range(RUNS):
            alone = per_cycle(1, path)
            note("cluster_1_ranks", 1e9 * alone, "ns")
            for ranks in (2, 3, 4):
                took = per_cycle(ranks, path)
                note(f"cluster_{ranks}_ranks", 1e9 * took, "ns")
                if ranks == 2:
                    note("cluster_two_ranks_ratio", alone / took, "x")
            for ranks in (2, 4):
                for size, us in exchanges(ranks).items():
                    note(f"exchange_{ranks}_{size}", us, "us")
            took, mib = galaxy_ring()
            note("cluster_galaxy_ring", took, "s")
            note("cluster_galaxy_ring_memory", mib, "MiB")
    median = {name: statistics.median(samples) for (name, _), samples in values.items()}
    for (name, unit), samples in values.items():
        print(f"{name} {statistics.median(samples):.6g} {unit}")
    measured = {ranks: median[f"cluster_{ranks}_ranks"] * 1e-9 for ranks in (1, 2, 3, 4)}
    two, four = ({size: median[f"exchange_{ranks}_{size}"] for size in (0, 131072)} for ranks in (2, 4))
    model = Model(measured[1], two, four, WINDOW["bh"], os.cpu_count() or 1)
    for ranks in (2, 3, 4):
        print(f"cluster_{ranks}_ranks_model {1e9 * model.time(ranks, processors=model.processors):.6g} ns")
    missed = 0
    for line in open(ROOT / "bench/bars.tsv"):
        name, direction, bar = (line.split() + ["", "", ""])[:3]
        if name in median and not (median[name] >= float(bar) if direction == ">=" else median[name] <= float(bar)):
            print(f"bar missed: {name} is {median[name]:.6g}, wanted {direction} {bar}", file=sys.stderr)
            missed += 1
    if args.page and missed:
        print(f"cluster.py: {args.page} stays as it is", file=sys.stderr)
    elif args.page:
        pictures = args.page.parent / "pictures"
        pictures.mkdir(exist_ok=True)
        args.page.write_text(page(model, measured, (median["cluster_galaxy_ring"], median["cluster_galaxy_ring_memory"])))
        for chips in (32, 1024):
            (pictures / f"cluster_{chips}.svg").write_text(picture(model, chips))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
