# SPDX-License-Identifier: Apache-2.0
"""A suite that is a script: functions marked with @test, each called with an empty folder of its own."""
import pathlib
import sys
import tempfile
import traceback

TESTS = []


def test(f):
    TESTS.append(f)
    return f


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
