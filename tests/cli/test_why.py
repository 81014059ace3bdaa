#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`waitgate why`: from a location back to its writer, and to the origin of the data."""
import json
import pathlib
import struct
import subprocess
import sys

from suite import run, test

WAITGATE, ROOT, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def why(*arguments, status=0):
    r = subprocess.run([WAITGATE, "why", "--json", *map(str, arguments)], capture_output=True, text=True)
    assert r.returncode == status, (r.returncode, r.stdout[-400:], r.stderr)
    return json.loads(r.stdout)["writers"]


def text(*arguments):
    return subprocess.run([WAITGATE, "why", *map(str, arguments)], capture_output=True, text=True).stdout


def only(branches, **wanted):
    found = [b for b in branches if all(str(v) in str(b.get(k)) for k, v in wanted.items())]
    assert len(found) == 1, (wanted, branches)
    return found[0]


@test
def a_matrix_product(d):
    """The result comes from packers, MVMULs, unpackers and the two inputs, and from nothing else."""
    (d / "one.bin").write_bytes(struct.pack("<I", 1))
    writers = why("--of", "l1:0x32000+2048", "--load", f"0x20000={d}/one.bin", *sorted(EXAMPLES.glob("matmul.*.elf")))
    packers = only(writers, who="Packers")
    assert "ttpacr" in packers["instruction"] and "pipeline.h" in packers["place"], packers
    product = only(packers["from_data"], who="Matrix Unit", instruction="ttmvmul")
    assert product["instructions"] > 1 and product["location"].startswith("Dst rows 0 to"), product
    for name, place in (("Unpacker 0", "0x3"), ("Unpacker 1", "0x3")):
        unpacker = only(product["from_data"], who=name)
        assert unpacker["location"].startswith("Src") and "ttunpacr" in unpacker["instruction"], unpacker
        source = only(unpacker["from_data"], written=False)
        assert source["location"].startswith("L1 0x30") or source["location"].startswith("L1 0x31"), source
    words = text("--of", "l1:0x32000+2048", "--load", f"0x20000={d}/one.bin", *sorted(EXAMPLES.glob("matmul.*.elf")))
    assert words.index("Packers") < words.index("Matrix Unit") < words.index("Unpacker 0"), words
    assert "there before the run, or written by the host" in words, words


TWO_STORES = """.core B
    li a0, 0x3000
    li a1, 7
    sw a1, 0(a0)
    fence
    li a2, 300
wait:
    addi a2, a2, -1
    bnez a2, wait
    li a1, 99
    sw a1, 0(a0)
    fence
    ebreak
.expect finding core-ebreak
"""


@test
def the_last_writer_at_a_cycle(d):
    """The trace ends at a core's store; --at asks about an earlier time."""
    (d / "p.tasm").write_text(TWO_STORES)
    last = only(why("--of", "l1:0x3000", d / "p.tasm"))
    assert last["who"] == "B" and "p.tasm:11" in last["place"], last
    first = only(why("--of", "l1:0x3000", "--at", 150, d / "p.tasm"))
    assert first["who"] == "B" and "p.tasm:4" in first["place"], first
    never = only(why("--of", "l1:0x3000", "--at", 1, d / "p.tasm"))
    assert never["written"] is False, never


@test
def registers(d):
    """GPRs are written by halves; an addition leads to both operands."""
    (d / "p.tasm").write_text(".thread 0\n ttsetdmareg 0, 5, 0, 8\n ttsetdmareg 0, 0, 0, 9\n ttsetdmareg 0, 6, 0, 10\n"
                              " ttsetdmareg 0, 0, 0, 11\n ttadddmareg 0, 6, 5, 4\n")
    total = only(why("--of", "gpr:0:6", d / "p.tasm"))
    assert total["who"] == "Scalar Unit" and "ttadddmareg" in total["instruction"], total
    lines = sorted(b["place"].rpartition(":")[2] for b in total["from_data"])
    assert lines == ["2", "3", "4", "5"], total["from_data"]


