#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`waitgate check`: statuses, the text of a report, JSON, suppressions, --fail-on, --flag.

usage: test_check.py WAITGATE ROOT EXAMPLES
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

WAITGATE, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
failures = []

BROKEN = """
.set WORD, PCK_EDGE_OFFSET_SEC0_mask_ADDR32
.thread 0
    ttrmwcib0 0x0F, 1, WORD
.thread 1
    .delay 20
    ttrmwcib0 0x0F, 2, WORD
"""
LOOP = """
.set WORD, PCK_EDGE_OFFSET_SEC0_mask_ADDR32
.thread 0
    .repeat 20
    ttrmwcib0 0x0F, 1, WORD
    ttrmwcib0 0x0F, 3, WORD
    .endr
.thread 1
    .repeat 20
    ttrmwcib0 0x0F, 2, WORD
    .endr
"""
# B looks once at what T0 writes, and so cannot know whether it has been written.
GLANCE = """
.core T0
    li   t0, 0x3000
    li   t1, 7
    sw   t1, 0(t0)
    j    .
.core B
    li   t0, 0x3000
    lw   t1, 0(t0)
    addi t1, t1, 1
    j    .
.l1 0x3000
    .word 0
"""


# Tensix mnemonics in a core's section: each has its own line, after instructions, labels, macros and each other.
LINES = """
.core T0
    li   t0, 0x12345
    ttnop
.macro more
    addi t5, t5, 1
.endm
    more
1:  addi t2, t2, 1
1:  ttrmwcib0 0x0F, 1, PCK_EDGE_OFFSET_SEC0_mask_ADDR32
    ttnop
    j    .
.core T1
    ttnop
    ttnop
here: ttrmwcib0 0x0F, 3, PCK_EDGE_OFFSET_SEC0_mask_ADDR32
    j    .
"""


# T1's writes come from the replay buffer: the report refers to the REPLAY that T1 pushed.
REPLAYED = """
.set WORD, PCK_EDGE_OFFSET_SEC0_mask_ADDR32
.core T0
first:
    ttrmwcib0 0x0F, 1, WORD
    j    .
.core T1
    ttreplay 0, 2, 0, 1
    ttnop
    ttrmwcib0 0x0F, 2, WORD
    ttreplay 0, 2, 0, 0
    li   t0, 100
wait:
    addi t0, t0, -1
    bnez t0, wait
again:
    ttreplay 0, 2, 0, 0
    j    .
"""
# Ten times each, in turn.
COUNTED = """
.set WORD, PCK_EDGE_OFFSET_SEC0_mask_ADDR32
.thread 0
    .repeat 10
    .delay 40
    ttrmwcib0 0x0F, 1, WORD
    .endr
.thread 1
    .delay 20
    .repeat 10
    .delay 40
    ttrmwcib0 0x0F, 2, WORD
    .endr
"""


# Loads that spin, and one that does not: T0 hands data over with a flag; B polls it in various loops.
HANDED = """
.core T0
    li   t0, 0x3000
    li   t1, 7
    sw   t1, 0(t0)
    lw   t2, 0(t0)
    add  t2, t2, t2
    sw   t1, 0x100(t0)
    sw   t1, 0x104(t0)
    j    .
.core B
    li   t0, 0x3100
%s
    li   t3, 0x3000
    lw   t4, 0(t3)
    add  t4, t4, t4
    j    .
.l1 0x3000
    .word 0
.l1 0x3100
    .word 0, 0, 9
"""
SPINS = {
    "a branch back": "a:  lw t1, 0(t0)\n    beqz t1, a",
    "a fence in it": "a:  fence\n    lw t1, 0(t0)\n    addi t1, t1, -7\n    bnez t1, a",
    "the rest of the loop elsewhere": "a:  lw t1, 0(t0)\n    beqz t1, c\n    j b\nc:  fence\n    j a\nb:",
    "one flag after the other": "    li t5, 0x3108\na:  fence\n    lw t1, 0(t0)\n    beqz t1, a\n    addi t0, t0, 4\n    bne t0, t5, a",
}
GLANCES = {
    "no loop": "    lw t1, 0(t0)\n    add t1, t1, t1",
    "a loop that counts": "    li t5, 100\na:  lw t1, 0(t0)\n    addi t5, t5, -1\n    bnez t5, a",
    "a loop that stores": "a:  lw t1, 0(t0)\n    sw t1, 0x200(t0)\n    beqz t1, a",
    "a walk through memory": "a:  lw t1, 0(t0)\n    addi t0, t0, 4\n    beqz t1, a",
}


