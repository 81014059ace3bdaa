#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the RISC-V disassembly with the RISC-V objdump on random words of every major opcode.

usage: test_rvdis.py RVDIS_WORDS        (prints one line per 32-bit word of standard input)
"""
import random
import re
import struct
import subprocess
import sys
import tempfile

MAJOR = [0x37, 0x17, 0x6F, 0x67, 0x63, 0x03, 0x23, 0x13, 0x33, 0x0F, 0x73, 0x2F, 0x07, 0x27, 0x43, 0x47, 0x4B, 0x4F, 0x53, 0x57]
UNKNOWN = re.compile(r"\.(?:4byte|word|insn)\t.*|0x.*")


def normal(text):
    text = text.split(" #")[0].split(" <")[0].strip()
    text = re.sub(r"^(b\w+\t(?:\w+,)+|jal\t(?:\w+,)?|j\t)(?:0x)?([0-9a-f]+)$", r"\1\2", text)
    return UNKNOWN.sub(".word", text)


random.seed(7)
words = []
for _ in range(30000):
    word = random.getrandbits(32) & ~0x7F | random.choice(MAJOR)
    if random.random() < 0.6:
        word = word & 0x01FFFFFF | random.choice([0, 0x20, 1, 5, 0x10, 0x30, 0x14, 0x34, 4]) << 25
    words.append(word)
ours = subprocess.run([sys.argv[1]], input=b"".join(struct.pack("<I", w) for w in words), capture_output=True).stdout.decode()
ours = ours.split("\n")
with tempfile.TemporaryDirectory() as scratch:
    with open(scratch + "/w.s", "w") as f:
        f.write(".option norvc\n" + "".join(f".insn 0x{w:08x}\n" for w in words))
    subprocess.run(["riscv64-unknown-elf-as", "-march=rv32imaf_zicsr_zifencei_zba_zbb_zbkb_zfh_zve32f", "-mabi=ilp32", "-o",
                    scratch + "/w.o", scratch + "/w.s"], check=True)
    dump = subprocess.run(["riscv64-unknown-elf-objdump", "-d", scratch + "/w.o"], capture_output=True,
                          text=True, check=True).stdout
passed = failed = 0
for line in dump.split("\n"):
    m = re.match(r"\s*([0-9a-f]+):\s+[0-9a-f]{8}\s+(.*)", line)
    if not m:
        continue
    mine, theirs = normal(ours[int(m[1], 16) // 4]), normal(m[2])
    good = mine == theirs or (theirs == ".word" and mine.startswith("grevi"))
    passed, failed = passed + bool(good), failed + (not good)
    if not good and failed < 20:
        print(f"FAIL {mine!r} instead of {theirs!r}")
# The small disassembler: the same text, or nothing. It knows all but floating point, vectors, and what is rare. Binutils takes illegal
# branches, loads and stores for vmsge, and shifts by 32 and more for RV64's.
RARE = ("brev8", "pack", "zip", "unzip", "grevi", "pause", "csr", "fr", "fs", "xperm", "prefetch")
small = subprocess.run([sys.argv[1], "small"], input=b"".join(struct.pack("<I", w) for w in words), capture_output=True).stdout.decode().split("\n")
for word, whole, text in zip(words, ours, small):
    missing = text == "unknown" and not UNKNOWN.fullmatch(whole) and word & 0x7F not in (0x07, 0x27, 0x43, 0x47, 0x4B, 0x4F, 0x53, 0x57) \
        and not whole.startswith(RARE) and not whole.startswith("vmsge") and not re.search(r",0x[23].$", whole)
    good = text == whole if text != "unknown" else not missing
    passed, failed = passed + good, failed + (not good)
    if not good and failed < 40:
        print(f"FAIL the small disassembler says {text!r} instead of {whole!r} for 0x{word:08x}")
known = sum(text != "unknown" for text in small)
passed, failed = passed + (known > 8000), failed + (known <= 8000)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or passed < len(words) else 0)
