#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gdb steps: other cores' stops count, lines and functions in both directions, stores that are still on their way."""
import pathlib
import re
import signal
import subprocess
import time

from gdb_client import ROOT, WRONG, WAITGATE, Line, gdb, packet
from suite import run, test

TWO_CORES = """.core B
    li sp, 0xFFB00100
    li a1, 3
loop:
    addi a1, a1, 1
    sw a1, 0(sp)
    addi a3, a3, 1
    addi a4, a4, 2
    j loop
.core NC
    li a0, 0x3000
    li a1, 20
wait:
    addi a1, a1, -1
    bnez a1, wait
there:
    li a2, 7
    sw a2, 0(a0)
later:
    addi a2, a2, 1
    bnez a2, later
"""


@test
def steps_stop_for_others(d):
    """While one core is stepped, forwards or backwards, watches and the other core's breakpoints stop it."""
    (d / "p.tasm").write_text(TWO_CORES)
    text = gdb(d, "watch *(int *)0x3000\nstepi 300\ndelete\nstepi 20\nwatch *(int *)0x3000\nreverse-stepi 500\n", d / "p.tasm")
    assert re.findall(r"Old value = (\d+)\nNew value = (\d+)", text) == [("0", "7"), ("7", "0")], text
    text = gdb(d, "thread 2\nbreak *($pc+16)\nthread 1\nstepi 300\nprint $a1\n", d / "p.tasm")
    assert 'Thread 2 "NC" hit Breakpoint 1' in text and "$1 = 1\n" not in text, text


FOLD = """#include "tile.h"
static u32 total;
static u32 fold(u32 acc, u32 v)
{
    u32 r = acc * 3;
    r += v;
    return r;
}
int main(void)
{
    u32 acc = ME;
    for (u32 i = 0; i < 4; i++)
        acc = fold(acc, i);
    total = acc;
    WORD(0x20000 + 16 * ME) = total;
    return 0;
}
"""


def unoptimised(d):
    """FOLD on B and NC, with all variables on the stack."""
    common, header = ROOT / "examples/common", next(pathlib.Path(WAITGATE).parent.glob("src/isa/wg_kernel.h")).parent
    (d / "fold.c").write_text(FOLD)
    for me, core in enumerate(("brisc", "ncrisc")):
        subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-O0", "-g", "-ffreestanding", "-nostdlib",
                        "-DWG_ARCH_BH", f"-DME={me}", "-msmall-data-limit=0", f"-Wl,--defsym=__base={0x4000 * (me + 1):#x}",
                        "-Wl,--no-warn-rwx-segments", f"-I{common}", f"-I{header}", "fold.c", common / "crt.S", "-T",
                        common / "kernel.ld", "-o", f"fold.{core}.elf"], check=True, cwd=d)
    return ["fold.brisc.elf", "fold.ncrisc.elf"]


@test
def lines_and_functions_both_ways(d):
    """Two cores reach a breakpoint at about the same time: both stop, with the right arguments, although gdb steps the first one over
    it alone. finish, reverse-step, reverse-finish and, from the start of a line, reverse-next go by lines and functions."""
    files = unoptimised(d)
    symbols = "sharedlibrary\n"
    text = gdb(d, symbols + "break fold\n" + "continue\n" * 9, *files)
    hits = re.findall(r'Thread \d+ "(\w+)" hit Breakpoint \S+, fold \(acc=(\d+), v=(\d+)\)', text)
    accs = {core: [(int(a), int(v)) for c, a, v in hits if c == core] for core in ("B", "NC")}
    assert accs == {"B": [(0, 0), (0, 1), (1, 2), (5, 3)], "NC": [(1, 0), (3, 1), (10, 2), (32, 3)]}, text
    text = gdb(d, symbols + "break fold\ncontinue\ncontinue\ncontinue\ncontinue\ndelete\nfinish\nnext\nreverse-step\nprint r\n"
                            "reverse-finish\nprint i\nnext\nnext\nreverse-next\nprint i\nreverse-next\nprint i\n", *files)
    assert re.findall(r"^\$\d+ = (\d+)", text, re.M) == ["1", "1", "1", "1"] and "Value returned is $1 = 1" in text, text
    assert "fold (acc=0, v=1) at fold.c:8" in text and "in main () at fold.c:13" in text, text


