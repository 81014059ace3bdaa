#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Executes a document's ```console blocks and compares what they print.

usage: run_tutorial.py BUILD_DIRECTORY_OF_WAITGATE DOCUMENT SOURCE_ROOT

Lines that start with "$ " are commands, run in order in a copy of the examples and of their ELF files; the lines after
a command are its output. A line "…" stands for any number of lines; "…" inside a line for any text.
"$ command   # status N" expects that exit status instead of 0. ```KIND file=NAME blocks are written to NAME first.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def matches(wanted, got):
    pattern = "".join("(?:.*\n)*?" if line.strip() == "…" else ".*?".join(map(re.escape, line.split("…"))) + "\n"
                      for line in wanted)
    return re.fullmatch(pattern, got)


def blocks(text):
    for kind, attributes, body in re.findall(r"^```(console|\w+ file=)(\S*)\n(.*?)^```", text, re.S | re.M):
        if kind != "console":
            yield ("file", attributes, body)
            continue
        command, output = None, []
        for line in body.splitlines():
            if line.startswith("$ "):
                if command:
                    yield ("run", command, output)
                command, output = line[2:], []
            else:
                output.append(line)
        if command:
            yield ("run", command, output)


def main():
    tools, document, root = sys.argv[1:4]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(pathlib.Path(root) / "examples", pathlib.Path(scratch) / "examples")
        for elf in pathlib.Path(tools, "examples").glob("*.elf"):  # chip files name them in their own folder
            (pathlib.Path(scratch) / "examples" / elf.name).symlink_to(elf.resolve())
        env = dict(os.environ, PATH=tools + os.pathsep + os.environ["PATH"], COLUMNS="100",
                   INCLUDE=tools + "/src/isa")
        for kind, first, rest in blocks(pathlib.Path(document).read_text()):
            if kind == "file":
                (pathlib.Path(scratch) / first).write_text(rest)
                continue
            status = re.search(r"#\s*status (\d+)\s*$", first)
            r = subprocess.run(["bash", "-c", first], cwd=scratch, env=env, capture_output=True, text=True, timeout=300)
            got = r.stdout + r.stderr
            good = r.returncode == (int(status[1]) if status else 0) and (not rest or matches(rest, got))
            passed, failed = passed + bool(good), failed + (not good)
            if not good:
                print(f"FAIL $ {first}\nstatus {r.returncode}\n{got}\n--- wanted ---\n" + "\n".join(rest))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
