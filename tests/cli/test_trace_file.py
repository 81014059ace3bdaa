#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a trace of a program and reads it as a viewer does: tracks, slices, stalls with reasons, no overlap.

usage: test_trace_file.py WAITGATE PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile
from collections import defaultdict


def check(condition, what):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print("FAIL", what)


passed = failed = 0
waitgate, program = sys.argv[1:3]
with tempfile.TemporaryDirectory() as scratch:
    file = pathlib.Path(scratch) / "trace.json"
    r = subprocess.run([waitgate, "trace", "--json", "-o", file, program], capture_output=True, text=True)
    check(r.returncode == 0, f"status {r.returncode}: {r.stderr}")
    result, trace = json.loads(r.stdout), json.loads(file.read_text())
    check(list(pathlib.Path(scratch).iterdir()) == [file], "a temporary file is left behind")
events = trace["traceEvents"]
names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
slices = [e for e in events if e["ph"] == "X"]
by_track = defaultdict(list)
for e in slices:
    by_track[names[e["tid"]]].append(e)
for track in ("thread 0", "thread 1", "Sync Unit", "Scalar Unit"):
    check(by_track[track], f"no slice on the track {track}")
stalls = [e for e in slices if e["cat"] == "stall"]
check(any(e["name"] == "latched-wait" and e["args"]["because"] for e in stalls), "no latched wait with its reason")
check(all("ts" in e and e["dur"] >= 1 and e["ts"] + e["dur"] <= result["cycles"] + 1 for e in slices), "a slice outside the run")
for track, mine in by_track.items():
    mine.sort(key=lambda e: e["ts"])
    check(all(a["ts"] + a["dur"] <= b["ts"] for a, b in zip(mine, mine[1:])), f"slices of {track} overlap")
check(any(e["name"].startswith("ttsemwait") for e in by_track["thread 1"]), "SEMWAIT has no slice")
check(any(e["ph"] == "C" and e["name"] == "semaphore 1" for e in events), "no counter for semaphore 1")


def flows(path):
    """Arrows by name, as pairs of (track, cycle). Both ends must lie in a slice of their track."""
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "trace.json"
        subprocess.run([waitgate, "trace", "-o", file, path], capture_output=True, check=True)
        events = json.loads(file.read_text())["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    boxes = defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            boxes[e["tid"]].append((e["ts"], e["ts"] + e["dur"], e))
    ends, arrows = defaultdict(dict), defaultdict(list)
    for e in events:
        if "bind_id" in e: # from the beginning of a slice, or to it
            ends[f"bound {e['bind_id']}", "pass"]["s" if e.get("flow_out") else "f"] = (names.get(e["tid"]), e["ts"], e)
        if e["ph"] in "sf":
            inside = [box for a, b, box in boxes[e["tid"]] if a <= e["ts"] < b]
            check(len(inside) == 1, f"{path}: an arrow's end lies in {len(inside)} slices: {e}")
            ends[e["id"], e["name"]][e["ph"]] = (names.get(e["tid"]), e["ts"], inside[0] if inside else None)
    for (_, name), pair in ends.items():
        check(set(pair) == {"s", "f"} and pair["s"][1] <= pair["f"][1], f"{path}: {name} is no arrow forwards: {pair}")
        arrows[name].append((pair["s"], pair["f"]))
    return arrows


examples = pathlib.Path(program).resolve().parents[2] / "examples"
arrows = flows(examples / "handshake.tasm")
check(len(arrows["pass"]) == 45 and not arrows["push"], f"45 instructions, {len(arrows['pass'])} arrows to units")
check(all(a[2]["args"]["id"] == b[2]["args"]["id"] for a, b in arrows["pass"]), "an arrow between two instructions")
waits = [(a[0], a[2]["name"][:9], b[0], b[2]["name"]) for a, b in arrows["post"]]
check(("thread 0", "ttsempost", "thread 1", "latched-wait") in waits, f"no arrow from a post to its wait: {waits}")
arrows = flows(examples / "core.tasm")
check([(a[0], b[0]) for a, b in arrows["push"]] == [("T0", "thread 0")], f"no arrow from T0's push: {arrows['push']}")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
