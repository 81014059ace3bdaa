#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`waitgate profile`: the costs add up and belong to the right line and cause, and other tools can read the files."""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

from suite import run, test

WAITGATE, ROOT, EXAMPLES = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def profile(*arguments, status=0):
    r = subprocess.run([WAITGATE, "profile", "--json", *map(str, arguments)], capture_output=True, text=True)
    assert r.returncode == status, (r.returncode, r.stdout[-500:], r.stderr)
    return json.loads(r.stdout)


def write(d, text):
    path = d / "p.tasm"
    path.write_text(text)
    return path


def costs_of(found, who):
    return next((t["costs"] for t in found["cost_profile"]["tracks"] if t["name"] == who), [])


def cycles_at(costs, **wanted):
    return sum(c["cycles"] for c in costs if all(c.get(k) == v for k, v in wanted.items()))


def programs():
    for path in sorted((ROOT / "tests" / "tasm").glob("*.tasm"))[::3]:
        yield [path]
    for name in ("matmul", "add", "gelu", "reduce", "tilize"):
        yield sorted(EXAMPLES.glob(f"{name}.*.elf"))


@test
def costs_add_up(_):
    """Every track's costs sum to the run, cause by cause as --stats counts them; so do those of the critical path."""
    seen = 0
    for files in programs():
        r = subprocess.run([WAITGATE, "profile", "--json", "--stats", "--max-cycles", "50000", *map(str, files)],
                           capture_output=True, text=True)
        found = json.loads(r.stdout)
        plain = json.loads(subprocess.run([WAITGATE, "run", "--json", "--max-cycles", "50000", *map(str, files)],
                                          capture_output=True, text=True).stdout)
        assert plain["cycles"] == found["cycles"], files
        if not found["cycles"]:
            continue
        for track in found["stats"]["tracks"]:
            wanted, got = dict(track["cycles"]), {}
            for c in costs_of(found, track["name"]):
                got[c["cause"]] = got.get(c["cause"], 0) + c["cycles"]
            assert sum(got.values()) == found["cycles"], (files, track["name"], got)
            if track["kind"] == "core":     # polling loops: all of the core's cycles in them
                continue
            assert got == wanted, (files, track["name"], got, wanted)
        path = found["cost_profile"]["critical_path"]
        assert path["from"] == 0 and sum(c["cycles"] for c in path["costs"]) == found["cycles"], files
        seen += 1
    assert seen > 20, seen


def chain(nops):
    return f""".arch bh
.thread 0
    ttseminit 2, 0, SEMAPHORE_1
    .repeat {nops}
    ttdmanop
    .endr
    ttsempost SEMAPHORE_1
.thread 1
    ttsemwait STALL_THREAD, SEMAPHORE_1, STALL_ON_ZERO
    ttsetdmareg 0, 7, 0, 8
"""


@test
def a_full_store_queue_names_its_thread(d):
    """T1 pushes faster than its thread takes: the thread is to blame, and the path continues there. Stores to L1 blame
    nobody."""
    (d / "p.bin").write_bytes(struct.pack("<5I", 4, 0, 0, 0, 20))
    found = profile("--load", f"0x20000={d}/p.bin", *sorted(EXAMPLES.glob("matmul.*.elf")))
    for core, thread in (("T1", "thread 1"), ("T2", "thread 2")):
        full = [c for c in costs_of(found, core) if c["cause"] == "store-queue-full"]
        assert full and {c.get("holder") for c in full} == {thread} and sum(c["cycles"] for c in full) > 500, full
    path = found["cost_profile"]["critical_path"]["costs"]
    assert not [c for c in path if c["cause"] == "store-queue-full"], path
    assert cycles_at(path, who="Matrix Unit", cause="busy") > 1000, path
    (d / "s.tasm").write_text(".core B\n li a0, 0x3000\n" + "".join(f" sw a0, {16 * i}(a0)\n" for i in range(40)) + " fence\n ebreak\n.expect finding core-ebreak\n")
    full = [c for c in costs_of(profile(d / "s.tasm"), "B") if c["cause"] == "store-queue-full"]
    assert full and not [c for c in full if "holder" in c], full


