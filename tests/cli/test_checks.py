#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`waitgate check --checks`: every program of tests/checks. CHECK_NAME_broken.tasm gets the reports that it expects from that
check, and none of them from the others; its twin CHECK_NAME_fixed.tasm gets nothing from all of them together.

usage: test_checks.py WAITGATE ROOT [EXAMPLES]
"""
import json
import pathlib
import re
import subprocess
import sys

import suite
from suite import test

WAITGATE, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
ALL = ("race", "memory", "init", "sync")


def check(*args, status=0):
    r = subprocess.run([WAITGATE, "check", *map(str, args)], capture_output=True, text=True, timeout=120)
    assert r.returncode == status, f"status {r.returncode} instead of {status}: {args}\n{r.stdout}\n{r.stderr}"
    return r.stdout if status != 6 else r.stderr


def programs(kind):
    for file in sorted((ROOT / "tests/checks").glob(f"*_{kind}.tasm")):
        own = re.search(r"^\.arch (\w+)", file.read_text(), re.M)
        for arch in [own[1]] if own else ["bh", "wh"]:
            yield file, file.name.split("_")[0], arch


@test
def twins(d):
    names = {f.name.replace("_broken", "_fixed") for f, _, _ in programs("broken")}
    assert names and names == {f.name for f, _, _ in programs("fixed")}, names
    assert {f.split("_")[0] for f in names} == {"memory", "init", "sync"}, names


@test
def broken_ones(d):
    for file, own, arch in programs("broken"):
        out = check("--checks", own, "--arch", arch, file)
        assert "expectations hold" in out and "FAIL" not in out, out
        # An expectation fails if nothing reports it.
        bare = d / "bare.tasm"
        bare.write_text(re.sub(r"^\.expect .*$", "", file.read_text(), flags=re.M) + "\n".join(
            f".expect {line}" for line in re.findall(r"^\.expect (l1 .*)$", file.read_text(), re.M)) + "\n")
        races = json.loads(check("--json", "--checks", own, "--arch", arch, bare, status=4))["races"]
        kinds = {r["kind"] for r in races} - {"read-before-write"}  # a note that `race` gives, too
        wanted = set(re.findall(r"^\.expect race (\S+)", file.read_text(), re.M))
        assert kinds == wanted, (file.name, arch, kinds, wanted)
        for other in ALL:
            if other != own:
                races = json.loads(check("--json", "--fail-on", "never", "--checks", other, "--arch", arch, bare))["races"]
                assert not wanted & {r["kind"] for r in races}, (file.name, other, races)


@test
def fixed_ones(d):
    for file, own, arch in programs("fixed"):
        out = check("--checks", ",".join(ALL), "--arch", arch, file)
        assert "expectations hold" in out and "FAIL" not in out, out


@test
def examples_leave_nothing_over(d):
    folder = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    (d / "tiles").write_bytes(bytes(0x4000))
    for name in ("datacopy_bf16", "exp", "gelu", "launch_pcbuf", "mailbox", "reciprocal", "sort") if folder else ():
        for prefix, arch in (("", "bh"), ("wh_", "wh")):
            check("--checks", "sync", "--arch", arch, *sorted(folder.glob(f"{prefix}{name}.*.elf")))
            what = ("--checks", "memory,init", "--buffer", "0x20000:0x20000", "--arch", arch, *sorted(folder.glob(f"{prefix}{name}.*.elf")))
            check("--load", f"0x30000={d / 'tiles'}", *what)
            if name == "datacopy_bf16":  # it copies what nobody has written
                assert "An unpacker took it, nobody has written it, and a packer stores what became of it" in check(*what, status=4)


@test
def examples_on_chips_are_silent(d):
    folder = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    for name in ("chip", "dram", "ethernet", "relay", "remote", "ring") if folder else ():
        out = check("--checks", ",".join(ALL), "--buffer", "0x10000:0x100000", "--all", folder / f"{name}.yaml")
        assert "WARNING" not in out and "NOTE" not in out, out


@test
def options(d):
    program = d / "p.tasm"
    program.write_text(".core B\n    li t0, 0x3000\n    sw t0, 0(t0)\n    sw t0, 0x40(t0)\n    j .\n")
    for bad in ("", "races", "race,,sync", "all"):
        assert "--checks" in check("--checks", bad, program, status=6)
    for bad in ("0x3000", "0x3000:", "0x3000:0", "x:4", "0x100000000:4"):
        assert "--buffer" in check("--checks", "memory", "--buffer", bad, program, status=6)
    out = check("--checks", "memory", program, status=4)
    assert "L1 0x003000-0x003003" in out and "L1 0x003040-0x003043" in out, out
    out = check("--checks", "memory", "--buffer", "0x3000:4", program, status=4)
    assert "L1 0x003000-0x003003" not in out and "L1 0x003040-0x003043" in out, out
    check("--checks", "memory", "--buffer", "0x3000:4", "--buffer", "0x3040:4", program)
    check(program)  # not requested


suite.run()
