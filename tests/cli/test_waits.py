#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`waitgate check --waits`: superfluous waits are found, and no necessary wait is called superfluous."""
import json
import pathlib
import re
import subprocess
import sys

from suite import run, test

WAITGATE, ROOT, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])

# Each wait's line ends in its verdict.
LOAD = """.l1 0x40
    .word 7, 1, 2, 3
.thread 0
    ttsetdmareg 0, 4, 0, 2
    ttsetdmareg 0, 0, 0, 3
    ttsetdmareg 0, 0, 0, 16
    ttstallwait STALL_THCON, UNPACK0        # free: nothing was unpacked
    ttloadind 1, 16, 0, 20, 1
    ttsetdmareg 0, 9, 0, 60
    ttstallwait STALL_THCON, THCON          # needed
    ttadddmareg 1, 21, 1, 20
    ttloadind 1, 16, 0, 24, 1
    ttstallwait STALL_THCON, THCON          # remove: GPR 30 has nothing to do with the load
    ttsetdmareg 0, 9, 0, 60
    ttstallwait STALL_THCON, XMOV           # free: the Mover has nothing to do
    ttsetdmareg 0, 9, 0, 62
.expect done
.expect noraces
"""
PACKER = """.arch ARCH
.thread 2
    ttrmwcib0 0xF0, 0x50, THCON_SEC0_REG1_Out_data_format_ADDR32
    ttrmwcib1 0x0F, 0x05, THCON_SEC0_REG1_In_data_format_ADDR32
    ttsetdmareg 0, 0x180, 0, 8
    ttsetdmareg 0, 0, 0, 9
    .word 0x41001F01
    ttstallwait STALL_PACK, PACK0           # remove: packers work in order
    .word 0x41001F01
    ttstallwait STALL_CFG|STALL_XMOV, UNPACK1|PACK0 # narrower: STALL_CFG, PACK0
    ttwrcfg 4, 0, THCON_SEC0_REG1_L1_Dest_addr_ADDR32
    ttstallwait STALL_PACK, PACK0           # free: nothing was packed since
    ttnop
.expect done
.expect noraces
"""
PROGRAMS = {
    "load": LOAD,
    "packer_bh": PACKER.replace("ARCH", "bh"),
    "two_threads": """.set WORD, PCK_EDGE_OFFSET_SEC0_mask_ADDR32
.thread 2
    ttseminit 1, 0, SEMAPHORE_1
    ttrmwcib0 0x0F, 1, WORD
    ttstallwait STALL_SYNC, PACK0           # free: nothing was packed
    ttsempost SEMAPHORE_1
.thread 1
    .delay 5
    ttsemwait STALL_THREAD, SEMAPHORE_1, STALL_ON_ZERO  # remove: another byte of the word
    ttrmwcib1 0x0F, 3, WORD
.thread 0
    .delay 300
    ttsemwait STALL_CFG, SEMAPHORE_1, STALL_ON_ZERO     # needed
    ttrmwcib0 0x0F, 2, WORD
.expect done
.expect noraces
""",
    "no_semaphores": """.l1 0x40
    .word 7, 1, 2, 3
.thread 0
    ttsetdmareg 0, 4, 0, 2
    ttsetdmareg 0, 0, 0, 3
    ttsetdmareg 0, 0, 0, 16
    ttloadind 1, 16, 0, 20, 1
    ttstallwait STALL_SYNC|STALL_CFG, THCON         # remove: this thread changes no semaphore
    ttrmwcib0 0x0F, 1, PCK_EDGE_OFFSET_SEC0_mask_ADDR32
.thread 1
    ttseminit 1, 0, SEMAPHORE_2
    ttsetdmareg 0, 4, 0, 2
    ttsetdmareg 0, 0, 0, 3
    ttsetdmareg 0, 0, 0, 16
    ttloadind 1, 16, 0, 20, 1
    ttstallwait STALL_SYNC, THCON                   # needed: it may hand over the value
    ttsempost SEMAPHORE_2
.expect done
.expect noraces
""",
    "count": """.thread 0
    ttseminit 2, 0, SEMAPHORE_1
    .repeat 4
        ttsemwait STALL_THREAD, SEMAPHORE_1, STALL_ON_MAX       # needed: not more than two
        ttsempost SEMAPHORE_1
    .endr
.thread 1
    .delay 9
    .repeat 4
        ttsemwait STALL_THREAD, SEMAPHORE_1, STALL_ON_ZERO      # needed
        ttstallwait STALL_SYNC, UNPACK0                         # free: nothing was unpacked
        ttsemget SEMAPHORE_1
    .endr
.expect done
""",
    "core": """.set BASE, 0xFFEF0000 + 4 * THCON_SEC0_REG3_Base_address_ADDR32
.core T0
    ttrmwcib0 0xFF, 1, THCON_SEC0_REG2_Disable_zero_compress_cntx0_ADDR32
    ttrmwcib0 0x0F, 5, THCON_SEC0_REG2_Out_data_format_ADDR32
    li   s0, 0xFFE80000
    li   t0, BASE
    fence                                   # remove: nothing was stored or loaded
    lw   t1, 4(s0)                          # remove: the store concerns nothing that was pushed
    andi t1, t1, 0
    li   t1, 0x400
    sw   t1, 0(t0)
    ttstallwait STALL_UNPACK, TRISC_CFG     # needed
    ttunpacr 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1
    ttstallwait STALL_CFG, TRISC_CFG        # free: nothing was stored since
    ttrmwcib0 0xFF, 0x12, PCK_EDGE_OFFSET_SEC0_mask_ADDR32
    lw   t1, 4(s0)                          # needed: the last, which the host may rely on
    andi t1, t1, 0
    j    .
.expect done
.expect noraces
""",
}