# A wrong value each: the location at which it shows, and a program with a mark on the line that caused it.
PLANTED = {
    "wrong register stored": ("l1:0x3000", """.core B
    li a0, 0x3000
    li a1, 5
    li a2, 6
    sw a2, 0(a0) # BUG
    fence
    ebreak
.expect finding core-ebreak
"""),
    "another core's store": ("l1:0x3004", """.core B
    li a0, 0x3000
    li a1, 5
    sw a1, 4(a0)
    fence
    ebreak
.core T1
    li t0, 200
wait:
    addi t0, t0, -1
    bnez t0, wait
    li a0, 0x2FF4
    sw t0, 16(a0) # BUG
    fence
    ebreak
.expect finding core-ebreak
"""),
    "operand of an addition": ("gpr:0:6", """.thread 0
    ttsetdmareg 0, 5, 0, 8
    ttsetdmareg 0, 0, 0, 9
    ttsetdmareg 0, 60, 0, 10 # BUG
    ttsetdmareg 0, 0, 0, 11
    ttadddmareg 0, 6, 5, 4
"""),
    "one half overwritten": ("gpr:1:5", """.thread 1
    ttsetdmareg 0, 5, 0, 10
    ttsetdmareg 0, 0, 0, 11
    ttsetdmareg 0, 7, 0, 11 # BUG
"""),
    "a core's store to a GPR": ("gpr:0:4", """.thread 0
    ttsetdmareg 0, 5, 0, 8
.core B
    li t0, 100
wait:
    addi t0, t0, -1
    bnez t0, wait
    li a0, 0xFFE00000
    sw t0, 16(a0) # BUG
    fence
    ebreak
.expect finding core-ebreak
"""),
    "one post too many": ("semaphore:2", """.thread 0
    ttseminit 4, 0, SEMAPHORE_2
    ttsempost SEMAPHORE_2
    ttsemget SEMAPHORE_2
    ttsempost SEMAPHORE_2 # BUG
"""),
    "a post, though a core reads the value later": ("semaphore:2", """.thread 0
    ttseminit 4, 0, SEMAPHORE_2
    ttsempost SEMAPHORE_2 # BUG
.core T2
    li t0, 0xFFE80028
    li t1, 200
again:
    lw t2, 0(t0)
    addi t1, t1, -1
    bnez t1, again
stop:
    j stop
"""),
    "thread configuration": ("threadconfig:0:5", """.thread 0
    ttsetc16 5, 3
    ttsetc16 5, 4 # BUG
    ttsetc16 6, 3
"""),
    "configuration from a wrong GPR": ("config:0:20", """.thread 0
    ttsetdmareg 0, 9, 0, 10 # BUG
    ttsetdmareg 0, 0, 0, 11
    ttstallwait STALL_CFG, THCON
    ttwrcfg 5, 0, 20
"""),
    "a constant of the Vector Unit": ("lreg:1", """.thread 0
    ttsfploadi 0, 2, 7
    ttsfploadi 1, 2, 8 # BUG
"""),
    "a moved constant": ("lreg:2", """.thread 0
    ttsfploadi 0, 2, 7 # BUG
    ttsfploadi 1, 2, 8
    ttsfpmov 0, 0, 2, 0
"""),
    "cleared too late": ("dst:0", """.thread 0
    ttzeroacc 3, 0, 0, 0, 0
    ttnop
    ttzeroacc 3, 0, 0, 0, 0 # BUG
"""),
}


def places(branches):
    return [b.get("place", "") for b in branches] + [p for b in branches for p in places(b.get("from_data", []))]


@test
def planted_bugs(d):
    """Each wrong value leads to the line that caused it."""
    for name, (of, program) in PLANTED.items():
        path = d / "p.tasm"
        path.write_text(program)
        line = 1 + next(i for i, text in enumerate(program.splitlines()) if "# BUG" in text)
        found = places(why("--of", of, path))
        assert any(p.endswith(f"p.tasm:{line}") or f"p.tasm:{line})" in p for p in found), (name, line, found)


@test
def which_input_made_it_so(d):
    """An element of the result is NaN: one question names the element of the input."""
    (d / "one.bin").write_bytes(struct.pack("<I", 1))
    tile = bytearray(b"\x80\x3f" * 1024)
    tile[2 * 77:2 * 77 + 2] = b"\xc0\x7f"
    (d / "in0.bin").write_bytes(tile)
    (d / "in1.bin").write_bytes(b"\x80\x3f" * 1024)
    words = text("--of", "l1:0x32000+4096", "--not-finite", "bf16", "--load", f"0x20000={d}/one.bin", "--load", f"0x30000={d}/in0.bin",
                 "--load", f"0x31000={d}/in1.bin", *sorted(EXAMPLES.glob("matmul.*.elf")))
    assert f"NaN at in0.bin (0x{0x30000 + 2 * 77:05x})" in words and words.count("NaN at") == 1, words


