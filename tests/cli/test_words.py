#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Source excerpts in reports: the line with a mark under the place, and the chain of inlined calls.

usage: test_words.py WAITGATE ROOT FOLDER_OF_wg_kernel.h
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import suite
from suite import test

WAITGATE, ROOT, HEADERS = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
RACE = (".thread 0\n    ttrmwcib0 0x0F, 1, PCK_EDGE_OFFSET_SEC0_mask_ADDR32\n.thread 1\n    .delay 20\n"
        "\tttrmwcib0 0x0F, 2, PCK_EDGE_OFFSET_SEC0_mask_ADDR32\n")
HANG = ".thread 0\n    ttsemwait STALL_THREAD, SEMAPHORE_3, STALL_ON_MAX\n    ttsempost SEMAPHORE_3\n"
FINDING = ".core B\n    li a0, 7\n    ebreak\n"
GCC = shutil.which("riscv64-unknown-elf-gcc")
KERNEL = """#include "wg_kernel.h"
#define WORD(a) (*(volatile unsigned *)(a))
static inline __attribute__((always_inline)) void wait_for_unit(void)
{
    TTI_SEMWAIT(0x1FF, 8, 1);
}
static inline __attribute__((always_inline)) void wait_twice(void)
{
    WORD(0x40000) = 1;
    wait_for_unit();
}
int main(void)
{
    WORD(0x40004) = 2;
    wait_twice();
    TTI_SEMGET(8);
    return 0;
}
"""


def waitgate(d, *args, **more):
    return subprocess.run([WAITGATE, *map(str, args)], capture_output=True, text=True, timeout=120, cwd=d, **more)


def written(d, text, name="p.tasm"):
    (d / name).write_text(text)
    return name


def built(d, level):
    common = ROOT / "examples/common"
    (d / "k.c").write_text(KERNEL)
    subprocess.run([GCC, "-march=rv32im", "-mabi=ilp32", level, "-g", "-ffreestanding", "-nostdlib", "-msmall-data-limit=0",
                    f"-I{common}", f"-I{HEADERS}", "-Wl,--defsym=__base=0xC000", "-Wl,--no-warn-rwx-segments", "-T", common / "kernel.ld",
                    common / "crt.S", d / "k.c", "-lgcc", "-o", d / "k.trisc0.elf"], check=True)
    return d / "k.trisc0.elf"


@test
def a_race_has_both_lines(d):
    out = waitgate(d, "check", written(d, RACE)).stdout
    assert "        5 |  ttrmwcib0 0x0F, 2, PCK_EDGE_OFFSET_SEC0_mask_ADDR32\n          |  ^\n" in out, out
    assert "        2 |     ttrmwcib0 0x0F, 1, PCK_EDGE_OFFSET_SEC0_mask_ADDR32\n          |     ^\n" in out, out
    race = json.loads(waitgate(d, "check", "--json", "p.tasm").stdout)
    assert race["races"][0]["first"]["snippet"] == "    ttrmwcib0 0x0F, 1, PCK_EDGE_OFFSET_SEC0_mask_ADDR32", race
    assert race["reports"][0]["parties"][0]["snippet"] == " ttrmwcib0 0x0F, 2, PCK_EDGE_OFFSET_SEC0_mask_ADDR32", race


@test
def a_hang_and_a_finding_have_theirs(d):
    out = waitgate(d, "run", written(d, HANG)).stdout
    assert ("thread 0: p.tasm:2\n        2 |     ttsemwait STALL_THREAD, SEMAPHORE_3, STALL_ON_MAX\n"
            "          |     ^ ttsemwait STALL_THREAD, SEMAPHORE_3, STALL_ON_MAX\n") in out, out
    assert out.index("thread 0: p.tasm:2") < out.index("who waits for whom"), out
    report = json.loads(waitgate(d, "run", "--json", "p.tasm").stdout)["reports"][0]
    assert report["parties"][0]["instruction"].startswith("ttsemwait"), report
    out = waitgate(d, "run", written(d, FINDING)).stdout
    assert "        3 |     ebreak\n          |     ^\n" in out, out
    finding = json.loads(waitgate(d, "run", "--json", "p.tasm").stdout)["findings"][0]
    assert finding["snippet"] == "    ebreak", finding


