#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`waitgate test`: what it finds, runs and reports, in every format.

usage: test_testing.py WAITGATE ROOT
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

import suite
from suite import test

WAITGATE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
EXAMPLES = ROOT / "examples"
LIST = """# names, commands, endings
good     run hello.tasm
dead     run deadlock.tasm => hang        # as it is to be
wrong    run deadlock.tasm
known    run deadlock.tasm fails: two orders of mutexes
solved   run hello.tasm fails: nothing any more
limit    run "endless.tasm" --max-cycles 1000 => limit
"""
ENDLESS = ".core b\nlui t0, 0xffb12\n1: lw t1, 0x1f0(t0)\nj 1b\n"


def run(folder, *words, status=0, **env):
    done = subprocess.run([WAITGATE, "test", *map(str, words)], cwd=folder, capture_output=True, text=True,
                          env={k: v for k, v in os.environ.items() if k != "GITHUB_ACTIONS"} | env, timeout=120)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done


def prepared(folder):
    for name in ("hello.tasm", "deadlock.tasm"):
        shutil.copy(EXAMPLES / name, folder)
    (folder / "endless.tasm").write_text(ENDLESS)
    (folder / "all.tests").write_text(LIST)
    return folder


@test
def verdicts(folder):
    """Each line of a list ends as expected, or the report states how it ended instead."""
    found = json.loads(run(prepared(folder), "all.tests", "--json", status=3).stdout)
    verdicts = {t["name"]: t["verdict"] for t in found["tests"]}
    assert verdicts == {"good": "pass", "dead": "pass", "wrong": "fail", "known": "known", "solved": "solved",
                        "limit": "pass"}, verdicts
    assert (found["passed"], found["failed"], found["status"]) == (3, 2, 3)
    wrong = next(t for t in found["tests"] if t["name"] == "wrong")
    assert wrong["reason"] == "Status 3: it hangs." and "in a circle" in wrong["output"] and wrong["cycles"] == 12


@test
def text(folder):
    """The text for people: a line per test, failures with their reports, and the count last."""
    out = run(prepared(folder), "all.tests", "--jobs", 1, status=3).stdout
    assert re.search(r"^ok +good  5 cycles  \d+\.\d+ s$", out, re.M), out
    assert re.search(r"^FAIL +wrong  12 cycles  .* Status 3: it hangs\.$", out, re.M), out
    assert "\nwrong\n    Status 3: it hangs.\n" in out and "They wait for each other in a circle" in out
    assert out.endswith("1 known to fail\n3 passed, 2 failed\n"), out[-100:]
    quiet = run(prepared(folder), "all.tests", "--quiet", status=3).stdout
    assert "ok " not in quiet and "FAIL" in quiet


@test
def folders(folder):
    """Folders are searched for programs, chip files and lists, in order; other files are left alone."""
    prepared(folder)
    (folder / "sub").mkdir()
    shutil.copy(EXAMPLES / "handshake.tasm", folder / "sub")
    (folder / "sub" / "other.yaml").write_text("grid: 3\n")
    (folder / "sub" / "notes.txt").write_text("nothing\n")
    (folder / "sub" / "chip.yaml").write_text("arch: bh\nmax-cycles: 10\ntiles:\n  - at: [1, 2]\n")
    names = run(folder, ".", "--list").stdout.split()
    assert names == ["good", "dead", "wrong", "known", "solved", "limit", "deadlock.tasm", "endless.tasm", "hello.tasm",
                     "sub/chip.yaml", "sub/handshake.tasm"], names
    assert run(folder, ".", "--list", "--filter", "hand").stdout == "sub/handshake.tasm\n"
    assert run(folder, ".", "--list", "--filter", "h*m").stdout == "hello.tasm\n"


@test
def standard_input(folder):
    """`-` is a list, whose commands run in this folder; its mistakes have a position."""
    prepared(folder)
    done = subprocess.run([WAITGATE, "test", "--json", "-", "hello.tasm"], cwd=folder, input=LIST, capture_output=True, text=True)
    assert [t["name"] for t in json.loads(done.stdout)["tests"]] == ["good", "dead", "wrong", "known", "solved", "limit", "hello.tasm"], done
    done = subprocess.run([WAITGATE, "test", "-"], cwd=folder, input="a trace x.tasm\n", capture_output=True, text=True)
    assert done.returncode == 6 and done.stderr.startswith("-:1:3: error"), done