NAN = float("nan")


def npy(path, odd, value):
    """32 x 32 floats: NaN at the places of `odd`."""
    data = b"".join(struct.pack("<f", NAN if (r, c) in odd else value) for r in range(32) for c in range(32))
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (32, 32), }"
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head + data)


def answer(*arguments):
    r = subprocess.run([WAITGATE, "why", "--json", *map(str, arguments)], capture_output=True, text=True)
    assert r.returncode == 0, (r.returncode, r.stdout[-400:], r.stderr)
    return json.loads(r.stdout)


def leaves(branches):
    return [b for b in branches if not b["written"]] + [x for b in branches for x in leaves(b.get("from_data", []))]


@test
def element_of_a_product(d):
    """Of three inputs that are NaN, the one in row 17 caused the element in row 17: the others are in other rows and
    columns."""
    (d / "one.bin").write_bytes(struct.pack("<I", 1))
    npy(d / "a.npy", {(17, 9), (3, 2)}, 1.0)
    npy(d / "b.npy", {(5, 20)}, 0.5)
    for arch, prefix in (("bh", ""), ("wh", "wh_")):
        command = ["--of", "l1:0x32000[17,4]:fp32,tilized", "--load", f"0x20000={d}/one.bin", "--load", f"0x30000={d}/a.npy:bf16,tilized",
                   "--load", f"0x31000={d}/b.npy:bf16,tilized", "--arch", arch, *sorted(EXAMPLES.glob(f"{prefix}matmul.*.elf"))]
        got = answer(*command)
        assert [x["element"] for x in got["made_so_by"]] == ["a.npy[17,9] (0x30432)"], got
        assert got["not_finite"] == 3 and got["with_ones_instead"] == "16", got
    column = answer("--of", "l1:0x32000[30,20]:fp32,tilized", *command[2:])
    assert [x["element"] for x in column["made_so_by"]] == ["b.npy[5,20] (0x312a8)"], column
    both = answer("--of", "l1:0x32000[17,20]:fp32,tilized", *command[2:])
    assert [x["element"] for x in both["made_so_by"]] == ["b.npy[5,20] (0x312a8)", "a.npy[17,9] (0x30432)"] or \
        [x["element"] for x in both["made_so_by"]] == ["a.npy[17,9] (0x30432)", "b.npy[5,20] (0x312a8)"], both
    none = answer("--of", "l1:0x32000[0,0]:fp32,tilized", *command[2:])
    assert none["made_so_by"] == [] and none["value"] == "16", none
    assert "made so by NaN at a.npy[17,9] (0x30432)" in text(*command)


@test
def element_of_gelu(d):
    """Through the Vector Unit; nothing is reported twice."""
    npy(d / "x.npy", {(17, 4), (0, 0), (17, 5)}, 0.5)
    for arch, prefix in (("bh", ""), ("wh", "wh_")):
        got = answer("--of", "l1:0x32000[17,4]:fp32,tilized", "--load", f"0x30000={d}/x.npy:fp32,tilized", "--arch", arch,
                     *sorted(EXAMPLES.glob(f"{prefix}gelu.*.elf")))
        assert got["value"] == "NaN" and [x["element"] for x in got["made_so_by"]] == ["x.npy[17,4] (0x30850)"], got
        load = [b for b in every(got["writers"]) if "ttsfpload " in b.get("instruction", "") and b.get("from_data")]
        assert load and "ttmova2d" in load[0]["from_data"][0]["instruction"], load
        assert len(every(got["writers"])) < 200, len(every(got["writers"]))


def every(branches):
    return branches + [x for b in branches for x in every(b.get("from_data", []))]


