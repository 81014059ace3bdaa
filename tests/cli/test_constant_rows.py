#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Constants that were measured on rows of bench/silicon/*.csv: src/arch/constants.def counts the rows right.

usage: test_constant_rows.py CONSTANTS_DEF ESTIMATOR_CSV (the other files lie beside it)
"""
import csv
import pathlib
import re
import sys

SIZES = [64 << i for i in range(11)]
FROM_ONE = ("one_to_one", "one_to_all", "one_to_row", "one_to_column")


def l1(row, pattern):
    return row["memory"] == "l1" and row["pattern"] in pattern


# Constant: the rows and sizes that determine it; and rows of other files that do.
SHOWN_BY = {
    "noc_reserve": (lambda r: l1(r, FROM_ONE) and r["mechanism"] == "multicast", SIZES, (0, 0)),
    "noc_pause": (lambda r: l1(r, FROM_ONE) and r["mechanism"] == "unicast" and int(r["transactions"]) >= 16,
                  [s for s in SIZES if s >= 4096], (0, 0)),
    "noc_data_pause": (lambda r: l1(r, ("one_from_one",)), [s for s in SIZES if s >= 1024], (0, 0)),
    "noc_read": (lambda r: l1(r, ("one_from_one", "one_from_all")) and int(r["transactions"]) >= 4,
                 [s for s in SIZES if s <= 2048], (0, 0)),
    "noc_serve": (lambda r: r["memory"] != "l1" and r["pattern"].startswith("all_") and r["transactions"] == "1",
                  [s for s in SIZES if s <= 512], (0, 0)),
    "noc_data": (lambda r: l1(r, ("one_from_one",)) and r["transactions"] == "1", SIZES, (14, 4)),  # noc.csv: nocreadbench
    "dram_partial": (lambda r: r["memory"] == "sharded" and r["pattern"] == "one_to_one", [64], (0, 0)),
    "noc_ack": (lambda r: l1(r, ("one_to_one",)) and r["transactions"] == "1", SIZES, (0, 0)),
}

text = re.sub(r"\s+", " ", pathlib.Path(sys.argv[1]).read_text())
with open(sys.argv[2], newline="") as file:
    rows = list(csv.DictReader(file))
complaints = []
for name, (chosen, sizes, others) in SHOWN_BY.items():
    found = re.search(rf'TIMING\({name}, "[^"]*", \w+, (\w+\((\d+)\)), \w+, (\w+\((\d+)\))\)', text)
    if not found:
        complaints.append(f"{name}: no such constant, or no numbers of rows")
        continue
    for arch, said, more in zip(("bh", "wh"), (found[2], found[4]), others):
        counted = more + sum(1 for r in rows if r["arch"] == arch and chosen(r) for s in sizes if r[str(s)])
        if counted != int(said):
            complaints.append(f"{name} ({arch}): constants.def says {said} rows, there are {counted}")


def beside(name):
    with open(pathlib.Path(sys.argv[2]).with_name(name), newline="") as file:
        return list(csv.DictReader(file))


def compare(name, arch, said, counted):
    if said and counted != int(said):
        complaints.append(f"{name} ({arch}): constants.def says {said} rows, there are {counted}")


SCALAR = ("ADDDMAREG", "MULDMAREG", "SHIFTDMAREG", "CMPDMAREG")
# Constant of the measured profile: the file, and the rows that determine it.
SHOWN_ELSEWHERE = {
    "sync_extra": ("rv.csv", lambda r: int(r["n"] or 0) >= 32 and (r["probe"] == "s_solo_sync" or r["threads"] == "1" and r["probe"].endswith("_sync"))),
    "mul_result": ("rv.csv", lambda r: r["probe"] == "rv_mul_dep"),
    "mul_occupies": ("rv.csv", lambda r: r["probe"] == "rv_mul_indep"),
    "narrow_write": ("rv.csv", lambda r: r["probe"] == "rv_store_spread"),
    "scalar_alu": ("tensix.csv", lambda r: r["probe"] in SCALAR),
    "dram_rate": ("dram.csv", lambda r: r["arm"] == "one" and r["direction"] == "read"),
    "dram_write_rate": ("dram.csv", lambda r: r["arm"] == "one" and r["direction"] == "write"),
}
for name, (file, chosen, *others) in SHOWN_ELSEWHERE.items():
    found = re.search(rf'TIMING\({name}, "[^"]*", \w+, MEASURED\((\d+)\), \w+, MEASURED\((\d+)\)\)', text)
    if not found:
        complaints.append(f"{name}: no such constant, or no numbers of rows")
        continue
    for arch, said, more in zip(("bh", "wh"), found.groups(), others[0] if others else (0, 0)):
        compare(name, arch, said, more + sum(1 for r in beside(file) if r["arch"] == arch and chosen(r)))
latencies = re.findall(r"LATENCY\((\w+), MEASURED\((\d+)\), MEASURED\((\d+)\)\)", text)
if not latencies:
    complaints.append("no measured latency found")
for insn, *said in latencies:
    for arch, number in zip(("bh", "wh"), said):
        counted = sum(1 for r in beside("tensix.csv") if r["arch"] == arch and r["probe"] == insn)
        compare(insn, arch, number, counted)
print("\n".join(complaints))
sys.exit(bool(complaints))
