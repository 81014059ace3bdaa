#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces and logs of one tile and of chips, in every format, read as their viewers do.

usage: test_traces.py WAITGATE EXAMPLES_FOLDER PROGRAM
"""
import ctypes
import ctypes.util
import json
import pathlib
import re
import struct
import subprocess
import sys
from collections import Counter, defaultdict

from suite import run as run_suite, test

WAITGATE, EXAMPLES, PROGRAM = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
RELAY, DRAM = EXAMPLES / "relay.yaml", EXAMPLES / "dram.yaml"
MATMUL = sorted(EXAMPLES.glob("matmul.*.elf"))


def waitgate(*words):
    r = subprocess.run([WAITGATE, *map(str, words)], capture_output=True, text=True, timeout=120)
    assert r.returncode == 0, (words, r.returncode, r.stderr, r.stdout)
    return r.stdout


# ---- JSON ----

def read_json(path):
    """A trace as (slices, arrows, counters): a slice is (process, track, name, category, from, to, details)."""
    events = json.loads(path.read_text())["traceEvents"]
    process = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name" and e["ph"] == "M"}
    track = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name" and e["ph"] == "M"}
    slices = [(process[e["pid"]], track[e["pid"], e["tid"]], e["name"], e["cat"], e["ts"], e["ts"] + e["dur"], e["args"])
              for e in events if e["ph"] == "X"]
    ends, arrows = defaultdict(dict), []
    for e in events:
        if e["ph"] in "sf":
            key, end = e["id"], e["ph"]
        elif "bind_id" in e: # between the beginnings of two slices
            key, end = f"bound {e['bind_id']}", "s" if e.get("flow_out") else "f"
            assert bool(e.get("flow_out")) != bool(e.get("flow_in")), e
        else:
            continue
        assert end not in ends[key], e
        ends[key][end] = (process[e["pid"]], track[e["pid"], e["tid"]], e["ts"])
        ends[key]["name"] = e["name"] if e["ph"] in "sf" else "pass"
    for a in ends.values():
        arrows.append((a["name"], a["s"], a["f"]))
    counters = [(process[e["pid"]], e["name"], e["ts"], e["args"]["value"]) for e in events if e["ph"] == "C"]
    return slices, arrows, counters


def at(slices, end):
    """The slice in which an arrow's end lies: exactly one."""
    inside = [s for s in slices if (s[0], s[1]) == end[:2] and s[4] <= end[2] < s[5]]
    assert len(inside) == 1, (end, inside)
    return inside[0]


def no_overlap(slices):
    tracks = defaultdict(list)
    for s in slices:
        tracks[s[:2]].append(s[4:6])
    for name, spans in tracks.items():
        spans.sort()
        assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:])), name


