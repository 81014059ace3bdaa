#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chip files through the command: the example, the page's example, ends of every kind, JSON, dumps.

usage: test_chip.py WAITGATE EXAMPLES_FOLDER DOCS_PAGE
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

WAITGATE, EXAMPLES, PAGE = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
HELLO = b"Hello from a Tensix tile!\n"
failures = 0


def check(what, ok, more=""):
    global failures
    if not ok:
        failures += 1
        print(f"FAIL {what} {more}")


def run(folder, text, *options):
    (folder / "chip.yaml").write_text(text)
    r = subprocess.run([WAITGATE, "run", str(folder / "chip.yaml"), *options], capture_output=True, text=True, timeout=60)
    return r.returncode, r.stdout, r.stderr


# One tile writes into the L1 of the other, which reads without waiting.
WRITER = """#include "noc.h"
int main(void)
{
    WORD(0x30000) = 7;
    (void)WORD(0x30000);
    noc_write_to(0, 2 | %d << 6, 16);
    noc_write(0, 0x30000, 0x30000, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {
    }
    return 0;
}
"""
READER = """#include "noc.h"
int main(void)
{
    for (int i = 0; i < 400; i++)
        __asm__ volatile("nop");
    WORD(0x30010) = WORD(0x30000) + 1; // line 6
    return 0;
}
"""


def built(work, arch, **sources):
    common, header = PAGE.parent.parent / "examples/common", next(pathlib.Path(WAITGATE).resolve().parent.glob("src/isa/wg_kernel.h")).parent
    for name, text in sources.items():
        (work / f"{name}.c").write_text(text)
        subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-Os", "-g", "-Wall", "-ffreestanding", "-nostdlib",
                        f"-DWG_ARCH_{arch.upper()}", "-DCORE_BRISC", "-msmall-data-limit=0", "-Wl,--defsym=__base=0x6000", "-Wl,--no-warn-rwx-segments", f"-I{common}", f"-I{header}",
                        work / f"{name}.c", common / "crt.S", "-T", common / "kernel.ld", "-o", work / f"{name}.elf"], check=True)


def parties_on_other_tiles(work):
    """A party on another tile has coordinates, a core and a line."""
    for arch, y in (("BH", 2), ("WH", 1)):
        built(work, arch, writer=WRITER % y, reader=READER)
        (work / "chip.yaml").write_text(f"arch: {arch.lower()}\ntiles:\n  - at: [1, {y}]\n    brisc: writer.elf\n  - at: [2, {y}]\n    brisc: reader.elf\n")
        r = subprocess.run([WAITGATE, "check", str(work / "chip.yaml")], capture_output=True, text=True, timeout=60)
        check(f"other tile {arch}", f"write by NIU 0, request of core B of tile 1-{y} at cycle" in r.stdout, r.stdout + r.stderr)
        check(f"line there {arch}", re.search(rf"tile 1-{y} at cycle \d+\n.*\n    at 0x\w+ in noc_start \(\S*noc\.h:\d+\), inlined into main\+\w+ \(\S*writer\.c:7\)", r.stdout)
              and "reader.c:6" in r.stdout, r.stdout)
        r = subprocess.run([WAITGATE, "check", "--json", str(work / "chip.yaml")], capture_output=True, text=True, timeout=60)
        races = [race for t in json.loads(r.stdout)["tiles"] for race in t["races"] if race["kind"] == "data-race"]
        there = [p for race in races for p in (race["first"], race["second"]) if "of_tile" in p]
        check(f"other tile in JSON {arch}", there and (there[0].get("of_x"), there[0].get("of_y"), there[0].get("core")) == (1, y) + ("B",)
              and there[0].get("function") == "main", races)


