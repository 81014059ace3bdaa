#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`waitgate gdb` with the real gdb-multiarch as its client, and with packets that no gdb would send."""
import os
import pathlib
import pty
import random
import re
import select
import socket
import subprocess

from gdb_client import CORES, EXAMPLES, ROOT, WAITGATE, WRONG, Line, elfs, gdb, packet, product
from suite import run, test

@test
def a_breakpoint_in_each_core(d):
    """A source line of each core's own program; the others stop at the same cycle."""
    for core, (name, number) in CORES.items():
        text = gdb(d, """
            break main
            continue
            info threads
            monitor cycle
            """, *elfs(), symbols=EXAMPLES / f"matmul.{core}.elf")
        assert f'Thread {number} "{name}" hit Breakpoint 1, main ()' in text, text
        assert re.search(rf"\* {number} +Thread {number} \"{name}\" .* main \(\) at .*matmul.c:\d+", text), text
        assert 'Thread 2 "NC" (in reset)' in text and re.search(r"cycle \d+; the history begins at 0", text), text


@test
def a_breakpoint_in_the_data_mover(d):
    """NC, on a chip: the fifth core."""
    text = gdb(d, "break main\ncontinue\ninfo threads\n", EXAMPLES / "dram.yaml", symbols=EXAMPLES / "dram.ncrisc.elf")
    assert 'Thread' in text and re.search(r'"3-4 NC" hit Breakpoint 1, main \(\) at .*dram.c:\d+', text), text


@test
def symbols_of_every_core(d):
    """gdb gets the symbols of all programs: with a file at once, without one by `sharedlibrary`; of a chip each program once."""
    for commands, symbols in (("", elfs()[2]), ("sharedlibrary\n", None)):
        text = gdb(d, f"{commands}break main\ninfo breakpoints\n", *elfs(), symbols=symbols, alone=False)
        assert "(4 locations)" in text and all(f"1.{n}" in text for n in range(1, 5)), text
    text = gdb(d, "info sharedlibrary\n", EXAMPLES / "dram.yaml")
    assert sorted(re.findall(r"dram\.(\w+)\.elf", text)) == ["brisc", "ncrisc", "trisc0", "trisc1", "trisc2"], text
    (d / 'a&"<b.brisc.elf').write_bytes((EXAMPLES / "hello.brisc.elf").read_bytes())
    text = gdb(d, "info sharedlibrary\n", "--brisc", "'" + str(d / 'a&"<b.brisc.elf') + "'")
    assert 'a&"<b.brisc.elf' in text, text


@test
def a_watch_names_the_store(d):
    """The store reaches memory when the core is several instructions further; the console says where it was."""
    (d / "late.tasm").write_text(".core B\n    li a0, 0x3000\n    li a1, 7\nwrong:\n    sw a1, 0(a0)\nafter:\n"
                                 + "    addi a2, a2, 1\n" * 20 + "stop:\n    j stop\n")
    text = gdb(d, "watch *(unsigned *)0x3000\ncontinue\nmonitor cycle", "late.tasm")
    assert "New value = 7" in text, text
    assert re.search(r"waitgate: the access to 0x00003000 is by the instruction at 0x\w+ in wrong \(\S*late.tasm:5\)", text), text


@test
def back_to_the_store_that_broke_it(d):
    """The result is wrong at the end. A watchpoint and reverse-continue lead to the store, with the registers of that
    time."""
    (d / "p.tasm").write_text(WRONG)
    text = gdb(d, """
        continue
        print *(int *)0x3000
        watch *(int *)0x3000
        reverse-continue
        info registers pc a1 a2
        print *(int *)0x3000
        monitor cycle
        reverse-continue
        print *(int *)0x3000
        continue
        print *(int *)0x3000
        """, d / "p.tasm")
    found = re.findall(r"\$\d+ = (\d+)", text)
    assert found == ["99", "1", "2", "1"], (found, text)
    assert re.search(r"a2 +0x63", text) and re.search(r"a1 +0x0", text), text
    assert "Hardware watchpoint" in text, text


