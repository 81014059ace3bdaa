#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`waitgate diff`: its statements about two runs agree with their profiles.

usage: test_diff.py WAITGATE
"""
import json
import os
import pathlib
import subprocess
import sys

import suite
from suite import test

WAITGATE = os.path.abspath(sys.argv[1])
PROGRAM = """.thread 0
    ttseminit 2, 0, SEMAPHORE_1
    .repeat {nops}
        ttdmanop
    .endr
    ttsempost SEMAPHORE_1
.thread 1
    ttsemwait STALL_THREAD, SEMAPHORE_1, STALL_ON_ZERO
    ttsemget SEMAPHORE_1
    ttsetdmareg 0, 7, 0, 8
"""


def run(*words):
    return subprocess.run([WAITGATE, *map(str, words)], capture_output=True, text=True, timeout=60)


def saved(d, name, text, *words):
    """The JSON of a run of this text; the program's own name is always the same."""
    (d / "p.tasm").write_text(text)
    done = run(*words, "--json", d / "p.tasm")
    (d / name).write_text(done.stdout)
    return json.loads(done.stdout)


POLLS = """.core B
    li   t0, 0x3000
    li   t1, {n}
1:  addi t1, t1, -1; bnez t1, 1b
    li   t2, 1
    sw   t2, 0(t0)
    j    .
.core T0
    li   t0, 0x3000
1:  fence; lw t1, 0(t0)
    beqz t1, 1b
    j    .
.l1 0x3000
    .word 0
"""


def by_who(diff):
    sums = {}
    for c in diff["changes"]:
        sums[c["who"]] = sums.get(c["who"], 0) + c["after"] - c["before"]
    return sums


@test
def causes_in_the_words_of_the_profile(d):
    """A poll has its address, and is paired without it."""
    for name, n in (("a", 100), ("b", 300)):
        saved(d, name, POLLS.format(n=n), "profile")
    text = run("diff", d / "a", d / "b").stdout
    assert "polling 0x00003000 (B)" in text, text
    (d / "c").write_text((d / "b").read_text().replace("0x00003000", "0x00004000"))
    rows = [c for c in json.loads(run("diff", "--json", d / "a", d / "c").stdout)["changes"] if c["cause"] == "polling"]
    assert len(rows) == 1 and rows[0]["before"] and rows[0]["after"] > rows[0]["before"], rows


@test
def adds_up(d):
    """Over all agents the changes sum to the difference of the runs' lengths."""
    for words in (["profile"], ["run", "--stats"]):
        before = saved(d, "a", PROGRAM.format(nops=10), *words)
        after = saved(d, "b", PROGRAM.format(nops=25), *words)
        assert after["cycles"] == before["cycles"] + 15
        diff = json.loads(run("diff", "--json", "--top", 1000, d / "a", d / "b").stdout)
        assert diff["before"]["cycles"] == before["cycles"] and diff["after"]["cycles"] == after["cycles"]
        tracks = before.get("cost_profile", before.get("stats"))["tracks"]
        assert by_who(diff) == {t["name"]: 15 for t in tracks}, diff
        back = json.loads(run("diff", "--json", "--top", 1000, d / "b", d / "a").stdout)
        assert by_who(back) == {t["name"]: -15 for t in tracks}, back


@test
def names_line_and_cause(d):
    saved(d, "a", PROGRAM.format(nops=10), "profile")
    saved(d, "b", PROGRAM.format(nops=25), "profile")
    first = json.loads(run("diff", "--json", d / "a", d / "b").stdout)["changes"][:3]
    told = {(c["who"], c["cause"], c.get("holder"), c["line"], c["instruction"]) for c in first}
    assert ("thread 0", "issued", None, 4, "ttdmanop") in told, first
    assert ("thread 1", "latched-wait", "thread 0", 8, "ttsemwait STALL_THREAD, SEMAPHORE_1, STALL_ON_ZERO") in told, first
    text = run("diff", d / "a", d / "b").stdout
    assert "15 more, +" in text and "latched-wait SEMAPHORE_1 (thread 0)" in text and "p.tasm:4  ttdmanop" in text, text


@test
def lines_that_moved(d):
    """An empty line in front changes nothing."""
    saved(d, "a", PROGRAM.format(nops=10), "profile")
    saved(d, "b", "; a remark\n\n" + PROGRAM.format(nops=10), "profile")
    assert json.loads(run("diff", "--json", d / "a", d / "b").stdout)["changes"] == []
    assert "No cycles were spent differently." in run("diff", d / "a", d / "b").stdout
    saved(d, "b", "; a remark\n\n" + PROGRAM.format(nops=11), "profile")
    changes = json.loads(run("diff", "--json", d / "a", d / "b").stdout)["changes"]
    assert all(c["after"] == c["before"] + 1 for c in changes), changes


DIVIDES = """.core t1
    li   a0, 1000000
    li   a1, 3
    li   a2, 50
again:
    {op} a3, a0, a1
    addi a2, a2, -1
    bnez a2, again
    ebreak
"""


