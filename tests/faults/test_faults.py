#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each allocation, read, write, opening and new process of a command fails, one at a time (fail_nth.c): then there is a
clear error and a status that is not 0, or the result is as if nothing had failed. With WG_SOAK=1 every call of every
command, else a sample.

usage: test_faults.py WAITGATE FAIL_NTH.so SOURCE_ROOT LIBRARY [COMMAND …]

LIBRARY is library.c's program, which uses the library as a host does.
"""
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

WAITGATE, SHIM, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve()
LIBRARY = os.path.abspath(sys.argv[4])
SOAK = bool(os.environ.get("WG_SOAK"))
KINDS = ("alloc", "read", "write", "open", "process")
FILES = {
    "ok.tasm": ".thread 0\n ttsetdmareg 0, 42, 0, 8\n ttnop\n.l1 0x1000\n .word 1, 2, 3, 4\n.expect l1 0x1004 = 2\n.expect gpr 0 4 = 42\n",
    "wrong.tasm": ".thread 0\n ttsetdmareg 0, 42, 0, 8\n.expect gpr 0 4 = 43\n",
    "core.tasm": ".core T0\n li a0, 7\n li a1, 0x2000\n sw a0, 0(a1)\n ebreak\n.expect l1 0x2000 = 7\n",
    "race.tasm": (ROOT / "tests/races/sched_rdcfg_broken.tasm").read_text(),
    "hang.tasm": (ROOT / "examples/deadlock.tasm").read_text(),
    "explore.tasm": (ROOT / "tests/tasm/explore" / sorted(p.name for p in (ROOT / "tests/tasm/explore").glob("*.tasm"))[0]).read_text(),
    "a.s": "ttnop\nttsetdmareg 0, 42, 0, 8\n",
    "words.txt": "0x02000000\n0x45000000\n",
    "c.yaml": "arch: bh\ntiles:\n  - at: [1, 2]\n    load:\n      - {address: 0x1000, words: [1, 2, 3]}\n"
              "    dump:\n      - {address: 0x1000, length: 16, file: \"t.bin\"}\n",
    "s.txt": "late-result * : known\n",
}
# The command, and its normal status.
COMMANDS = {
    "run": (0, ["run", "ok.tasm"]),
    "wrong": (1, ["run", "wrong.tasm"]),
    "outputs": (0, ["run", "--stats", "--timeline", "--trace", "t.json", "--log", "l.txt", "--dump", "0x1000:16=d.bin", "ok.tasm"]),
    "json": (0, ["run", "--json", "ok.tasm"]),
    "core": (0, ["run", "core.tasm"]),
    "hang": (3, ["run", "hang.tasm"]),
    "chip": (0, ["run", "c.yaml"]),
    "check": (4, ["check", "race.tasm"]),
    "suppress": (4, ["check", "--suppressions", "s.txt", "race.tasm"]),
    "explore": (4, ["explore", "--runs", "6", "--jobs", "2", "explore.tasm"]),
    "profile": (0, ["profile", "--json", "--folded", "f.txt", "--callgrind", "g.out", "core.tasm"]),
    "why": (0, ["why", "--of", "gpr:0:4", "--json", "ok.tasm"]),
    "report": (0, ["report", "-o", "r.html", "core.tasm"]),
    "asm": (0, ["asm", "-o", "a.bin", "a.s"]),
    "dis": (0, ["dis", "words.txt"]),
    "isa": (0, ["isa"]),
    "explain": (0, ["explain", "data-race"]),
    "library": (0, []),
}
OUTPUTS = ("f.txt", "g.out", "r.html", "t.json", "l.txt", "d.bin", "t.bin", "a.bin")


def run(command, kind, at):
    """(status, stdout, stderr, outputs, call failed?, calls)"""
    with tempfile.TemporaryDirectory() as scratch:
        d = pathlib.Path(scratch)
        for name, text in FILES.items():
            (d / name).write_text(text)
        log, tmp = d / "calls", d / "tmp"
        tmp.mkdir()
        env = dict(os.environ, LD_PRELOAD=SHIM, WG_FAIL_KIND=kind, WG_FAIL_AT=str(at), WG_FAIL_LOG=str(log), TMPDIR=str(tmp))
        p = subprocess.Popen([LIBRARY if command == "library" else WAITGATE, *COMMANDS[command][1]], cwd=d, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             start_new_session=True)
        try:
            out, err = p.communicate(timeout=60)
            status = p.returncode
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            out, err = p.communicate()
            status = "timeout"
        lines = log.read_text().split() if log.exists() else []
        calls = max((int(n) for n in lines if n.isdigit()), default=0)
        files = {n: (d / n).read_bytes() for n in OUTPUTS if (d / n).exists()}
        left = [f.name for f in d.iterdir() if f.name not in (*FILES, *OUTPUTS, "calls", "tmp")] + [f.name for f in tmp.iterdir()]
        out = out.replace(scratch.encode(), b"DIR")
        files = {n: data.replace(scratch.encode(), b"DIR") for n, data in files.items()}
        return status, out, err.decode(errors="replace"), files, "failed" in lines, calls, left


CLEAR = re.compile(r"out of memory|no memory|Cannot allocate memory|No space left|Input/output error|Too many open files|"
                   r"Permission denied|Resource temporarily unavailable|Bad file descriptor", re.I)


def verdict(out):
    """Without names of places and instructions, for which libdw and libopcodes allocate memory, and without source
    lines: a file that cannot be read gives none."""
    out = re.sub(rb"(\n\n\w[^\n]*)?\n +\d+ \| [^\n]*\n +\| +\^[^\n]*", b"", out)
    out = re.sub(rb',\s*"snippet": "(?:[^"\\]|\\.)*"', b"", out)
    out = re.sub(rb" in \S+\+0x[0-9a-f]+| \([^()]*\.tasm:\d+\)", b"", out)
    out = re.sub(rb'"place": "[^"]*"', b"", out)
    out = re.sub(rb"\d+(\.\d+)? (s\b|seconds|per second|timings per)", b"TIME", out)
    return re.sub(rb"(0x[0-9a-f]{8}  ).*", rb"\1", out)


def complaint(command, kind, at, good):
    status, out, err, files, failed, _, left = run(command, kind, at)
    where = f"{command}: {kind} {at}: "
    if status == "timeout" or status < 0:
        return f"{where}ends by {status}: {err[-300:]}"
    if left:
        return f"{where}leaves {left}"
    as_wanted = {name for name, data in files.items() if verdict(data) == verdict(good[3].get(name, b""))}
    if (status, verdict(out), as_wanted) == (good[0], verdict(good[1]), set(good[3])):
        return None
    if not failed:
        return f"{where}nothing failed, but the result differs: {status} {err[-300:]}"
    if status == 0:
        return f"{where}status 0, but the result differs: {err[-300:]} {out[-300:]!r}"
    if not CLEAR.search(err) and not CLEAR.search(out.decode(errors="replace")):
        return f"{where}status {status} without a clear error: {err[-300:]!r} {out[-200:]!r}"
    if status == good[0] and status != 1:
        return f"{where}has the status of a verdict ({status}) but another result"
    for name in files:
        if name not in as_wanted:
            return f"{where}leaves a broken {name}"
    return None


def main():
    rng = random.Random(7)
    wanted = sys.argv[5:] or COMMANDS
    jobs, passed, bad = [], 0, []
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        for command in wanted:
            good = run(command, "", 0)
            assert good[0] == COMMANDS[command][0] and not good[6], good
            for kind in KINDS:
                calls = run(command, kind, 0)[5]
                points = range(1, calls + 1)
                if not SOAK and calls > 4:
                    points = rng.sample(points, 4)
                jobs += [pool.submit(complaint, command, kind, at, good) for at in points]
        for job in jobs:
            text = job.result()
            passed += text is None
            if text:
                bad.append(text)
                print("FAIL", text, flush=True)
    print(f"{passed} passed, {len(bad)} failed")
    return 1 if bad or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