def one_cause_is_one_report(work):
    """Several reads of what one command's requests write, without a wait: one report says that it explains the others."""
    reads = READER.replace("WORD(0x30000) + 1;", "WORD(0x30000) + WORD(0x30100) + WORD(0x30200);")
    writes = WRITER.replace("    noc_write(0, 0x30000, 0x30000, 0);\n", "    for (int i = 0; i < 3; i++) {\n        while (noc_busy(0, WRITER)) {\n        }\n"
                            "        noc_write(0, 0x30000 + 0x100 * i, 0x30000, 0);\n    }\n")
    assert writes != WRITER and reads != READER
    built(work, "bh", writes=writes % 2, reads=reads)
    (work / "chip.yaml").write_text("arch: bh\ntiles:\n  - {at: [1, 2], brisc: writes.elf}\n  - {at: [2, 2], brisc: reads.elf}\n")
    def said(*options):
        return subprocess.run([WAITGATE, "check", *options, str(work / "chip.yaml")], capture_output=True, text=True, timeout=60).stdout
    text = said()
    check("one cause", text.count("WARNING: Waitgate: data-race") == 1 and "explains: 2 more pairs of the same parties and the same cause" in text
          and "1 race report, 2 more of the same cause" in text, text)
    check("one cause, all", said("--all").count("WARNING: Waitgate: data-race") == 3, said("--all"))
    races = [race for tile in json.loads(said("--json"))["tiles"] for race in tile["races"]]
    check("one cause in JSON", sorted(race.get("explained_by", 0) for race in races) == [0] + [races[0]["id"]] * 2, races)


def tiles_that_wait_for_each_other(work):
    """The verdict over all tiles, in text, and in JSON with its chain."""
    poll = "#include \"noc.h\"\nint main(void)\n{\n    while (WORD(0x30000) != 1)\n        fence();\n    return 0;\n}\n"
    built(work, "bh", writer=WRITER % 2, poll=poll, poll2=poll.replace("!= 1", "!= 8"))
    for programs, cause, chain in ((("poll", "poll2"), "knot", [1, 2]), (("writer", "poll2"), "ended", [2, 1]), (("poll",), None, None)):
        text = "arch: bh\ntiles:\n" + "".join(
            f"  - {{at: [{x + 1}, 2], brisc: {name}.elf, load: [{{address: 0x30000, words: [0]}}]}}\n" for x, name in enumerate(programs))
        status, out, err = run(work, text, "--json")
        hang = json.loads(out).get("hang", {})
        check(f"hang {programs}", status == 3 and hang.get("cause") == cause and (not cause or [p["x"] for p in hang["chain"]] == chain), out)
        text = run(work, text)[1]
        check(f"hang in words {programs}", (cause is None and "wait for what" not in text) or " ".join(hang["verdict"].split()) in " ".join(text.split()), text)


