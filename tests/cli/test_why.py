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


@test
def usage(d):
    for of in ("l1:", "dst:1024", "dst:5+2000", "srca:2:0", "srcb:0:64", "lreg:16", "gpr:3:0", "gpr:0:64", "nonsense", "l1:0+0"):
        r = subprocess.run([WAITGATE, "why", "--of", of, str(ROOT / "examples/hello.tasm")], capture_output=True, text=True)
        assert r.returncode == 6 and "is not understood" in r.stderr, (of, r)
    r = subprocess.run([WAITGATE, "why", str(ROOT / "examples/hello.tasm")], capture_output=True, text=True)
    assert r.returncode == 6 and "--of is missing" in r.stderr, r


run()
