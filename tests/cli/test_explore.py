#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explore finds results that depend on timing, shrinks the delays, and prints a command that replays them; ordered
programs give no report.

usage: test_explore.py WAITGATE DIRECTORY
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import suite

WAITGATE, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
passed = failed = 0


def waitgate(*args):
    return subprocess.run([WAITGATE, *map(str, args)], capture_output=True, text=True, timeout=900)


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAIL {what}: {detail}")


def explore(name, *args):
    run = waitgate("explore", "--json", "--runs", 60, *args, FOLDER / f"{name}.tasm")
    return run, json.loads(run.stdout) if run.stdout else {}


def replayed(difference):
    words = shlex.split(difference["replay"])
    return waitgate(*words[1:])


def test_two_writers(arch):
    run, result = explore("two_writers", "--arch", arch)
    check("two_writers status", run.returncode == 4, run.stderr)
    difference = result["differences"][0]
    check("two_writers memory", difference["memory"] and difference["words"] == 1, difference)
    check("two_writers word", difference["first_words"] ==
          [{"address": "0x00001000", "expected": "0x00000002", "found": "0x00000001"}], difference)
    check("two_writers is one delay", len(difference["delays"]) == 1, difference)
    words = shlex.split(difference["replay"])
    again = waitgate(*words[1:-1], "--json", words[-1])
    check("two_writers replays", json.loads(again.stdout)["cycles"] == difference["cycles"], again.stdout)
    # One cycle less is not enough: the delay is the shortest.
    site, agent, event, cycles = difference["delays"][0]["delay"].split(":")
    for less, word in ((0, "01 00 00 00"), (1, "02 00 00 00")):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "word"
            waitgate("run", "--arch", arch, "--delays", f"{site}:{agent}:{event}:{int(cycles) - less}", "--dump",
                     f"0x1000:4={file}", FOLDER / "two_writers.tasm")
            check(f"two_writers with {less} cycles less", file.read_bytes().hex(" ") == word)
    check("two_writers delay", site == "travel" and agent == "t0" and int(cycles) > 1, difference)


def test_two_fields(arch):
    run, result = explore("two_fields", "--arch", arch)
    check("two_fields status", run.returncode == 4, run.stderr)
    difference = result["differences"][0]
    check("two_fields expectation", difference["expectations"] and not difference["memory"], difference)
    check("two_fields names the instruction", "ttrmwcib0" in difference["delays"][0]["text"], difference)
    again = replayed(difference)
    check("two_fields replays", again.returncode == 1 and "FAIL" in again.stdout, again.stdout)


def test_lost_get(arch):
    run, result = explore("lost_get", "--arch", arch)
    check("lost_get status", run.returncode == 4, run.stderr)
    hangs = [d for d in result["differences"] if d["result"] == "hangs"]
    check("lost_get hangs", len(hangs) == 1, result)
    check("lost_get is directed", result["directed"] > 0)
    again = replayed(hangs[0])
    check("lost_get replays", "hangs after" in again.stdout, again.stdout)


def test_ordered(arch):
    run, result = explore("ordered", "--arch", arch)
    check("ordered is silent", run.returncode == 0 and result["differing"] == 0 and result["timings"] == 60, result)


def test_finding():
    """A finding that only some timings have: its text, the shortest delay, and a command that shows it without."""
    file = FOLDER.parents[2] / "examples/findings/gpr-used-before-result.tasm"
    run = waitgate("explore", "--json", "--runs", 60, "--jobs", 1, file)
    found = [d for d in json.loads(run.stdout)["differences"] if d["findings"]]
    check("finding differs", run.returncode == 4 and found and found[0]["result"] == "is done", run.stdout)
    check("one delay", len(found[0]["delays"]) == 1 and "waits at the gate" in found[0]["delays"][0]["text"], found[0])
    plain, again = waitgate("run", file), replayed(found[0])
    plain, again = plain.stdout + plain.stderr, again.stdout + again.stderr
    check("finding replays", "warning: gpr-used-before-result" in plain and "warning: gpr" not in again, again)
    text = waitgate("explore", "--runs", 60, "--jobs", 1, file).stdout
    check("finding in words", "gpr-used-before-result" in text and found[0]["replay"] in text, text)


def test_order_of_trials():
    """Delays at the parties of races come first, then those at synchronisation sites, then seeds."""
    run, result = explore("lost_get", "--runs", 400)
    check("planned", result["timings"] == 400 and result["at_races"] > 0 and result["directed"] > result["at_races"] and
          result["directed"] < 400, {k: v for k, v in result.items() if not isinstance(v, list)})


RACES = FOLDER.parents[1] / "races"