@test
def the_path_says_what_a_change_gains(d):
    """The path passes through the thread that posts. Removing instructions there gains what the path charged for
    them."""
    before = profile(write(d, chain(60)))
    on_path = [c for c in before["cost_profile"]["critical_path"]["costs"] if c.get("line") == 5]
    assert sum(c["cycles"] for c in on_path if c["who"] == "thread 0") >= 60, before["cost_profile"]["critical_path"]
    wait = [c for c in costs_of(before, "thread 1") if c["cause"] == "latched-wait"]
    assert len(wait) == 1 and wait[0]["line"] == 9 and wait[0]["holder"] == "thread 0" and wait[0]["cycles"] > 50, wait
    after = profile(write(d, chain(20)))
    predicted = sum(c["cycles"] for c in on_path) * 40 // 60
    assert abs((before["cycles"] - after["cycles"]) - predicted) <= 1, (before["cycles"], after["cycles"], predicted)


LOADS = """.arch {arch}
.core B
    li a0, {base}
    addi a1, a0, 1024
again:
    lw a2, 0(a0)
    {between}
    add a3, a3, a2
    addi a0, a0, 4
    bltu a0, a1, again
    mul a4, a3, a3
    add a4, a4, a4
    j .
.expect done
"""


@test
def a_load_is_charged_to_its_user(d):
    """The whole latency of a load belongs to the instruction that uses the value, whether or not the answer has arrived, and
    nothing of it to the instruction before; time in EX1 belongs to the instruction in EX1. A product is an operand, not a
    load. Shortcuts change nothing."""
    for arch in ("bh", "wh"):
        for base in (0x40000, 0xFFB00400):
            for between in ("", "nop"):
                path, found = write(d, LOADS.format(arch=arch, base=base, between=between)), []
                for setting in ({}, {"WAITGATE_FAST": "none"}, {"WAITGATE_LOCKSTEP": "1"}):
                    r = subprocess.run([WAITGATE, "profile", "--json", path], capture_output=True, text=True,
                                       env={**os.environ, **setting})
                    found.append(json.loads(r.stdout)["cost_profile"])
                case = (arch, base, between, found[0])
                assert found[0] == found[1] == found[2], case
                costs = next(t["costs"] for t in found[0]["tracks"] if t["name"] == "B")
                late = cycles_at(costs, cause="load-response", line=8)
                assert late == cycles_at(costs, cause="load-response"), case
                assert late >= (250 if base == 0x40000 or not between else 0), case
                assert not cycles_at(costs, cause="multi-cycle", line=7), case
                assert not cycles_at(costs, cause="ram-clearing") or cycles_at(costs, cause="ram-clearing", line=6), case
                assert arch == "wh" or cycles_at(costs, cause="operand", line=12) > 0, case


AFTERWARDS = """.arch bh
.thread 0
    ttseminit 2, 0, SEMAPHORE_1
    .repeat 60
    ttnop
    .endr
    ttsempost SEMAPHORE_1
    ttatgetm 2
    ttatrelm 2
.thread 1
    ttsemwait STALL_THREAD, SEMAPHORE_1, STALL_ON_ZERO
    .repeat 150
    ttnop
    .endr
.thread 2
    ttatgetm 2
    .repeat 100
    ttnop
    .endr
    ttatrelm 2
"""


@test
def the_path_leaves_out_what_came_afterwards(d):
    """Thread 0 posts, then waits for a mutex. The end of that wait is unrelated to the post."""
    path = profile(write(d, AFTERWARDS))["cost_profile"]["critical_path"]["costs"]
    assert cycles_at(path, who="thread 1", line=13) == 150, path
    assert cycles_at(path, who="thread 0", line=5) == 60, path
    assert cycles_at(path, who="thread 2") == 0, path


POLL = """.arch bh
.core B
    li a0, 0x2000
    li a1, 200
delay:
    addi a1, a1, -1
    bnez a1, delay
    li a2, 1
    sw a2, 0(a0)
    ebreak
.core NC
    li a0, 0x2000
poll:
    fence
    lw a1, 0(a0)
    beqz a1, poll
after:
    ebreak
.expect finding core-ebreak
"""