def explored(work):
    """A reader that does not wait: some timing shows it, and the command that is printed repeats it. One that waits: none."""
    waits = READER.replace("    for (int i = 0; i < 400; i++)\n        __asm__ volatile(\"nop\");\n",
                           "    do\n        fence();\n    while (WORD(0x30000) != 7);\n")
    for arch, y in (("bh", 2), ("wh", 1)):
        built(work, arch, writer=WRITER % y, reader=READER, waits=waits)
        def explore(reader, *options):
            (work / "chip.yaml").write_text(f"arch: {arch}\ntiles:\n  - {{at: [1, {y}], brisc: writer.elf}}\n  - at: [2, {y}]\n    brisc: {reader}.elf\n"
                                            "    load: [{address: 0x30000, words: [0, 0, 0, 0, 0]}]\n    dump: [{address: 0x30010, length: 4, file: word}]\n")
            return subprocess.run([WAITGATE, "explore", "--runs", "40", *options, str(work / "chip.yaml")], capture_output=True, text=True, timeout=120)
        r = explore("reader", "--json")
        said = json.loads(r.stdout)
        check(f"explored {arch}", r.returncode == 4 and said["differences"] and said["differences"][0]["memory"] and said["at_races"], r.stdout + r.stderr)
        first = said["differences"][0]
        word = first["first_words"][0]
        check(f"explored word {arch}", (word["x"], word["y"], word["address"]) == (2, y, "0x00030010"), word)
        check(f"explored witness {arch}", [race["witness"]["replay"] for race in said["races"] if race["kind"] == "data-race" and race["x"] == 2], said["races"])
        for command, value in ((first["replay"], word["found"]), (f"waitgate run {work / 'chip.yaml'}", word["expected"])):
            again = subprocess.run([WAITGATE, *shlex.split(command)[1:]], capture_output=True, text=True, timeout=60)
            check(f"replayed {arch}", struct.unpack("<I", (work / "word").read_bytes())[0] == int(value, 16), again.stdout + again.stderr)
        graded = subprocess.run([WAITGATE, "check", "--json", str(work / "chip.yaml")], capture_output=True, text=True, timeout=60)
        (race,) = [race for tile in json.loads(graded.stdout)["tiles"] for race in tile.get("races", []) if race["kind"] == "data-race"]
        check(f"graded {arch}", (race["grade"], race["confidence"]) == ("wrong", "shown"), race)
        told = subprocess.run([WAITGATE, "check", str(work / "chip.yaml")], capture_output=True, text=True, timeout=60).stdout
        check(f"graded text {arch}", f"grade: wrong: memory or registers end otherwise with --delays {race['witness_delay']}\n" in told, told)
        subprocess.run([WAITGATE, "run", "--delays", race["witness_delay"], str(work / "chip.yaml")], capture_output=True, text=True, timeout=60)
        check(f"graded witness {arch}", (work / "word").read_bytes() != struct.pack("<I", int(word["expected"], 16)), race)
        told = subprocess.run([WAITGATE, "check", "--verify", "0", str(work / "chip.yaml")], capture_output=True, text=True, timeout=60).stdout
        check(f"ungraded {arch}", "grade: none: --verify 0\n" in told and "confidence: by rule" in told, told)
        text = explore("reader").stdout
        check(f"explored text {arch}", f"tile 2-{y}, 0x030010 holds {word['found']} instead of {word['expected']}" in text and f"-{y} " in text
              and "races made visible" in text, text)
        # One delay less long is not enough.
        delay = first["delays"][0]["delay"]
        head, cycles, tile = re.fullmatch(r"(.*:)(\d+)(@.*)", delay).groups()
        if len(first["delays"]) == 1 and not first["seed"]:
            subprocess.run([WAITGATE, "run", "--delays", f"{head}{int(cycles) - 1}{tile}", work / "chip.yaml"], capture_output=True, timeout=60)
            check(f"shortest {arch}", struct.unpack("<I", (work / "word").read_bytes())[0] == int(word["expected"], 16), delay)
        r = explore("waits", "--json", "--first-seed", "100")
        check(f"explored silent {arch}", r.returncode == 0 and json.loads(r.stdout)["differing"] == 0 and json.loads(r.stdout)["timings"] == 40, r.stdout + r.stderr)
        r = explore("waits", "--result", "0x30010")
        check(f"explored result {arch}", r.returncode == 6 and "is not ADDR:LEN" in r.stderr, r.stderr)
    for delays, why in (("travel:b:1:5", "SITE:AGENT:EVENT:CYCLES@X-Y"), ("travel:b:1:5@9-9", "does not name every tile"), ("travel:b:1:5@x-1", "@X-Y")):
        r = subprocess.run([WAITGATE, "run", "--delays", delays, str(work / "chip.yaml")], capture_output=True, text=True, timeout=60)
        check(f"delays {delays}", r.returncode == 6 and why in r.stderr, r.stderr)
    (work / "word").unlink()


def example_of_tree_and_page(work):
    # The example of the tree and that of the page.
    for name, text in (("example", (EXAMPLES / "chip.yaml").read_text()),
                       ("page", re.search(r"```yaml\n(.*?)```", PAGE.read_text(), re.S).group(1))):
        status, out, err = run(work, text)
        check(name, status == 0 and "done after" in out and "4 tiles" in out, out + err)
        for tile in ("1-2", "2-2", "1-3", "2-3"):
            check(f"{name} {tile}", (work / f"hello-{tile}.txt").read_bytes() == HELLO)
            (work / f"hello-{tile}.txt").unlink()
        check(name + " dram", (work / "dram.bin").read_bytes() == struct.pack("<3I", 0x11, 0x22, 0x33))
        (work / "dram.bin").unlink()


def race_detectors(work):
    # A race detector on every tile.
    (work / "chip.yaml").write_text((EXAMPLES / "chip.yaml").read_text())
    r = subprocess.run([WAITGATE, "check", str(work / "chip.yaml")], capture_output=True, text=True, timeout=60)
    check("check", r.returncode == 0 and r.stdout.count("0 race reports") == 4, r.stdout + r.stderr)
    r = subprocess.run([WAITGATE, "check", "--json", str(work / "chip.yaml")], capture_output=True, text=True, timeout=60)
    tiles = json.loads(r.stdout)["tiles"]
    check("check in JSON", len(tiles) == 4 and all(t["races"] == [] and t["forgotten"] == 0 for t in tiles), r.stdout)


