#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The small RISC-V assembler, which takes the place of the RISC-V binutils where they are not installed: it gives the same bytes,
symbols and source lines as GNU as and ld for every program of the tree and for every instruction, and says what it does not know.

usage: test_rv_assemble.py COMPARE WAITGATE ROOT
"""
import os
import pathlib
import random
import re
import subprocess
import sys

import suite
from suite import test

COMPARE, WAITGATE, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
REGISTERS = ["zero", "ra", "sp", "gp", "tp", "fp"] + [f"{k}{i}" for k, n in (("t", 7), ("s", 12), ("a", 8)) for i in range(n)] + ["x0", "x9", "x31"]


def compare(folder, programs):
    paths = []
    for name, text in programs.items():
        (folder / name).write_text(text)
        paths.append(name)
    done = subprocess.run([COMPARE, *paths], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout[:3000]
    return int(re.search(r"(\d+) sections, 0 differ", done.stdout)[1])


def without_binutils(folder, *words):
    """The command where there is no assembler on the path."""
    (folder / "empty").mkdir(exist_ok=True)
    return subprocess.run([WAITGATE, *words], capture_output=True, text=True, cwd=folder, env={"PATH": str(folder / "empty"), "LC_ALL": "C.UTF-8"})


@test
def programs_of_the_tree(folder):
    programs = {f"{i}_{p.name}": p.read_text() for i, p in enumerate(sorted(ROOT.glob("*/**/*.tasm"))) if "build" not in p.parts}
    for page in (ROOT / "docs").rglob("*.md"):
        for i, text in enumerate(re.findall(r"^```tasm[^\n]*\n(.*?)^```\n", page.read_text(), re.M | re.S)):
            programs[f"{page.stem}_{i}.tasm"] = text
    assert compare(folder, programs) > 150


@test
def instructions(folder):
    """Every mnemonic of the assembler's table, with registers and numbers by chance."""
    table = re.findall(r'\{"([^"]+)", .*?, WG_RV_(\w+), ', (ROOT / "src/cli/rv_encode.c").read_text())
    assert len(table) > 130, len(table)
    rng = random.Random(1)

    def reg():
        return rng.choice(REGISTERS)

    def imm(low=-2048, high=2047):
        return rng.choice([str(rng.randint(low, high)), hex(rng.randint(max(low, 0), high)), str(low), str(high), "0"])
    csrs = re.findall(r'\{"(\w+)", 0x[0-9A-F]{3}\}', (ROOT / "src/text/rv_text.c").read_text())
    operands = {
        "R": lambda: f"{reg()}, {reg()}, {reg()}", "I": lambda: f"{reg()}, {reg()}, {imm()}", "SHIFT": lambda: f"{reg()}, {reg()}, {imm(0, 31)}",
        "LOAD": lambda: f"{reg()}, {rng.choice([imm(), ''])}({reg()})", "STORE": lambda: f"{reg()}, {rng.choice([imm(), ''])}({reg()})",
        "BRANCH": lambda: f"{reg()}, {reg()}, near", "SWAPPED": lambda: f"{reg()}, {reg()}, 1b", "BRANCH_Z": lambda: f"{reg()}, 1f",
        "Z_BRANCH": lambda: f"{reg()}, .+8", "UPPER": lambda: f"{reg()}, {imm(0, 0xFFFFF)}", "JAL": lambda: rng.choice(["", reg() + ", "]) + "near",
        "J": lambda: rng.choice(["near", "1b", ".", ".-16"]),
        "JALR": lambda: rng.choice([reg(), f"{reg()}, {reg()}", f"{reg()}, {reg()}, {imm()}", f"{reg()}, {imm()}({reg()})"]),
        "JR": lambda: rng.choice([reg(), f"{imm()}({reg()})"]), "NONE": lambda: "", "FENCE": lambda: rng.choice(["", "iorw, rw", "w, r", "o, i"]),
        "RD_RS1": lambda: f"{reg()}, {reg()}", "RD_RS2": lambda: f"{reg()}, {reg()}", "ATOMIC": lambda: f"{reg()}, {reg()}, ({reg()})",
        "LR": lambda: f"{reg()}, ({reg()})", "CSR": lambda: f"{reg()}, {rng.choice(csrs + ['0x7C0'])}, {reg()}",
        "CSR_I": lambda: f"{reg()}, {rng.choice(csrs)}, {imm(0, 31)}", "CSR_RD": lambda: f"{reg()}, {rng.choice(csrs)}",
        "CSR_RS": lambda: f"{rng.choice(csrs)}, {reg()}", "CSR_IMM": lambda: f"{rng.choice(csrs)}, {imm(0, 31)}", "RD": reg,
        "LI": lambda: f"{reg()}, {rng.choice([imm(), imm(-2**31, 2**32 - 1), '0x800', '0x12345000', '0xFFFFF800', '0x7FFFFFFF', 'LATER'])}",
        "LA": lambda: f"{reg()}, {rng.choice(['near', 'words', 'words + 4'])}", "CALL": lambda: "near"}
    # Not in the cores' instruction set as GNU as is told of it.
    absent = {"zip", "unzip", "brev8", "pack", "packh", "mret", "lr.w", "rdtime", "rdtimeh"} | {name for name, form in table if form in ("ATOMIC", "LR")}

    def some():
        lines = []
        for name, form in rng.sample(table, len(table)):
            for _ in range(4):
                lines.append(f"    {name} {operands[form]()}")
                if rng.random() < 0.1:
                    lines.append("1:")
                if rng.random() < 0.3 and name in ("add", "xor", "sll", "slt"):
                    lines.append(f"    {name} {reg()}, {reg()}, {imm(0, 31)}")
        return lines
    head = ".set LATER, 0x2345678\n.core B\nnear:\n1:\n"
    data = "    j .\n1:\n.data\nwords: .word 1, 2, near, words - 4\n"
    programs = {f"{i}.tasm": head + "\n".join(line for line in some() if line.split()[0] not in absent) + "\n" + data for i in range(40)}
    # GNU as must take them all: else nothing would be compared.
    assert compare(folder, programs) == len(programs)
    lines = some()
    only_here = [line for line in lines if line.split()[0] in absent]
    (folder / "more.tasm").write_text(".core B\n    j past\n1:\n" + "\n".join(only_here) + "\npast:\n    j past\n")
    r = without_binutils(folder, "run", "more.tasm")
    assert r.returncode == 0, r.stdout + r.stderr


