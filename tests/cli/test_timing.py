#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every measured row is within five per cent, and docs/accuracy.md has the table that bench/timing prints.

usage: test_timing.py TIMING ACCURACY
"""
import pathlib
import subprocess
import sys

out = subprocess.run([sys.argv[1], "--markdown"], capture_output=True, text=True)
page = pathlib.Path(sys.argv[2]).read_text()
print(out.stdout + out.stderr)
if out.stdout not in page:
    print("docs/accuracy.md has another table: paste the output of build/bench/timing --markdown there")
sys.exit(out.returncode or out.stdout not in page)