def test_witnesses():
    """Races of the unperturbed run come first, and each that a delay at its parties shows is linked to that delay."""
    for file, arch, kind in ((FOLDER / "two_writers.tasm", "bh", "data-race"), (FOLDER / "two_fields.tasm", "wh", "config-race"),
                             (FOLDER / "lost_get.tasm", "bh", "semaphore-get-early"),
                             (FOLDER / "late_sample.tasm", "bh", "config-race"),
                             (RACES / "02_early_clear_wh_broken.tasm", "wh", "bank-handover")):
        run = waitgate("explore", "--json", "--arch", arch, "--runs", 80, file)
        result = json.loads(run.stdout)
        checked = json.loads(waitgate("check", "--json", "--arch", arch, file).stdout)
        race = next((r for r in result["races"] if r["kind"] == kind), None)
        check(f"{file.name}: {kind} is there", race is not None, result["races"])
        same = [r for r in checked["races"] if r["id"] == race["id"]]
        check(f"{file.name}: check has the same id", len(same) == 1 and same[0]["kind"] == kind, checked["races"])
        check(f"{file.name}: tried first", result["at_races"] >= race["tried"] > 0, race)
        check(f"{file.name}: has a witness", "witness" in race, race)
        replay = shlex.split(race["witness"]["replay"])
        shown = waitgate(*replay[1:-1], "--json", replay[-1])
        difference = result["differences"][race["witness"]["difference"] - 1]
        again = json.loads(shown.stdout)
        check(f"{file.name}: the witness shows it", (again["result"] == "hang") == (difference["result"] == "hangs"), shown.stdout)
        text = waitgate("explore", "--arch", arch, "--runs", 80, file).stdout
        check(f"{file.name}: in words", f"R{race['id']} {kind}" in text and race["witness"]["replay"] in text, text)
    # A suppressed race is not examined.
    with tempfile.TemporaryDirectory() as folder:
        rules = pathlib.Path(folder) / "rules"
        rules.write_text("data-race * : known\n")
        run, result = explore("two_writers", "--suppressions", rules)
        check("suppressed", not result["races"] and result["at_races"] == 0, result)


def test_fixed_forms():
    """Programs without reports by check give the same result under every timing; WG_SOAK=1: under a thousand."""
    runs = 1000 if os.environ.get("WG_SOAK", "0") != "0" else 15
    for file in sorted(RACES.glob("*.tasm")):
        if "fixed" not in file.name and "silent" not in file.name:
            continue
        of = re.search(r"^\.arch (\w+)", file.read_text(), re.M)
        for arch in [of.group(1)] if of else ["bh", "wh"]:
            run = waitgate("explore", "--arch", arch, "--runs", runs, "--budget", 600, file)
            check(f"{file.name} {arch}", run.returncode == 0 and "every timing gives the same result" in run.stdout,
                  run.stdout + run.stderr)


def test_progress():
    """On a terminal there is a line of progress with the time left."""
    _, seen = suite.at_terminal(
        [WAITGATE, "explore", "--runs", "1000000", "--budget", "2", FOLDER / "ordered.tasm"])
    check("progress", b"of 1000000 timings" in seen and b"s left" in seen, seen[-300:])
    check("time left at first", not re.search(rb"\x1b\[K0 of 1000000 timings, [^\r]* 0 s left", seen), seen[:300])
    check("budget", b"the budget was used up" in seen, seen[-300:])
    _, seen = suite.at_terminal([WAITGATE, "explore", "--runs", "60", FOLDER / "two_writers.tasm"])
    check("progress of shrinking", b"fewest delays" in seen and b"more runs" in seen, seen[-300:])


def test_same_for_any_number_of_jobs():
    results = [explore("two_writers", "--jobs", jobs)[1] for jobs in (1, 3)]
    for r in results:
        r.pop("milliseconds"), r.pop("busiest_microseconds"), r.pop("jobs")
    check("jobs do not matter", results[0] == results[1], results)


def test_budget_and_errors():
    run, result = explore("ordered", "--budget", 0)
    check("no budget", run.returncode == 0 and result["timings"] == 0 and result["planned"] == 60, result)
    for args, word in ((["--runs", "0"], "--runs"), (["--result", "5"], "--result"), (["--result", "0x10:0"], "--result"),
                       (["--result", "0:0x7FFFFFFF"], "--result"), (["--jobs", "1000"], "--jobs")):
        run = waitgate("explore", *args, FOLDER / "ordered.tasm")
        check(f"error {args}", run.returncode == 6 and word in run.stderr, run.stderr)
    for delays in ("accept", "accept:thread1:1", "accept:thread9:1:1", "never:t0:1:1", "travel:t0:1:99999999", ",", "travel:t0:1:1,"):
        run = waitgate("run", "--delays", delays, FOLDER / "ordered.tasm")
        check(f"delays {delays}", run.returncode == 6 and "--delays" in run.stderr, run.stderr)
    # Memory outside the result may differ.
    run, result = explore("two_writers", "--result", "0x2000:64")
    check("another result", run.returncode == 0, result)


def test_wrong_and_endless():
    """A program that fails by itself is not called right; one that does not end is abandoned."""
    with tempfile.TemporaryDirectory() as d:
        wrong, endless = pathlib.Path(d) / "wrong.tasm", pathlib.Path(d) / "endless.tasm"
        wrong.write_text(".thread 0\n ttsetdmareg 0, 7, 0, 2\n.expect gpr 0 1 = 8\n")
        run = waitgate("explore", "--runs", 5, wrong)
        check("wrong by itself", run.returncode == 1 and "not what the program expects" in run.stdout, run.stdout)
        run = waitgate("explore", "--json", "--runs", 5, wrong)
        check("wrong by itself, JSON", run.returncode == 1 and json.loads(run.stdout)["expectations_hold"] is False, run.stdout)
        endless.write_text(".core B\n1: addi t0, t0, 1\n j 1b\n")
        run = waitgate("explore", endless)
        check("endless", run.returncode == 6 and "does not end within 20000000 cycles" in run.stderr, run.stderr)


for a in ("bh", "wh"):
    test_two_writers(a)
    test_two_fields(a)
    test_lost_get(a)
    test_ordered(a)
test_finding()
test_order_of_trials()
test_witnesses()
test_fixed_forms()
test_progress()
test_same_for_any_number_of_jobs()
test_budget_and_errors()
test_wrong_and_endless()
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