@test
def language(folder):
    """Labels, constants, data, sections, repetitions, expressions with the precedence of GNU as."""
    text = r"""
.set A, 3
.equ B, A * 4 + 1
.core B
    C = B - A
    li t0, A + B * 2 | 1
    li t1, 1 << 4 + 1
    li t2, ~0 & 0xFF00 ^ 0x0F0
    li t3, -(7 / 2) % 3
    li t4, 'a'
start:
    .rept 3
    nop; addi a0, a0, 1     # two; in a line
1:  bnez a0, 1b
    .rept 2
    sub a1, a1, a0
    .endr
    .endr
    .irp x, a2, a3 , a4
    mv \x, t0
    sw \x, 4(sp)
    .endr
    beqz a0, 2f
    jal 2f
2:  lui a0, %hi(words)
    addi a0, a0, %lo(words)
    lw a1, %lo(words + 4)(a0)
    ttnop
    la a2, text
end: j end
    .balign 16
    .ttinsn 0x45002A08
    .align 3
after: j .
.section .rodata
text: .asciz "a;b #\n\"x\""
    .ascii "z"
    .balign 4
.data
words: .word 1, end, after - start, -1
    .half 0x1234, 5
    .byte 1, 'b', -1
    .balign 4
    .zero 8
"""
    assert compare(folder, {"language.tasm": text, "at.tasm": text.replace(".core B", ".core T1, 0x9000")}) == 2


@test
def refusals(folder):
    """What it does not know, and what is wrong, is an error of the line."""
    for line, message in (("flw fa0, 0(a0)", "no floating point: `flw'; install the RISC-V binutils"), ("frob a0", "unrecognized opcode `frob'"),
                          ("addi a0, a0, 5000", "5000 does not fit"), ("addi a0, a9, 5", "`a9' is not a register"), ("j nowhere", "`nowhere' is not defined"),
                          ("lw a0, 4", "OFFSET(REGISTER)"), ("add a0, a1", "an operand is missing"), ("mv a0, a1, a2", "junk at end of line"),
                          (".macro x", "does not know `.macro'"), ("beqz a0, 9f", "no label `9f'"), ("a: nop; a: nop", "`a' is already defined"),
                          ("li a0, LATE\nb: j b\n.set LATE, 0x12345", "depends on a constant that is defined later"), (".rept 2", "no .endr"),
                          (".word 1 / 0\n.data\n.word 1 / 0", "division by zero"), ("slli a0, a0, 32", "32 is not from 0 to 31")):
        (folder / "wrong.tasm").write_text(f".core B\n    nop\n    {line}\n    j .\n")
        r = without_binutils(folder, "run", "wrong.tasm")
        assert r.returncode == 6 and message in r.stderr, (line, r.stdout, r.stderr)
        assert re.search(r"wrong\.tasm:[3-5]:", r.stderr), (line, r.stderr)
    (folder / "deep.tasm").write_text(".core B\n" + ".rept 1\n" * 40 + "nop\n" + ".endr\n" * 40)
    assert "nested too deep" in without_binutils(folder, "run", "deep.tasm").stderr
    r = subprocess.run([WAITGATE, "run", ROOT / "examples/core.tasm"], capture_output=True, text=True, env=dict(os.environ, WAITGATE_RISCV_PREFIX="no-such-"))
    assert r.returncode == 6 and "no `no-such-as`" in r.stderr, r.stderr


@test
def runs(folder):
    """A program with cores runs without the binutils, to the same report."""
    for name in ("core.tasm", "findings/core-stale-l0.tasm", "findings/mop-cfg-read.tasm"):
        (folder / "p.tasm").write_text((ROOT / "examples" / name).read_text())
        small = without_binutils(folder, "run", "--timeline", "p.tasm")
        whole = subprocess.run([WAITGATE, "run", "--timeline", "p.tasm"], capture_output=True, text=True, cwd=folder)
        assert small.stdout == whole.stdout and small.returncode == whole.returncode, (name, small, whole)


suite.run()