def spinning(folder):
    """Which loads count as waiting: those in a loop without stores that their value ends."""
    for what, loop in {**SPINS, **GLANCES}.items():
        (folder / "handed.tasm").write_text(HANDED % loop)
        out = check("--arch", "wh", folder / "handed.tasm", status=0 if what in SPINS else 4)
        if ("L1 0x003000-0x003003" in out) != (what in GLANCES):
            failures.append(f"{what}:\n{out}")


def report(folder):
    """Everything that a report names: who, what, when, where in the source, the location, the reason and the remedy."""
    out = check(folder / "replayed.tasm", status=4)
    says(out, "Configuration Unit, thread 1 at cycle ", "made by ttreplay 0, 2, 0, 0", "by core T1 in ", "replayed.tasm:11)",
         "by core T0 in first (replayed.tasm:5)".replace("replayed", str(folder / "replayed")),
         "why: Threads 0 and 1 change the same bits, and no mutex or semaphore orders them.")
    race = json.loads(check("--json", folder / "replayed.tasm", status=4))["races"][0]
    for side, core, line, function in (("first", "T0", 5, "first"), ("second", "T1", 11, None)):
        party = race[side]
        if party["core"] != core or party["thread"] != int(core[1]) or party["agent"] != "Configuration Unit" or \
           party["line"] != line or not party["file"].endswith("replayed.tasm") or (function and party["function"] != function) or \
           not party["instruction"].startswith("ttrmwcib0 15") or not party["pc"].startswith("0x") or party["cycle"] < 1 or \
           ("parent" in party) != (core == "T1"):
            failures.append(f"{side}: {party}")
    if race["second"]["parent"] != "0x04000020" or race["severity"] != "undefined" or race["count"] != 1:
        failures.append(f"not as expected: {race}")
    # However often they race, there is one report for each order of the two.
    races = json.loads(check("--json", folder / "counted.tasm", status=4))["races"]
    pairs = sorted((r["first"]["thread"], r["second"]["thread"], r["count"]) for r in races)
    if [p[:2] for p in pairs] != [(0, 1), (1, 0)] or any(p[2] < 3 for p in pairs):
        failures.append(f"counted: {pairs}")


# One WRCFG of four words, of which another thread reads two.
WORDS = """
.thread 0
    ttsetdmareg 0, 7, 0, 12
    ttsetdmareg 0, 7, 0, 14
    ttwrcfg 4, 1, SCRATCH_SEC0_val_ADDR32
.thread 1
    .delay 40
    ttrdcfg 8, SCRATCH_SEC1_val_ADDR32
    ttrdcfg 9, SCRATCH_SEC2_val_ADDR32
"""


def locations(folder):
    """Suppressing one field leaves the others; a repeated instruction has the line of the one that races."""
    (folder / "words.tasm").write_text(WORDS)
    (folder / "lines2.tasm").write_text(".thread 0\n ttrmwcib0 3, 1, 24\n ttrmwcib0 0x30, 16, 24\n.thread 1\n .delay 60\n"
                                        " ttrmwcib1 3, 1, 24\n ttnop\n ttrmwcib0 0x30, 0, 24\n")
    program = ROOT / "tests/races/pattern_7_broken.tasm"
    names = ["TileDescriptor", "Disable_zero_compress_cntx0", "Tile_x_dim_cntx0"]
    says(check(program, status=0), *names)
    for one in names:
        (folder / "one").write_text(f"config-race {one} : known\n")
        out = check("--suppressions", folder / "one", program, status=0)
        line = next((x for x in out.splitlines() if x.startswith("  location:")), "no report")
        if one in line or any(n not in line for n in names if n != one):
            failures.append(f"without {one}: {line}")
    (folder / "all").write_text("config-race THCON_SEC0_REG3_Base_address : known\n")
    says(check("--suppressions", folder / "all", ROOT / "tests/races/04_config_too_late_broken.tasm", status=0), "1 suppressed")
    races = json.loads(check("--json", folder / "words.tasm", status=4))["races"]
    told = " ".join(r["location"] for r in races if r["severity"] != "note")
    if "SCRATCH_SEC1_val" not in told or "SCRATCH_SEC2_val" not in told:
        failures.append(f"a field is missing: {told}")
    says(check(folder / "lines2.tasm", status=4), "lines2.tasm:3", "lines2.tasm:8")
    (folder / "again.tasm").write_text(".thread 0\n ttrmwcib0 3, 1, 24\n ttnop\n.thread 1\n ttrmwcib0 3, 1, 30\n .delay 60\n"
                                       " ttnop\n ttrmwcib0 3, 2, 24\n ttrmwcib0 3, 2, 24\n")
    places = {r[k]["place"].split(":")[-1] for r in json.loads(check("--json", folder / "again.tasm", status=4))["races"]
              for k in ("first", "second")}
    if not places & {"8", "9"} or "5" in places:
        failures.append(f"lines of a repeated instruction: {places}")