@test
def polling_is_told_apart(d):
    """A counting loop is work; a loop that sees the same values again is polling, ended by the core that wrote the
    word."""
    found = profile(write(d, POLL))
    polls = [c for c in costs_of(found, "NC") if c["cause"] == "polling"]
    assert len(polls) == 1, costs_of(found, "NC")
    assert polls[0]["address"] == "0x00002000" and polls[0]["holder"] == "B" and polls[0]["line"] == 15, polls
    assert polls[0]["cycles"] > 150, polls
    assert cycles_at(costs_of(found, "B"), cause="polling") == 0
    assert cycles_at(costs_of(found, "B"), cause="executing") >= 400
    path = found["cost_profile"]["critical_path"]["costs"]
    assert path[0]["who"] == "B" and path[0]["line"] in (6, 7), path[0]


@test
def polls_of_any_word_know_their_writer(d):
    """At any position in its line of L1, and with any writer: a core, or an instruction of a thread."""
    for offset in (0, 4, 12, 20):
        text = POLL.replace("0(a0)", f"{offset}(a0)")
        costs = costs_of(profile(write(d, text)), "NC")
        polls = [c for c in costs if c["cause"] == "polling"]
        assert [(c["address"], c["holder"], c["ended_at"]) for c in polls] == [(f"0x{0x2000 + offset:08x}", "B", "p.tasm:9")], (offset, polls)
    (d / "q.tasm").write_text(""".arch bh
.thread 1
    .repeat 100
    ttdmanop
    .endr
    ttsetdmareg 0, 1, 0, 8
    ttsetdmareg 0, 0x201, 0, 10
    ttstoreind 1, 0, 1, 8, 0, 4, 5
.core NC
    li a0, 0x2010
poll:
    fence
    lw a1, 0(a0)
    beqz a1, poll
    ebreak
.expect finding core-ebreak
""")
    polls = [c for c in costs_of(profile(d / "q.tasm"), "NC") if c["cause"] == "polling"]
    assert [(c["holder"], c["ended_at"]) for c in polls] == [("thread 1", "q.tasm:8")], polls


@test
def what_is_polled_in_the_l0_cache(d):
    """A load that the L0 data cache answers makes no request; its address is known nevertheless."""
    found = profile(write(d, POLL.replace("    fence\n", "")))
    polls = [c for c in costs_of(found, "NC") if c["cause"] == "polling"]
    assert {c.get("address") for c in polls} == {"0x00002000"}, polls


WAITS = """.arch bh
.thread 0
    ttsetdmareg 0, 7, 0, 8
    ttstallwait STALL_MATH, MATH
    ttnop
    ttdmanop
    ttstallwait STALL_THREAD, THCON
    ttsetdmareg 0, 7, 0, 8
.thread 1
    ttsemwait STALL_THREAD, SEMAPHORE_1, STALL_ON_ZERO
    ttnop
.thread 2
    ttseminit 2, 0, SEMAPHORE_1
    .repeat 30
    ttdmanop
    .endr
    ttsempost SEMAPHORE_1
"""


@test
def waits_that_hold_nobody(d):
    """Each wait with its number of executions and the cycles it held; one that held nobody is counted as such."""
    path = write(d, WAITS)
    waits = {w["line"]: w for w in profile(path)["cost_profile"]["waits"]}
    assert set(waits) == {4, 7, 10}, waits
    assert waits[4]["executed"] == 1 and waits[4]["cycles"] == 0 and waits[4]["held"] == 0, waits[4]
    assert waits[10]["cycles"] > 25 and waits[10]["held"] >= 1, waits[10]
    text = subprocess.run([WAITGATE, "profile", str(path)], capture_output=True, text=True).stdout
    free = sum(w["cycles"] == 0 for w in waits.values())
    assert f"{free} of 3 waits blocked nothing in this run." in text, text


