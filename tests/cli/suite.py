# SPDX-License-Identifier: Apache-2.0
"""A suite that is a script: functions marked with @test, each called with an empty folder of its own."""
import os
import pathlib
import pty
import re
import signal
import sys
import tempfile
import time
import traceback

TESTS = []
GDB = os.environ.get("WG_GDB", "gdb-multiarch")  # riscv-tt-elf-gdb passes the same sessions


def test(f):
    TESTS.append(f)
    return f


def wait_for_handler(pid):
    """Until the process catches SIGINT, and a little more: then it is at work."""
    bit = 1 << (signal.SIGINT - 1)
    for _ in range(600):
        caught = re.search(r"SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text())
        if int(caught[1], 16) & bit:
            break
        time.sleep(0.05)
    time.sleep(0.3)


def at_terminal(command, interrupt=False):
    """What the command writes on a terminal, and its status; Ctrl-C is pressed once it is at work, if wanted."""
    child, terminal = pty.fork()
    if not child:
        os.execv(command[0], [str(word) for word in command])
    if interrupt:
        wait_for_handler(child)
        os.write(terminal, b"\x03")
    text = b""
    try:
        while part := os.read(terminal, 4096):
            text += part
    except OSError:
        pass  # its end is gone
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    return status, text


def run():
    """Runs them all, prints what failed and `N passed, N failed`, and ends the script."""
    passed = failed = 0
    for f in TESTS:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                f(pathlib.Path(scratch))
                passed += 1
            except Exception:
                failed += 1
                print(f"FAIL {f.__name__}")
                traceback.print_exc(limit=2, file=sys.stdout)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)