def bounded(folder):
    """More races than are kept: this is reported, in text and in JSON, and memory use is bounded."""
    names = [f"ttrmwcib{lane} 1, {{}}, {word}" for word in range(20, 180) for lane in range(2)]
    both = "\n".join(f".thread {t}\n    .delay {900 * t}\n" + "\n".join(f"    {n.format(1 - t)}" for n in names) for t in (0, 1))
    (folder / "bounded.tasm").write_text(both + "\n")
    out = check(folder / "bounded.tasm", status=4)
    says(out, "the detector had no room for", "it would miss races with those")
    told = json.loads(check("--json", folder / "bounded.tasm", status=4))
    if not told["forgotten"] or len(told["races"]) != 256 or told["detector_bytes"] > 64e6:
        failures.append(f"bounded: {told['forgotten']} forgotten, {len(told['races'])} races, {told['detector_bytes']} bytes")
    if "the detector had no room for" in check(folder / "broken.tasm", status=4):
        failures.append("it forgets where it need not")


# Two cores store to one word: if the values are equal, nothing shows which came first.
STORES = """
.core t0, 0x6000
    li a0, {}
    sw a0, 0x100(zero)
    ebreak
.core t1, 0x7000
    nop
    nop
    nop
    li a0, {}
    sw a0, 0x100(zero)
    ebreak
"""


def grades(folder):
    """Other timings of the parties: a difference is reported with the delay that shows it, and that delay reproduces
    it."""
    with tempfile.TemporaryDirectory() as work:
        for name, values in (("same", (5, 5)), ("other", (5, 6))):
            program = pathlib.Path(work) / f"{name}.tasm"
            program.write_text(STORES.format(*values))
            (race,) = json.loads(check("--json", program, status=4))["races"]
            if (race["grade"], "witness_delay" in race) != (("wrong", True) if name == "other" else ("unordered", False)):
                failures.append(f"{name}: {race}")
            out = check(program, status=4)
            if name == "same":
                says(out, "UNORDERED: ", f"{race['timings']} timings tried", "suggested remedy: ", "1 race report, 1 of them unordered")
                continue
            says(out, "WARNING: Waitgate: data-race", f"grade: wrong: memory or registers end otherwise with --delays {race['witness_delay']}")
            late = subprocess.run([WAITGATE, "run", "--delays", race["witness_delay"], "--dump", f"0x100:4={work}/word", program])
            word = (pathlib.Path(work) / "word").read_bytes()
            if late.returncode or word != b"\5\0\0\0":
                failures.append(f"{name}: the witness leaves {word}")
            if "grade: none: --verify 0" not in check("--verify", "0", program, status=4):
                failures.append("graded without a budget")
        # A core that stores how long it took says nothing about the race.
        timed = pathlib.Path(work) / "timed.tasm"
        timed.write_text(STORES.format(5, 5).replace("    sw a0, 0x100", "    li t1, 0xFFB121F0\n    lw t2, 0(t1)\n    sw a0, 0x100", 1)
                         .replace("    ebreak", "    lw t0, 0x100(zero)\n    add t0, t0, t0\n    lw t0, 0(t1)\n    sub t0, t0, t2\n    sw t0, 0x200(zero)\n    ebreak", 1))
        says(check(timed, status=4), "grade: none: a core reads the clock", "confidence: by rule")
        # Notes are counted.
        note = pathlib.Path(work) / "note.tasm"
        note.write_text(".core t0, 0x6000\n    lw a0, 0x200(zero)\n    add a1, a0, a0\n    ebreak\n")
        told = check(note, status=4)
        says(told, "0 race reports, 1 note (--all shows it)")
        if "read-before-write" in told:
            failures.append(f"a note is shown:\n{told}")
        for option in (("--all",), ("--fail-on", "note")):
            says(check(*option, note, status=4), "NOTE: Waitgate: read-before-write", "confidence: low")
    says(check("--all", folder / "07_two_writers_broken.tasm", status=0), "grade: wrong: ")