def from_dram_to_dram(work):
    # From DRAM through NC, the T cores and B back to DRAM, on both architectures.
    numbers = struct.pack("<8H", *(0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0, 0x40E0, 0x4100))
    for arch in ("bh", "wh"):
        text = (EXAMPLES / "dram.yaml").read_text()
        if arch == "wh":
            text = text.replace("arch: bh", "arch: wh").replace(": dram.", ": wh_dram.")
        status, out, err = run(work, text, "--stats")
        check(f"dram {arch}", status == 0 and "done after" in out, out + err)
        said = "assumed constants apply to this tile's NoC, DRAM or Ethernet traffic: dram_request (docs/timing_constants.md)\n"
        check(f"dram {arch} assumed", out.count(said) == (arch == "wh"), out)
        check(f"dram {arch} result", (work / "dram-out.bin").read_bytes() == numbers + bytes(2048 - 16))
        (work / "dram-out.bin").unlink()


def ethernet(work):
    # A core of an Ethernet tile writes into a Tensix tile, on both architectures.
    for arch, eth, tensix in (("bh", "[1, 1]", "[1, 2]"), ("wh", "[1, 6]", "[1, 1]")):
        text = (EXAMPLES / "ethernet.yaml").read_text().replace("[1, 1]", "ETH").replace("[1, 2]", tensix).replace("ETH", eth)
        if arch == "wh":
            text = text.replace("arch: bh", "arch: wh").replace(": ethernet.e", ": wh_ethernet.e")
        status, out, err = run(work, text)
        check(f"ethernet {arch}", status == 0 and "done after" in out, out + err)
        check(f"ethernet {arch} result", (work / "ethernet.txt").read_bytes() == b"Hello from an Ethernet tile!\n")
        (work / "ethernet.txt").unlink()
        # The names of its cores in reports: one polls a word that nobody writes.
        name, y = ("E0", 1) if arch == "bh" else ("E", 6)
        poll = (f"arch: {arch}\ntiles:\n  - at: [1, {y}]\n    release: [e0]\n    load:\n"
                f"      - {{address: {0xFFB14000 if arch == 'bh' else 0xFFB9409C}, words: [0x100]}}\n"
                "      - {address: 0x100, words: [0x20002083, 0xfe008ee3]}\n")
        status, out, err = run(work, poll, "--stats")
        check(f"ethernet {arch} hang", status == 3 and f"Ethernet tile 1-{y}\n" in out and "semaphores" not in out
              and f"Core {name} at 0x0000010" in out and "polls 0x00000200 until it is no longer 0, and nothing" in " ".join(out.split()) and f"\n  {name:18} " in out and "T0" not in out, out + err)
        status, out, err = run(work, poll, "--json")
        tile = json.loads(out)["tiles"][0]
        check(f"ethernet {arch} json", [c["name"] for c in tile["cores"]] == (["E0", "E1"] if arch == "bh" else ["E"])
              and tile["hang"]["threads"] == [] and len(tile["hang"]["cores"]) == len(tile["cores"]), out)


def cores_of_the_other_kind(work):
    for text, why in (("arch: bh\ntiles:\n  - at: [1, 2]\n    erisc0: x\n", "a Tensix tile; erisc0 and erisc1 are cores of Eth"),
                      ("arch: bh\ntiles:\n  - at: [1, 1]\n    brisc: x\n", "an Ethernet tile; its cores are erisc0 and erisc1"),
                      ("arch: wh\ntiles:\n  - at: [1, 6]\n    release: [e1]\n", "an Ethernet tile of this chip has one core, erisc0"),
                      ("tiles:\n  - at: [1, 1]\n    brisc: x\n    erisc1: y\n", "not both"),
                      ("tiles:\n  - at: [0, 0]\n    erisc0: x\n", "cores of Ethernet tiles"),
                      ("tiles:\n  - at: {from: [1, 2], to: [3, 5]}\n    erisc0: x\n", "there is no Ethernet tile in")):
        status, out, err = run(work, text)
        check(f"ethernet: {why}", status == 6 and why in err, out + err)


