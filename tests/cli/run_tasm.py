#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs .tasm programs and the ```tasm examples of a document; each must exit with status 0.

usage: run_tasm.py WAITGATE FILE|DIRECTORY...

A program without .arch runs on both architectures; each runs in both engine modes with equal reports.
A line "# status: N" in a program changes the expected status.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def programs(path):
    if path.is_dir():
        for f in sorted(path.glob("*.tasm")):
            yield f.name, f.read_text()
    elif path.suffix == ".md":
        for i, body in enumerate(re.findall(r"^```tasm\n(.*?)^```", path.read_text(), re.S | re.M)):
            yield f"{path.stem}-{i + 1}", body
    else:
        yield path.name, path.read_text()


def run(waitgate, file, arch, lockstep):
    env = dict(os.environ, WAITGATE_LOCKSTEP=lockstep)
    return subprocess.run([waitgate, "run", "--arch", arch, "--max-cycles", "2000000", file], capture_output=True, text=True,
                          env=env, timeout=300)


def main():
    waitgate, passed, failed = sys.argv[1], 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        for argument in sys.argv[2:]:
            for name, text in programs(pathlib.Path(argument)):
                file = pathlib.Path(scratch) / (name if name.endswith(".tasm") else name + ".tasm")
                file.write_text(text)
                own = re.search(r"^\s*\.arch\s+(\w+)", text, re.M)
                wanted = re.search(r"^# status: (\d+)", text, re.M)
                for arch in [own[1]] if own else ["bh", "wh"]:
                    r = run(waitgate, file, arch, "0")
                    slow = run(waitgate, file, arch, "1")
                    good = r.returncode == (int(wanted[1]) if wanted else 0)
                    if good and slow.stdout != r.stdout:
                        good, r = False, slow
                        print("the two engine modes differ:")
                    passed, failed = passed + good, failed + (not good)
                    if not good:
                        print(f"FAIL {name} on {arch}: status {r.returncode}\n{r.stdout}{r.stderr}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