def check(*args, status):
    r = subprocess.run([WAITGATE, "check", *map(str, args)], capture_output=True, text=True, timeout=120)
    if status is not None and r.returncode != status:
        failures.append(f"check {args}: status {r.returncode}, not {status}\n{r.stdout}{r.stderr}")
    return r.stdout + r.stderr


def says(text, *wanted):
    for w in wanted:
        if w not in text:
            failures.append(f"`{w}` is not in:\n{text}")


CHIPS = {"dram", "matmul_cluster", "matmul_multicast", "relay_source", "relay_sink"}   # need several tiles: chips()
# Examples for which other timings are tried as well.
TIMELESS = {"add", "matmul_stream", "reduce", "tilize", "untilize"}


def examples(folder, work):
    """Every example in C is clean, on both architectures; stale_l0 is wrong on purpose."""
    (work / "parameters").write_bytes(struct.pack("<28I", *(x for n in (2, 3, 2, 1, 1, 0, 0) for x in (n, 0, 0, 0))))
    (work / "tiles").write_bytes(struct.pack("<4096H", *[0x3F80] * 4096))
    names = sorted({f.name.split(".")[0] for f in folder.glob("*.elf") if ".erisc" not in f.name}) # Tensix tiles
    for name in names:
        if name.endswith("stale_l0") or name.removeprefix("wh_") in CHIPS:
            continue
        cores = [x for f in sorted(folder.glob(f"{name}.*.elf")) for x in ("--" + f.name.split(".")[1], f)]
        arch = "wh" if name.startswith("wh_") else "bh"
        memory = ["--load", f"0x20000={work / 'parameters'}", "--load", f"0x30000={work / 'tiles'}"]
        check("--quiet", "--arch", arch, *memory, "--max-cycles", 1000000, *cores, status=0)
        if name.removeprefix("wh_") not in TIMELESS:
            continue
        r = subprocess.run([WAITGATE, "explore", "--arch", arch, "--runs", "30", "--jobs", "1", *memory, "--load",
                            f"0x60000={work / 'tiles'}", "--load", f"0x80000={work / 'tiles'}", "--result", "0x30000:0x80000",
                            *map(str, cores)], capture_output=True, text=True, timeout=300)
        if r.returncode:
            failures.append(f"explore {name}: status {r.returncode}\n{r.stdout}{r.stderr}")
    return len(names)


CORES = ("brisc", "ncrisc", "trisc0", "trisc1", "trisc2")


def multicast(folder, arch):
    """matmul_multicast on two rows of three tiles, as its host program sets it up; the numbers do not matter."""
    out = [f"arch: {arch}", "max-cycles: 1000000", "tiles:"]
    for row in range(2):
        for column in range(3):
            out.append(f"  - at: [{1 + column}, {2 + row}]")
            out += [f"    {core}: {folder}/{'wh_' * (arch == 'wh')}matmul_multicast.{core}.elf" for core in CORES]
            out.append("    load:")
            numbers = [0x20000 + 16 * i for i in range(7)], (2, 8, 1, 3, 2, row, column)
            out += [f"      - {{address: {a:#x}, words: [{v}]}}" for a, v in zip(*numbers)]
            out += [f"      - {{address: {0x20000 + 16 * n:#x}, words: [0, 0, 0, 0]}}" for n in (18, 21, 22)]
            out += [f"      - {{address: {a:#x}, file: tiles}}" for a in (0x60000, 0x62000, 0x64000, 0x66000)]
    return "\n".join(out) + "\n"