# Two NoC writes, with loops that wait for their answers.
BARRIER = """.arch ARCH
.set NIU, 0xFFB20000
.core B
    li   s0, 0x30000
    li   t0, NIU
    lw   t1, 0x2C(t0)
1:  lw   t1, GO(t0)                         # remove: no request is under way
    bnez t1, 1b
    sw   s0, 0(t0)
    sw   zero, 4(t0)
    li   t1, 0x31000
    sw   t1, 0xC(t0)
    sw   zero, 0x10(t0)
    li   t1, 0x12
    sw   t1, 0x1C(t0)
    li   t1, 16
    sw   t1, 0x20(t0)
    li   t1, 1
    sw   t1, GO(t0)
1:  lw   t1, 0x204(t0)                      # needed: the data is overwritten below
    beqz t1, 1b
    sw   s0, 0(s0)
    addi t1, s0, 256
    sw   t1, 0(t0)
    li   t1, 0x31100
    sw   t1, 0xC(t0)
    li   t1, 1
    sw   t1, GO(t0)
    li   t2, 2
1:  lw   t1, GO(t0)                         # needed: the last, which the host may rely on; two loads are one wait
    lw   t3, 0x204(t0)
    sub  t3, t3, t2
    or   t1, t1, t3
    bnez t1, 1b
    j    .
.l1 0x30000
    .word 1, 2, 3, 4
.expect done
.expect noraces
"""
PROGRAMS["barrier_bh"] = BARRIER.replace("ARCH", "bh").replace("GO", "0x40")
PROGRAMS["barrier_wh"] = BARRIER.replace("ARCH", "wh").replace("GO", "0x28")


def waitgate(*arguments):
    return subprocess.run([WAITGATE, *map(str, arguments)], capture_output=True, text=True)


def waits_of(*files):
    r = waitgate("check", "--waits", "--json", *files)
    found = json.loads(r.stdout)
    assert "waits" in found, (files, r.stdout[-300:], r.stderr)
    return found


def marks(text):
    """Line numbers and verdicts: the text after `# `, up to a colon."""
    lines = enumerate(text.splitlines(), 1)
    return {n: line.split("# ")[1].split(":")[0].strip() for n, line in lines if "# " in line}