def statistics_in_json(work):
    # Wormhole, statistics and JSON per tile.
    wh = "arch: wh\ntiles:\n  - at: [[1, 1], [9, 11]]\n    brisc: wh_hello.brisc.elf\n"
    status, out, err = run(work, wh, "--json", "--stats")
    result = json.loads(out)
    check("json", status == 0 and result["result"] == "done" and result["arch"] == "wh", err)
    check("json tiles", [(t["x"], t["y"]) for t in result["tiles"]] == [(1, 1), (9, 11)])
    check("json stats", all(t["stats"]["cycles"] == result["cycles"] for t in result["tiles"]))
    check("json cores", all(t["cores"][0]["parked"] and t["cores"][0]["instructions"] > 100 for t in result["tiles"]))


def rows_of(text, core):
    """The rows of a core's track in the output of --timeline."""
    return re.findall(rf"^{core:<20}(\S+)$", text, re.M)


def timelines(work):
    """A timeline for each tile of the file: its cores by name, over the whole run of the chip."""
    (work / "chip.yaml").write_text((EXAMPLES / "chip.yaml").read_text())
    env = dict(os.environ, COLUMNS="60")
    chip = subprocess.run([WAITGATE, "run", "--timeline", work / "chip.yaml"], capture_output=True, text=True, env=env)
    stats = subprocess.run([WAITGATE, "run", "--stats", "--json", work / "chip.yaml"], capture_output=True, text=True)
    stats = [t["stats"] for t in json.loads(stats.stdout)["tiles"]]
    tiles = re.findall(rf"^tile (\d-\d)\n\ncycles 0 to {stats[0]['cycles']}, .* per column$", chip.stdout, re.M)
    check("a timeline of each tile", tiles == ["1-2", "2-2", "1-3", "2-3"], chip.stdout)
    rows = rows_of(chip.stdout, "B")
    check("as wide as the terminal", [len(r) for r in rows] == 4 * [39], chip.stdout)
    for row, tile in zip(rows, stats):
        parked = 39 * tile["tracks"][0]["cycles"]["parked"] / tile["cycles"]
        check("the picture shows the statistics", parked > 1 and abs(row.count("_") - parked) < 1, chip.stdout)
    (work / "chip.yaml").write_text((EXAMPLES / "ethernet.yaml").read_text())
    eth = subprocess.run([WAITGATE, "run", "--timeline", work / "chip.yaml"], capture_output=True, text=True, env=env)
    check("an Ethernet tile's timeline", len(rows_of(eth.stdout, "E0")) == 1 and not rows_of(eth.stdout, "T0"), eth.stdout)


def hangs(work):
    # A hang names its tile: T1 waits for a launch word that nobody sends.
    status, out, err = run(work, "tiles:\n  - at: [1, 2]\n    brisc: hello.brisc.elf\n"
                                 "  - at: [3, 4]\n    trisc1: launch_pcbuf.trisc1.elf\n", "--json")
    result = json.loads(out)
    hung = {(t["x"], t["y"]): "hang" in t for t in result["tiles"]}
    check("hang", status == 3 and result["result"] == "hang" and hung == {(1, 2): False, (3, 4): True}, out[:400] + err)
    status, out, err = run(work, "tiles:\n  - at: [3, 4]\n    trisc1: launch_pcbuf.trisc1.elf\n")
    check("hang text", status == 3 and "tile 3-4" in out and "T1" in out, out)


def limits(work):
    # The limit, and conditions that end a run that would continue forever.
    spin = "    release: [b]\n    load:\n      - {address: 0, words: [0x0000006f]}\n"
    # addi t0, t0, 1; sw t0, 0x100(zero); fence; j back
    loop = ("    release: [b]\n    load:\n"
            "      - {address: 0, words: [0x00128293, 0x10502023, 0x0ff0000f, 0xff5ff06f]}\n")
    status, out, _ = run(work, "max-cycles: 5000\ntiles:\n  - at: [1, 2]\n" + loop)
    check("limit", status == 5 and "5000 cycles" in out, out)
    status, out, _ = run(work, "tiles:\n  - at: [1, 2]\n" + loop + "    until: {address: 0x100, value: 0x40, mask: 0xC0}\n",
                         "--json")
    result = json.loads(out)
    check("until", status == 0 and result["result"] == "until" and result["cycles"] % 100 == 0, out)
    status, out, _ = run(work, "tiles:\n  - at: [1, 2]\n" + spin)
    check("parked", status == 0, out)
    # j 0x100; there it calls 0x200, and zeros lead to 0x800: j 0x100
    away = ("    release: [b]\n    load:\n      - {address: 0, words: [0x1000006f]}\n"
            "      - {address: 0x100, words: [0x200000e7]}\n      - {address: 0x800, words: [0x901ff06f]}\n")
    status, out, _ = run(work, "tiles:\n  - at: [1, 2]\n" + away)
    check("zeros that lead back", status == 2 and "stopped by a finding" in out and "core-left-program" in out, out)