def chips(folder, work):
    """Programs on several tiles are clean as well. A NoC read without the wait for its answer is not."""
    for arch in ("bh", "wh"):
        dram = (folder / "dram.yaml").read_text().replace("dram-out", str(work / "dram-out"))
        if arch == "wh":
            dram = dram.replace("arch: bh", "arch: wh").replace(": dram.", ": wh_dram.")
        (work / f"dram-{arch}.yaml").write_text(dram.replace("risc: ", f"risc: {folder}/").replace(": wh_dram.t", f": {folder}/wh_dram.t")
                                                .replace(": dram.t", f": {folder}/dram.t"))
        says(check(work / f"dram-{arch}.yaml", status=0), "0 race reports")
        elf = f"{'wh_' * (arch == 'wh')}dram.ncrisc.elf"
        code = (folder / elf).read_bytes()
        poll = struct.pack("<I", 0xFE079AE3)   # bnez a5, 12 bytes back
        if code.count(poll) != 1:
            failures.append(f"{elf}: {code.count(poll)} loops that poll the NIU")
        (work / elf).write_bytes(code.replace(poll, struct.pack("<I", 0x00000013)))
        text = (work / f"dram-{arch}.yaml").read_text().replace(str(folder / elf), str(work / elf))
        (work / "dram-broken.yaml").write_text(text)
        says(check(work / "dram-broken.yaml", status=4), "data-race", "NIU 0 for core NC", "L1 0x030000-0x0307ff",
             "The answer to the request may still be on its way", "suggested remedy: Poll NIU_MST_RD_RESP_RECEIVED")

        relay = (folder / "relay.yaml").read_text().replace("relay-sum", str(work / "relay-sum"))
        if arch == "wh":
            relay = relay.replace("arch: bh", "arch: wh").replace("relay_s", "wh_relay_s").replace(", 2]", ", 1]")
        (work / f"relay-{arch}.yaml").write_text(relay.replace("risc: ", f"risc: {folder}/"))
        says(check(work / f"relay-{arch}.yaml", status=0), "0 race reports")
        if arch == "wh":  # requests of an Ethernet tile, whose cores nobody watches
            says(check(folder / "remote.yaml", status=0), "0 race reports")
        assert struct.unpack("<I", (work / "relay-sum.bin").read_bytes())[0] == sum(i * k for i in range(8) for k in range(256))

        (work / f"multicast-{arch}.yaml").write_text(multicast(folder, arch))
        # A sender asks over the NoC how far the others are: no load that spins, so the count must be declared.
        out = check("--flag", "0x20120:4", work / f"multicast-{arch}.yaml", status=0)
        if out.count("0 race reports") != 6:
            failures.append(f"multicast {arch}:\n{out}")
        says(check(work / f"multicast-{arch}.yaml", status=4), "data-race", "L1 0x020120-0x020123")


def rules(root):
    """Every documented rule that software can break has a program; check reports it, and reads before any write."""
    seen = set()
    for file in sorted((root / "examples/findings").glob("*.tasm")):
        r = subprocess.run([WAITGATE, "check", "--checks", "race,memory,init,sync", "--json", file], capture_output=True, text=True, timeout=120)
        told = json.loads(r.stdout) if r.stdout.startswith("{") else {"findings": [], "races": []}
        found = {f["code"] for f in told["findings"]} | {f["kind"] for f in told["races"]}
        if file.stem not in found:
            failures.append(f"check {file.name}: no finding {file.stem} but {found}\n{r.stderr}")
        seen |= found
    for code in ("core-stale-l0", "tensix-lost-at-mux", "tensix-not-expanded",
                 "gpr-used-before-result", "vector-interlock-hole", "vector-load-early", "tensix-wait-replaced"):
        if code not in seen:
            failures.append(f"no program breaks {code}")


UNWRITTEN = {
    "GPR 20 of thread 1": ".thread 1\n    ttadddmareg 0, 21, 20, 20\n",
    "LReg 3": ".thread 1\n    ttsfpmov 0, 3, 4, 0\n",
    "Dst row": ".thread 1\n    ttsfpload 0, 2, 0, 0\n",
    "L1 0x009000": ".core B\n    li t0, 0x9000\n    lw t1, 0(t0)\n    add t1, t1, t1\n    j .\n",
}


def unwritten(folder):
    """Reads of registers and memory that nobody has written."""
    for place, text in UNWRITTEN.items():
        (folder / "unwritten.tasm").write_text(text)
        races = json.loads(check("--json", folder / "unwritten.tasm", status=0))["races"]
        if not any(r["kind"] == "read-before-write" and r["location"].startswith(place) for r in races):
            failures.append(f"{place}: not told: {races}")
        check("--fail-on", "note", folder / "unwritten.tasm", status=4)