@test
def planted(d):
    superfluous = needed = 0
    for name, text in PROGRAMS.items():
        path = d / f"{name}.tasm"
        path.write_text(text)
        found = waits_of(path)
        assert "waits_not_judged" not in found, (name, found["waits_not_judged"])
        got = {w["line"]: w["verdict"] for w in found["waits"]}
        assert got == marks(text), (name, got, marks(text))
        superfluous += sum(v != "needed" for v in got.values())
        needed += sum(v == "needed" for v in got.values())
    assert superfluous >= 12 and needed >= 6, (superfluous, needed)


@test
def what_is_said_about_them(d):
    path = d / "p.tasm"
    path.write_text(PROGRAMS["packer_bh"])
    found = {w["line"]: w for w in waits_of(path)["waits"]}
    assert found[10]["enough"] == "ttstallwait STALL_CFG, PACK0", found[10]
    assert found[8]["saves"] > 0 and found[8]["held"] > 0 and found[8]["executed"] == 1, found[8]
    assert found[12]["held"] <= 1, found[12]     # a wait whose condition already holds costs a cycle
    text = waitgate("check", "--waits", path).stdout
    for words in ("enough: ttstallwait STALL_CFG, PACK0", f"not needed; saves {found[8]['saves']} cycles.",
                  "0 of 3 waits are needed as they are."):
        assert words in text, (words, text)
    # The predicted gain is that of removing the line.
    before = json.loads(waitgate("run", "--json", path).stdout)["cycles"]
    lines = PROGRAMS["packer_bh"].splitlines()
    path.write_text("\n".join(lines[:7] + lines[8:]) + "\n")
    after = json.loads(waitgate("run", "--json", path).stdout)["cycles"]
    assert before - after == found[8]["saves"], (before, after, found[8])


def difference(broken, fixed):
    """Lines of `fixed` that are not in `broken`."""
    there = broken.read_text().splitlines()
    return {n for n, line in enumerate(fixed.read_text().splitlines(), 1) if line not in there}


@test
def what_makes_a_broken_program_right_is_needed(_):
    """No wait of a fixed twin that the broken one lacks is superfluous; it may only be wider than necessary."""
    twins = 0
    for broken in sorted((ROOT / "tests" / "races").glob("*_broken.tasm")):
        fixed = broken.with_name(broken.name.replace("_broken", "_fixed"))
        if not fixed.exists():
            continue
        # In the difference, but superfluous: a wait before a drain; waits for nothing that replace each other; one that only delays.
        also = {"08_release_bh_fixed.tasm": {9}, "16_wait_erased_wh_fixed.tasm": {7, 8}, "late_store_fixed.tasm": {9}}
        new = difference(broken, fixed) - also.get(fixed.name, set())
        for wait in waits_of(fixed)["waits"]:
            assert wait.get("line") not in new or wait["verdict"] not in ("free", "remove"), (fixed.name, wait)
            twins += wait.get("line") in new
    assert twins >= 20, twins


@test
def waits_of_examples_are_needed(_):
    seen = 0
    for name in ("add", "gelu", "reduce", "untilize", "sort", "launch_l1", "tilize"):
        for wait in waits_of(*sorted(EXAMPLES.glob(f"{name}.*.elf")))["waits"]:
            assert wait["verdict"] == "needed", (name, wait)
            seen += 1
    for name in ("handshake", "core"):
        assert all(w["verdict"] == "needed" for w in waits_of(ROOT / "examples" / f"{name}.tasm")["waits"]), name
    assert seen >= 40, seen


