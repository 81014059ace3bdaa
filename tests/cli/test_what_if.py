#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`waitgate profile --what-if`: its predictions match the gain of a changed kernel, and values stay the same."""
import json
import pathlib
import re
import struct
import subprocess
import sys

import kernels
from kernels import line_with
from suite import run, test

WAITGATE, ROOT, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def waitgate(*arguments):
    return subprocess.run([WAITGATE, *map(str, arguments)], capture_output=True, text=True)


def what_if(files, *lists):
    """The length of the run, and the runs with scaled costs."""
    wanted = [word for one in lists for word in ("--what-if", one)]
    r = waitgate("profile", "--json", *wanted, *files)
    assert r.returncode == 0, (r.stdout[-300:], r.stderr)
    found = json.loads(r.stdout)
    return found["cycles"], found["what_if"]


def length(d, name, text):
    path = d / name
    path.write_text(text)
    r = waitgate("run", "--json", path)
    assert r.returncode == 0, r.stdout + r.stderr
    return json.loads(r.stdout)["cycles"]


def predicts(d, before, after, line):
    """Line `line` of `before` at no cost saves as much as `after` saves, within 2 %."""
    real = length(d, "before.tasm", before) - length(d, "after.tasm", after)
    cycles, runs = what_if([d / "before.tasm"], f"line:before.tasm:{line}=0")
    assert real > 50 and runs[0]["results_equal"], (real, runs)
    assert runs[0]["saves"] == cycles - runs[0]["cycles"], runs
    assert abs(runs[0]["saves"] - real) <= 0.02 * real, (real, runs)


DIVISIONS = """.core T0
    li   t0, 200
    li   t1, 7
    li   t4, 0x3000
again:
    %s
    addi t0, t0, -1
    bnez t0, again
    sw   t1, 0(t4)
stop:
    j    stop
.expect done
.expect l1 0x3000 = 7
"""


@test
def a_line_of_a_core_is_removed(d):
    predicts(d, DIVISIONS % "divu t2, t0, t1", DIVISIONS % "", 6)


PRODUCTS = """.thread 0
    ttsetdmareg 0, 3, 0, 2
    .repeat 120
        %s
    .endr
.expect done
.expect gpr 0 1 = 3
"""


@test
def an_instruction_is_replaced(d):
    """A multiplication with an unused result, or an instruction that takes one cycle."""
    predicts(d, PRODUCTS % "ttmuldmareg 0, 8, 1, 1", PRODUCTS % "ttsetdmareg 0, 9, 0, 16", 4)


COUNTERS = """.thread 0
    .repeat 100
        %s
        ttstallwait STALL_MATH, MATH
    .endr
    ttsetdmareg 0, 3, 0, 2
.expect done
.expect gpr 0 1 = 3
"""


@test
def instructions_of_the_matrix_unit_pass_together(d):
    """Waits for the Matrix Unit hold after SETRWC. At no cost it passes its gate together with the wait, which does not
    hold."""
    before = length(d, "p.tasm", COUNTERS % "ttsetrwc 0, 0, 0, 0, 0, 0")
    after = length(d, "q.tasm", COUNTERS % "ttnop")
    cycles, runs = what_if([d / "p.tasm"], "matrix=0", "line:p.tasm:3=0")
    assert cycles == before and all(abs(r["cycles"] - after) <= 1 for r in runs), (before, after, runs)


HANDSHAKE = """.thread 0
    ttseminit 2, 0, SEMAPHORE_1
    ttsetdmareg 0, 3, 0, 2
    .repeat 50
        ttsemwait STALL_THREAD, SEMAPHORE_1, STALL_ON_MAX
        %s
        ttstallwait STALL_SYNC, THCON
        ttsempost SEMAPHORE_1
    .endr
.thread 1
    .delay 4
    .repeat 50
        ttsemwait STALL_THREAD, SEMAPHORE_1, STALL_ON_ZERO
        ttsetdmareg 0, 7, 0, 8
        ttsemget SEMAPHORE_1
    .endr
.expect done
.expect gpr 1 4 = 7
"""


