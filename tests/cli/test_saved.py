#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Snapshots in files: --save-at, --save-on-failure, --resume, and refusals."""
import json
import os
import pathlib
import struct
import subprocess
import sys

from suite import GDB, run, test

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
    """A stream in the middle of its words: the end is the same, cycle and memory, from every point."""
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
    """Post mortem: the snapshot opens by itself, and says why nothing moves."""
    waitgate("run", ROOT / "examples/deadlock.tasm", "--save-on-failure", d / "hang.snapshot", status=3)
    text = waitgate("debug", d / "hang.snapshot", text="continue\nstate\nsemaphores\n").stdout
    assert "hang at cycle" in text and "They wait for each other in a circle" in text and "deadlock.tasm:8" in text, text
    (d / "commands").write_text(f"target remote | {WAITGATE} gdb --listen stdio {d}/hang.snapshot\nmonitor where\ndetach\n")
    text = subprocess.run([GDB, "-nx", "-batch", "-x", str(d / "commands")], capture_output=True, text=True, timeout=60)
    assert "ttatgetm 3, pushed by core T0" in text.stdout + text.stderr, text
    waitgate("run", HANDSHAKE, "--save-on-failure", d / "none.snapshot")
    assert not (d / "none.snapshot").exists()
    (d / "wrong.tasm").write_text(".thread 0\n ttsetdmareg 0, 5, 0, 8\n.expect gpr 0 4 = 6\n")
    waitgate("run", d / "wrong.tasm", "--save-on-failure", d / "wrong.snapshot", status=1)
    assert "00000005" in waitgate("debug", d / "wrong.snapshot", text="gprs 0\n").stdout


@test
def chips(d):
    """Two tiles and DRAM: the end is the same from every point; the snapshot opens by itself, and names its tiles."""
    for name in ("dram.yaml", "chip.yaml", "ethernet.yaml"):
        text = (EXAMPLES / name).read_text()
        for core in ("brisc", "ncrisc", "trisc0", "trisc1", "trisc2", "erisc0"):
            text = text.replace(f"{core}: ", f"{core}: {EXAMPLES}/")
        (d / name).write_text(text)
        for p in [*d.glob("*.bin"), *d.glob("*.txt")]:
            p.unlink()
        whole = result(d / name)
        dumped = {p.name: p.read_bytes() for p in d.glob("*.bin")} | {p.name: p.read_bytes() for p in d.glob("*.txt")}
        assert dumped or name == "ethernet.yaml"
        for cycle in (0, 1, 100, whole["cycles"] // 2, whole["cycles"] - 1):
            saving = result(d / name, "--save-at", f"{cycle}={d}/at.snapshot")
            for p in dumped:
                (d / p).unlink()
            again = result(d / name, "--resume", d / "at.snapshot")
            assert {p: (d / p).read_bytes() for p in dumped} == dumped, (name, cycle)
            alone = result(d / "at.snapshot")
            assert whole["cycles"] == saving["cycles"] == again["cycles"] == alone["cycles"], (name, cycle, again["cycles"], alone["cycles"])
            assert again["result"] == alone["result"] == whole["result"] == "done", again
        words = waitgate("debug", d / "at.snapshot", text="cycle\nthread 3-4 t1\nwhere\ncontinue\n").stdout
        assert f"the history begins at {whole['cycles'] - 1}" in words and "done at cycle" in words, words


@test
def a_chip_that_hangs(d):
    """Post mortem, with the real gdb too."""
    (d / "hang.yaml").write_text((EXAMPLES / "dram.yaml").read_text().replace("    ncrisc: dram.ncrisc.elf\n", "")
                                 .replace(": dram.", f": {EXAMPLES}/dram."))
    waitgate("run", d / "hang.yaml", "--save-on-failure", d / "hang.snapshot", status=3)
    for opened in (["hang.snapshot"], ["hang.yaml", "--resume", d / "hang.snapshot"]):
        opened[0] = d / opened[0]
        words = waitgate("debug", *opened, text="thread 3-4 b\nstate\nwhere\n").stdout
        assert "dram.c" in words and "3-4" in words, words
    (d / "commands").write_text(f"target remote | {WAITGATE} gdb --listen stdio {d}/hang.snapshot\ninfo threads\nmonitor cycle\ndetach\n")
    r = subprocess.run([GDB, "-nx", "-batch", "-x", str(d / "commands")], capture_output=True, text=True, timeout=60)
    assert "3-4 B" in r.stdout and "the history begins at" in r.stdout + r.stderr, r
    waitgate("run", EXAMPLES / "dram.yaml", "--save-on-failure", d / "none.snapshot")
    assert not (d / "none.snapshot").exists()


@test
def refused_chips(d):
    """Another architecture, profile, version or kind of file, and damage."""
    chip = d / "chip.yaml"
    text = (EXAMPLES / "chip.yaml").read_text().replace("hello.brisc", f"{EXAMPLES}/hello.brisc")
    chip.write_text(text)
    (d / "wh.yaml").write_text(text.replace("arch: bh", "arch: wh").replace("/hello.brisc", "/wh_hello.brisc").replace("[0, 1]", "[0, 0]"))
    waitgate("run", chip, "--save-at", f"20={d}/at.snapshot")
    waitgate("run", HANDSHAKE, "--save-at", f"20={d}/tile.snapshot")
    good = (d / "at.snapshot").read_bytes()

    def refuses(data, words, *args, files=(chip,)):
        (d / "bad.snapshot").write_bytes(data)
        r = waitgate("run", "--resume", d / "bad.snapshot", *files, *args, status=6)
        assert words in r.stderr, (words, r.stderr)

    refuses(good, "is from Blackhole A0, but", files=(d / "wh.yaml",))
    refuses(good, "other timing profile", "--profile", "documented")
    refuses(good, "snapshot of a chip, which goes with its chip file alone", files=(HANDSHAKE,))
    refuses((d / "tile.snapshot").read_bytes(), "one of a tile goes with the tile's programs")
    refuses(good, "a run resumes from one snapshot", files=(chip, d / "at.snapshot"))
    (d / "host.yaml").write_text(text.replace("max-cycles", "host-memory: {bytes: 4096}\nmax-cycles"))
    refuses(good, "its host has other memory", files=(d / "host.yaml",))
    refuses(good[:-1], "cut short or damaged")
    refuses(good[:100], "not a snapshot of a chip")
    for at in (40, 48, 60, 5000, len(good) // 2, len(good) - 1):
        refuses(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:], "cut short or damaged")
    refuses(good[:16] + struct.pack("<I", 99) + good[20:], "another version of Waitgate")
    assert "before cycle 1000000" in waitgate("run", chip, "--save-at", f"1000000={d}/never.snapshot", status=6).stderr
    chip.unlink()
    assert "chip.yaml" in waitgate("run", d / "at.snapshot", status=6).stderr


@test
def refused(d):
    """Another architecture, version or program, a damaged file, a cycle that is never reached: one clear message
    each."""
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
