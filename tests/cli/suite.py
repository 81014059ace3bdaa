# SPDX-License-Identifier: Apache-2.0
"""A suite written as a script: functions marked with @test, each called with its own empty folder."""
import os
import pathlib
import pty
import re
import select
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
    """Waits until the process catches SIGINT, and a little longer: then it is running."""
    bit = 1 << (signal.SIGINT - 1)
    for _ in range(600):
        caught = re.search(r"SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text())
        if int(caught[1], 16) & bit:
            break
        time.sleep(0.05)
    time.sleep(0.3)


def at_terminal(command, interrupt=False):
    """The output of the command on a terminal, and its status; Ctrl-C is pressed once it is running, if `interrupt` is
    set."""
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
        pass  # the other end is closed
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    return status, text


def shows(command, pattern, seconds=60):
    """Fails unless the command prints this on a terminal. Kills it once it has, or at the timeout."""
    child, terminal = pty.fork()
    if not child:
        os.execv(str(command[0]), [str(word) for word in command])
    text, end = b"", time.monotonic() + seconds
    try:
        while not re.search(pattern, text) and time.monotonic() < end:
            if select.select([terminal], [], [], 1)[0]:
                text += os.read(terminal, 4096)
    except OSError:
        pass  # the other end is closed
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(terminal)
    assert re.search(pattern, text), text[-500:]


def answers(command, dialogue, seconds=30):
    """What is typed at a terminal is answered by a text that contains the pattern."""
    child, terminal = pty.fork()
    if not child:
        os.execvp(command[0], [str(word) for word in command])
    try:
        for typed, pattern in dialogue:
            os.write(terminal, typed.encode())
            text, end = b"", time.monotonic() + seconds
            while not re.search(pattern, text):
                assert time.monotonic() < end, (typed, pattern, text[-500:])
                if select.select([terminal], [], [], 1)[0]:
                    text += os.read(terminal, 4096)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)


def run():
    """Runs them all, prints the failures and `N passed, N failed`, and ends the script."""
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