def two_tiles(d, arch, depth=3):
    """C = A * B on two tiles, A of `depth` tiles: A is only on the first, and reaches the second over the NoC."""
    npy(d / "a.npy", {(17, 9), (3, 2)}, 1.0)
    npy(d / "more.npy", set(), 1.0)
    npy(d / "b.npy", set(), 0.5)
    prefix = "" if arch == "bh" else "wh_"
    lines = [f"arch: {arch}\nmax-cycles: 1000000\ntiles:\n"]
    for column in (0, 1):
        words = list(enumerate((1, depth, 1, 2, 1, 0, column))) + [(n, 0) for n in (18, 21, 22)]
        lines.append(f"  - at: [{1 + column}, 2]\n")
        lines += [f"    {core}: {EXAMPLES.resolve()}/{prefix}matmul_multicast.{core}.elf\n" for core in ("brisc", "ncrisc", "trisc0", "trisc1", "trisc2")]
        lines.append("    load:\n")
        lines += [f"      - {{address: {0x20000 + 16 * n}, words: [{value}]}}\n" for n, value in words]
        names = (["a"] + ["more"] * (depth - 1) if not column else []) + ["b"] * depth
        for n, name in enumerate(names, 0 if not column else depth):
            lines.append(f"      - {{address: {0x60000 + 2048 * n}, file: {d}/{name}.npy, type: bf16, tilized: true}}\n")
    (d / "chip.yaml").write_text("".join(lines))
    return d / "chip.yaml"


@test
def element_over_the_noc(d):
    """The second tile's result leads to the first tile's input, through all products that were summed."""
    for arch in ("bh", "wh"):
        chip = two_tiles(d, arch)
        got = answer("--tile", "2-2", "--of", "l1:0x44000[17,4]:fp32,tilized", chip)
        assert [(x["tile"], x["element"]) for x in got["made_so_by"]] == [("1-2", "a.npy[17,9] (0x60432)")], got["made_so_by"]
        assert got["with_ones_instead"] == "48", got["with_ones_instead"]
        arrived = [b for b in every(got["writers"]) if b.get("who", "").startswith("NIU") and b["tile"] == "2-2"]
        assert arrived and {"1-2"} == {x["tile"] for b in arrived for x in b["from_data"] if "0x60000" in x["location"]}, arrived


@test
def element_of_dram(d):
    """From DRAM to DRAM: the channel's other tile leads to the same memory."""
    for tile in ("0-0", "0-1"):
        got = answer("--tile", tile, "--of", "dram:0x200000[0,1]:bf16,tilized", EXAMPLES / "dram.yaml")
        assert got["value"] == "2", got["value"]
        end = only(leaves(got["writers"]))
        assert end["location"].startswith("a DRAM tile 0x100000") and end["tile"] == "0-0", end


@test
def elements(d):
    """Rows and columns of arrays; elements outside, or without a separate place, are refused."""
    (d / "p.tasm").write_text(TWO_STORES)
    for of, first in (("l1:0x3000[0,1]:bf16", 0x3002), ("l1:0x2f00[2,0]:fp32=8x32", 0x3000), ("l1:0x3000[16,16]:bf16,tilized=64x64", 0x3600),
                      ("l1:0x3000[32,1]:uint8,tilized=64x64", 0x3801), ("l1:0x3000[1,33]:uint8,tilized=32x64", 0x3411)):
        got = answer("--of", of, d / "p.tasm")
        assert all(f"L1 0x{first:05x} to" in b["location"] for b in got["writers"]), (of, got)
    for of, words in (("l1:0x3000[1,0]:bf16", "width is not known"), ("l1:0x3000[0,32]:bf16,tilized", "outside the array"),
                      ("l1:0x3000[8,0]:fp32=8x32", "outside the array"), ("l1:0x3000[0,0]", "is not l1:ADDRESS[ROW,COLUMN]:TYPE"),
                      ("l1:0x3000[0,0]:raw", "raw bytes have no elements"), ("l1:0x3000[0,0]:nonsense", "no type"),
                      ("l1:0x3000[0:0]:bf16", "is not l1:"), ("l1:0xffffffff[0,9]:bf16", "outside the memory"),
                      ("gpr:0[0,0]:bf16", "is not understood"), ("dram:0x1000[0,0]:bf16", "DRAM tile of a chip file")):
        r = subprocess.run([WAITGATE, "why", "--of", of, str(d / "p.tasm")], capture_output=True, text=True)
        assert r.returncode == 6 and words in r.stderr, (of, r)