SEVERAL = """.arch ARCH
.thread 0
    .repeat 40
    ttdmanop
    .endr
    ttsempost SEMAPHORE_1
    .repeat 40
    ttdmanop
    .endr
    ttsempost SEMAPHORE_2
.thread 1
    ttseminit 4, 0, SEMAPHORE_1|SEMAPHORE_2
    ttsemwait STALL_THREAD, SEMAPHORE_1|SEMAPHORE_2, STALL_ON_ZERO
    ttdmanop
.thread 2
    .repeat 20
    ttsfpmad 1, 2, 3, 4, 0
    .endr
    .word 0x10180000
    ttmuldmareg 0, 8, 1, 1
    ttstallwait STALL_SYNC, THCON|MATH|SFPU1
    ttsempost SEMAPHORE_3
"""


@test
def each_condition_of_a_wait(d):
    """A wait for several things is charged, cycle by cycle, to the first of them that has not held yet, and to who must act."""
    for arch in ("bh", "wh"):
        path = write(d, SEVERAL.replace("ARCH", arch))
        log = subprocess.run([WAITGATE, "run", "--log", "-", "--quiet", path], capture_output=True, text=True).stdout
        events = {(m[2], m[3], m[4]): int(m[1]) for m in re.finditer(r"^ *(\d+)  thread (\d)  (\w+) +#\d+ +0x\w+  (\w+)", log, re.M)}
        posts = [int(m[1]) for m in re.finditer(r"^ *(\d+)  thread 0  issued +#\d+ +0x\w+  ttsempost", log, re.M)]
        found = profile(path)
        waits = [c for c in costs_of(found, "thread 1") if c["cause"] == "latched-wait"]
        first = events["1", "latched", "ttsemwait"] + 1
        # A post takes effect in the next cycle; the wait's last cycle is the one in which it is found to hold.
        wanted = {("SEMAPHORE_1", posts[0] + 1 - first), ("SEMAPHORE_2", posts[1] + 2 - posts[0] - 1)}
        assert {(c["condition"], c["cycles"]) for c in waits} == wanted, (arch, waits, wanted)
        assert {c["holder"] for c in waits} == {"thread 0"}, waits
        waits = {c["condition"]: c for c in costs_of(found, "thread 2") if c["cause"] == "latched-wait"}
        assert set(waits) <= {"THCON", "MATH", "SFPU1"} and "MATH" in waits, waits
        assert waits["MATH"]["holder"] == "Matrix Unit", waits
        row, = [w for w in found["cost_profile"]["waits"] if "SEMAPHORE_1" in w["instruction"]]
        assert (row["held"], row["executed"], row["cycles"]) == (1, 1, posts[1] + 2 - first), row
        text = subprocess.run([WAITGATE, "profile", path], capture_output=True, text=True).stdout
        assert "latched-wait SEMAPHORE_1 (thread 0)" in text and "latched-wait MATH (Matrix Unit)" in text, text


@test
def conditions_in_every_mode(d):
    """The same charges when every part of the machine is ticked in every cycle."""
    write(d, SEVERAL.replace("ARCH", "bh"))
    (d / "b.bin").write_bytes(struct.pack("<5I", 4, 0, 0, 0, 3))
    for files in ([d / "p.tasm"], ["--load", f"0x20000={d}/b.bin", *sorted(EXAMPLES.glob("matmul.*.elf"))], sorted(EXAMPLES.glob("gelu.*.elf")),
                  sorted(EXAMPLES.glob("reduce.*.elf"))):
        modes = [subprocess.run([WAITGATE, "profile", "--json", *map(str, files)], capture_output=True, text=True,
                                env=dict(os.environ, **more)).stdout for more in ({}, {"WAITGATE_LOCKSTEP": "1"}, {"WAITGATE_FAST": "none"})]
        tables = [json.loads(m)["cost_profile"]["tracks"] for m in modes]
        assert any("condition" in c for t in tables[0] for c in t["costs"]), files
        assert tables[0] == tables[1] == tables[2], files