# A producer and a consumer on two tiles, with two buffers.
TILES = """#include "noc.h"
enum { BLOCKS = 6, WORDS = 64 };
#define BLOCK(i) (0x40000 + 0x1000 * ((i) & 1))
#define FILLED WORD(0x50000)
#define FREED WORD(0x50010)
static inline void send(u32 place, u32 from, u32 to, u32 bytes)
{
    noc_write_to(0, place, bytes);
    while (noc_busy(0, WRITER)) {} // planted: nothing is on its way
    noc_write(0, to, from, 0);
    while (noc_busy(0, WRITER) | noc_pending(0, 0)) {}
}
static inline void tell(u32 place, u32 flag, u32 count)
{
    fence(); // planted: a core's own stores need no fence
    WORD(0x50020) = count;
    while (WORD(0x50020) != count) {}
    send(place, 0x50020, flag, 16);
}
int main(void)
{
    u32 sum = 0;
    for (u32 i = 0; i < BLOCKS; i++) {
#ifdef SOURCE
        for (u32 want = i < 2 ? 0 : i - 1; fence(), FREED < want;) {}
        send(3 | 4 << 6, BLOCK(i), BLOCK(i), 4 * WORDS);
        tell(3 | 4 << 6, 0x50000, i + 1);
#else
        while (fence(), FILLED < i + 1) {}
        for (u32 k = 0; k < WORDS; k++)
            sum += WORD(BLOCK(i) + 4 * k);
        tell(1 | 2 << 6, 0x50010, i + 1);
#endif
    }
    WORD(0x50030) = sum;
    return 0;
}
"""
CHIP = """arch: bh
tiles:
  - {at: [1, 2], brisc: source.elf, load: [{address: 0x50010, words: [0]}, {address: 0x40000, file: data.bin}]}
  - {at: [3, 4], brisc: sink.elf, load: [{address: 0x50000, words: [0]}]}
"""


def build_tiles(d, text):
    header = next(pathlib.Path(WAITGATE).resolve().parent.glob("src/isa/wg_kernel.h")).parent

    (d / "tiles.c").write_text(text)
    for name, flag in (("source", "-DSOURCE"), ("sink", "-DSINK")):
        subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-Os", "-g", "-ffreestanding", "-nostdlib", flag,
                        "-DWG_ARCH_BH", "-DCORE_BRISC", "-msmall-data-limit=0", "-Wl,--defsym=__base=0x4000",
                        "-Wl,--no-warn-rwx-segments", f"-I{ROOT}/examples/common", f"-I{header}", d / "tiles.c",
                        ROOT / "examples/common/crt.S", "-T", ROOT / "examples/common/kernel.ld", "-o", d / f"{name}.elf"], check=True)


@test
def on_several_tiles(d):
    """Of a chip file: what was planted in the programs of two tiles is found, with the gain of removing it; nothing else is."""
    (d / "data.bin").write_bytes(bytes(range(256)) * 32)
    (d / "chip.yaml").write_text(CHIP)
    build_tiles(d, TILES)
    found = waits_of(d / "chip.yaml")
    assert "waits_not_judged" not in found, found["waits_not_judged"]
    superfluous = [w for w in found["waits"] if w["verdict"] != "needed"]
    # Each is in both programs; the loop of the sender is in its program twice.
    assert sorted(w["instruction"].split()[0] for w in superfluous) == ["fence"] * 2 + ["loop"] * (len(superfluous) - 2), superfluous
    assert 4 <= len(superfluous) <= 5 and sum(w["by_rule"] for w in found["waits"]) == 2, found["waits"]
    before = found["cycles"]
    build_tiles(d, re.sub(r"    fence\(\); // planted.*\n|    while .*// planted.*\n", "\n", TILES))
    left = waits_of(d / "chip.yaml")
    assert all(w["verdict"] == "needed" for w in left["waits"]) and left["cycles"] <= before, left["waits"]