@test
def elements_of_blocks(d):
    """An element of a BFP tile is its datum and its block's exponent; both lead to the rows of Dst that produced them,
    and to the input."""
    numbers = [(r * 32 + c) / 8.0 for r in range(32) for c in range(32)]
    data = b"".join(struct.pack("<f", n) for n in numbers)
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (32, 32), }"
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    (d / "x.npy").write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head + data)
    for arch, prefix in (("bh", ""), ("wh", "wh_")):
        command = ["--load", f"0x30000={d}/x.npy:bfp8,tilized", "--arch", arch, *sorted(EXAMPLES.glob(f"{prefix}datacopy_bfp8.*.elf"))]
        for row, column in ((17, 4), (0, 0), (31, 31), (5, 20)):
            place = (row // 16 * 2 + column // 16) * 256 + row % 16 * 16 + column % 16
            got = answer("--of", f"l1:0x32000[{row},{column}]:bfp8,tilized", *command)
            assert abs(float(got["value"]) - numbers[row * 32 + column]) <= 1, (row, column, got["value"])
            packers = [w for w in got["writers"] if w["who"] == "Packers"]
            at = {int(w["location"].split()[1], 16) for w in packers}
            assert at == {0x32000 + 64 + place, 0x32000 + place // 16}, (row, column, got["writers"])
            for w in packers:
                rows = [[int(n) for n in b["location"].replace("Dst rows ", "").replace("Dst row ", "").split(" to ")] for b in w["from_data"]]
                assert any(r[0] <= place // 16 <= r[-1] for r in rows) and all(r[-1] - r[0] < 16 for r in rows), (row, column, w["location"], rows)
            ends = {b["location"] for b in leaves(got["writers"])}
            assert all("0x30" in e for e in ends) and ends, ends
    for of, words in (("l1:0x30000[1,1]:bfp8", "exists in whole tiles"), ("l1:0x30000[0,32]:bfp4,tilized", "outside the array")):
        r = subprocess.run([WAITGATE, "why", "--of", of, *map(str, command)], capture_output=True, text=True)
        assert r.returncode == 6 and words in r.stderr, (of, r)
    four = answer("--of", "l1:0x30000[17,5]:bfp4,tilized", "--load", f"0x30000={d}/x.npy:bfp4,tilized", *command[2:])
    assert {w["location"] for w in four["writers"]} == {f"L1 0x{0x30000 + 64 + (512 + 21) // 2:05x} to 0x{0x30000 + 64 + (512 + 21) // 2:05x}",
                                                        f"L1 0x{0x30000 + 33:05x} to 0x{0x30000 + 33:05x}"}, four


@test
def rows_that_moves_read(d):
    """The row of MOVA2D, MOVB2D and MOVB2A is the counter plus the operand."""
    (d / "p.tasm").write_text('''.arch bh
.thread 0
    .word 0x43000121
    .word 0x43800121
.thread 1
    ttstallwait STALL_MATH, SRCA_VLD|SRCB_VLD
    ttmova2d 0, 40, 0, 2, 16
    ttmovb2d 0, 21, 0, 0, 32
    ttmovb2a 3, 0, 0, 13
''')
    for of, expected in (("dst:18", "SrcA bank 0 rows 40 to 47"), ("dst:32", "SrcB bank 0 rows 21 to 21"), ("srca:0:3", "SrcB bank 0 rows 13 to 13")):
        got = answer("--of", of, d / "p.tasm")["writers"]
        assert len(got) == 1 and got[0]["who"] == "Matrix Unit", (of, got)
        assert [b["location"] for b in got[0]["from_data"] if b["location"].startswith("Src")] == [expected], (of, got)


@test
def usage(d):
    for of in ("l1:", "dst:1024", "dst:5+2000", "srca:2:0", "srcb:0:64", "lreg:16", "gpr:3:0", "gpr:0:64", "nonsense", "l1:0+0"):
        r = subprocess.run([WAITGATE, "why", "--of", of, str(ROOT / "examples/hello.tasm")], capture_output=True, text=True)
        assert r.returncode == 6 and "is not understood" in r.stderr, (of, r)
    r = subprocess.run([WAITGATE, "why", str(ROOT / "examples/hello.tasm")], capture_output=True, text=True)
    assert r.returncode == 6 and "--of is missing" in r.stderr, r


run()