@test
def cores_count_like_threads(d):
    """The cycles that a core spent on a division come first, though no Tensix instruction is to blame."""
    saved(d, "a", DIVIDES.format(op="divu"), "profile")
    saved(d, "b", DIVIDES.format(op="add"), "profile")
    changes = json.loads(run("diff", "--json", d / "a", d / "b").stdout)["changes"]
    first = changes[0]
    assert first["who"] == "T1" and first["cause"] == "multi-cycle" and first["line"] == 6, first
    assert "divu" in first["instruction"] and first["after"] == 0 and first["before"] > 1000, first
    assert [c["cause"] in ("idle", "empty", "reset", "parked") for c in changes] == sorted(
        c["cause"] in ("idle", "empty", "reset", "parked") for c in changes), changes


@test
def another_folder(d):
    """The same program from two folders is the same program."""
    for name in ("one", "two"):
        (d / name).mkdir()
        (d / name / "p.tasm").write_text(PROGRAM.format(nops=10))
        (d / (name + ".json")).write_text(run("profile", "--json", d / name / "p.tasm").stdout)
    assert json.loads(run("diff", "--json", d / "one.json", d / "two.json").stdout)["changes"] == []


@test
def tiles_of_a_chip(d):
    """Each tile's costs stay separate."""
    run_ = json.loads(run("profile", "--json", pathlib.Path(WAITGATE).parent / "examples/relay.yaml").stdout)
    (d / "a").write_text(json.dumps(run_))
    tile = next(t for t in run_["tiles"] if (t["x"], t["y"]) == (2, 2))
    cost = next(t for t in tile["cost_profile"]["tracks"] if t["name"] == "B")["costs"][0]
    cost["cycles"] += 100
    (d / "b").write_text(json.dumps(run_))
    changes = json.loads(run("diff", "--json", d / "a", d / "b").stdout)["changes"]
    assert len(changes) == 1 and changes[0]["who"] == "2-2 B", changes
    assert changes[0]["after"] - changes[0]["before"] == 100 and changes[0]["cause"] == cost["cause"], changes
    assert "2-2 B" in run("diff", d / "a", d / "b").stdout


@test
def gate(d):
    """--fail-above limits the change of the runs' lengths: exactly the limit is allowed."""
    before = saved(d, "a", PROGRAM.format(nops=100), "run", "--stats")["cycles"]
    after = saved(d, "b", PROGRAM.format(nops=110), "run", "--stats")["cycles"]
    exact = 100 * (after - before) / before
    for limit, status in (("0", 1), ("1%", 1), (f"{exact - 0.01:.3f}%", 1), (f"{exact + 0.01:.3f}%", 0), ("50", 0)):
        done = run("diff", "--fail-above", limit, d / "a", d / "b")
        assert done.returncode == status, (limit, done)
        assert ("more than --fail-above" in done.stdout) == (status == 1), done.stdout
        assert json.loads(run("diff", "--json", "--fail-above", limit, d / "a", d / "b").stdout)["status"] == status
    assert run("diff", "--fail-above", "0", d / "b", d / "a").returncode == 0
    assert run("diff", "--fail-above", "0", d / "a", d / "a").returncode == 0


@test
def top(d):
    saved(d, "a", PROGRAM.format(nops=10), "profile")
    saved(d, "b", PROGRAM.format(nops=25), "profile")
    assert len(json.loads(run("diff", "--json", "--top", 2, d / "a", d / "b").stdout)["changes"]) == 2
    assert "smaller ones; --top shows more" in run("diff", "--top", 2, d / "a", d / "b").stdout
    saved(d, "a", PROGRAM.format(nops=10), "run")
    assert "do not show where the cycles went" in run("diff", d / "a", d / "a").stdout


@test
def bad_files(d):
    saved(d, "good", PROGRAM.format(nops=10), "profile")
    for text, why in (("", "does not say how many cycles"), ("{", "not JSON"), ("{}", "does not say how many cycles"),
                      ('{"cycles": "many"}', "a number of cycles is not a number"), ("[" * 5000, "nested too deep"),
                      ("&a [*a, *a]", "not JSON"), ("\0\1\2", "not JSON"), ('{"cycles": 5', "not JSON"), ("]}", "not JSON"),
                      ('{"cycles": 99999999999999999999999}', "a number of cycles is not a number")):
        (d / "bad").write_text(text)
        done = run("diff", d / "good", d / "bad")
        assert done.returncode == 6 and why in done.stderr and "bad" in done.stderr, (text[:20], done)
    (d / "odd").write_text('{"cycles": 7, "cost_profile": {"tracks": [{"costs": [{}, {"cycles": 3}, 4, [5]]}, 6]}, "stats": {"tracks": 1}}')
    assert run("diff", d / "odd", d / "odd").returncode == 0
    assert run("diff", d / "good", d / "odd").returncode == 0
    for words, why in ((["diff", d / "good"], "compares two files"), (["diff"], "compares two files"),
                       (["diff", "--fail-above", "lots", d / "good", d / "good"], "is not a percentage"),
                       (["diff", d / "good", d / "nowhere"], "nowhere")):
        done = run(*words)
        assert done.returncode == 6 and why in done.stderr, done


suite.run()