@test
def a_line_that_another_thread_waits_for(d):
    """The consumer's run shortens by the cost of the producer's line, through the semaphore."""
    predicts(d, HANDSHAKE % "ttmuldmareg 0, 8, 1, 1", HANDSHAKE % "ttsetdmareg 0, 9, 0, 16", 6)


@test
def factor_one_changes_nothing(_):
    for name in ("matmul", "gelu"):
        files = sorted(EXAMPLES.glob(f"{name}.*.elf"))
        every = [f"{what}=1" for what in ("unpack0", "unpack1", "matrix", "vector", "pack", "scalar", "t0", "t1", "t2", "noc",
                                          "dram", "l1", "sync", "gpr", "config", "registers", "fetch", "branch", "clear")]
        cycles, runs = what_if(files, ",".join(every), f"line:{name}.c:{line_of(files)}=1x")
        assert all(r["cycles"] == cycles and r["saves"] == 0 and r["results_equal"] for r in runs), (name, runs)


LOOP = """.arch %s
.core T0
    li   t0, %d
    li   t4, 0x3000
again:
    %s
    addi t0, t0, -1; bnez t0, again
    sw   t0, 0(t4)
stop:
    j    stop
.expect done
.expect l1 0x3000 = 0
"""


@test
def a_loop_at_half_its_cost(d):
    """Instructions that take a cycle count, too, what a core waits for loads from L1, and how long stores hold L1: a line at
    half its cost saves as much as half of the iterations."""
    load = "slli t1, t0, 6; lw t1, 0(t1); add t2, t1, t0"
    for arch, body in (("bh", "addi t1, t1, 3; xor t2, t1, t0"), ("bh", "lw t1, 64(t4); add t2, t1, t0"), ("bh", load),
                       ("wh", load), ("wh", "sw t0, 64(t4)")):
        before, after = (length(d, name, LOOP % (arch, n, body)) for name, n in (("before.tasm", 1600), ("after.tasm", 800)))
        _, runs = what_if([d / "before.tasm"], "line:before.tasm:6=0.5,line:before.tasm:7=0.5", "t0=0.5")
        for one in runs:
            assert abs(one["saves"] - (before - after)) <= 0.02 * (before - after), (body, before, after, runs)


def compiled(d, name, *edits):
    return kernels.compiled(d, WAITGATE, ROOT, name, *edits)


def gains(d, before, after, *asked, load=()):
    """(predicted, achieved): the saving that --what-if predicts for `before`, and the saving of `after`."""
    predicted = what_if([*load, *before], *asked)
    r = waitgate("run", "--json", *load, *after)
    assert r.returncode == 0, r.stdout + r.stderr
    return [predicted[0] - x["cycles"] for x in predicted[1]], predicted[0] - json.loads(r.stdout)["cycles"]


# T2 keeps its MOP on the stack, in RAM that clears itself for 2,048 cycles: the profile's top entry. This version does
# not.
WITHOUT_STACK = ("pipeline.h", """    u32 mop[9] = {1, TILE_ROWS / 4, nop, nop, nop, more, nop, last, last};
    for (u32 i = 0; i < 9; i++)
        WORD(TENSIX_MOP_CFG_BASE + 4 * i) = mop[i];
""", """#define SET(i, value) WORD(TENSIX_MOP_CFG_BASE + 4 * (i)) = (value)
    SET(0, 1), SET(1, TILE_ROWS / 4), SET(2, nop), SET(3, nop), SET(4, nop), SET(5, more), SET(6, nop), SET(7, last), SET(8, last);
""")


@test
def matmul_without_its_largest_cost(d):
    """The matrix product: removing the path's largest part, T2's RAM, from the kernel saves what the profile
    predicts."""
    files, folder = compiled(d, "matmul")
    sentence = " ".join(waitgate("profile", *files).stdout.split())
    line = line_with(folder / "pipeline.h", "u32 mop[9]")
    assert f"is T2 at pipeline.h:{line} pack_setup: the core's RAM is being cleared after reset" in sentence, sentence
    lines = ",".join(f"line:pipeline.h:{n}=0" for n in (line, line + 1, line + 2))
    (predicted, core_too), achieved = gains(d, files, compiled(d, "matmul", WITHOUT_STACK)[0], "clear=0", "clear=0," + lines)
    assert achieved > 1500 and abs(predicted - achieved) <= 0.02 * achieved, (predicted, core_too, achieved)


