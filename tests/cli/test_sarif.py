#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`--sarif FILE`: the objects in use meet SARIF 2.1.0, and results are located at the mistakes.

usage: test_sarif.py WAITGATE ROOT
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import suite
from suite import test

WAITGATE, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])

# Each object's properties with their types; those with ! are required. From the standard's sections 3.13 to 3.52.
TEXT, NUMBER = str, int
MESSAGE = {"text!": TEXT}
LOCATION = {"id": NUMBER, "message": MESSAGE,
            "physicalLocation": {"artifactLocation": {"uri!": TEXT}, "region": {"startLine!": NUMBER, "snippet": MESSAGE}, "address": {"absoluteAddress!": NUMBER}},
            "logicalLocations": [{"name!": TEXT, "kind": TEXT}]}
LOG = {"$schema": TEXT, "version!": TEXT, "runs!": [{
    "tool!": {"driver!": {"name!": TEXT, "version": TEXT, "rules": [{
        "id!": TEXT, "shortDescription": MESSAGE, "help": MESSAGE, "defaultConfiguration": {"level": TEXT}}]}},
    "invocations": [{"executionSuccessful!": bool, "exitCode": NUMBER}],
    "results!": [{"ruleId!": TEXT, "ruleIndex!": NUMBER, "level!": TEXT, "message!": MESSAGE, "locations!": [LOCATION],
                  "relatedLocations": [LOCATION], "occurrenceCount": NUMBER, "suppressions": [{"kind!": TEXT, "justification": TEXT}],
                  "properties": {"severity": TEXT, "cycle": NUMBER}}]}]}


def shaped(value, shape, at="log"):
    """The value has the shape: no additional property, and none missing that is required."""
    if isinstance(shape, type):
        assert type(value) is shape, (at, value)
        assert shape is not TEXT or value, f"{at}: empty"
    elif isinstance(shape, list):
        assert isinstance(value, list), at
        for i, v in enumerate(value):
            shaped(v, shape[0], f"{at}[{i}]")
    else:
        assert isinstance(value, dict), at
        known = {k.rstrip("!"): s for k, s in shape.items()}
        assert set(value) <= set(known), f"{at}: {set(value) - set(known)}"
        missing = {k[:-1] for k in shape if k.endswith("!")} - set(value)
        assert not missing, f"{at}: no {missing}"
        for k, v in value.items():
            shaped(v, known[k], f"{at}.{k}")


# The standard's own schema, if there is one: sarif-schema-2.1.0.json of oasis-tcs/sarif-spec.
SCHEMA = os.environ.get("WG_SARIF_SCHEMA")


def valid(log):
    shaped(log, LOG)
    if SCHEMA:
        import jsonschema
        jsonschema.validate(log, json.loads(pathlib.Path(SCHEMA).read_text()))
    assert log["version"] == "2.1.0" and len(log["runs"]) == 1
    run = log["runs"][0]
    rules = [r["id"] for r in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules), rules
    for rule in run["tool"]["driver"]["rules"]:
        assert rule["defaultConfiguration"]["level"] in ("note", "warning", "error"), rule
    for r in run["results"]:
        assert rules[r["ruleIndex"]] == r["ruleId"], r
        assert r["level"] in ("note", "warning", "error") and r["occurrenceCount"] >= 1, r
        assert all(s["kind"] in ("inSource", "external") for s in r.get("suppressions", [])), r
        related = [p["id"] for p in r.get("relatedLocations", [])]
        assert len(set(related)) == len(related), r
        for place in r["locations"] + r.get("relatedLocations", []):
            physical = place.get("physicalLocation", {})
            assert physical.get("region", {}).get("startLine", 1) >= 1, place
            if "artifactLocation" in physical:
                assert re.fullmatch(r"(file://)?([A-Za-z0-9\-._~/]|%[0-9A-F]{2})+", physical["artifactLocation"]["uri"]), physical
    return run