@test
def stores_on_their_way(d):
    """A core's store to its own RAM is seen as its loads see it: at once; so is a value written by gdb."""
    (d / "p.tasm").write_text(TWO_CORES)
    text = gdb(d, "break *($pc+12)\ncontinue\ncontinue\ndelete\nstepi 2\nprint $a1 == *(int *)$sp\nset *(int *)$sp = 99\nprint *(int *)$sp\n"
                  "stepi 3\nprint *(int *)$sp\nstepi\nstepi\nprint $a1 == *(int *)$sp\n", d / "p.tasm")
    assert re.findall(r"^\$\d+ = (\d+)", text, re.M) == ["1", "99", "99", "1"], text
    text = gdb(d, "watch *(int *)0xFFB00100\ncontinue\nprint $a1\ncontinue\nprint $a1\nreverse-continue\nprint *(int *)0xFFB00100\n", d / "p.tasm")
    assert re.findall(r"Old value = (\d+)\nNew value = (\d+)", text) == [("0", "4"), ("4", "5"), ("5", "4")], text


@test
def the_thread_that_the_user_chose(d):
    """Listing threads selects none: at the end of the run the thread is still that of before, and steps go back on it."""
    (d / "p.tasm").write_text(WRONG)
    text = gdb(d, "thread 4\nstepi 3\ninfo threads\ncontinue\ninfo registers pc\nreverse-stepi\nthread\n"
                  "thread 1\ninfo threads\nreverse-stepi\nthread\n", d / "p.tasm")
    chosen = [int(n) for n in re.findall(r"\[Current thread is (\d+) ", text)]
    assert chosen == [4, 1], text
    end, back = int(re.search(r"done at cycle (\d+)", text)[1]), gdb(d, "continue\nreverse-stepi\nmonitor cycle\n", d / "p.tasm")
    assert end - int(re.search(r"cycle (\d+);", back)[1]) < 600, back


@test
def a_breakpoint_within_an_expansion(d):
    """All instructions of a REPLAY have the pc of its push. With a breakpoint there, stepping the Tensix thread through them holds no
    core, and the run ends as it does without steps."""
    (d / "p.tasm").write_text(".core T0\n    ttreplay 0, 6, 0, 1\n" + "    ttadddmareg 1, 4, 1, 4\n" * 6
                              + "    ttreplay 0, 6, 0, 0\n    li a0, 30\nwait:\n    addi a0, a0, -1\n    bnez a0, wait\nend:\n    j end\n")
    text = gdb(d, "monitor until gate adddmareg\nmaintenance flush register-cache\nthread 6\nbreak *$pc\n" + "stepi\n" * 4
               + "monitor where\ndelete\ncontinue\n", d / "p.tasm")
    assert "halted" not in text, text
    ends = [re.search(r"done at cycle (\d+)", t)[1] for t in (text, gdb(d, "continue\n", d / "p.tasm"))]
    assert ends[0] == ends[1], (ends, text)


@test
def ctrl_c_ends_the_server(d):
    """Ctrl-C at the server's terminal ends it while a client is connected, whether the machine runs or not."""
    (d / "p.tasm").write_text(".core B\n li a0, 1\nloop:\n addi a0, a0, 1\n bnez a0, loop\n")
    for runs in (False, True):
        with Line(d / "p.tasm") as line, line.connect() as s:
            line.ask(s, b"qC")
            if runs:
                s.sendall(packet(b"vCont;c"))
                time.sleep(0.2)
            line.server.send_signal(signal.SIGINT)
            assert line.server.wait(20) == 0, runs


run()