@test
def seeds(folder):
    """--seeds adds the same test under each seed, and the seed takes effect."""
    prepared(folder)
    found = json.loads(run(folder, "hello.tasm", "--seeds", 3, "--json").stdout)
    assert [t["name"] for t in found["tests"]] == [f"hello.tasm@{i}" for i in (1, 2, 3)] + ["hello.tasm"]
    assert len({t["cycles"] for t in found["tests"]}) > 1, found


@test
def expectations(folder):
    """A failed expectation is status 1, and an annotation has its line."""
    program = (EXAMPLES / "hello.tasm").read_text().replace("0x1002A", "0x1002B")
    assert program != (EXAMPLES / "hello.tasm").read_text()
    (folder / "bad.tasm").write_text(program)
    line = 1 + next(i for i, l in enumerate(program.splitlines()) if "0x1002B" in l)
    out = run(folder, "bad.tasm", status=1, GITHUB_ACTIONS="true").stdout
    assert f"::error file=bad.tasm,line={line},title=bad.tasm::Status 1: an expectation does not hold." in out, out
    assert "::error" not in run(folder, "bad.tasm", status=1).stdout
    assert "::error" in run(folder, "bad.tasm", "--annotations", status=1).stdout


@test
def junit(folder):
    """JUnit XML that is valid in the common schemas, for any names and texts; counts are consistent."""
    run(prepared(folder), "all.tests", "--junit", "out.xml", status=3)
    (folder / "b<&\">.tasm").write_text(".thread 0\n    ttnop\u0001 <&>\n")
    (folder / "crash.tests").write_text("x<y> run gone.tasm\ny&z run hello.tasm fails: \"no\" & <never>\n")
    run(folder, "b<&\">.tasm", "crash.tests", "--junit", "odd.xml", status=1)
    for name in ("out.xml", "odd.xml"):
        done = subprocess.run(["xmllint", "--noout", "--schema", ROOT / "tests/data/junit.xsd", folder / name], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    done = subprocess.run([WAITGATE, "test", "all.tests", "--junit", "-"], cwd=folder, capture_output=True, text=True)
    assert xml.fromstring(done.stdout).tag == "testsuites" and "passed" in done.stderr, done # the words are on standard error
    root = xml.parse(folder / "out.xml").getroot()
    assert root.tag == "testsuites" and [e.tag for e in root] == ["testsuite"]
    suite_ = root[0]
    cases = suite_.findall("testcase")
    children = [child.tag for c in cases for child in c]
    assert int(suite_.get("tests")) == len(cases) == 6
    assert int(suite_.get("failures")) == children.count("failure") == 2
    assert int(suite_.get("skipped")) == children.count("skipped") == 1
    failure = suite_.find("testcase[@name='wrong']/failure")
    assert failure.get("type") == "hang" and "They wait for each other" in failure.text


@test
def tap(folder):
    """TAP 13: a plan, a line per test with its number, TODO for known failures."""
    run(prepared(folder), "all.tests", "--tap", "out.tap", status=3)
    lines = (folder / "out.tap").read_text().splitlines()
    assert lines[:2] == ["TAP version 13", "1..6"]
    results = [l for l in lines if re.match(r"(not )?ok ", l)]
    assert results == ["ok 1 - good", "ok 2 - dead", "not ok 3 - wrong", "not ok 4 - known # TODO two orders of mutexes",
                       "ok 5 - solved # TODO nothing any more", "ok 6 - limit"], results
    assert lines.count("  ---") == lines.count("  ...") == 2


@test
def tap_takes_any_reason(folder):
    """A reason from a list is a YAML string; it never becomes a directive or a second line."""
    prepared(folder)
    (folder / "one.tests").write_text('kb run deadlock.tasm fails: a "quoted" \\ reason\n')
    run(folder, "one.tests", "--tap", "out.tap")
    text = (folder / "out.tap").read_text()
    assert text.splitlines()[2] == 'not ok 1 - kb # TODO a "quoted" \\ reason', text
    message = re.search(r"^  message: (.*)$", text, re.M)[1]
    assert json.loads(message) == 'It is known to fail: a "quoted" \\ reason', message


@test
def sarif(folder):
    """One run object, with the findings of all tests, and each rule once."""
    run(prepared(folder), "all.tests", "--sarif", "out.sarif", status=3)
    log = json.loads((folder / "out.sarif").read_text())
    assert log["version"] == "2.1.0" and len(log["runs"]) == 1
    rules = [r["id"] for r in log["runs"][0]["tool"]["driver"]["rules"]]
    results = [r["ruleId"] for r in log["runs"][0]["results"]]
    assert len(results) == 3 and set(results) == set(rules) and len(rules) == len(set(rules)), log


@test
def baselines(folder):
    """More cycles than the baseline and its tolerance allow fail the test; --update records the cycles."""
    prepared(folder)
    base = folder / "cycles.tsv"
    assert "--update makes it" in run(folder, "hello.tasm", "--baseline", base, status=6).stderr
    run(folder, "hello.tasm", "deadlock.tasm", "--baseline", base, "--update", status=3)
    assert base.read_text() == "hello.tasm\t5\n"
    run(folder, "hello.tasm", "--baseline", base)
    base.write_text("hello.tasm\t4\n")
    out = run(folder, "hello.tasm", "--baseline", base, status=1).stdout
    line = next(l for l in out.splitlines() if "hello.tasm" in l)
    assert line.startswith("FAIL") and line.endswith("It took 5 cycles; its baseline is 4 (+25.0 %)."), out
    run(folder, "hello.tasm", "--baseline", base, "--tolerance", "24.9%", status=1)
    run(folder, "hello.tasm", "--baseline", base, "--tolerance", "25")
    base.write_text("hello.tasm\t6\n")
    run(folder, "hello.tasm", "--baseline", base)


@test
def baselines_are_complete(folder):
    """A line that is none is an error; tests without a line are counted; --update keeps lines of tests that are not run."""
    prepared(folder)
    base = folder / "cycles.tsv"
    for line in ("hello.tasm  5", "hello.tasm\t-5", "hello.tasm\t", "hello.tasm\t0", "\t\t"):
        base.write_text(f"other.tasm\t7\n{line}\n")
        error = run(folder, "hello.tasm", "--baseline", base, status=6).stderr
        assert "cycles.tsv:2: a line is a name, a tab and a number of cycles" in error, (line, error)
    base.write_text("other.tasm\t7\r\n\nhello.tasm@1\t9\n")
    assert "1 without a baseline" in run(folder, "hello.tasm", "--baseline", base).stdout
    run(folder, "hello.tasm", "--baseline", base, "--update")
    assert base.read_text() == "other.tasm\t7\nhello.tasm@1\t9\nhello.tasm\t5\n"
    assert "without a baseline" not in run(folder, "hello.tasm", "--baseline", base).stdout


@test
def names_of_all_kinds(folder):
    """Bytes that are not UTF-8, a leading dash, a link that leads back to its folder."""
    shutil.copy(EXAMPLES / "deadlock.tasm", os.fsencode(folder) + b"/inv\xff.tasm")
    assert subprocess.run([WAITGATE, "test", ".", "--junit", "out.xml", "--tap", "out.tap"], cwd=folder, capture_output=True).returncode == 3
    case = xml.parse(folder / "out.xml").find(".//testcase")
    assert case.get("name") == "inv\ufffd.tasm" and "inv\ufffd.tasm" in (folder / "out.tap").read_text()
    (folder / "deep").mkdir()
    (folder / "deep/back").symlink_to(folder)
    shutil.copy(EXAMPLES / "hello.tasm", folder / "-dash.tasm")
    shutil.copy(EXAMPLES / "hello.tasm", folder / "deep/hello.tasm")
    found = json.loads(run(folder, ".", "--json", "--filter", "*[hd]*.tasm", "--filter", "hello").stdout)
    assert {t["name"]: t["verdict"] for t in found["tests"]} == {"-dash.tasm": "pass", "deep/hello.tasm": "pass"}, found


@test
def data_stays_data(folder):
    """In GitHub's workflows annotations are beside JSON, not in it; a file that cannot be written is an error there, too."""
    prepared(folder)
    done = run(folder, "deadlock.tasm", "--json", status=3, GITHUB_ACTIONS="true")
    assert json.loads(done.stdout)["failed"] == 1 and done.stderr.startswith("::error file=deadlock.tasm,line=8,title=deadlock.tasm::Status 3"), done
    done = run(folder, "deadlock.tasm", status=3, GITHUB_ACTIONS="true")
    assert "::error file=deadlock.tasm" in done.stdout and not done.stderr, done
    done = run(folder, "hello.tasm", "--json", "--junit", "no/such.xml", status=6)
    found = json.loads(done.stdout)
    assert found["status"] == 6 and "--junit" in found["error"], found


@test
def timeouts(folder):
    """A test that takes too long is ended, fails, and reports where it was."""
    (folder / "busy.tasm").write_text(".core b\nli t0, 0\n1: addi t0, t0, 1\nrdcycle t1\nj 1b\n")
    began = time.monotonic()
    out = run(folder, "busy.tasm", "--timeout", 1, status=1).stdout
    assert time.monotonic() - began < 30
    assert "It took longer than --timeout allows." in out and "interrupted after" in out, out


@test
def checks(folder):
    """--checks turns runs into checks."""
    shutil.copy(ROOT / "tests" / "races" / next(p.name for p in sorted((ROOT / "tests" / "races").glob("*.tasm"))
                                                  if ".expect race" in p.read_text()), folder / "race.tasm")
    text = "\n".join(l for l in (folder / "race.tasm").read_text().splitlines() if not l.startswith(".expect"))
    (folder / "race.tasm").write_text(text + "\n")
    run(folder, "race.tasm")
    out = run(folder, "race.tasm", "--checks", "race", status=4).stdout
    assert "Status 4: there are findings." in out, out


@test
def refusals(folder):
    """Invalid tests, lists and options are named."""
    prepared(folder)
    assert "there is no file or folder `nowhere`" in run(folder, "nowhere", status=6).stderr
    (folder / "x.elf").write_text("")
    assert "`x.elf` is not a test" in run(folder, "x.elf", status=6).stderr
    assert "which tests?" in run(folder, status=6).stderr
    assert "there is no test that matches --filter zzz; --list" in run(folder, ".", "--filter", "zzz", status=6).stderr
    assert "zz*, which with * or ? is compared with whole names" in run(folder, ".", "--filter", "zz*", status=6).stderr
    for line, message in (("a", "after its name comes the test's command"), ("a trace x.tasm", "`run` or `check`"),
                          ("a run x.tasm => well", "after => comes the expected end"), ("a run x.tasm fails:", "comes the reason"),
                          ("a run x.tasm => hang y", "can follow the command"), ("a run x\na run y", "two tests called `a`"),
                          ("a run " + "x " * 80, "at most 64 words")):
        (folder / "bad.tests").write_text(line + "\n")
        error = run(folder, "bad.tests", status=6).stderr
        assert message in error and ("bad.tests" in error), (line, error)
    out = json.loads(run(folder, "all.tests", "--json", "--filter", "good").stdout)
    assert out["passed"] == 1
    (folder / "gone.tests").write_text("a run gone.tasm\n")
    found = json.loads(run(folder, "gone.tests", "--json", status=1).stdout)
    assert found["tests"][0]["status"] == 6 and "gone.tasm" in found["tests"][0]["output"]
    for option, value in (("--jobs", "0"), ("--tolerance", "x"), ("--timeout", "soon"), ("--seeds", "1000000")):
        run(folder, "hello.tasm", option, value, "--baseline", "/dev/null", status=6)


@test
def progress(folder):
    """Until a test has ended, nobody knows how long the others take."""
    (folder / "busy.tasm").write_text(".core b\nli t0, 0\n1: addi t0, t0, 1\nrdcycle t1\nj 1b\n")
    shutil.copy(EXAMPLES / "hello.tasm", folder / "quick.tasm")
    suite.shows([WAITGATE, "test", "--timeout", "30", folder / "busy.tasm"], rb"0 of 1 tests\r")
    suite.shows([WAITGATE, "test", "--timeout", "30", "--jobs", "2", folder / "busy.tasm", folder / "quick.tasm"], rb"1 of 2 tests, about \d+ s left")


@test
def interrupted(folder):
    """Ctrl-C ends the running tests, and the report says how many were not run."""
    for i in range(3):
        (folder / f"busy{i}.tasm").write_text(".core b\nli t0, 0\n1: addi t0, t0, 1\nrdcycle t1\nj 1b\n")
    os.chdir(folder)
    status, text = suite.at_terminal([WAITGATE, "test", "--jobs", "1", "."], interrupt=True)
    assert status in (1, 130) and b"2 not run" in text, (status, text)


suite.run()