# Their remedies change an instruction, or something outside the two parties: they are suggested, not tried.
SUGGESTED = {"06_clobber", "08_release_bh", "08_release_wh", "09_message_first", "10_uninitialised", "10_room_uninitialised", "16_wait_erased_wh", "wait_erased_sync_wh",
             "kept_bits", "late_store_b", "rdcfg_two_threads", "same_value_hidden", "sem_read_count", "sem_read_zero", "two_pushers_gpr",
             "two_pushers_replay", "two_pushers_rwc", "two_pushers_unpacker", "tdma_early", "tdma_move", "start_address_wh", "ttsync_state_id", "ttsync_unsettled",
             "wait_command"}


def remedies(folder):
    """A remedy is called verified if the program, run again with it inserted, no longer has the race."""
    states = {}
    for file in sorted(folder.glob("*_broken.tasm")):
        name = file.name[:-len("_broken.tasm")]
        arch = [line.split()[1] for line in file.read_text().splitlines() if line.startswith(".arch ")] or ["bh", "wh"]
        for a in arch:
            told = json.loads(check("--json", "--fail-on", "never", "--arch", a, file, status=None))["races"]
            states[name] = states.get(name, set()) | {r["remedy_is"] for r in told if r["severity"] != "note" and "explained_by" not in r}
    wrong = {n: s for n, s in states.items() if s != ({"suggested"} if n in SUGGESTED else {"verified"})}
    both = {"12_ttsync_overlap": {"verified", "suggested"},
            # Wormhole: the inserted SEMWAIT erases the latched STALLWAIT in front of it.
            "wait_luck": {"verified", "not-enough"}}
    if wrong != both:
        failures.append(f"remedies: {wrong}")
    # One missing wait is one report; it lists all pairs that the same remedy orders.
    text = (folder / "one_cause_broken.tasm").read_text().replace(".expect race", "# ")
    with tempfile.TemporaryDirectory() as work:
        (pathlib.Path(work) / "p.tasm").write_text(text)
        told = check(pathlib.Path(work) / "p.tasm", status=4)
        says(told, ", and 23 more pairs; GPR 4 of thread 0", "remedy (verified): ", "1 race report, 1 of them unordered, 23 more of the same cause")
        full = check("--all", pathlib.Path(work) / "p.tasm", status=4)
        says(full, "explains: 23 more pairs, which this remedy puts in order, too", "grade: unordered: ")
        if told.count("R1 ") != 1 or "WARNING" in told or full.count("WARNING") != 24:
            failures.append("one cause: not folded into one report")
    grades(folder)
    # The program already waits for the bank, so that wait is not offered as a remedy.
    says(check(folder / "01_stale_bank_bh_broken.tasm", status=0),
         "remedy (verified): STALLWAIT(STALL_MATH, MATH|SRCA_VLD) before ttmovd2a")
    says(check("--arch", "wh", folder / "wait_luck_broken.tasm", status=0), "remedy (tried, not enough by itself): ")
    says(check("--verify", "0", folder / "04_config_too_late_broken.tasm", status=0), "suggested remedy: STALLWAIT(STALL_UNPACK, TRISC_CFG)")


def race_programs(folder):
    """Every program of tests/races through the command: its expectations of races and findings hold, and nothing else
    is found."""
    for file in sorted(folder.glob("*.tasm")):
        arch = [line.split()[1] for line in file.read_text().splitlines() if line.startswith(".arch ")]
        for a in arch or ["bh", "wh"]:
            r = subprocess.run([WAITGATE, "check", "--fail-on", "never", "--arch", a, file], capture_output=True, text=True,
                               timeout=120)
            if "expectations hold" not in r.stdout or "FAIL" in r.stdout:
                failures.append(f"check {file.name} {a}:\n{r.stdout}{r.stderr}")


