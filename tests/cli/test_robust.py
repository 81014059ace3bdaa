#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Failures on the host's side: killed at any moment, out of memory, disk full. No broken file, a clear error.

usage: test_robust.py WAITGATE SOURCE_ROOT
"""
import json
import os
import pathlib
import random
import resource
import signal
import struct
import subprocess
import sys
import time

import suite
from suite import test

WAITGATE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
SANITIZED = b"__asan_init" in open(WAITGATE, "rb").read()
PROGRAM = ".thread 0\n .repeat 20000\n ttsetdmareg 0, 42, 0, 8\n .endr\n.l1 0x1000\n .word 1, 2, 3, 4\n"


def run(d, *args, limits=(), status=6):
    def limit():
        for what, bytes_ in limits:
            resource.setrlimit(what, (bytes_, bytes_))
    r = subprocess.run([WAITGATE, *map(str, args)], cwd=d, capture_output=True, text=True, preexec_fn=limit if limits else None)
    assert r.returncode == status, (args, r.returncode, r.stdout[-300:], r.stderr[-300:])
    if status:
        assert r.stderr.startswith("waitgate: ") and r.stderr.count("\n") == 1, r.stderr
    return r


@test
def what_does_not_go_with_a_chip_file(d):
    """It is refused in words, not ignored."""
    (d / "c.yaml").write_text("arch: bh\ntiles: [{at: [1, 2], load: [{address: 0x1000, words: [1]}]}]\n")
    (d / "l.yaml").write_text("topology: p300\n")
    for words, said in ((["explore", "--result", "0x1000:4", "--result", "0x2000:4", "c.yaml"], "a chip file takes one"),
                        (["check", "--waits", "l.yaml"], "--waits: no Tensix tile of l.yaml runs a program"),
                        (["trace", "-o", "t.txt", "c.yaml"], "ends in .json, .pftrace or .kanata")):
        done = subprocess.run([WAITGATE, *words], cwd=d, capture_output=True, text=True)
        assert done.returncode == 6 and said in done.stderr and not (d / "t.txt").exists(), (words, done)


@test
def killed_at_any_moment(d):
    (d / "p.tasm").write_text(PROGRAM)
    args = ["run", "--quiet", "--trace", "t.json", "--log", "l.txt", "--dump", "0x1000:16=d.bin", "p.tasm"]
    start = time.monotonic()
    run(d, *args, status=0)
    whole, wanted = time.monotonic() - start, {n: (d / n).read_bytes() for n in ("t.json", "l.txt", "d.bin")}
    json.loads(wanted["t.json"])
    rng = random.Random(5)
    killed = 0
    for old in (True, False) * 6:
        for n in wanted:
            (d / n).write_bytes(b"old") if old else (d / n).unlink(missing_ok=True)
        p = subprocess.Popen([WAITGATE, *args], cwd=d, stdout=subprocess.DEVNULL)
        time.sleep(rng.random() * whole)
        p.send_signal(rng.choice([signal.SIGKILL, signal.SIGTERM]))
        killed += p.wait() < 0
        for n, data in wanted.items():
            assert not (d / n).exists() and not old or (d / n).read_bytes() in (b"old", data), f"{n} is broken"
        assert {f.name for f in d.iterdir()} <= {"p.tasm", *wanted}, list(d.iterdir())
    assert killed > 3, killed


@test
def killed_while_dumping_a_chip(d):
    (d / "c.yaml").write_text("arch: bh\ntiles:\n  - at: {from: [1, 2], to: [4, 5]}\n"
                              "    load:\n      - {address: 0x1000, words: [1, 2, 3]}\n"
                              "    dump:\n      - {address: 0, length: 0x100000, file: \"t-{x}-{y}.bin\"}\n")
    start = time.monotonic()
    run(d, "run", "--quiet", "c.yaml", status=0)
    whole, files = time.monotonic() - start, sorted(d.glob("t-*.bin"))
    assert len(files) == 16, files
    data, rng, killed = files[0].read_bytes(), random.Random(6), 0
    for _ in range(8):
        for f in files:
            f.unlink(missing_ok=True)
        p = subprocess.Popen([WAITGATE, "run", "--quiet", "c.yaml"], cwd=d)
        time.sleep(rng.random() * whole)
        p.kill()
        killed += p.wait() < 0
        assert {f.name for f in d.iterdir()} <= {"c.yaml", *(f.name for f in files)}, list(d.iterdir())
        assert all(f.read_bytes() == data for f in d.glob("t-*.bin")), "a dump is broken"
    assert killed, "none was killed"


@test
def disk_full(d):
    (d / "p.tasm").write_text(PROGRAM)
    (d / "a.s").write_text("ttnop\n")
    for args in (["run", "--dump", "0x1000:16=/dev/full", "p.tasm"], ["run", "--trace", "/dev/full", "p.tasm"],
                 ["run", "--log", "/dev/full", "p.tasm"], ["asm", "-o", "/dev/full", "a.s"]):
        r = run(d, *args)
        assert "/dev/full: No space left on device" in r.stderr, r.stderr
    with open("/dev/full", "w") as full:
        r = subprocess.run([WAITGATE, "isa"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert r.returncode == 6 and "standard output: No space left on device" in r.stderr, r
    # A file that may not grow: no partial file remains, and an older one is unchanged.
    (d / "t.json").write_text("old")
    r = run(d, "run", "--trace", "t.json", "p.tasm", limits=[(resource.RLIMIT_FSIZE, 4096)])
    assert "t.json: File too large" in r.stderr and (d / "t.json").read_text() == "old", r.stderr
    assert {f.name for f in d.iterdir()} == {"p.tasm", "a.s", "t.json"}, list(d.iterdir())


@test
def out_of_memory(d):
    if SANITIZED:
        return          # a sanitizer's own memory exceeds any limit
    (d / "p.tasm").write_text(PROGRAM)
    failures = 0
    for megabytes in (6, 7, 8, 9, 10, 12, 14, 16, 20, 30):
        cmd = [WAITGATE, "run", "--stats", "--timeline", "--trace", "t.json", "p.tasm"]
        r = subprocess.run(cmd, cwd=d, capture_output=True, text=True,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20)))
        if r.returncode == 127 or "error while loading" in r.stderr:
            continue        # not even the libraries fit
        assert r.returncode in (0, 6), (megabytes, r)
        if r.returncode:
            failures += 1
            assert "out of memory" in r.stderr.lower() or "cannot allocate memory" in r.stderr.lower(), r.stderr
            assert not (d / "t.json").exists()
        else:
            json.loads((d / "t.json").read_text())
            (d / "t.json").unlink()
    assert failures > 0


@test
def unreadable_files(d):
    (d / "dir.tasm").mkdir()
    for args, words in ((["run", "missing.tasm"], "missing.tasm: No such file"), (["run", "dir.tasm"], "dir.tasm: is a directory"),
                        (["asm", "missing.s"], "missing.s: No such file"), (["dis", "missing.bin"], "missing.bin: No such file"),
                        (["run", "--brisc", "missing.elf"], "missing.elf: No such file"),
                        (["run", "--load", "0x1000=missing", ROOT / "examples/hello.tasm"], "missing: No such file"),
                        (["run", "--frob"], "--frob"), (["run", "--brisc", "/bin/sh"], "/bin/sh: this is a 64-bit ELF"),
                        (["dis", "/bin/sh"], "/bin/sh: this is a 64-bit ELF"), (["frobnicate"], "frobnicate")):
        assert words in run(d, *args).stderr
    if os.geteuid():
        (d / "secret.tasm").write_text(PROGRAM)
        (d / "secret.tasm").chmod(0)
        assert "secret.tasm: Permission denied" in run(d, "run", "secret.tasm").stderr


def symbol_tables(tables, symbols):
    """An ELF file with many symbol tables that share their bytes."""
    code, names = 4 * b"\x13\0\0\0", b"\0" + b"a\0"
    table = struct.pack("<IIIBBH", 1, 0x1000, 4, 2, 0, 1) * symbols
    at_table, at_names = 52 + 32 + len(code), 52 + 32 + len(code) + len(table)
    sections = [struct.pack("<10I", *[0] * 10), struct.pack("<10I", 0, 3, 0, 0, at_names, len(names), 0, 0, 1, 0)]
    sections += [struct.pack("<10I", 0, 2, 0, 0, at_table, len(table), 1, 0, 4, 16)] * tables
    header = b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, 243, 1, 0x1000, 52, at_names + len(names), 0,
                                                          52, 32, 1, 40, len(sections), 1)
    segment = struct.pack("<8I", 1, 84, 0x1000, 0x1000, len(code), len(code), 5, 4)
    return header + segment + code + table + names + b"".join(sections)


@test
def budgets(d):
    """Small inputs must not cost much time or memory."""
    def quick(*args, words, seconds=10, stdin=None, megabytes=2048):
        start = time.monotonic()
        r = subprocess.run([WAITGATE, *map(str, args)], cwd=d, capture_output=True, text=True, timeout=60, stdin=stdin,
                           preexec_fn=None if SANITIZED else
                           lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20)))
        took = time.monotonic() - start
        assert r.returncode == (6 if words else 0) and words in r.stderr, (args, r.returncode, r.stderr[-300:])
        assert took < seconds * (5 if SANITIZED else 1), (args, took)

    (d / "t.elf").write_bytes(symbol_tables(2000, 1000))
    quick("run", "--brisc", "t.elf", words="t.elf: the ELF file has more than 16 symbol tables")
    (d / "u.elf").write_bytes(symbol_tables(16, 100000))
    quick("dis", "u.elf", words="u.elf: the ELF file has more than 1048576 symbols")
    for letter in "[{":
        (d / "deep.yaml").write_text(letter * 200000)
        quick("run", "deep.yaml", words="deep.yaml:1:33: error: this is nested deeper than 32 levels")
    (d / "set.tasm").write_text("".join(f".set s{i}, {i}\n" for i in range(60000)) + ".thread 0\n ttnop\n")
    quick("run", "set.tasm", words="")
    (d / "sets.tasm").write_text("".join(f".set s{i}, {i}\n" for i in range(70000)))
    quick("run", "sets.tasm", words="more than 65536 symbols")
    for args in (["asm", "/dev/zero"], ["dis", "/dev/zero"], ["check", "--suppressions", "/dev/zero", "set.tasm"],
                 ["run", "--load", "0x1000=/dev/zero", "set.tasm"]):
        quick(*args, words="/dev/zero: this is longer than 256 MiB")
    for name in ("zero.tasm", "zero.yaml"):
        (d / name).symlink_to("/dev/zero")
        quick("run", name, words=f"{name}: this is longer than 256 MiB")
    with open("/dev/zero") as zero:
        quick("asm", "-", words="standard input: this is longer than 256 MiB", stdin=zero)


def children(pid):
    try:
        return [int(n) for n in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def gone(pids, seconds=10):
    """The processes that still exist after a while; zombies do not count."""
    def alive(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except (FileNotFoundError, ProcessLookupError):
            return False
    end = time.monotonic() + seconds
    while (left := [p for p in pids if alive(p)]) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "it does not come to that"
        time.sleep(0.02)
    return value


@test
def workers_end_with_their_parent(d):
    (d / "p.tasm").write_text(".thread 0\n .repeat 50000\n ttsetdmareg 0, 42, 0, 8\n .endr\n")
    for number in (signal.SIGTERM, signal.SIGKILL):
        p = subprocess.Popen([WAITGATE, "explore", "--runs", "100000", "--jobs", "2", "p.tasm"], cwd=d, stdout=subprocess.DEVNULL)
        workers = until(lambda: len(children(p.pid)) == 2 and children(p.pid))
        p.send_signal(number)
        assert p.wait() == -number
        assert not gone(workers), f"workers outlive {number}"


@test
def ended_while_assembling(d):
    (d / "tmp").mkdir()
    (d / "fake-as").write_text("#!/bin/sh\nexec sleep 60\n")
    (d / "fake-as").chmod(0o755)
    (d / "p.tasm").write_text(".core B\n nop\n")
    env = dict(os.environ, TMPDIR=str(d / "tmp"), WAITGATE_RISCV_PREFIX=str(d / "fake-"))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
        # nohup ignores SIGHUP, and a shell's background jobs ignore SIGINT; a child inherits both.
        p = subprocess.Popen([WAITGATE, "run", "p.tasm"], cwd=d, env=env,
                             preexec_fn=lambda: signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None)
        tools = until(lambda: children(p.pid))
        until(lambda: b"sleep" in pathlib.Path(f"/proc/{tools[0]}/cmdline").read_bytes())
        p.send_signal(number)
        assert p.wait() == -number
        assert not gone(tools), f"the assembler outlives {number}"
        left = list((d / "tmp").iterdir())
        assert not left or number == signal.SIGKILL, left


@test
def any_file_name(d):
    text = ".core B\n li a0, 0x1000\n sw a0, 0(a0)\n ebreak\n.expect l1 0x1000 = 0x1000\n.expect finding core-ebreak\n"
    for name in (b'a"b.tasm', b"a\\b.tasm", b"a b.tasm", b"\xff\xfe.tasm", b"\xc3\xa4.tasm", b"a\nb.tasm", b"%s%n.tasm", b"\xed\xa0\x80.tasm"):
        (d / os.fsdecode(name)).write_text(text)
        r = subprocess.run([WAITGATE, "run", "--json", "--trace", "t.json", os.fsdecode(name)], cwd=d, capture_output=True)
        assert r.returncode == 0, (name, r.stdout[-500:], r.stderr)
        found = json.loads(r.stdout.decode())       # strictly UTF-8
        wanted = name.decode(errors="replace")
        if name not in (b"\xed\xa0\x80.tasm", b"\xff\xfe.tasm"):
            assert wanted in json.dumps(found, ensure_ascii=False).replace("\\\\", "\\").replace('\\"', '"').replace("\\n", "\n"), (name, found)
        json.loads((d / "t.json").read_bytes().decode())
        text_run = subprocess.run([WAITGATE, "run", os.fsdecode(name)], cwd=d, capture_output=True)
        assert text_run.returncode == 0 and name + b":4" in text_run.stdout, text_run.stdout


@test
def zeros_in_suppressions(d):
    """Lines end at newlines, not at zero bytes: there are as many entries as lines."""
    (d / "p.tasm").write_text(PROGRAM)
    (d / "s.txt").write_bytes(b"data-race * : r\0" * 5000)
    r = subprocess.run([WAITGATE, "check", "--suppressions", "s.txt", "p.tasm"], cwd=d, capture_output=True, text=True)
    assert r.returncode == 0, (r.returncode, r.stderr[-300:])
    assert r.stdout.count("suppressed nothing") == 1, r.stdout[-500:]


@test
def links_are_followed(d):
    (d / "p.tasm").write_text(PROGRAM)
    (d / "real").mkdir()
    (d / "real" / "old.bin").write_bytes(b"old")
    (d / "there.bin").symlink_to("real/old.bin")
    (d / "new.bin").symlink_to("chain.bin")
    (d / "chain.bin").symlink_to(d / "real" / "new.bin")
    for link, target in (("there.bin", "old.bin"), ("new.bin", "new.bin")):
        run(d, "run", "--quiet", "--dump", f"0x1000:16={link}", "p.tasm", status=0)
        assert (d / link).is_symlink() and (d / "real" / target).read_bytes() == bytes([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0])
    assert (d / "chain.bin").is_symlink() and {f.name for f in (d / "real").iterdir()} == {"old.bin", "new.bin"}
    (d / "loop.bin").symlink_to("loop.bin")
    r = run(d, "run", "--dump", "0x1000:16=loop.bin", "p.tasm")
    assert "loop.bin: Too many levels of symbolic links" in r.stderr, r.stderr


suite.run()
