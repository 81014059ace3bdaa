#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/silicon.md is what bench/silicon prints, every group reaches its line (bench/silicon/lines.csv, exceptions.csv),
and no group scores less than bench/silicon/shares.tsv says.

usage: test_silicon.py SILICON PAGE SHARES
"""
import pathlib
import re
import subprocess
import sys

out = subprocess.run([sys.argv[1], "--markdown"], capture_output=True, text=True)
complaints = out.stderr.splitlines()
if out.returncode and not complaints:
    complaints.append(f"bench/silicon ended with status {out.returncode}")
if out.stdout != pathlib.Path(sys.argv[2]).read_text():
    complaints.append("docs/silicon.md is not what build/bench/silicon --markdown prints: make silicon")
summary = re.compile(r"\| (\w+) \| (BH|WH) \| \d+ \|.*\| ([\d.]+) % \| [\d.]+ % \| ([\d.]+) % \|$", re.M)
scores = {(g, a): (round(100 * float(near)), round(100 * float(order)))
          for g, a, near, order in summary.findall(out.stdout)}
least = {tuple(f[:2]): (int(f[2]), int(f[3]))
         for f in (line.split("\t") for line in pathlib.Path(sys.argv[3]).read_text().splitlines())}
if not least or scores.keys() != least.keys():
    complaints.append(f"groups {sorted(scores)}, expected {sorted(least)}")
for group in scores.keys() & least.keys():
    for what, score, floor in zip(("rows within 5 %", "pairs in order"), scores[group], least[group]):
        if score + 5 < floor:  # the page rounds to a tenth of a per cent
            complaints.append(f"{' '.join(group)}: {what} {score / 100} %, at least {floor / 100} % expected")
print("\n".join(complaints))
sys.exit(bool(complaints))