@test
def a_part_of_the_run(d):
    """--from and --to exclude the rest, by cycle and by symbol."""
    path = write(d, POLL)
    whole, late = profile(path), profile("--from", 100, "--to", 150, path)
    part = late["cost_profile"]
    assert (part["from"], part["to"]) == (100, 150), part
    for track in part["tracks"]:
        assert sum(c["cycles"] for c in track["costs"]) == 50, track["name"]
    assert sum(c["cycles"] for c in part["critical_path"]["costs"]) == 50
    named = profile("--from", "after", path)["cost_profile"]
    assert 100 < named["from"] < whole["cycles"] and named["to"] == whole["cycles"], named
    assert profile("--to", "after", path)["cost_profile"]["to"] == named["from"]
    # B's only store of 1 to 0x2000, and one that never occurs.
    stored = profile("--from", "0x2000=1", path)["cost_profile"]
    log = subprocess.run([WAITGATE, "run", "--log", "-", "--quiet", path], capture_output=True, text=True).stdout
    store = next(int(line.split()[0]) for line in log.splitlines() if " B  " in line and "sw a2,0(a0)" in line)
    assert store < stored["from"] < store + 40 and stored["to"] == whole["cycles"], (store, stored["from"])
    assert profile("--to", "0x2000=1", path)["cost_profile"]["to"] == stored["from"]
    assert profile("--from", "0x2000=2", path)["cost_profile"]["tracks"] == []
    r = subprocess.run([WAITGATE, "profile", "--from", "nowhere", str(path)], capture_output=True, text=True)
    assert r.returncode == 6 and "`nowhere` is neither a cycle, ADDR=VALUE, nor a symbol" in r.stderr, r


@test
def words_for_people(d):
    """The first sentence names the limit; the tables name line, cause and instruction."""
    r = subprocess.run([WAITGATE, "profile", "--top", "3", str(write(d, POLL))], capture_output=True, text=True)
    assert r.returncode == 0, r
    assert "The critical path decides how long the run takes. Its largest part," in r.stdout, r.stdout
    assert "polling 0x00002000" in r.stdout and "p.tasm:15" in r.stdout and "lw a1,0(a0)" in r.stdout, r.stdout
    assert "… and " in r.stdout and " more, " in r.stdout, r.stdout


@test
def folded_stacks(d):
    """Agent;function;line;cause and the cycles: the lines of each track add up to the run."""
    found = profile("--folded", d / "stacks.txt", write(d, POLL))
    sums = {}
    for line in (d / "stacks.txt").read_text().splitlines():
        stack, _, cycles = line.rpartition(" ")
        sums[stack.split(";")[0]] = sums.get(stack.split(";")[0], 0) + int(cycles)
    assert set(sums.values()) == {found["cycles"]}, sums


def annotated(text):
    """The numbers before each line or instruction, by the text after them: six columns."""
    rows = {}
    for line in text.splitlines():
        cells = [line[8 * i:8 * i + 8].strip() for i in range(6)]
        if any(c.isdigit() for c in cells) and all(c == "." or c.isdigit() for c in cells):
            rows.setdefault(line[50:].strip(), []).append([0 if c == "." else int(c) for c in cells])
    return rows


@test
def annotated_source_and_instructions(d):
    """Each line and instruction, with the costs charged to it in the JSON; the source is found from any working
    directory."""
    files = [p.resolve() for p in sorted(EXAMPLES.glob("matmul.*.elf"))]
    costs = [(t["kind"], c) for t in profile(*files)["cost_profile"]["tracks"] for c in t["costs"]]

    def columns(mine):
        out = [0] * 6
        for kind, c in mine:
            if c["cause"] in ("idle", "empty", "reset", "parked"):
                continue
            works = c["cause"] in ("executing", "issued")
            out[5 if kind == "unit" else 3 + (not works) if kind == "thread" else 0 if works else 2 if c["cause"] == "polling" else 1] += c["cycles"]
        return out

    r = subprocess.run([WAITGATE, "profile", "--annotate", "source", *files], capture_output=True, text=True, cwd=d)
    rows = annotated(r.stdout)
    for name in ("matmul.c", "pipeline.h"):
        source = next((ROOT / "examples").rglob(name)).read_text().splitlines()
        lines = {c["line"] for _, c in costs if c.get("file", "").endswith("/" + name)}
        seen = 0
        for n in lines:
            wanted = columns([(k, c) for k, c in costs if c.get("line") == n and c["file"].endswith("/" + name)])
            if any(wanted):
                assert wanted in rows[f"{n} | {source[n - 1]}".strip()], (name, n, wanted, rows)
                seen += 1
        assert seen > 5, (name, seen)
    r = subprocess.run([WAITGATE, "profile", "--annotate", "instructions", *files], capture_output=True, text=True, cwd=d)
    rows, seen = annotated(r.stdout), 0
    for pc in {c["pc"] for _, c in costs if "pc" in c}:
        for core in {c["program"] for _, c in costs if c.get("pc") == pc}:
            wanted = columns([(k, c) for k, c in costs if c.get("pc") == pc and c["program"] == core])
            if any(wanted):
                assert any(text.startswith(pc + " ") and wanted in all_of for text, all_of in rows.items()), (pc, wanted)
                seen += 1
    assert seen > 200, seen
    assert sum(sum(x) for all_of in rows.values() for x in all_of) == sum(columns([(k, c) for k, c in costs if "pc" in c]))
    r = subprocess.run([WAITGATE, "profile", "--annotate", "sorce", *files], capture_output=True, text=True)
    assert r.returncode == 6 and "did you mean `source`?" in r.stderr, r


