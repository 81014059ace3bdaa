#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every hang_*.tasm and compares the report's wait-for graph, as JSON, with what the program's comments say.

usage: test_hangs.py WAITGATE DIRECTORY...

    # circle: NODE, NODE, …     the report's path is this circle, wherever it starts
    # chain: NODE, NODE, …      the report's path is this chain; its last node has no successor
    # edge: NODE -> NODE        the graph has this edge
    # finding: CODE             it was reported
    # story: WORDS              the story has these words
    # no story: WORDS           the story has not
    # changes: S of N: VALUE ACT by WHO, …   semaphore S has changed N times, at last so

A program without .arch runs on both architectures.
"""
import json
import pathlib
import re
import subprocess
import sys


def comments(text, key):
    return [m.strip() for m in re.findall(rf"^# {key}: (.*)$", text, re.M)]


def turned(nodes):
    """The circle rotated so that it starts at its least node."""
    at = nodes.index(min(nodes))
    return nodes[at:] + nodes[:at]


def check(report, text):
    hang = report.get("hang")
    if not hang:
        return "no hang is reported"
    edges = [(e["from"], e["to"]) for e in hang["edges"]]
    if len(set(edges)) != len(edges):
        return f"an edge stands twice: {edges}"
    path = [edges[i] for i in hang["path"]]
    if not path:
        return f"no path; edges {edges}"
    for a, b in zip(path, path[1:]):
        if a[1] != b[0]:
            return f"the path is torn: {path}"
    if hang["circular"] != (path[-1][1] == path[0][0]):
        return f"circular is {hang['circular']}, but the path is {path}"
    nodes = [a for a, _ in path]
    for wanted in comments(text, "circle"):
        wanted = wanted.split(", ")
        if not hang["circular"] or turned(nodes) != turned(wanted):
            return f"wanted the circle {wanted}, got {path} in {edges}"
    for wanted in comments(text, "chain"):
        wanted = wanted.split(", ")
        if hang["circular"] or nodes + [path[-1][1]] != wanted:
            return f"wanted the chain {wanted}, got {path} in {edges}"
        if any(a == wanted[-1] for a, _ in edges):
            return f"{wanted[-1]} is no end: {edges}"
    for wanted in comments(text, "edge"):
        if tuple(wanted.split(" -> ")) not in edges:
            return f"no edge {wanted} in {edges}"
    for node in nodes:
        if node not in hang["story"] and not re.search(rf"\b{node.split()[-1]}\b", hang["story"]):
            return f"the story does not name {node}: {hang['story']}"
    for wanted in comments(text, "story"):
        if wanted not in hang["story"]:
            return f"no '{wanted}' in the story: {hang['story']}"
    for unwanted in comments(text, "no story"):
        if unwanted in hang["story"]:
            return f"'{unwanted}' in the story: {hang['story']}"
    for semaphore, count, wanted in (re.fullmatch(r"(\d) of (\d+): (.*)", line).groups() for line in comments(text, "changes")):
        s = hang["semaphores"][int(semaphore)]
        found = ", ".join(f"{c['value']} {c['act']} by {c['by']}" for c in s.get("changes", []))
        cycles = [c["cycle"] for c in s.get("changes", [])]
        if (s.get("change_count"), found) != (int(count), wanted) or cycles != sorted(cycles):
            return f"semaphore {semaphore} changed {s.get('change_count')} times: {found}"
    codes = {f["code"] for f in report["findings"]}
    for wanted in comments(text, "finding"):
        if wanted not in codes:
            return f"no finding {wanted} in {codes}"
    return None


def main():
    waitgate, good, bad = sys.argv[1], 0, 0
    for directory in sys.argv[2:]:
        for file in sorted(pathlib.Path(directory).glob("hang_*.tasm")):
            text = file.read_text()
            if not any(comments(text, key) for key in ("circle", "chain", "edge")):
                print(f"FAIL {file.name}: it expects nothing")
                bad += 1
                continue
            own = re.search(r"^\s*\.arch\s+(\w+)", text, re.M)
            for arch in [own[1]] if own else ["bh", "wh"]:
                r = subprocess.run([waitgate, "run", "--arch", arch, "--max-cycles", "200000", "--json", file],
                                   capture_output=True, text=True, timeout=300)
                try:
                    wrong = check(json.loads(r.stdout), text)
                except json.JSONDecodeError as e:
                    wrong = f"{e}: {r.stdout}{r.stderr}"
                if not wrong and r.returncode:
                    wrong = f"status {r.returncode}"
                good, bad = good + (not wrong), bad + bool(wrong)
                if wrong:
                    print(f"FAIL {file.name} on {arch}: {wrong}")
    print(f"{good} passed, {bad} failed")
    sys.exit(1 if bad or not good else 0)


main()