@test
def stepping_there_and_back(d):
    """n steps forwards and n back end at the start, with the same registers."""
    (d / "p.tasm").write_text(WRONG)
    show = "info registers pc a0 a1 a2\nmonitor cycle\n"
    text = gdb(d, "stepi 20\n" + show + "stepi 35\n" + show + "reverse-stepi 35\n" + show + "stepi 35\n" + show, d / "p.tasm")
    states = re.findall(r"pc +0x(\w+).*?\na0 +(\w+).*?\na1 +(\w+).*?\na2 +(\w+)", text)
    if not states:
        states = re.findall(r"a0 +(\w+).*?\na1 +(\w+).*?\na2 +(\w+).*?\npc +0x(\w+)", text)
    assert len(states) == 4, text
    assert states[0] == states[2] and states[1] == states[3] and states[0] != states[1], states


@test
def to_the_beginning_and_the_end(d):
    """gdb recognises both ends of the history, and how the run ended."""
    (d / "p.tasm").write_text(WRONG)
    text = gdb(d, "continue\nreverse-continue\nmonitor cycle\ncontinue\n", d / "p.tasm")
    # gdb 13's wording, and gdb 17's.
    assert text.count("No more reverse-execution history") + text.count("Reached end of recorded history") == 3, text
    assert "cycle 0; the history begins at 0" in text and text.count("waitgate: done at cycle") == 2, text
    assert len(set(re.findall(r"waitgate: done at cycle (\d+)", text))) == 1, text
    hang = gdb(d, "continue\n", ROOT / "examples" / "deadlock.tasm")
    assert "waitgate: hang at cycle" in hang and "They wait for each other in a circle" in hang, hang


@test
def registers_memory_and_state(d):
    """Writing changes the run; own RAM, L1, Dst and semaphores can be read."""
    (d / "p.tasm").write_text(WRONG)
    text = gdb(d, """
        stepi 6
        set $a1 = 77
        print $a1
        set *(int *)0x3100 = 1234
        print *(int *)0x3100
        print *(int *)0xFFB00000
        monitor semaphores
        monitor gprs 1
        monitor dst 0 bf16
        monitor nonsense
        monitor help
        x/1xw 0xFFE00000
        x/1xw 0xFFE80000
        """, d / "p.tasm")
    assert "$1 = 77" in text and "$2 = 1234" in text and "$3 = " in text, text
    assert "0xffe00000:\t0x00000000" in text, text # GPRs can be read without side effects; a PC buffer cannot
    assert "Cannot access memory at address 0xffe80000" in text, text
    assert "semaphore 7: 0 of 0" in text and "Dst row 0: 0 0" in text and "goto CYCLE" in text, text
    assert "unknown command `nonsense`" in text, text


@test
def every_register(d):
    """F, V and CSRs of Blackhole, with gdb's own names; registers that a core lacks are not available."""
    (d / "p.tasm").write_text(""".arch bh
.core T2
    li a0, 0x40490fdb
    fmv.w.x fa0, a0
    csrw 0x7c3, a0
    ebreak
.core B
    ebreak
.expect finding core-ebreak
""")
    text = gdb(d, """
        thread 5
        stepi 4
        print $fa0
        print/x $cfg1
        set $ft1 = 2.5
        print $ft1
        set $v3.w[1] = 77
        print $v3.w
        print $misa
        info mem
        thread 1
        print $v3
        print $fa0
        """, d / "p.tasm")
    assert re.search(r"= 3\.1415927?\d*", text) and "= 0x40490fdb" in text and "= 2.5" in text and "= {0, 77, 0, 0}" in text, text
    assert "<unavailable>" in text and re.search(r"0xffb00000 0x100000000 rw", text), text
    text = gdb(d, "print $a0\nprint $fa0\n", ROOT / "examples/handshake.tasm", "--arch", "bh")
    assert "<unavailable>" in text, text # a Tensix thread has only a pc
    (d / "w.tasm").write_text(".arch wh\n.core B\n ebreak\n.expect finding core-ebreak\n")
    text = gdb(d, "print $a0\nprint $fa0\nprint $misa\n", d / "w.tasm")
    assert "$1 = 0" in text and "$2 = void" in text and "$3 = void" in text, text # Wormhole has neither