@test
def the_busiest_unit(d):
    """The sentence names the unit that bounds the run, or says that none does."""
    (d / "b.tasm").write_text(".thread 2\n ttsetadcxx 4, 15, 0\n .repeat 40\n ttpacr 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0\n .endr\n")
    bound = subprocess.run([WAITGATE, "profile", d / "b.tasm"], capture_output=True, text=True).stdout
    assert re.search(r"The bottleneck is Packers, at work in 100.0 % of cycles \d+ to \d+, 9\d\.\d % of the run\.", " ".join(bound.split())), bound
    loose = subprocess.run([WAITGATE, "profile", *sorted(EXAMPLES.glob("matmul.*.elf"))], capture_output=True, text=True).stdout
    share = r"No unit bounds the run; the busiest is %s, at work in [1-4]?\d\.\d %% of the run: a faster one saves at most that\."
    assert re.search(share % "Packers", " ".join(loose.split())), loose
    short = subprocess.run([WAITGATE, "profile", ROOT / "tests/races/05_packer_address_bh_broken.tasm"], capture_output=True, text=True).stdout
    assert re.search(share % "Packers", " ".join(short.split())), short  # all the time, but for a few cycles
    for elf in EXAMPLES.glob("matmul.*.elf"):
        shutil.copy(elf, d)
    cores = ", ".join(f"{core}: matmul.{core}.elf" for core in ("brisc", "trisc0", "trisc1", "trisc2"))
    (d / "two.yaml").write_text("arch: bh\ntiles:\n" + "".join(
        f"  - {{at: [{x}, 2], {cores}, load: [{{address: 0x20000, words: [4]}}, {{address: 0x20010, words: [{10 * x}]}}]}}\n" for x in (1, 2)))
    chip = subprocess.run([WAITGATE, "profile", d / "two.yaml"], capture_output=True, text=True).stdout
    assert re.search(share % "Matrix Unit of tile 2-2", " ".join(chip.split())), chip


@test
def callgrind_reads_it(d):
    """callgrind_annotate arrives at the same totals and knows lines and functions."""
    found = profile("--callgrind", d / "callgrind.out", *sorted(EXAMPLES.glob("matmul.*.elf")))
    text = (d / "callgrind.out").read_text()
    totals = [int(n) for n in text.splitlines()[-1].split()[1:]]
    assert sum(totals) == found["cycles"] * len(found["cost_profile"]["tracks"]), totals
    tool = shutil.which("callgrind_annotate")
    if not tool:
        print("callgrind_annotate is not installed: the totals were checked, the reader was not")
        return
    r = subprocess.run([tool, "--auto=no", str(d / "callgrind.out")], capture_output=True, text=True)
    assert r.returncode == 0 and "PROGRAM TOTALS" in r.stdout, r
    line = next(line for line in r.stdout.splitlines() if "PROGRAM TOTALS" in line)
    assert f"{totals[0]:,}" in line and f"{totals[1]:,}" in line, (line, totals)
    assert "pipeline.h:Packers: pack_tile" in r.stdout and "matmul.c:Unpacker 0: main" in r.stdout, r.stdout


run()
