#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Snapshots in files: --save-at, --save-on-failure, --resume, and what is refused."""
import json
import os
import pathlib
import struct
import subprocess
import sys

from suite import run, test

WAITGATE, ROOT, EXAMPLES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
HANDSHAKE = ROOT / "examples/handshake.tasm"


def waitgate(*args, status=0, text=None):
    r = subprocess.run([WAITGATE, *map(str, args)], capture_output=True, text=True, input=text)
    assert r.returncode == status, (args, r.returncode, r.stdout[-400:], r.stderr)
    return r


def result(*args, status=0):
    return json.loads(waitgate("run", "--json", *args, status=status).stdout)


@test
def goes_on_as_if_nothing_had_been(d):
    """A stream in the middle of its words: the end is the same, cycle and memory, from every place."""
    whole = result(HANDSHAKE, "--dump", f"0:4096={d}/whole.bin")
    for cycle in (0, 1, 7, 20, 42):
        waitgate("run", HANDSHAKE, "--save-at", f"{cycle}={d}/at.snapshot", "--dump", f"0:4096={d}/saving.bin")
        again = result("--resume", d / "at.snapshot", HANDSHAKE, "--dump", f"0:4096={d}/again.bin")
        alone = result(d / "at.snapshot")
        assert again["cycles"] == alone["cycles"] == whole["cycles"], (cycle, again["cycles"], alone["cycles"], whole["cycles"])
        assert again["result"] == alone["result"] == "done"
        assert (d / "again.bin").read_bytes() == (d / "whole.bin").read_bytes() == (d / "saving.bin").read_bytes()


@test
def kernels(d):
    (d / "passes.bin").write_bytes(struct.pack("<I", 1))
    (d / "ones.bin").write_bytes(b"\x80\x3f" * 1024)
    elfs = [EXAMPLES / f"matmul.{core}.elf" for core in ("brisc", "trisc0", "trisc1", "trisc2")]
    loads = ["--load", f"0x20000={d}/passes.bin", "--load", f"0x30000={d}/ones.bin", "--load", f"0x31000={d}/ones.bin"]
    whole = result(*elfs, *loads, "--dump", f"0x32000:4096={d}/whole.bin", "--save-at", f"300={d}/a.snapshot", "--save-at",
                   f"320={d}/b.snapshot")
    for name in ("a", "b"):
        again = result(d / f"{name}.snapshot", "--dump", f"0x32000:4096={d}/again.bin")
        assert again["cycles"] == whole["cycles"], (again["cycles"], whole["cycles"])
        assert (d / "again.bin").read_bytes() == (d / "whole.bin").read_bytes()
    where = waitgate("debug", d / "a.snapshot", text="cycle\nwhere\ncontinue\n").stdout
    assert "cycle 300; the history begins at 300" in where and "matmul.c" in where and "done at cycle" in where, where


@test
def a_hang_leaves_one(d):
    """Post mortem: the snapshot is opened by itself, and says why nothing moves."""
    waitgate("run", ROOT / "examples/deadlock.tasm", "--save-on-failure", d / "hang.snapshot", status=3)
    text = waitgate("debug", d / "hang.snapshot", text="continue\nstate\nsemaphores\n").stdout
    assert "hang at cycle" in text and "They wait for each other in a circle" in text and "deadlock.tasm:8" in text, text
    (d / "commands").write_text(f"target remote | {WAITGATE} gdb --listen stdio {d}/hang.snapshot\nmonitor where\ndetach\n")
    text = subprocess.run(["gdb-multiarch", "-nx", "-batch", "-x", str(d / "commands")], capture_output=True, text=True, timeout=60)
    assert "ttatgetm 3, pushed by core T0" in text.stdout + text.stderr, text
    waitgate("run", HANDSHAKE, "--save-on-failure", d / "none.snapshot")
    assert not (d / "none.snapshot").exists()
    (d / "wrong.tasm").write_text(".thread 0\n ttsetdmareg 0, 5, 0, 8\n.expect gpr 0 4 = 6\n")
    waitgate("run", d / "wrong.tasm", "--save-on-failure", d / "wrong.snapshot", status=1)
    assert "00000005" in waitgate("debug", d / "wrong.snapshot", text="gprs 0\n").stdout


@test
def refused(d):
    """Another architecture, version or program, a damaged file, a cycle that never comes: one clear sentence each."""
    waitgate("run", HANDSHAKE, "--save-at", f"20={d}/at.snapshot")
    good = (d / "at.snapshot").read_bytes()

    def refuses(data, words, *args):
        (d / "bad.snapshot").write_bytes(data)
        r = waitgate("run", "--resume", d / "bad.snapshot", *args, status=6)
        assert words in r.stderr, (words, r.stderr)

    refuses(good, "is from Blackhole A0, but --arch is Wormhole B0", "--arch", "wh")
    refuses(good, "other timing profile", "--profile", "documented")
    (d / "short.tasm").write_text(".thread 0\n ttdmanop\n")
    refuses(good, "the program is not the one of the snapshot", d / "short.tasm")
    (d / "wh.tasm").write_text(".arch wh\n.thread 0\n ttdmanop\n")
    refuses(good, "but the program is for Wormhole", d / "wh.tasm")
    refuses(b"", "this is not a snapshot")
    refuses(b"nonsense" * 1000, "this is not a snapshot")
    refuses(good[:-1], "cut short or damaged")
    refuses(good[:5000] + bytes([good[5000] ^ 1]) + good[5001:], "cut short or damaged")
    refuses(good[:16] + struct.pack("<I", 99) + good[20:], "another version of Waitgate")
    assert "before cycle 100000" in waitgate("run", HANDSHAKE, "--save-at", f"100000={d}/never.snapshot", status=6).stderr
    assert "is not CYCLE=FILE" in waitgate("run", HANDSHAKE, "--save-at", "20", status=6).stderr
    assert not (d / "never.snapshot").exists()


run()