@test
def tensix_instructions(d):
    """A Tensix thread is a gdb thread: its location is the line that pushed, and stepi lets one instruction pass, in
    both directions."""
    text = gdb(d, """
        break main
        continue
        thread 7
        stepi
        stepi
        monitor where
        stepi
        stepi
        reverse-stepi 3
        info threads
        """, *elfs(), symbols=EXAMPLES / "matmul.trisc1.elf")
    lines = re.findall(r"^(\d+)\t +TTI_(\w+)", text, re.M)
    assert [name for _, name in lines[:2]] == ["SETC16", "SETC16"] and int(lines[1][0]) == int(lines[0][0]) + 1, text
    assert re.search(r"thread 1 ttsetc16 3, 1, pushed by core T1 at math_setup .*inlined into main", text), text
    assert re.search(rf'\* 7 +Thread 7 "thread 1" .*math_setup \(.*\) at .*pipeline.h:{lines[0][0]}', text), text


TWO_COUNTERS = """.core B
    li a0, 1
loop:
    addi a0, a0, 1
    bnez a0, loop
.core T1
    li a0, 1
loop1:
    addi a0, a0, 1
    bnez a0, loop1
"""


@test
def one_core_moves_alone(d):
    """Scheduler locking: the other core is held while one is stepped or continues, and goes on afterwards. Getting over a
    breakpoint, for which gdb steps one thread as well, holds nobody."""
    (d / "p.tasm").write_text(TWO_COUNTERS)
    text = gdb(d, """
        stepi 30
        set scheduler-locking on
        thread 4
        print $a0
        thread 1
        print $a0
        stepi 20
        print $a0
        break *$pc
        continue
        print $a0
        thread 4
        print $a0
        stepi 10
        print $a0
        thread 1
        print $a0
        delete
        reverse-stepi 15
        set scheduler-locking off
        stepi 20
        thread 4
        print $a0
        """, d / "p.tasm")
    t1, b, b_alone, b_more, t1_held, t1_alone, b_held, t1_free = (int(n) for n in re.findall(r"^\$\d+ = (\d+)", text, re.M))
    assert b_alone == b + 10 and b_more == b_alone + 1 and b_held == b_more, text
    assert t1_held == t1 and t1_alone == t1 + 5 and t1 + 5 < t1_free < t1 + 15, text
    plain = gdb(d, "break *$pc+8\n" + "continue\n" * 6 + "delete\nmonitor goto 500\nthread 4\nmonitor registers", d / "p.tasm")
    free = gdb(d, "monitor goto 500\nthread 4\nmonitor registers", d / "p.tasm")
    registers = [re.search(r"zero .*?cycleh", t, re.S)[0] for t in (plain, free)]
    assert registers[0] == registers[1], registers


@test
def watched_from_everywhere(d):
    """A unit's write to L1, a core's store to its own RAM, a load of a memory-mapped register."""
    (d / "p.tasm").write_text(""".arch bh
.core B
    li a0, 0xFFB00040
    li a1, 0xFFE00020
    li a2, 5
    sw a2, 0(a0)
    sw a2, 0(a1)
    fence
    lw a3, 0(a0)
    lw a4, 0(a1)
    add a4, a4, a4
    ebreak
.expect finding core-ebreak
""")
    text = gdb(d, """
        watch *(int *)0xFFB00040
        continue
        info registers a2
        delete
        rwatch *(int *)0xFFE00020
        continue
        monitor cycle
        reverse-continue
        monitor cycle
        awatch *(int *)0xFFE00020
        reverse-continue
        monitor cycle
        """, d / "p.tasm")
    assert "Old value = 0\nNew value = 5" in text and text.count("Value = 5") >= 1, text
    cycles = [int(c) for c in re.findall(r"cycle (\d+);", text)]
    assert len(cycles) == 3 and cycles[2] < cycles[1] < cycles[0], (cycles, text)
    text = gdb(d, """
        watch *(int *)0x32000
        continue
        monitor where
        monitor dst 0 bf16
        monitor srca 0 0 bf16
        monitor lreg 0 fp32
        monitor why l1:0x32000+2
        monitor why l1:0x32000[17,4]:fp32,tilized
        monitor why l1:0x32000[17,4]:nonsense
        """, *elfs(), *product(d))
    assert "Old value = 0" in text and "New value = 1107296256" in text, text # 32.0
    assert re.search(r"Dst row 0:( 32){16}", text) and re.search(r"SrcA bank 0 .* row 0:( 1){16}", text), text
    assert "Packers, ttpacr" in text and "Matrix Unit, ttmvmul" in text, text
    assert "`nonsense` is no type of elements" in text and re.search(r"it is \S+\n.*L1 0x32850", text), text


