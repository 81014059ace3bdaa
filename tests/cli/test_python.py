#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python module: from the source tree under pytest, and as a wheel that pip installs.

usage: test_python.py BUILD_DIRECTORY SOURCE_ROOT
"""
import os
import pathlib
import re
import subprocess
import sys

import suite
from suite import test

BUILD, ROOT = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
PYTHON = "/usr/bin/python3"  # the interpreter that Debian's packages serve


def pytest(folder, **env):
    done = subprocess.run([PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                           "--waitgate-arch=bh,wh", "--basetemp", str(folder / "tmp"), str(ROOT / "tests/python")],
                          capture_output=True, text=True, cwd=folder, timeout=400,
                          env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **env))
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 20, done.stdout


@test
def source_tree(folder):
    pytest(folder, PYTHONPATH=str(ROOT / "python"), WAITGATE_BUILD=str(BUILD), PYTEST_PLUGINS="waitgate.pytest_plugin")


@test
def typed(folder):
    """The module and programs that use it are checked by their types."""
    def mypy(*words):
        return subprocess.run([PYTHON, "-m", "mypy", "--strict", "--allow-untyped-decorators", "--ignore-missing-imports",
                               "--cache-dir", folder / "cache", *words], capture_output=True, text=True, cwd=folder,
                              env=dict(os.environ, MYPYPATH=str(ROOT / "python")))
    done = mypy("-p", "waitgate")
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "user.py").write_text("import waitgate\nwith waitgate.Tile('wh') as tile:\n    n: int = tile.gpr(0, 4)\n"
                                    "    tile.push('x', 3)\n    s: str = tile.cycle\n")
    wrong = [line.split(": ")[0] for line in mypy("user.py").stdout.splitlines() if ": error: " in line]
    assert wrong == ["user.py:4", "user.py:5"], wrong


@test
def wheel(folder):
    """The same files give the same wheel; pip installs it; the tests pass with nothing else of ours on the path."""
    made = [subprocess.run([ROOT / "scripts/wheel", BUILD, folder / name], capture_output=True, text=True,
                           check=True).stdout.strip() for name in ("one", "two")]
    assert pathlib.Path(made[0]).read_bytes() == pathlib.Path(made[1]).read_bytes()
    subprocess.run([PYTHON, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", folder / "site", made[0]],
                   check=True, capture_output=True)
    assert (folder / "site/bin/waitgate").exists()
    # But for libc, it loads its own libraries.
    loaded = subprocess.run(["ldd", folder / "site/waitgate/libwaitgate_tools.so.0"], capture_output=True, text=True, check=True).stdout
    foreign = [line.split()[0] for line in loaded.splitlines() if " => " in line and str(folder / "site/waitgate/libraries") not in line]
    assert "libdw" in loaded and set(foreign) <= {"libc.so.6", "libm.so.6"}, foreign
    pytest(folder, PYTHONPATH=str(folder / "site"))
    said = subprocess.run([PYTHON, "-m", "waitgate", "run", ROOT / "examples/deadlock.tasm"], capture_output=True, text=True,
                          env=dict(os.environ, PYTHONPATH=str(folder / "site")))
    assert said.returncode == 3 and "in a circle" in said.stdout, said


@test
def installed(folder):
    """`make install`: with its folder on the path, pytest finds the plugin by itself."""
    subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", folder / "root", "--quiet"], check=True)
    module = next((folder / "root").rglob("share/waitgate/python"))
    pytest(folder, PYTHONPATH=str(module), WAITGATE_LIBRARY=str(next((folder / "root").rglob("libwaitgate_tools.so.0"))))


suite.run()
