#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The chapters of docs/learn and the exercises: pictures are current, starting points fail as the tasks say, solutions
pass.

usage: test_learn.py WAITGATE SOURCE_ROOT
"""
import pathlib
import re
import shutil
import subprocess
import sys

import suite
from suite import test

WAITGATE, ROOT = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
LEARN, EXERCISES = ROOT / "docs/learn", ROOT / "exercises"
CHAPTERS = sorted(LEARN.glob("[0-9]*.md"))
TASKS = sorted(EXERCISES.glob("[0-9]*"))
STATUS = {"expectation": 1, "undefined": 2, "hang": 3, "findings": 4}


def waitgate(*args, **more):
    return subprocess.run([WAITGATE, *map(str, args)], capture_output=True, text=True, **more)


@test
def pictures_are_current(d):
    """Every chapter shows a picture; drawing them again gives the same files."""
    r = subprocess.run([ROOT / "scripts/pictures", WAITGATE, "--check"], capture_output=True, text=True)
    assert r.returncode == 0, r.stdout + r.stderr


@test
def pictures_out_of_date_are_seen(d):
    """A changed picture, a chapter without one, and a picture without a chapter are reported."""
    shutil.copytree(ROOT / "scripts", d / "scripts")
    shutil.copytree(ROOT / "examples", d / "examples")
    shutil.copytree(EXERCISES, d / "exercises")
    (d / "docs/learn/pictures").mkdir(parents=True)
    shutil.copy(CHAPTERS[1], d / "docs/learn")
    (d / "docs/learn/99_nothing.md").write_text("# Nothing\n")
    (d / "docs/learn/pictures/nobody.svg").write_text("<svg/>")
    for name in re.findall(r"\(pictures/(.*?)\)", CHAPTERS[1].read_text()):
        text = (LEARN / "pictures" / name).read_text()
        (d / "docs/learn/pictures" / name).write_text(text.replace("setdmareg", "setdmarge", 1))
    r = subprocess.run([d / "scripts/pictures", WAITGATE, "--check"], capture_output=True, text=True)
    assert r.returncode == 1, r.stdout
    for problem in ("02_threads_units.svg is out of date", "99_nothing.md has no picture", "nobody.svg: no chapter shows it"):
        assert problem in r.stdout, r.stdout


@test
def chapters_are_run_and_listed(d):
    """The console blocks of every chapter are tests, the index lists it, and it links to the vendor's pages and the
    next chapter."""
    build, index = (ROOT / "tests/cli/meson.build").read_text(), (LEARN / "README.md").read_text()
    for chapter, following in zip(CHAPTERS, [*CHAPTERS[1:], LEARN / "README.md"]):
        text = chapter.read_text()
        assert f"'learn/{chapter.stem}'" in build, f"{chapter.name} is not in tests/cli/meson.build"
        assert f"({chapter.name})" in index, f"{chapter.name} is not in docs/learn/README.md"
        assert f"({following.name})" in text.splitlines()[-1], f"{chapter.name} does not lead to {following.name}"
        assert "`tenstorrent/tt-isa-documentation`" in text and "```console" in text, chapter.name
    assert len(CHAPTERS) == len(re.findall(r"'learn/\w+'", build)), "a chapter is listed that does not exist"


@test
def starts_fail_as_the_tasks_say(d):
    """Every starting point fails in its own way, and `waitgate test` counts it as unsolved."""
    for task in TASKS:
        text = (task / "task.md").read_text()
        wanted = STATUS[re.search(r"^At the start: `(\w+)`", text, re.M)[1]]
        r = waitgate("run", task / "start.tasm")
        assert r.returncode == wanted, f"{task.name}: {r.returncode}\n{r.stdout}"
        assert f"({task.name}/task.md)" in (EXERCISES / "README.md").read_text(), task.name
    r = waitgate("test", "--jobs", 1, "exercises", cwd=ROOT)
    assert f"0 passed, {len(TASKS)} failed" in r.stdout, r.stdout
    assert len(TASKS) >= 8


@test
def solutions_pass(d):
    """With its solution, every exercise passes `run` and `check`, also under other timings; expectations are
    unchanged."""
    shutil.copytree(EXERCISES, d / "exercises")
    assert [p.stem for p in sorted((EXERCISES / "solutions").iterdir())] == [task.name for task in TASKS]
    for patch in sorted((EXERCISES / "solutions").iterdir()):
        assert not re.search(r"^[-+]\s*\.expect", patch.read_text(), re.M), f"{patch.name} changes expectations"
        r = subprocess.run(["git", "apply", "-p1", patch], cwd=d, capture_output=True, text=True)
        assert r.returncode == 0, r.stderr
        start = d / "exercises" / patch.stem / "start.tasm"
        for command in (["run"], ["check"], *(["run", "--seed", seed] for seed in range(1, 6))):
            r = waitgate(*command, start)
            assert r.returncode == 0, f"{patch.name}: {command}: {r.returncode}\n{r.stdout}"
    r = waitgate("test", "--jobs", 1, "--checks", "race", "exercises", cwd=d)
    assert f"{len(TASKS)} passed, 0 failed" in r.stdout, r.stdout


suite.run()
