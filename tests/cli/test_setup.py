#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/setup with stand-ins for dpkg, apt, sudo and id: does nothing if everything is installed, works as root and
with sudo, says what it would install when it cannot. And scripts/build with a stand-in for ninja: quiet, or progress on a
terminal.

usage: test_setup.py SOURCE_ROOT
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import suite

ROOT = pathlib.Path(sys.argv[1])
passed = failed = 0


def check(condition, what):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print("FAIL", what)


def setup(missing, user, sudo, *args, dpkg=True):
    """Runs it with the packages `missing` not installed; returns (status, output, calls of apt-get)."""
    with tempfile.TemporaryDirectory() as scratch:
        d = pathlib.Path(scratch)
        tools = {
            "id": f"echo {user}",
            "dpkg-query": "for p in \"$@\"; do case $p in -*) ;; " + "".join(f"{m}) ;; " for m in missing) +
                          "*) echo \"$p install ok installed\" ;; esac; done; exit 1",
            "apt-get": f"echo \"$0 $*\" >>{d}/calls",
        }
        if not dpkg:
            del tools["dpkg-query"]
        if sudo:
            tools["sudo"] = f"[ \"$1\" = -n ] && shift; echo \"sudo $*\" >>{d}/calls; \"$@\""
        for name, body in tools.items():
            (d / name).write_text("#!/bin/sh\n" + body + "\n")
            (d / name).chmod(0o755)
        for name in ("sh", "true", "sed", "tr"):
            os.symlink(f"/bin/{name}", d / name)
        r = subprocess.run(["/bin/sh", ROOT / "scripts/setup", *args], env={"PATH": str(d)}, capture_output=True, text=True)
        calls = (d / "calls").read_text() if (d / "calls").exists() else ""
        return r.returncode, r.stdout + r.stderr, calls


status, output, calls = setup([], 0, True)
check(status == 0 and not output and not calls, f"all is there: {status} {output} {calls}")
for user, sudo in ((0, False), (1000, True)):
    status, output, calls = setup(["meson", "libdw-dev"], user, sudo)
    check(status == 0, f"user {user}: {status} {output}")
    check("install" in calls and "meson" in calls and "libdw-dev" in calls and " ninja-build" not in calls, calls)
    check(("sudo apt-get" in calls) == sudo, calls)
status, output, calls = setup(["meson", "libdw-dev"], 1000, False)
check(status == 1 and "apt-get install meson libdw-dev" in output and not calls, f"cannot: {status} {output} {calls}")
status, output, calls = setup(["meson", "libdw-dev"], 0, True, "--check")
check(status == 1 and "meson libdw-dev; `make setup` installs them" in output and not calls, f"only looks: {status} {output} {calls}")
status, output, calls = setup(["chromium"], 0, False, "--test")
check(status == 0 and "install" in calls and " chromium" in calls, f"the tests' own: {status} {output} {calls}")
status, output, calls = setup(["clang"], 0, True, "--test", "--check")
check(status == 1 and "clang; `make setup-test` installs them" in output and not calls, f"only looks for the tests': {status} {output} {calls}")
status, output, calls = setup(["clang", "valgrind", "gdb-multiarch", "libcmocka-dev", "libmpfr-dev"], 0, False)
check(status == 0 and not calls, f"what only tests need: {status} {output} {calls}")
status, output, calls = setup(["chromium"], 0, False)
check(status == 0 and not calls, f"no browser for the demo: {status} {output} {calls}")
for kind in ("--site", "--package"):
    status, output, calls = setup(["chromium", "debhelper"], 0, True, kind, "--check")
    check(status == 1 and f"`scripts/setup {kind}` installs them" in output and not calls, f"only looks for {kind}: {status} {output} {calls}")
status, output, calls = setup([], 0, True, "--check", dpkg=False)
check(status == 0 and not output and not calls, f"no Debian: meson looks: {status} {output} {calls}")
status, output, calls = setup([], 0, True, dpkg=False)
check(status == 0 and "no Debian" in output and " meson " in output and not calls, f"no Debian: {status} {output} {calls}")
recipes = re.findall(r"^([\w-]+):.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.M)
installing = {target for target, recipe in recipes if re.search(r"scripts/setup(?!.*--check)", recipe)}
check(installing == {"setup", "setup-test"}, f"targets of the Makefile that install packages by themselves: {installing}")
said = subprocess.run(["make", "-n", "all", "install", "PREFIX=out", f"B={ROOT}/none"], cwd=ROOT, capture_output=True, text=True).stdout
again = subprocess.run(["make", "-n", "install", f"B={ROOT}/none"], cwd=ROOT, capture_output=True, text=True).stdout
check("meson configure" in again and "--prefix=/usr/local" in again, "a PREFIX that was given before stays")
check(f"--prefix={ROOT.resolve()}/out" in said and "--prefix=out" not in said, "a relative PREFIX")


def build(body, at_terminal):
    """scripts/build with a stand-in for ninja."""
    with tempfile.TemporaryDirectory() as scratch:
        d = pathlib.Path(scratch)
        (d / "ninja").write_text("#!/bin/sh\n" + body + "\n")
        (d / "ninja").chmod(0o755)
        env = ["env", f"PATH={d}:/usr/bin:/bin", str(ROOT / "scripts/build"), str(d), "target"]
        if at_terminal:
            return suite.at_terminal(["/usr/bin/env", *env[1:]])
        r = subprocess.run(env, capture_output=True)
        return r.returncode, r.stdout + r.stderr


STEPS = 'for i in 1 2 3 4; do echo "[$i/8] Compiling $*"; sleep 0.8; done; '
status, output = build(STEPS, True)
check(status == 0 and re.search(rb"[34] of 8 steps, about [1-9] s left.*\x1b\[K$", output, re.S) and b"Compiling" not in output,
      f"a build at a terminal: {status} {output}")
status, output = build("echo '[1/1] Compiling'", False)
check(status == 0 and not output, f"a quiet build: {status} {output}")
for terminal in (False, True):
    status, output = build("echo 'FAILED: a.c'; exit 3", terminal)
    check(status == 1 and b"FAILED: a.c" in output, f"a build that fails: {status} {output}")
status, output, calls = setup([], 0, True, "--check")
check(status == 0 and not output, f"nothing to say: {status} {output}")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