@test
def sarif_has_the_snippet(d):
    waitgate(d, "check", "--sarif", "s", written(d, RACE))
    region = json.loads((d / "s").read_text())["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 5, "snippet": {"text": " ttrmwcib0 0x0F, 2, PCK_EDGE_OFFSET_SEC0_mask_ADDR32"}}, region


@test
def what_is_no_source_gives_no_excerpt(d):
    if not GCC:
        return
    elf = built(d, "-O2")
    assert re.search(r"\n +5 \| ", waitgate(d, "run", elf).stdout)
    source = d / "k.c"
    source.unlink()
    for make in (lambda: None, lambda: os.mkfifo(source), lambda: source.mkdir(), lambda: source.symlink_to("/dev/zero"),
                 lambda: source.write_bytes(b"x\n" * 200000), lambda: source.write_bytes(b"\0\n" * 20), lambda: source.write_text("one\n")):
        make()
        r = waitgate(d, "run", elf)
        assert r.returncode == 3 and not r.stderr and not re.search(r"\n +\d+ \| ", r.stdout), r.stdout + r.stderr
        if source.is_dir():
            source.rmdir()
        elif os.path.lexists(source):
            source.unlink()
    # Control characters for a terminal are not shown.
    source.write_bytes(b"\n" * 4 + b"\x1b[31mred\x07 " + "ü".encode() * 300 + b"\n")
    out = waitgate(d, "run", elf).stdout
    assert "    5 |  [31mred  üü" in out and "\x1b" not in out and "\x07" not in out and "\ufffd" not in out, out


@test
def inlined_calls_are_those_of_addr2line(d):
    for level in ("-Os", "-O2") if GCC else ():
        elf = built(d, level)
        r = json.loads(waitgate(d, "run", "--json", elf).stdout)
        party = next(p for p in r["reports"][0]["parties"] if p["who"] == "thread 0")
        wanted = subprocess.run(["riscv64-unknown-elf-addr2line", "-f", "-i", "-e", elf, party["pc"]], capture_output=True,
                                text=True, check=True).stdout.split("\n")
        names, places = wanted[0:-1:2], wanted[1:-1:2]
        assert names == ["wait_for_unit", "wait_twice", "main"], wanted
        assert [i["function"] for i in party["inlined"]] == names[:-1] and party["function"] == names[-1], party
        assert [f"{i['called_in_file']}:{i['called_in_line']}" for i in party["inlined"]] == places[1:], party
        assert f"{party['file']}:{party['line']}" == places[0] and party["snippet"] == "    TTI_SEMWAIT(0x1FF, 8, 1);", party
        text = waitgate(d, "run", elf).stdout
        assert re.search(r"thread 0: wait_for_unit \(\S*k\.c:5\), inlined into main\+0x\w+ \(\S*k\.c:15\)\n"
                         r" +5 \| +TTI_SEMWAIT\(0x1FF, 8, 1\);\n +\| +\^ ttsemwait .*\n"
                         r" +wait_for_unit is inlined at \S*k\.c:10\n +wait_twice is inlined at \S*k\.c:15\n", text), text


@test
def profiles_name_the_innermost_function(d):
    if not GCC:
        return
    elf = built(d, "-O2")
    r = waitgate(d, "profile", "--json", "--folded", "f", "--callgrind", "g", "--max-cycles", "3000", elf)
    costs = [c for t in json.loads(r.stdout)["cost_profile"]["tracks"] for c in t["costs"] if c.get("line") == 9]
    assert costs and all(c["function"] == "wait_twice" for c in costs), costs
    assert costs[0]["inlined"] == [{"function": "wait_twice", "called_in_file": costs[0]["file"], "called_in_line": 15}], costs
    assert re.search(r"^T0;main;wait_twice;k\.c:9;", (d / "f").read_text(), re.M), (d / "f").read_text()
    assert "fn=T0: wait_twice\n" in (d / "g").read_text()
    assert re.search(r"k\.c:9 wait_twice", waitgate(d, "profile", "--top", "50", "--max-cycles", "3000", elf).stdout)


SPIN = """.core {}
    li t0, 0x3000
again:
    addi a0, a0, 1
    lw a1, {}(t0)
    beqz a1, again
    sw a1, {}(t0)
    ebreak
"""
ZEROS = ".l1 0x3000\n    .word 0, 0\n"
SUM = """.core T0
    li t0, 0x4000
next:
    lw a1, 0(t0)
    add a0, a0, a1
    addi t0, t0, 4
    j next
"""
CLOCK = """.core B
    li t0, 0x3000
    li t1, 0xFFB121F0
again:
    lw a2, 0(t1)
    lw a1, 0(t0)
    beqz a1, again
    ebreak
"""


@test
def a_limit_tells_going_round_from_work(d):
    for arch in ("bh", "wh"):
        def cut(text, cycles=20000):
            file = written(d, text + ZEROS)
            out = waitgate(d, "run", "--arch", arch, "--max-cycles", cycles, file).stdout
            state = json.loads(waitgate(d, "run", "--json", "--arch", arch, "--max-cycles", cycles, file).stdout)["state"]
            assert out.count("\n\n") and out.split("\n\n")[1].replace("\n", " ").strip() == state["progress"].strip(), out
            state["progress"] = state["progress"].replace(f"{d}/", "")
            return state
        both = SPIN.format("B", 4, 0) + SPIN.format("NC", 0, 4)
        s = cut(both)
        assert s["progress"].startswith("The run would never end. They wait for each other in a circle: core B at again+0x4 "
                                        "(p.tasm:5) polls 0x00003004 until it is no longer 0; core NC would store to it"), s
        assert "polls 0x00003000 until" in s["progress"] and s["repeating"] == ["B", "NC"], s
        assert cut(both, 800)["repeating"] == ["B", "NC"]
        # A core at work: it counts, or reads through memory that is all zero.
        for work in (".core T0\n    nop\nloop:\n    addi a0, a0, 1\n    j loop\n", SUM):
            s = cut(both + work)
            assert s["progress"].startswith("The run still makes progress: core T0 at ") and s["repeating"] == ["B", "NC"], s
            assert ". Others never will. They wait for each other in a circle: core B at " in s["progress"], s
            s = cut(work)
            assert s["progress"].startswith("The run still makes progress: core T0 at ") and s["repeating"] == [], s
        # Reading the clock is not work.
        s = cut(CLOCK)
        assert s["progress"].startswith("Nothing makes progress: core B only repeats") and "0x00003000" in s["progress"], s
        # A thread at work.
        s = cut(both + ".core T0\nloop:\n    ttdmanop\n    addi a0, a0, 1\n    j loop\n")
        assert "thread 0" in s["progress"] and s["progress"].startswith("The run still makes progress"), s


def coloured(d, *args, **env):
    """The coloured parts of the output on a terminal: [(sequence, text)], and the whole without colour."""
    command = ["/usr/bin/env", "-u", "NO_COLOR", "TERM=xterm", *(f"{k}={v}" for k, v in env.items()), WAITGATE, *map(str, args)]
    out = suite.at_terminal(command)[1].decode()
    out = re.sub(r"\r\x1b\[K(?:[^\r\n]*(?=\r\x1b\[K))?", "", out).replace("\r", "")  # the progress of a slow host
    return re.findall(r"\x1b\[([\d;]+)m([^\x1b]+)\x1b\[0m", out), re.sub(r"\x1b\[[\d;]*m", "", out), "\x1b" in out


@test
def colour_marks_cause_and_remedy(d):
    for command, text in (("run", HANG), ("check", RACE), ("run", FINDING)):
        file = d / written(d, text)
        marked, plain, _ = coloured(d, command, file, COLUMNS=1000)
        assert [m[0] for m in marked] == ["1;31", "32"], (command, marked)
        piped = waitgate(d, command, file, env=dict(os.environ, COLUMNS="1000", TERM="xterm"))
        assert plain == piped.stdout and "\x1b" not in piped.stdout, (plain, piped.stdout)
        assert not coloured(d, command, file, NO_COLOR="1")[2] and not coloured(d, command, file, TERM="dumb")[2], command
        assert coloured(d, command, file, NO_COLOR="")[2]
        (d / "out").write_text("")
        with (d / "out").open("w") as out:
            subprocess.run([WAITGATE, command, file], stdout=out, env=dict(os.environ, TERM="xterm"))
        assert (d / "out").read_text() and "\x1b" not in (d / "out").read_text()
        if text == HANG:
            assert marked[0][1].startswith("Semaphore 3") and marked[1][1].startswith("Initialise it with SEMINIT"), marked
            assert "\x1b" not in json.loads(waitgate(d, "run", "--json", file).stdout)["hang"]["story"]


@test
def lines_fit_the_terminal(d):
    for command, text in (("run", HANG), ("check", RACE), ("run", FINDING)):
        file = written(d, text)
        for width in (40, 60, 100):
            out = coloured(d, command, d / file, COLUMNS=width)[1]
            for line in out.split("\n"):
                excerpt = re.match(r"[ \d]+ \|", line)
                assert len(line) <= width or excerpt or len(line.split()) == 1, (command, width, line)
            assert width == 100 or "\n    " in out
            wide = coloured(d, command, d / file, COLUMNS=1000)[1]
            assert out.split() == wide.split(), (out, wide)
        assert max(map(len, wide.split("\n"))) > 100, wide
        piped = waitgate(d, command, d / file, env=dict(os.environ, COLUMNS="40", TERM="xterm")).stdout
        assert max(map(len, piped.split("\n"))) > 60, piped  # other programs read whole lines
    broken = coloured(d, "run", "--seed", "a long word that is no number", "x.tasm", COLUMNS=40)[1]
    assert broken == "waitgate: --seed: `a long word that is\n    no number` is not a number\n", broken
    report = coloured(d, "run", "--json", d / written(d, HANG), COLUMNS=40)[1]
    assert json.loads(report)["hang"]["story"], report


suite.run()
