#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`waitgate explain`: words of the instruction set, from the tables.

usage: test_explain.py WAITGATE ROOT
"""
import json
import pathlib
import subprocess
import sys

import suite
from suite import test

WAITGATE, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])


def explain(*words, status=0, command="explain"):
    done = subprocess.run([WAITGATE, command, *words], capture_output=True, text=True)
    assert done.returncode == status, (words[:4], done.returncode, done.stderr[:300])
    return done.stdout if status == 0 else done.stderr


def rows(*words):
    return json.loads(explain("--json", *words))["rows"]


@test
def instructions(_):
    """Encoding, operands, gate, latency, page; the example assembles to a word of that opcode."""
    r = rows("STALLWAIT")
    assert r["encoding"] == "0xA2000000, [23:15] stall_res, [12:0] wait_res"
    assert "SRCA_VLD 0x80" in r["wait_res"] and "STALL_MATH 0x40" in r["stall_res"]
    assert r["held by"] == "a latched wait with any bit of the block mask"
    assert "tensix-wait-replaced" in r["rules"] and r["page"].endswith("BlackholeA0/TensixTile/TensixCoprocessor/STALLWAIT.md")
    assert rows("ttmvmul")["latency"] == "6 cycles as measured, 5 by its page; issue interval 1 cycle"
    assert rows("--arch", "wh", "STALLWAIT")["encoding"].endswith("[14:0] wait_res")
    assert explain("MVMUL") == explain("MVMUL", command="isa")
    assert "7 cycles as measured, 5 by its page" in explain("MVMUL"), explain("MVMUL")
    names = [i["name"] for i in json.loads(explain("--json", command="isa"))]
    assert len(names) > 130
    for topic in json.loads(explain("--json", *names)):
        assert topic["kind"] == "instruction", topic
        word = subprocess.run([WAITGATE, "asm", "-"], input=topic["rows"]["example"], capture_output=True, text=True)
        assert word.stdout[2:4].upper() == topic["rows"]["encoding"][2:4], (topic, word)


@test
def waits_and_stalls(_):
    """Block bits list what they hold; conditions have a bit on each architecture; stalls name what ends them."""
    assert rows("B3")["instructions"] == "STALLWAIT, SEMWAIT, STREAMWAIT, UNPACR, UNPACR_NOP"
    assert rows("STALL_UNPACK") == rows("B3")
    assert rows("C7") == rows("SRCA_VLD") and rows("SRCA_VLD")["bit"] == "C7 (0x80) on Blackhole, C10 (0x400) on Wormhole"
    assert rows("--arch", "wh", "C7") == rows("--arch", "wh", "MATH")
    assert rows("CFGEXU")["bit"] == "C12 (0x1000) on Blackhole, none on Wormhole"
    assert rows("latched-wait") == rows("LATCHED_WAIT") and "one more cycle" in rows("latched-wait")["until"]
    assert "ATRELM" in rows("mutex-held")["until"]
    assert "nobody has to act" in rows("ram-clearing")["until"] and "access" in rows("fence")["until"]


@test
def causes(_):
    """Every cause that a profile prints can be explained."""
    for name, of in (("polling", "core"), ("executing", "core"), ("empty", "thread"), ("issued", "thread"), ("busy", "unit"),
                     ("idle", "unit"), ("parked", "core"), ("multi-cycle", None)):
        topic = json.loads(explain("--json", name))
        assert topic["kind"] == ("cause" if of else "stall") and (not of or f"of a {of}" in topic["title"]), topic


@test
def what_is_not_there(_):
    assert "exists on Blackhole A0 only: --arch bh" in explain("--arch", "wh", "RESOURCEDECL", status=6)
    assert "no semaphore 9: they are 0 to 7" in explain("semaphore", "9", status=6)
    assert "no semaphore 99" in explain("semaphore", "99", status=6)


@test
def semaphores(_):
    assert "PC_BUF_BASE + 0x28" in rows("semaphore", "2")["from a core"]
    assert rows("MATH_PACK") == rows("semaphore", "1")


@test
def terms(_):
    """What a newcomer asks: terms of one word or more, each with a page that exists; and an instruction word."""
    for words in (["semaphore"], ["mutex"], ["wait", "gate"], ["wait-gate"], ["Wait Gate"], ["source", "banks"], ["dst"], ["auto", "ttsync"],
                  ["l0", "cache"], ["noc"], ["race"], ["hang"]):
        topic = json.loads(explain("--json", *words))
        assert topic["kind"] == "term", (words, topic)
        for page in topic["rows"]["page"].split("; "):
            assert (ROOT / page).is_file(), page
    assert rows("wait", "gate") == rows("wait-gate") and rows("latched", "wait") == rows("latched-wait")
    assert rows("mutex")["there are"].startswith("on Blackhole A0 0, 2, 3, 4; on Wormhole B0 0, 2, 3, 4, 5, 6, 7;")
    assert "semaphore-uninitialised" in rows("semaphore")["rules"]
    several = json.loads(explain("--json", "semaphore", "2", "wait", "gate", "MVMUL", "mutex"))
    assert [t["kind"] for t in several] == ["semaphore", "term", "instruction", "term"], several
    assert json.loads(explain("--json", "MOP"))["kind"] == "instruction"


@test
def instruction_words(_):
    word = json.loads(explain("--json", "0xA2400810"))
    assert word["title"] == "0xa2400810: ttstallwait STALL_CFG, MATH|SFPU1" and word["rows"]["fields"] == "stall_res 128, wait_res 2064", word
    assert "0x89002042" in word["rows"]["from a core"]
    assert rows("0x89002042")["in a core's code"] == "it pushes 0xa2400810, ttstallwait STALL_CFG, MATH|SFPU1"
    assert "no instruction of Blackhole A0 has opcode 0xff" in explain("0xFFFFFFFF")
    assert "nothing is called `0x1FFFFFFFF`" in explain("0x1FFFFFFFF", status=6)


@test
def findings_and_refusals(_):
    assert "cause" in explain("tensix-wait-replaced") and "remedy" in explain("data-race")
    assert "did you mean `MVMUL`?" in explain("mvmull", status=6)
    assert "nothing is called `qqqqqqqq`" in explain("qqqqqqqq", status=6)


suite.run()