MADE = """.l1 0x40
    .word 7, 1, 2, 3
.thread 0
    ttsetdmareg 0, 4, 0, 2
    ttsetdmareg 0, 0, 0, 3
    ttsetdmareg 0, 0, 0, 16
    ttreplay 0, 5, 0, 1
    ttloadind 1, 16, 0, 20, 1
    ttstallwait STALL_THCON, THCON          # the sum below reads what the load delivers
    ttadddmareg 1, 21, 1, 20
    ttstallwait STALL_THCON, UNPACK0        # nothing was unpacked
    ttstallwait STALL_MATH, THCON           # nothing is left to wait for
    ttreplay 0, 5, 0, 0
    ttreplay 0, 5, 0, 0
.core T1
    li   t0, 0xFFB80000
    li   t1, 4
    sw   t1, 0(t0)
    li   t1, 1
    sw   t1, 4(t0)
    li   t2, 0x02000000
    sw   t2, 8(t0)
    sw   t2, 12(t0)
    sw   t2, 16(t0)
    li   t1, 0xA2100002                     # ttstallwait STALL_THCON, UNPACK0
    sw   t1, 20(t0)
    sw   t2, 24(t0)
    sw   t1, 28(t0)
    sw   t1, 32(t0)
    ttmop 1, 0, 0
    j    .
.expect done
.expect noraces
"""


@test
def made_by_mop_and_replay(d):
    path = d / "made.tasm"
    path.write_text(MADE)
    found = waits_of(path)
    assert "waits_not_judged" not in found, found["waits_not_judged"]
    replay = [n for n, line in enumerate(MADE.splitlines(), 1) if "ttreplay 0, 5, 0, 0" in line]
    mop = next(n for n, line in enumerate(MADE.splitlines(), 1) if "ttmop" in line)
    got = sorted((w["line"], w["instruction"], w["verdict"]) for w in found["waits"] if w.get("made"))
    each = [("ttstallwait STALL_MATH, THCON", "free"), ("ttstallwait STALL_THCON, THCON", "needed"), ("ttstallwait STALL_THCON, UNPACK0", "free")]
    assert got == [(line, *one) for line in replay for one in each] + [(mop, "ttstallwait STALL_THCON, UNPACK0", "free")], got
    text = waitgate("check", "--waits", path).stdout
    assert f"made.tasm:{replay[0]}: ttstallwait STALL_THCON, UNPACK0, made by MOP or REPLAY" in text and "with a NOP in its place; saves" in text, text
    # The gain is that of a NOP in the template.
    path.write_text(MADE.replace("li   t1, 0xA2100002", "li   t1, 0x02000000"))
    gain = found["cycles"] - json.loads(waitgate("run", "--json", path).stdout)["cycles"]
    assert [w["saves"] for w in found["waits"] if w["line"] == mop] == [gain], (gain, found["waits"])


@test
def on_several_chips(d):
    """Of a cluster: a program that several chips run is one, and what is superfluous in it is found."""
    build_tiles(d, TILES)
    (d / "data.bin").write_bytes(bytes(range(256)) * 32)
    (d / "cluster.yaml").write_text("topology: p300\nchips:\n" + "".join(
        f"  - chip: {n}\n    tiles:\n" + "".join("    " + line + "\n" for line in CHIP.splitlines()[2:]) for n in (0, 1)))
    chip = d / "chip.yaml"
    chip.write_text(CHIP)
    found, alone = waits_of(d / "cluster.yaml"), waits_of(chip)
    key = lambda w: (w["who"], w["instruction"], w["pc"], w["verdict"], w["file"], w["line"])  # noqa: E731
    assert sorted(map(key, found["waits"])) == sorted(map(key, alone["waits"])) and found["waits"], (found["waits"], alone["waits"])
    assert "not needed" in waitgate("check", "--waits", d / "cluster.yaml").stdout


@test
def what_is_not_judged(d):
    for name, words in (("examples/deadlock.tasm", "the run does not end by itself"),
                        ("tests/races/wait_config_broken.tasm", "the program has races")):
        assert f"Waits were not judged: {words}" in waitgate("check", "--waits", ROOT / name).stdout, name
        assert words in waits_of(ROOT / name)["waits_not_judged"], name
    path = d / "p.tasm"
    path.write_text(LOAD)
    assert "too few cycles" in waits_of("--verify", 100, path)["waits_not_judged"]


run()