@test
def gelu_without_a_division(d):
    """The Vector Unit's kernel, with a division in T1's loop over vectors, whose instructions pass FIFO, gate and
    unit."""
    slow = ("gelu.c", "        LOAD(L0, at);\n", "        " + 4 * "from = (at | 1u << 30) / (from | 3); " + "\n        LOAD(L0, at);\n")
    begin = ("gelu.c", "static inline void on_tile(void)\n{\n", "static inline void on_tile(void)\n{\n    u32 from = PARAMETER(3);\n")
    end = ("gelu.c", "        STORE(L2, at);\n    }\n", "        STORE(L2, at);\n    }\n    PARAMETER(4) = from;\n")
    fast = (slow[0], slow[1], "        " + 4 * "from = (at | 1u << 30) + (from | 3); " + "\n        LOAD(L0, at);\n")
    files, folder = compiled(d, "gelu", WITHOUT_STACK, slow, begin, end)
    line = line_with(folder / "gelu.c", "from = (at")
    (predicted,), achieved = gains(d, files, compiled(d, "gelu", WITHOUT_STACK, fast, begin, end)[0], f"line:gelu.c:{line}=0")
    assert achieved > 300 and abs(predicted - achieved) <= 0.02 * achieved, (predicted, achieved)


@test
def fewer_passes_of_the_matrix_unit(d):
    """The matrix product in four passes: at half the cost, and at a quarter, the line that multiplies takes as long as two
    passes and one."""
    def passes(n):
        (d / f"{n}.bin").write_bytes(struct.pack("<5I", n, 0, 0, 0, 40))
        return ["--load", f"0x20000={d}/{n}.bin", *sorted(EXAMPLES.glob("matmul.*.elf"))]
    real = [json.loads(waitgate("run", "--json", *passes(n)).stdout)["cycles"] for n in (2, 1)]
    line = line_with(ROOT / "examples/common/mvmul.h", "TTI_REPLAY(0, 17, 0, 0)")
    cycles, runs = what_if(passes(4), f"line:mvmul.h:{line}=0.5", f"line:mvmul.h:{line}=0.25")
    for expected, run_ in zip(real, runs):
        assert cycles - expected > 1000 and abs(run_["cycles"] - expected) <= 0.02 * (cycles - expected), (real, runs)


def line_of(files):
    """A line of the program that some core executes."""
    r = waitgate("profile", "--json", *files)
    costs = [c for t in json.loads(r.stdout)["cost_profile"]["tracks"] for c in t["costs"]]
    return next(c["line"] for c in costs if c.get("line") and c["file"].endswith(".c") and c["cause"] == "executing"
                and any(c["file"].endswith("/" + n) for n in ("matmul.c", "gelu.c")))


@test
def scaling_is_ordered_and_exact_in_value(_):
    """A higher cost never shortens the example, a lower one never lengthens it; its results stay the same."""
    files = sorted(EXAMPLES.glob("matmul.*.elf"))
    for what in ("unpack0", "matrix", "pack", "l1", "sync", "t1"):
        cycles, runs = what_if(files, f"{what}=0", f"{what}=0.5", f"{what}=3x")
        assert [r["results_equal"] for r in runs] == [True] * 3, (what, runs)
        assert runs[0]["cycles"] <= runs[1]["cycles"] <= cycles <= runs[2]["cycles"], (what, cycles, runs)
    cycles, runs = what_if(files, "pack=50x", "clear=0")
    assert runs[0]["cycles"] > cycles + 1000, runs
    assert runs[1]["cycles"] < cycles / 2, runs     # T2's own RAM zeroes itself for 2,048 cycles