def sarif(d, command, *args, status=None):
    out = d / "out.sarif"
    r = subprocess.run([WAITGATE, command, "--sarif", out, "--max-cycles", "200000", *map(str, args)], capture_output=True, text=True,
                       timeout=120)
    assert status is None or r.returncode == status, r.stdout + r.stderr
    run = valid(json.loads(out.read_text()))
    assert run["invocations"][0]["exitCode"] == r.returncode, run["invocations"]
    out.unlink()
    return run["results"]


def place(p):
    physical = p["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical["region"]["startLine"]


@test
def every_kind_is_valid(d):
    files = sorted((ROOT / "tests/tasm").glob("hang_*.tasm"))[::3] + sorted((ROOT / "tests/checks").glob("*_broken.tasm")) + \
        sorted((ROOT / "tests/races").glob("*_broken.tasm"))[::8] + sorted((ROOT / "examples/findings").glob("*.tasm"))[::12]
    count = 0
    for file in files:
        own = re.search(r"^\s*\.arch\s+(\w+)", file.read_text(), re.M)
        results = sarif(d, "check", "--checks", "race,memory,init,sync", "--verify", "0", "--arch", own[1] if own else "bh", file)
        count += len(results)
    assert len(files) > 40 and count > 60, (len(files), count)


@test
def results_have_places(d):
    program = d / "a b#ü.tasm"
    program.write_text(".thread 0\n    ttrmwcib0 0x0F, 1, PCK_EDGE_OFFSET_SEC0_mask_ADDR32\n.thread 1\n    .delay 20\n"
                       "    ttrmwcib0 0x0F, 2, PCK_EDGE_OFFSET_SEC0_mask_ADDR32\n")
    results = sarif(d, "check", program, status=4)
    assert [r["ruleId"] for r in results] == ["config-race"] and results[0]["level"] == "error", results
    uri, line = place(results[0]["locations"][0])
    assert line == 5 and uri.startswith("file:///") and uri.endswith("/a%20b%23%C3%BC.tasm"), (uri, line)
    assert place(results[0]["relatedLocations"][0])[1] == 2, results
    assert "Verified remedy: " in results[0]["message"]["text"], results
    suppressions = d / "s"
    suppressions.write_text("config-race * : known, and harmless\n")
    results = sarif(d, "check", "--suppressions", suppressions, program, status=0)
    assert results[0]["suppressions"] == [{"kind": "external", "justification": "known, and harmless"}], results
    assert sarif(d, "run", program, status=0) == []


@test
def a_hang_is_a_result(d):
    program = d / "p.tasm"
    program.write_text(".thread 0\n    ttsemwait STALL_THREAD, SEMAPHORE_3, STALL_ON_MAX\n    ttsempost SEMAPHORE_3\n")
    results = sarif(d, "run", program, status=3)
    assert [r["ruleId"] for r in results] == ["hang"], results
    text = results[0]["message"]["text"]
    assert text.startswith("Semaphore 3 (UNPACK_OPERAND_SYNC) was never initialised: its maximum is 0") and "Remedy: Initialise it" in text, text
    assert place(results[0]["locations"][0])[1] == 2, results
    # The same in JSON.
    r = subprocess.run([WAITGATE, "run", "--json", program], capture_output=True, text=True)
    report = json.loads(r.stdout)["reports"][0]
    assert report["rule"] == "hang" and text.startswith(report["cause"]) and text.endswith(report["remedy"]), report
    assert report["parties"][0]["who"] == "thread 0" and report["parties"][0]["line"] == 2, report


@test
def a_file_that_cannot_be(d):
    program = d / "p.tasm"
    program.write_text(".thread 0\n    ttnop\n")
    r = subprocess.run([WAITGATE, "run", "--sarif", d / "no/such", program], capture_output=True, text=True)
    assert r.returncode == 6 and "--sarif" in r.stderr, r.stderr


suite.run()