@test
def registers_watched_both_ways(d):
    """A configuration word: gdb shows each value as it takes effect, and again on the way back; a counter of the NIU can be read."""
    (d / "p.tasm").write_text(""".core B
    li a0, 0xFFEF0030
    li a1, 5
    sw a1, 0(a0)
    li a1, 6
    sw a1, 0(a0)
    fence
    ebreak
.expect finding core-ebreak
""")
    text = gdb(d, """
        watch *(int *)0xFFEF0030
        continue
        continue
        reverse-continue
        reverse-continue
        x/1xw 0xFFB20200
        """, d / "p.tasm")
    assert re.findall(r"Old value = (\d+)\nNew value = (\d+)", text) == [("0", "5"), ("5", "6"), ("6", "5"), ("5", "0")], text
    lines = re.findall(r"the access to 0xffef0030 is by the instruction at 0x\w+ in \S+ \(\S*p.tasm:(\d+)\)", text)
    assert lines == ["4", "6", "6", "4"] and "0xffb20200:\t0x00000000" in text, (lines, text)


@test
def where_expansions_come_from(d):
    """Also after the expander has finished: the REPLAY, and the MOP that made it."""
    mop = "".join(f"    sw a2, {offset}(a0)\n" for offset in range(8, 36, 4))
    (d / "p.tasm").write_text(".core T0\n    li a0, 0xFFB80000\n    li a1, 1\n    sw a1, 0(a0)\n    sw a1, 4(a0)\n    li a2, 0x04000030\n"
                              + mop + "    fence\n    ttreplay 0, 3, 0, 1\n    ttsetdmareg 0, 1, 0, 8\n    ttadddmareg 1, 4, 1, 4\n"
                              "    ttadddmareg 1, 4, 2, 4\n    ttreplay 0, 3, 0, 0\n    ttmop 1, 0, 0\nend:\n    j end\n")
    commands = "until gate adddmareg\nthread 0\n" + "where\nstepi\n" * 12
    r = subprocess.run([WAITGATE, "debug", str(d / "p.tasm")], input=commands, capture_output=True, text=True)
    made = re.findall(r"thread 0 tt(\w+) .*\n((?: +(?:itself )?made by .*\n)*)", r.stdout)
    words = [tuple(re.findall(r"by (.*)", m)) for _, m in made]
    by_replay, by_both = ("ttreplay 0, 3, 0, 0",), ("ttreplay 0, 3, 0, 0", "ttmop 1, 0, 0")
    assert by_replay in words and by_both in words and set(words) <= {(), by_replay, by_both}, r.stdout
    assert all(m for name, m in made[-4:] if name != "replay"), r.stdout


@test
def monitor_conditions(d):
    """until stops at semaphores, instructions, units, banks; the commands show the state."""
    text = gdb(d, """
        monitor until bank 2
        monitor until unit matrix mvmul
        monitor pipelines 1
        monitor where
        monitor until semaphore 1 1
        monitor until gate ttpacr
        monitor config THCON_SEC0_REG2_Out_data_format
        monitor config 1
        monitor until finding
        monitor until nonsense
        monitor dis
        monitor memory 0x30000 4
        monitor registers
        monitor noc
        monitor buffers
        monitor findings
        """, *elfs(), *product(d))
    assert text.count("the condition holds") == 4, text
    assert "until finding | hang | semaphore N VALUE" in text and "done at cycle" in text, text
    assert "THCON_SEC0_REG2_Out_data_format = 5 (0x5), BF16\n" in text and "ALU_FORMAT_SPEC_REG1_SrcB = 5 (0x5), BF16\n" in text, text
    assert "ALU_FORMAT_SPEC_REG2_Dstacc = 0 (0x0), FP32\n" in text and "ALU_ROUNDING_MODE_Padding = 0 (0x0)\n" in text, text
    assert re.search(r"set at cycle \d+ by core B at .*configure", text), text
    assert re.search(r"gate: ttmvmul .*pushed by core T1 at mvmul_tiles", text), text
    assert "0x00030000: 3f803f80" in text and "nothing is in flight" in text and "no stream counts tiles" in text, text