def total(counters, process, name, end):
    """The sum of a counter of bytes in 64 cycles: each value holds until the next."""
    mine = sorted((ts, value) for p, n, ts, value in counters if (p, n) == (process, name)) + [(end, 0)]
    return sum(value * ((b - a + 63) // 64) for (a, value), (b, _) in zip(mine, mine[1:]))


@test
def tiles_of_a_chip_are_processes(d):
    out = json.loads(waitgate("trace", "--json", "-o", d / "t.json", RELAY))
    slices, arrows, counters = read_json(d / "t.json")
    assert {s[0] for s in slices} == {"tile 1-2", "tile 2-2"}
    no_overlap(slices)
    assert all(0 <= s[4] < s[5] <= out["cycles"] + 1 for s in slices)
    functions = {(s[0], s[2]) for s in slices if s[1] == "B functions"}
    assert functions >= {("tile 1-2", "main"), ("tile 2-2", "main")}, functions
    stalls = [s for s in slices if s[3] == "stall" and "relay.c:" in s[6].get("at", "")]
    assert stalls, "no stall names its line"
    # Eight blocks, eight flags and eight answers to them; each packet leaves one tile and arrives in the other.
    requests = [(at(slices, a), at(slices, b)) for name, a, b in arrows if name == "request"]
    answers = [(at(slices, a), at(slices, b)) for name, a, b in arrows if name == "answer"]
    assert len(requests) == 24 and len(answers) == 48, (len(requests), len(answers))
    for a, b in requests:
        assert {a[0], b[0]} == {"tile 1-2", "tile 2-2"} and a[1] == "NIU 0 sends" and b[1].startswith("NIU 0 arriving")
        assert a[6]["transaction"] == b[6]["transaction"] and a[4] == b[4] and b[6]["links"] >= 1
        there, here = ("2-2", "1-2") if a[0] == "tile 1-2" else ("1-2", "2-2")
        size = re.fullmatch(rf"write (\d+) B to {there}", a[2])[1]
        assert b[2] == f"write {size} B from {here}", (a, b)
    assert Counter(a[2].split()[1] for a, _ in requests) == {"1024": 8, "16": 16}
    # An answer leaves where the request arrived, and its own arrow leads back.
    assert sum(a[0] == b[0] for a, b in answers) == 24 and sum(a[0] != b[0] for a, b in answers) == 24
    assert total(counters, "tile 1-2", "NoC 0 bytes sent in 64 cycles", out["cycles"]) == 8 * (1024 + 16)
    assert total(counters, "tile 2-2", "NoC 0 bytes arrived in 64 cycles", out["cycles"]) == 8 * (1024 + 16)
    written = total(counters, "tile 1-2", "L1 bytes written in 64 cycles", out["cycles"])
    assert written == 8 * (1024 + 4 + 16), written  # its blocks, the flags that it sends, those that it receives


@test
def bytes_of_l1(d):
    """A tile of FP32 that the packers write and the word at the end; two tiles of BF16 that the unpackers read, and
    four parameters."""
    for arch, prefix in (("bh", ""), ("wh", "wh_")):
        out = json.loads(waitgate("trace", "--json", "--arch", arch, "-o", d / "t.json", *sorted(EXAMPLES.glob(f"{prefix}matmul.*.elf"))))
        counters = read_json(d / "t.json")[2]
        assert total(counters, "tile 0", "L1 bytes written in 64 cycles", out["cycles"]) == 4096 + 4, arch
        assert total(counters, "tile 0", "L1 bytes read in 64 cycles", out["cycles"]) == 2 * 2048 + 16, arch


@test
def a_request_to_a_tile_without_a_trace(d):
    waitgate("trace", "-o", d / "t.json", DRAM)
    slices, arrows, _ = read_json(d / "t.json")
    no_overlap(slices)
    pairs = [(at(slices, a), at(slices, b)) for name, a, b in arrows if name == "answer"]
    names = [(a[2], b[2]) for a, b in pairs]
    assert ("read 2048 B from 0-0", "data 2048 B from 0-0") in names, names
    assert {s[1] for s in slices} >= {"NIU 0 sends", "NIU 1 sends", "Packers", "T0 functions"}


# ---- Protocol buffers: Perfetto's field numbers, written down from its .proto files, not taken from the encoder ----

def fields(data):
    """(field, value) of a message; a value is a number or bytes."""
    i = 0

    def varint():
        nonlocal i
        value = shift = 0
        while True:
            byte = data[i]
            i += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while i < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, struct.unpack_from("<Q", data, i)[0]
            i += 8
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            length = varint()
            assert i + length <= len(data), "a message ends early"
            yield key >> 3, data[i:i + length]
            i += length


def one(message, field, default=None):
    found = [v for f, v in message if f == field]
    assert len(found) <= 1, (field, found)
    return found[0] if found else default


def read_details(event, texts):
    """The event with its texts instead of their numbers."""
    out = []
    for field, value in event:
        if field == 3:
            value = texts[1][value]
        if field == 4:
            detail = list(fields(value))
            text, listed = one(detail, 6), one(detail, 17)
            value = (texts[3][one(detail, 1)], texts[29][listed] if listed else one(detail, 3) if text is None else text.decode())
        out.append((field, value))
    return out


def read_proto(data):
    """As read_json(): the trace that a reader of Perfetto's schema sees."""
    process, track, counter = {}, {}, {}
    texts = {1: {}, 2: {}, 3: {}, 29: {}}  # of categories, events, details' names, details
    events = []
    for number, (field, packet) in enumerate(fields(data)):
        assert field == 1, "Trace.packet"
        packet = list(fields(packet))
        assert one(packet, 10) == 1, "trusted_packet_sequence_id"
        assert one(packet, 13) == (1 if number == 0 else 2), "sequence_flags"
        for listed, entry in fields(one(packet, 12, b"")):
            entry = list(fields(entry))
            texts[listed][one(entry, 1)] = one(entry, 2).decode()
        if descriptor := one(packet, 60):
            descriptor = list(fields(descriptor))
            uuid = one(descriptor, 1)
            if (own := one(descriptor, 3)) is not None:
                own = list(fields(own))
                assert one(own, 1) is not None and one(descriptor, 11) == 3
                process[uuid] = one(own, 6).decode()
            else:
                assert one(descriptor, 12) is not None
                where = counter if one(descriptor, 8) is not None else track
                where[uuid] = (process[one(descriptor, 5)], one(descriptor, 2).decode())
        if event := one(packet, 11):
            event = list(fields(event))
            name = texts[2][one(event, 10)] if one(event, 10) else (one(event, 23) or b"").decode()
            event = read_details(event, texts)
            assert one(event, 11) in process.keys() | track.keys() | counter.keys(), "an event on a track that is described later"
            events.append((one(packet, 8), len(events), name, event))
    slices, counters, flows, open_slices = [], [], defaultdict(dict), defaultdict(list)
    for ns, _, name, event in sorted(events, key=lambda e: e[:2]):
        assert ns % 1000 == 0
        kind, uuid, cycle = one(event, 9), one(event, 11), ns // 1000
        if kind == 4:
            counters.append((*counter[uuid], cycle, one(event, 30)))
        elif kind == 1:
            open_slices[uuid].append((name, one(event, 3), cycle, dict(v for f, v in event if f == 4)))
        elif kind == 2:
            name, category, begin, details = open_slices[uuid].pop()
            slices.append((*track[uuid], name, category, begin, cycle, details))
        assert kind in (1, 2, 3, 4)
        for field, end in ((47, "s"), (48, "f")):
            if flow := one(event, field):
                assert kind in (1, 3) and end not in flows[flow]
                flows[flow][end] = (*track[uuid], cycle)
                flows[flow]["name"] = name if kind == 3 else "pass"
    assert not any(open_slices.values())
    return slices, [(f["name"], f["s"], f["f"]) for f in flows.values()], counters


def comparable(trace):
    """JSON stores large numbers as text."""
    slices, arrows, counters = trace
    texts = [(*s[:6], sorted((k, str(v)) for k, v in s[6].items())) for s in slices]
    return sorted(map(repr, texts)), sorted(arrows), sorted(counters)


@test
def protobuf_says_the_same_as_json(d):
    for what in ([RELAY], MATMUL, [PROGRAM]):
        waitgate("trace", "-o", d / "t.json", *what)
        waitgate("trace", "-o", d / "t.pftrace", *what)
        a, b = comparable(read_json(d / "t.json")), comparable(read_proto((d / "t.pftrace").read_bytes()))
        for left, right in zip(a, b):
            assert left == right, [x for x in zip(left, right) if x[0] != x[1]][:3]
        assert len(a[0]) > 5
        text = (d / "t.json").read_text()
        assert all(int(n) <= 1 << 53 for n in re.findall(r'":(\d+)[,}]', text))
        assert (what != [RELAY]) == (not re.search(r'"transaction":"\d+"', text))
        assert what == [PROGRAM] or (d / "t.pftrace").stat().st_size < (d / "t.json").stat().st_size


@test
def compressed_traces(d):
    zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    for suffix in ("pftrace", "json", "kanata"):
        waitgate("run", "--quiet", "--trace", d / f"t.{suffix}", *MATMUL)
        waitgate("run", "--quiet", "--trace", d / f"t.{suffix}.zst", *MATMUL)
        plain, packed = (d / f"t.{suffix}").read_bytes(), (d / f"t.{suffix}.zst").read_bytes()
        room = ctypes.create_string_buffer(len(plain) + 1)
        got = zstd.ZSTD_decompress(room, len(plain) + 1, packed, len(packed))
        assert got == len(plain) and room.raw[:got] == plain and 3 * len(packed) < len(plain), suffix


# ---- Konata ----

def read_kanata(text):
    """Instructions by number: stages [(lane, stage, from, to)], texts, retirement; dependencies. Fails if it is not a
    valid Konata log."""
    lines = text.splitlines()
    assert lines[0] == "Kanata\t0004" and lines[1].startswith("C=\t")
    cycle, insns, depends, open_stages, retired = int(lines[1][3:]), {}, [], {}, 0
    for line in lines[2:]:
        command, *rest = line.split("\t")
        if command == "C":
            assert int(rest[0]) > 0
            cycle += int(rest[0])
            continue
        number = int(rest[0])
        if command == "I":
            assert number == len(insns), "numbers follow each other"
            insns[number] = {"id": int(rest[1]), "thread": int(rest[2]), "from": cycle, "text": ["", ""], "stages": [], "end": None}
            continue
        insn = insns[number]
        assert insn["end"] is None, f"instruction {number} has retired"
        if command == "L":
            insn["text"][int(rest[1])] += rest[2]
        elif command == "S":
            key = (number, int(rest[1]))
            if key in open_stages:
                insn["stages"].append((*open_stages.pop(key), cycle))
            open_stages[key] = (int(rest[1]), rest[2], cycle)
        elif command == "E":
            stage = open_stages.pop((number, int(rest[1])))
            assert stage[1] == rest[2], "the stage that ends is not the one that began"
            insn["stages"].append((*stage, cycle))
        elif command == "R":
            for lane in (0, 1):
                if (number, lane) in open_stages:
                    insn["stages"].append((*open_stages.pop((number, lane)), cycle))
            insn["end"] = (cycle, int(rest[2]))
            if rest[2] == "0":
                assert int(rest[1]) == retired
                retired += 1
        elif command == "W":
            assert int(rest[1]) in insns and rest[2] == "0"
            depends.append((number, int(rest[1])))
        else:
            assert False, line
    assert all(i["end"] for i in insns.values())
    return insns, depends


@test
def konata_shows_every_instruction(d):
    for program in (["--quiet", *MATMUL], ["--quiet", PROGRAM], ["--quiet", pathlib.Path(PROGRAM).parents[2] / "examples/handshake.tasm"]):
        waitgate("run", "--trace", d / "t.kanata", "--log", d / "log", *program)
        insns, depends = read_kanata((d / "t.kanata").read_text())
        by_id = {(i["thread"], i["id"]): i for i in insns.values()}
        assert len(by_id) == len(insns)
        seen = defaultdict(set)
        for line in (d / "log").read_text().splitlines():
            m = re.match(r" *(\d+)  thread (\d)  (\w+) +#(\d+) +0x\w+  (.*?)(  (?:->|from|because) .*)?$", line)
            if not m:
                continue
            cycle, thread, what, number = int(m[1]), int(m[2]), m[3], int(m[4])
            insn = by_id[thread, number]
            seen[what].add((thread, number))
            assert insn["text"][0] == m[5], (insn, line)
            stages = {(lane, name): (a, b) for lane, name, a, b in insn["stages"]}
            if what in ("pushed", "expanded"):
                assert insn["from"] == cycle
            if what == "issued":
                assert stages[1, "X"][0] == cycle and stages[0, "G"][1] <= cycle + 1
            if what == "completed":
                expander = m[5].split()[0] in ("ttmop", "ttreplay")
                assert expander or stages[1, "X"][1] == cycle, (line, insn)
                assert insn["end"] == (cycle, 0) or (thread, number) in seen["latched"], (line, insn)
            if what == "released":
                assert insn["end"] == (cycle, 0) and stages[1, "W"][1] == cycle, (line, insn)
            if what == "blocked":
                assert stages[0, "G"][0] <= cycle
        assert seen["pushed"] | seen["expanded"] == set(by_id) and seen["issued"] and seen["released"]
        waits = {(insns[a]["text"][0].split()[0], insns[b]["text"][0].split()[0]) for a, b in depends}
        if "handshake" in str(program[-1]):
            assert ("ttsemwait", "ttsempost") in waits, waits


@test
def konata_shows_expansions(d):
    (d / "p.tasm").write_text(".arch bh\n.thread 0\n"
                              "    ttmop_cfg 0\n    ttreplay 0, 2, 0, 1\n    ttincrwc 0, 1, 0, 0\n    ttsetrwc 0, 0, 0, 0, 0, 0\n"
                              "    ttreplay 0, 2, 0, 0\n    ttreplay 0, 2, 0, 0\n")
    waitgate("run", "--trace", d / "t.kanata", d / "p.tasm")
    insns, depends = read_kanata((d / "t.kanata").read_text())
    made = [(insns[a]["text"][0].split()[0], insns[b]["text"][0].split()[0], insns[b]["id"]) for a, b in depends]
    replays = [m for m in made if m[1] == "ttreplay"]
    assert Counter(m[0] for m in replays) == {"ttincrwc": 2, "ttsetrwc": 2}, made
    waitgate("run", "--quiet", "--trace", d / "m.kanata", *MATMUL)
    parents = Counter()
    for log in (d / "t.kanata", d / "m.kanata"):
        insns, depends = read_kanata(log.read_text())
        made = defaultdict(list)
        for a, b in depends:
            if insns[b]["text"][0].split()[0] in ("ttmop", "ttreplay") and insns[a]["stages"][0][1] in "MR":
                made[b].append(insns[a]["from"])
        for number, cycles in made.items():  # a stage for each cycle in which it produces one
            name = insns[number]["text"][0].split()[0]
            own = [s for s in insns[number]["stages"] if s[1] == name[2].upper()]
            assert sum(s[3] - s[2] for s in own) == len(set(cycles)), (own, cycles)
            assert all(any(s[2] <= c < s[3] for s in own) for c in cycles), (own, cycles)
            parents[name] += 1
    assert parents["ttreplay"] >= 2 and parents["ttmop"] >= 1, parents


@test
def konata_of_a_chip_is_a_file_per_tile(d):
    r = subprocess.run([WAITGATE, "run", "--trace", d / "t.kanata", EXAMPLES / "chip.yaml"], capture_output=True, text=True, cwd=d)
    assert r.returncode == 6 and "t-{x}-{y}.kanata" in r.stderr.replace("tile-", "t-"), r.stderr
    waitgate("run", "--quiet", "--trace", d / "t-{x}-{y}.kanata", DRAM)
    insns, _ = read_kanata((d / "t-3-4.kanata").read_text())
    assert any(i["text"][0].startswith("ttpacr") for i in insns.values())


@test
def arrows_from_units(d):
    """push → pass → unit → result: a thread that has waited for a unit has an arrow from the instruction that ended the
    wait; each pass of a gate has one to the unit."""
    waitgate("run", "--quiet", "--trace", d / "t.json", *MATMUL)
    slices, arrows, _ = read_json(d / "t.json")
    ends = [(name, at(slices, a), at(slices, b)) for name, a, b in arrows]
    passes = [(a, b) for name, a, b in ends if name == "pass"]
    assert passes and all(a[1].startswith("thread ") and a[2] == b[2] and a[3] == "issued" and b[3] == "executing" for a, b in passes)
    results = {(a[1], a[2].split()[0], b[1], b[2]) for name, a, b in ends if name == "result"}
    assert {("Packers", "ttpacr", "thread 2", "latched-wait"), ("Unpacker 0", "ttunpacr", "thread 0", "unpack-address-phase")} <= results, results
    waits = [s for s in slices if s[3] == "stall" and s[6].get("holder") == "Packers" and s[2] == "latched-wait"]
    assert waits and all(any(name == "result" and b == w for name, _, b in ends) for w in waits), waits
    for name, a, b in ends:
        assert name != "result" or a[4] < b[5], (a, b)
    # A unit that has waited for another one: unpackers for the banks that MVMUL gives back.
    (d / "six.bin").write_bytes(b"".join(n.to_bytes(4, "little") for n in (4, 0, 0, 0, 6)))
    waitgate("run", "--quiet", "--load", f"0x20000={d}/six.bin", "--trace", d / "t.json", *MATMUL)
    slices, arrows, _ = read_json(d / "t.json")
    results = {(at(slices, a)[1].split(" (")[0], at(slices, b)[1].split(" (")[0]) for name, a, b in arrows if name == "result"}
    assert {("Matrix Unit", "Unpacker 0"), ("Matrix Unit", "Unpacker 1")} <= results, results


# ---- Logs ----

@test
def the_log_of_a_chip_is_in_order(d):
    waitgate("run", "--quiet", "--log", d / "log", RELAY)
    lines = (d / "log").read_text().splitlines()
    cells = [re.match(r" *(\d+)  (\d-\d)    (\S+) +(\w+) ", line) for line in lines]
    assert all(cells), [line for line, c in zip(lines, cells) if not c][:1]
    places = [(int(c[1]), c[2]) for c in cells]
    assert places == sorted(places) and {p[1] for p in places} == {"1-2", "2-2"}
    stats = json.loads(waitgate("run", "--json", "--stats", RELAY))
    for t in stats["tiles"]:
        mine = sum(p[1] == f"{t['x']}-{t['y']}" for p in places)
        assert mine == t["cores"][0]["instructions"], (mine, t)


# ---- Resuming ----

@test
def what_is_watched_begins_at_the_snapshot(d):
    for program, cycle in ((MATMUL, 1000), ([DRAM], 1500), ([RELAY], 9000)):
        waitgate("run", "--quiet", "--save-at", f"{cycle}={d}/s.snapshot", *program)
        whole = json.loads(waitgate("run", "--json", "--stats", *program))
        rest = json.loads(waitgate("run", "--json", "--stats", "--trace", d / "t.json", "--resume", d / "s.snapshot", *program))
        assert rest["cycles"] == whole["cycles"]
        for a, b in zip(whole.get("tiles", [whole]), rest.get("tiles", [rest])):
            tracks = {t["name"]: t["cycles"] for t in b["stats"]["tracks"]}
            for t in a["stats"]["tracks"]:
                assert sum(tracks[t["name"]].values()) == whole["cycles"] - cycle, (t, tracks)
                for cause, cycles in tracks[t["name"]].items():
                    assert cycles <= t["cycles"].get(cause, 0) or cause in ("executing", "idle", "empty"), (t, cause, cycles)
        slices, _, _ = read_json(d / "t.json")
        assert min(s[4] for s in slices) >= cycle


run_suite()