def profiles(folder):
    """What is a race does not depend on how long instructions take: both timing profiles report the same pairs."""
    for file in sorted(folder.glob("*_broken.tasm")):
        said = []
        for profile in ("silicon", "documented"):
            r = subprocess.run([WAITGATE, "check", "--json", "--verify", "0", "--profile", profile, file], capture_output=True, text=True, timeout=120)
            said.append({(race["kind"], race.get("first", {}).get("pc"), race.get("second", {}).get("pc")) for race in json.loads(r.stdout)["races"]})
        if said[0] != said[1]:
            failures.append(f"{file.name}: {said[0]} as measured, {said[1]} as documented")


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, text in (("broken", BROKEN), ("loop", LOOP), ("glance", GLANCE), ("lines", LINES), ("replayed", REPLAYED), ("counted", COUNTED)):
            (folder / f"{name}.tasm").write_text(text)
        broken = folder / "broken.tasm"

        out = check(broken, status=4)
        says(out, "WARNING: Waitgate: config-race", "write by Configuration Unit, thread 1 at cycle", "previous write by",
             "broken.tasm:7", "broken.tasm:4", "location: PCK_EDGE_OFFSET_SEC0_mask", "why: ",
             "remedy (verified): ATGETM and ATRELM of one mutex around both", "SUMMARY: Waitgate: config-race", "1 race report")

        out = check(folder / "loop.tasm", status=4)
        if out.count("SUMMARY") > 4:
            failures.append("the same race from a loop is more than one report:\n" + out)
        says(out, " times)")

        out = check("--json", broken, status=4)
        races = json.loads(out)["races"]
        race = races[0]
        if len(races) != 1 or race["kind"] != "config-race" or race["severity"] != "undefined" or not race["verified"] or \
           {race["first"]["thread"], race["second"]["thread"]} != {0, 1} or race["first"]["access"] != "write":
            failures.append(f"the JSON is not as expected: {races}")

        good, bare, other = folder / "good", folder / "bare", folder / "other"
        good.write_text("# nobody reads it\nconfig-race PCK_EDGE_OFFSET : nobody reads it\n")
        bare.write_text("config-race PCK_EDGE_OFFSET\n")
        other.write_text("data-race * : nothing like that\nconfig-race broken.tasm:7 : by place\n")
        says(check("--suppressions", good, broken, status=0), "0 race reports, 1 suppressed")
        says(check("--suppressions", bare, broken, status=6), "the reason is not optional")
        says(check("--suppressions", other, broken, status=0), "suppressed nothing")
        (folder / "wrong").write_text("config-rase * : a slip\n")
        says(check("--suppressions", folder / "wrong", broken, status=6), "there is no race or finding `config-rase`")
        race = json.loads(check("--json", "--suppressions", good, broken, status=0))["races"][0]
        if race.get("suppressed") != "nobody reads it":
            failures.append(f"the reason is not in the JSON: {race}")

        check("--fail-on", "never", broken, status=0)
        check("--fail-on", "undefined", broken, status=4)
        says(check("--fail-on", "sometimes", broken, status=6), "is none of")

        says(check(folder / "glance.tasm", status=4), "data-race", "core B", "core T0", "L1 0x003000-0x003003")
        check("--flag", "0x3000:4", folder / "glance.tasm", status=0)
        says(check("--flag", "here", folder / "glance.tasm", status=6), "is not ADDR")

        report(folder)
        spinning(folder)
        bounded(folder)
        locations(folder)
        says(check(folder / "lines.tasm", status=4), "lines.tasm:10)", "lines.tasm:16)")

        check(ROOT / "examples/handshake.tasm", status=0)
        says(check(ROOT / "examples/deadlock.tasm", status=3), "hang")
        rules(ROOT)
        profiles(ROOT / "tests/races")
        race_programs(ROOT / "tests/races")
        remedies(ROOT / "tests/races")
        unwritten(folder)
        if len(sys.argv) > 3 and examples(pathlib.Path(sys.argv[3]), folder) < 2:
            failures.append("there are no examples")
        if len(sys.argv) > 3:
            chips(pathlib.Path(sys.argv[3]), folder)
        r = subprocess.run([WAITGATE, "explain", "config-clobber"], capture_output=True, text=True)
        says(r.stdout, "config-clobber (undefined, from `waitgate check --checks=race`)")
        r = subprocess.run([WAITGATE, "run", broken], capture_output=True, text=True)
        if r.returncode:
            failures.append("plain run returns something else than 0")
    print("\n".join(failures))
    print(f"{0 if failures else 1} passed, {len(failures)} failed")
    sys.exit(bool(failures))


main()