@test
def a_chip(d):
    """All tiles of a chip: the thread's name includes the tile, and all stop at one cycle; also backwards."""
    (d / "chip.yaml").write_text(chip_text())
    text = gdb(d, """
        info threads
        break main
        continue
        info threads
        monitor cycle
        delete
        continue
        reverse-continue
        monitor cycle
        """, d / "chip.yaml", symbols=EXAMPLES / "hello.brisc.elf")
    assert '"1-2 B"' in text and '"2-2 B"' in text and '"1-2 thread 0"' in text, text
    assert 'Thread 1 "1-2 B" hit Breakpoint 1, main' in text, text
    assert len(re.findall(r'"[12]-2 B" \(.*\) +main \(\) at .*hello.c', text)) == 2, text # both, in one cycle
    assert "waitgate: done at cycle" in text and "cycle 0; the history begins at 0" in text, text


@test
def cores_of_an_ethernet_tile(d):
    """They have their own names, in gdb and at the prompt."""
    file = EXAMPLES / "ethernet.yaml"
    text = gdb(d, "info threads\nbreak main\ncontinue\n", file, symbols=EXAMPLES / "ethernet.erisc0.elf")
    assert re.search(r'Thread \d+ "1-1 E0" hit Breakpoint 1, main', text), text
    said = subprocess.run([WAITGATE, "debug", str(file)], input="thread 1-1 e0\nthread 1-1 e1\nthread 1-1 e2\nwhere\n", capture_output=True, text=True, cwd=d).stdout
    assert "core E0" in said and "core E1  in reset" in said and "core NC" not in said and "thread 0" not in said, said
    assert said.startswith("thread [X-Y] b|nc|"), said # there is no E2


@test
def packets_on_their_way(d):
    """From the NIU through the network to DRAM and back, or to another tile and back: in each cycle there is an entry, with both
    ends, the address and the kind."""
    def in_flight(chip, cycles, before=""):
        lines = before + "".join(f"goto {c}\nnoc\n" for c in cycles)
        r = subprocess.run([WAITGATE, "debug", str(chip)], input=lines, capture_output=True, text=True)
        return [(int(c), re.findall(r"NoC 0, ([a-z ]+), (\d+) bytes from (\S+) to (\S+), address (\w+): (\w+)", text))
                for c, text in re.findall(r"^stopped at cycle (\d+)\n(.*?)(?=^stopped|\Z)", r.stdout, re.M | re.S)]

    way = in_flight(EXAMPLES / "dram.yaml", range(71, 537, 15))
    assert len(way) == 32 and all(len(found) == 1 for _, found in way), way
    stages = list(dict.fromkeys(found[0] for _, found in way))
    asked, read = ("read request", "2048", "3-4", "0-0", "0x100000"), ("read answer", "2048", "0-0", "3-4", "0x30000")
    assert [s[:5] for s in stages] in ([asked] * n + [read] * 3 for n in (1, 2)), stages
    assert stages[0][5] == "under" and [s[5] for s in stages[-3:]] == ["leaves", "under", "arrives"], stages
    assert in_flight(EXAMPLES / "dram.yaml", [537]) == [(537, [])]
    relay = in_flight(EXAMPLES / "relay.yaml", range(3159, 3260), "thread 1-2 b\n")
    found = {(kind, a, b) for _, packets in relay for kind, _, a, b, _, _ in packets}
    assert found == {("write", "1-2", "2-2"), ("write acknowledgement", "2-2", "1-2")}, found
    assert all(len(packets) == 1 for _, packets in relay), [c for c, packets in relay if len(packets) != 1]
    assert in_flight(EXAMPLES / "relay.yaml", [3162], "thread 2-2 b\n")[0][1][:1] == [("write", "1024", "1-2", "2-2", "0x20000", "under")]


def chip_text():
    return f"""arch: bh
tiles:
  - at: {{from: [1, 2], to: [2, 2]}}
    brisc: {EXAMPLES}/hello.brisc.elf
"""