@test
def automatic_ranking(_):
    files = sorted(EXAMPLES.glob("matmul.*.elf"))
    cycles, runs = what_if(files, "auto")
    assert len(runs) > 3 and all(r["saves"] > 0 for r in runs), runs
    assert [r["saves"] for r in runs] == sorted((r["saves"] for r in runs), reverse=True), runs
    for one in runs[:3]:     # each equals the result of a separate request
        again = what_if(files, one["what"])[1][0]
        assert (again["cycles"], again["saves"]) == (one["cycles"], one["saves"]), (one, again)
    text = waitgate("profile", "--what-if", "auto", *files).stdout
    assert "at half its cost" in text and "others save nothing" in text, text[-800:]
    shown = re.findall(r"^  (line:\S+)=0.5 ", text, re.M)
    assert shown and all("/" not in s for s in shown), text[-800:]
    assert waitgate("profile", "--what-if", shown[0] + "=0.5", *files).returncode == 0


@test
def with_loaded_memory(d):
    """Files given to --load are loaded again for each run."""
    (d / "passes.bin").write_bytes(struct.pack("<5I", 4, 0, 0, 0, 3))
    files = ["--load", f"0x20000={d}/passes.bin", *sorted(EXAMPLES.glob("matmul.*.elf"))]
    cycles, runs = what_if(files, "clear=0", "matrix=4x", "clear=1")
    assert runs[0]["cycles"] < cycles < runs[1]["cycles"] and runs[2]["cycles"] == cycles, (cycles, runs)
    assert all(r["results_equal"] for r in runs), runs


@test
def what_cannot_be_scaled_says_so(d):
    program = d / "p.tasm"
    program.write_text(COUNTERS % "ttnop")
    for asked, words in (("mover=0", "mover cannot be scaled: Mover moves"),
                         ("config-unit=2x", "Configuration Unit is a pipeline of fixed stages"),
                         ("thread0=0", "thread 0 takes one cycle per instruction"),
                         ("unpak0=0", "did you mean `unpack0`?"), ("unpack0", "is not WHAT=FACTOR"),
                         ("unpack0=101", "is not WHAT=FACTOR"), ("unpack0=0.0001", "is not WHAT=FACTOR"),
                         ("unpack0=-1", "is not WHAT=FACTOR"), ("unpack0=1.", "is not WHAT=FACTOR"),
                         ("unpack0=0,", "is not WHAT=FACTOR"), ("line:p.tasm=0", "is not line:FILE:LINE"),
                         ("line:p.tasm:99=0", "no instruction comes from line 99 of p.tasm"),
                         ("line:.tasm:3=0", "no instruction comes from line 3"), ("", "is not WHAT=FACTOR")):
        r = waitgate("profile", "--what-if", asked, program)
        assert r.returncode == 6 and words in r.stderr, (asked, r.returncode, r.stderr)
    program.write_text(COUNTERS % "ttsfpnop")
    for asked, words in (("vector=0.5", "its instructions enter one per cycle"), ("line:p.tasm:3=0.5", "SFPNOP enters the Vector Unit in its own cycle")):
        r = waitgate("profile", "--what-if", asked, program)
        assert r.returncode == 0 and words in r.stdout, (asked, r.stdout[-300:], r.stderr)
    r = waitgate("profile", "--what-if", "line:p.tasm:4=0", program)
    assert r.returncode == 0 and "Not scaled: STALLWAIT takes one cycle; `waitgate check --waits` says what a program gains without it." in r.stdout, r.stdout


@test
def a_loop_that_costs_nothing_ends(d):
    """A core that polls forever at no cost: the run ends at its limit, or is recognised as a hang."""
    program = d / "p.tasm"
    program.write_text(".core T0\npoll:\n    lw t0, 0x300(zero)\n    beqz t0, poll\n.core B\nstop:\n    j stop\n")
    r = waitgate("profile", "--max-cycles", "5000", "--what-if", "t0=0,b=0,l1=0", program)
    assert "t0=0,b=0,l1=0" in r.stdout, r.stdout + r.stderr


run()
