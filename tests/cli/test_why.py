#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`waitgate why`: from a location back to who wrote it, and to what that came from."""
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
    """A core's store is where the way ends; --at asks about an earlier time."""
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


# A wrong value each: the location at which it shows, and a program in which the line that made it so is marked.
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
    """Each wrong value leads to the line that made it."""
    for name, (of, program) in PLANTED.items():
        path = d / "p.tasm"
        path.write_text(program)
        line = 1 + next(i for i, text in enumerate(program.splitlines()) if "# BUG" in text)
        found = places(why("--of", of, path))
        assert any(p.endswith(f"p.tasm:{line}") or f"p.tasm:{line})" in p for p in found), (name, line, found)


@test
def which_input_made_it_so(d):
    """An element of the result is NaN: one question, and the element of the input is named."""
    (d / "one.bin").write_bytes(struct.pack("<I", 1))
    tile = bytearray(b"\x80\x3f" * 1024)
    tile[2 * 77:2 * 77 + 2] = b"\xc0\x7f"
    (d / "in0.bin").write_bytes(tile)
    (d / "in1.bin").write_bytes(b"\x80\x3f" * 1024)
    words = text("--of", "l1:0x32000+4096", "--not-finite", "bf16", "--load", f"0x20000={d}/one.bin", "--load", f"0x30000={d}/in0.bin",
                 "--load", f"0x31000={d}/in1.bin", *sorted(EXAMPLES.glob("matmul.*.elf")))
    assert f"NaN at 0x{0x30000 + 2 * 77:05x}" in words and words.count("NaN") == 1, words


@test
def usage(d):
    for of in ("l1:", "dst:1024", "dst:5+2000", "srca:2:0", "srcb:0:64", "lreg:16", "gpr:3:0", "gpr:0:64", "nonsense", "l1:0+0"):
        r = subprocess.run([WAITGATE, "why", "--of", of, str(ROOT / "examples/hello.tasm")], capture_output=True, text=True)
        assert r.returncode == 6 and "is not understood" in r.stderr, (of, r)
    r = subprocess.run([WAITGATE, "why", str(ROOT / "examples/hello.tasm")], capture_output=True, text=True)
    assert r.returncode == 6 and "--of is missing" in r.stderr, r


run()