@test
def hostile_packets(d):
    """Nonsense, wrong checksums, giant lengths, cut lines: the server answers the next client normally."""
    (d / "p.tasm").write_text(WRONG)
    g = random.Random(5)
    words = [b"m", b"M", b"Z0,", b"z2,", b"Z2,", b"g", b"p", b"P", b"H", b"Hg", b"T", b"vCont;", b"vCont;s:", b"qXfer:features:read:target.xml:",
             b"qXfer:threads:read::", b"qRcmd,", b"qSupported", b"qThreadExtraInfo,", b"bs", b"s", b"QStart", b"\xff\x80", b"X", b"?", b"qC"]
    with Line(d / "p.tasm") as line:
        for i in range(60):
            with line.connect() as s:
                for _ in range(g.randrange(1, 12)):
                    text = g.choice(words) + bytes(g.choice(b"0123456789abcdefFF,:;=-\x00#$}*") for _ in range(g.randrange(0, 40)))
                    kind = g.randrange(6)
                    data = packet(text) if kind else b"$" + text + b"#00"
                    if kind == 1:
                        data = b"$" + b"m" * 100000 + b"#00"
                    if kind == 2:
                        data = b"$" + text
                    try:
                        s.sendall(data)
                        s.settimeout(0.01)
                        s.recv(4096)
                    except OSError:
                        pass
            assert line.server.poll() is None, f"round {i}: the server ended"
        with line.connect() as s:
            assert line.ask(s, b"qC").startswith(b"QC"), "it does not answer any more"
            assert line.ask(s, b"m0,4") not in (b"", b"E14")
            assert line.ask(s, b"mffffffff,ffffffffff") .startswith(b"E")
            assert line.ask(s, b"Z2,ffffffff,4") == b"E28"
            assert line.ask(s, b"Z2,0,ffffffff") == b"E28"
            assert line.ask(s, b"Zx") == b"E01"
            for text in (b"vCont;s:ffff", b"vCont;c:99999999999999999999", b"vCont;t", b"vCont;r0,4:1", b"vCont;"):
                assert line.ask(s, text) == b"E01", text


@test
def ends_of_the_history(d):
    """The raw answers: gdb does not show which end was reported."""
    (d / "p.tasm").write_text(WRONG)
    with Line(d / "p.tasm") as line, line.connect() as s:
        assert line.ask(s, b"bc") == b"T05thread:1;replaylog:begin;"
        assert line.ask(s, b"QStartNoAckMode") == b"OK"
        s.sendall(packet(b"c"))
        answer = b""
        while b"T05" not in answer:
            answer += s.recv(4096)
        assert b"$T05thread:1;replaylog:end;#" in answer, answer


@test
def two_clients(d):
    """One at a time: the second client is served when the first has left, and finds the changes of the first."""
    (d / "p.tasm").write_text(WRONG)
    with Line(d / "p.tasm") as line:
        first, second = line.connect(), line.connect()
        second.sendall(packet(b"qC"))
        second.settimeout(0.5)
        assert line.ask(first, b"vCont;s:1").startswith(b"T05")
        assert line.ask(first, b"vCont;s:1").startswith(b"T05")
        pc = line.ask(first, b"p20")
        try:
            early = second.recv(4096)
        except TimeoutError:
            early = b""
        assert early == b"", f"two are served at once: {early}"
        assert line.ask(first, b"qC").startswith(b"QC")
        first.close()
        second.settimeout(20)
        answer = b""
        while b"#" not in answer:
            answer += second.recv(4096)
        assert b"$QC" in answer, answer
        second.sendall(b"+")
        assert line.ask(second, b"p20") == pc
        second.close()


@test
def breakpoints_leave_with_their_gdb(d):
    """A connection is cut: the next client runs to the end; breakpoints that it sets itself hold."""
    (d / "p.tasm").write_text(WRONG)
    with Line(d / "p.tasm") as line:
        with line.connect() as s:
            pc = line.ask(s, b"p20")
            there = b"%x" % (int.from_bytes(bytes.fromhex(pc.decode()), "little") + 12)
            assert line.ask(s, b"Z0," + there + b",4") == b"OK" and line.ask(s, b"Z2,3000,4") == b"OK"
            assert line.ask(s, b"QStartNoAckMode") == b"OK"
            s.sendall(packet(b"vCont;c:1"))
        with line.connect() as s:
            assert line.ask(s, b"QStartNoAckMode") == b"OK"
            s.sendall(packet(b"vCont;c"))
            answer = b""
            while b"T05" not in answer:
                answer += s.recv(4096)
            assert b"replaylog:end;" in answer, answer