def host_memory_and_images(work):
    # Host memory, typed images.
    (work / "in.bin").write_bytes(bytes(range(64)))
    status, out, err = run(work, "host-memory:\n  bytes: 4K\n  load:\n    - {address: 16, file: in.bin}\n"
                                 "  dump:\n    - {address: 16, length: 64, file: out.bin}\n"
                                 "tiles:\n  - at: [2, 0]\n    dump:\n      - {address: 0x20, length: 4, file: pcie.bin}\n")
    check("host memory", status == 0 and (work / "out.bin").read_bytes() == bytes(range(64)), out + err)
    check("host memory by the NoC", (work / "pcie.bin").read_bytes() == bytes(range(16, 20)))
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (32, 32), }"
    header += b" " * (118 - len(header) - 1) + b"\n"
    npy = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<1024f", *range(1024))
    (work / "in.npy").write_bytes(npy)
    status, out, err = run(work, "tiles:\n  - at: [[1, 2], [0, 0]]\n"
                                 "    load:\n      - {address: 0x10000, file: in.npy, type: fp32, tilized: true}\n"
                                 "    dump:\n      - {address: 0x10000, length: 4K, file: 'out-{x}-{y}.npy', type: fp32, "
                                 "tilized: 32x32}\n      - {address: 0x10040, length: 4, file: 'raw-{x}-{y}.bin'}\n")
    check("typed", status == 0, out + err)
    for tile in ("1-2", "0-0"):
        check(f"typed {tile}", (work / f"out-{tile}.npy").read_bytes()[-4096:] == npy[-4096:])
        check(f"tilized {tile}", struct.unpack("<f", (work / f"raw-{tile}.bin").read_bytes())[0] == 32.0)


def errors(work):
    # A dump that cannot be written leaves the old file; errors have a position.
    (work / "keep.bin").write_bytes(b"old")
    status, out, err = run(work, "tiles:\n  - at: [1, 2]\n    dump:\n      - {address: 0x20000, length: 4, file: no/such.bin}\n")
    check("dump fails", status == 6 and "no/such.bin" in err, err)
    status, out, err = run(work, "tiles:\n  - at: [1, 2]\n    dump:\n      - {address: 0xFFE80000, length: 4, file: keep.bin}\n")
    check("dump of nothing", status == 6 and "chip.yaml:4:9: error" in err, err)
    check("old file stays", (work / "keep.bin").read_bytes() == b"old")
    status, out, err = run(work, "tiles:\n  - at: [1, 2]\n    brisc: nowhere.elf\n")
    check("no ELF", status == 6 and "chip.yaml:3:12: error" in err and "nowhere.elf" in err, err)
    status, out, err = run(work, "tiles:\n  - at: [[1, 2], [1, 2]]\n    brisc: hello.brisc.elf\n")
    check("twice", status == 6 and "has a program already" in err, err)
    status, out, err = run(work, "tiles:\n  - at: [1, 2]\n    brisc: hello.brisc.elf\n", "--load", "0=x")
    check("option", status == 6 and "--load does not go with a chip file" in err, err)


def main():
    work = pathlib.Path(tempfile.mkdtemp())
    for elf in EXAMPLES.glob("*.elf"):
        shutil.copy(elf, work)
    for part in (example_of_tree_and_page, parties_on_other_tiles, one_cause_is_one_report, tiles_that_wait_for_each_other, explored, race_detectors, from_dram_to_dram, ethernet,
                 cores_of_the_other_kind, statistics_in_json, timelines, hangs, limits, host_memory_and_images, errors):
        part(work)
    shutil.rmtree(work)
    return failures


sys.exit(1 if main() else 0)