@test
def a_client_that_interrupts(d):
    """Ctrl-C while an endless loop runs; and again after the first client has left."""
    (d / "p.tasm").write_text(".core B\n li a0, 1\nloop:\n addi a0, a0, 1\n bnez a0, loop\n")
    with Line(d / "p.tasm") as line:
        for _ in range(2):
            with line.connect() as s:
                s.sendall(packet(b"vCont;c"))
                s.sendall(b"\x03")
                answer = b""
                while b"#" not in answer:
                    answer += s.recv(4096)
                assert b"$T02thread:1;" in answer, answer


@test
def prompt(d):
    """At a terminal: the prompt shows cycle and core, lines can be edited, the history is recalled, an empty line repeats."""
    (d / "p.tasm").write_text(WRONG)
    child, terminal = pty.fork()
    if not child:
        os.execve(WAITGATE, [WAITGATE, "debug", str(d / "p.tasm")], dict(os.environ, TERM="vt100"))
    text = b""

    def until(words):
        nonlocal text
        seen = b""
        while words not in seen:
            assert select.select([terminal], [], [], 20)[0], (words, text + seen)
            seen += os.read(terminal, 4096)
        text += seen

    until(b"0 B> ")
    for typed, answer in ((b"tep 5\x01s\n", b"5 B> "),      # Ctrl-A: the beginning of the line
                          (b"\n", b"10 B> "),
                          (b"thread t1\n", b"10 T1> "),
                          (b"\x10\x10\n", b"15 T1> "),     # Ctrl-P: earlier lines
                          (b"step -3\n", b"12 T1> ")):
        os.write(terminal, typed)
        until(answer)
    os.write(terminal, b"quit\n")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, text
    os.close(terminal)


@test
def where_it_listens(d):
    """The loopback address, unless another is given."""
    (d / "p.tasm").write_text(WRONG)
    for given, host, open_to_all in (("0", "127.0.0.1", False), ("127.0.0.2:0", "127.0.0.2", False), ("0.0.0.0:0", "0.0.0.0", True)):
        server = subprocess.Popen([WAITGATE, "gdb", "--listen", given, str(d / "p.tasm")], stderr=subprocess.PIPE, text=True)
        try:
            lines = [server.stderr.readline() for _ in range(1 + open_to_all)]
            said, warned = re.search(r"target remote ([\d.]+):(\d+)", "".join(lines)), "no password" in "".join(lines)
            reached = {}
            for address in ("127.0.0.1", "127.0.0.2", "127.0.0.3"):
                with socket.socket() as s:
                    reached[address] = s.connect_ex((address, int(said[2]))) == 0
        finally:
            server.terminate()
            server.wait()
            server.stderr.close()
        assert said[1] == host and warned == open_to_all, said
        assert reached == {a: open_to_all or a == host for a in reached}, (given, reached)


@test
def usage(d):
    r = subprocess.run([WAITGATE, "gdb", "--listen", "99999", str(ROOT / "examples/hello.tasm")], capture_output=True, text=True)
    assert r.returncode == 6 and "neither a port, ADDRESS:PORT nor `stdio`" in r.stderr, r
    for text in ("localhost:3333", "1.2.3:3333", "127.0.0.1:", ":1", "127.0.0.1:99999", "255.255.255.255.255:1"):
        r = subprocess.run([WAITGATE, "gdb", "--listen", text, str(ROOT / "examples/hello.tasm")], capture_output=True, text=True)
        assert r.returncode == 6 and "neither a port" in r.stderr, (text, r)
    r = subprocess.run([WAITGATE, "gdb", "--stats", str(ROOT / "examples/hello.tasm")], capture_output=True, text=True)
    assert r.returncode == 6 and "--stats" in r.stderr, r


run()
