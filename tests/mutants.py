#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Applies each mutant of tests/mutants/ to a copy of the tree and requires that its clause's tests fail.

A mutant is CLAUSE.patch (or CLAUSE-word.patch): a small change that breaks just that behaviour. It is killed when a
test that carries the clause fails, or no longer builds its suite. Needs build/clauses.tsv from `make test`. Only the
suites that have such tests are built and run.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "mutants"


def sh(cmd, **kw):
    return subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kw)


def sync_tree():
    """Updates the copy without touching unchanged files, so that ninja builds little."""
    files = sh(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT).stdout.split("\n")
    (COPY / "src-tree").mkdir(parents=True, exist_ok=True)
    for name in filter(None, files):
        source, target = ROOT / name, COPY / "src-tree" / name
        if not source.is_file():
            continue
        data = source.read_bytes()
        if target.is_file() and target.read_bytes() == data:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        shutil.copymode(source, target)


def homes(suites, tests):
    """The suites whose source registers one of the tests."""
    found = []
    for suite in suites:
        source = ROOT / "tests" / "unit" / (pathlib.Path(suite["cmd"][0]).name + ".c")
        text = source.read_text() if source.is_file() else ""
        if any(f"({test}," in text for test in tests):
            found.append(suite)
    return found


def main():
    wanted = sys.argv[1:]
    sync_tree()
    tree, build = COPY / "src-tree", COPY / "build"
    if not (build / "build.ninja").is_file():
        out = sh(["meson", "setup", str(build), str(tree), "--buildtype=debugoptimized"])
        if out.returncode:
            sys.exit(out.stdout)
    suites = json.loads(sh(["meson", "introspect", "--tests", str(build)]).stdout)
    carried = {}
    for line in open(ROOT / "build" / "clauses.tsv"):
        clause, test, _arch, _result = line.rstrip("\n").split("\t")
        carried.setdefault(clause, set()).add(test)

    killed = survived = 0
    for patch in sorted((ROOT / "tests" / "mutants").glob("*.patch")):
        clause = re.match(r"[A-Z]+-\d+", patch.name).group(0)
        if wanted and not any(w in patch.name for w in wanted):
            continue
        tests = carried.get(clause, set())
        here = homes(suites, tests)
        targets = [str(pathlib.Path(suite["cmd"][0]).relative_to(build)) for suite in here]
        applied = sh(["git", "apply", "-p1", "--unsafe-paths", f"--directory={tree}", str(patch)], cwd="/")
        if applied.returncode:
            applied = sh(["patch", "-p1", "-s", "-d", str(tree), "-i", str(patch)])
        verdict = "does not apply"
        if not applied.returncode:
            built = sh(["ninja", "-C", str(build)] + targets)
            verdict = "does not build" if built.returncode else "SURVIVED"
            if not built.returncode:
                for suite in here:
                    with tempfile.NamedTemporaryFile(suffix=".tsv") as report:
                        env = dict(os.environ, WG_TEST_REPORT=report.name)
                        try:
                            status = subprocess.run(suite["cmd"] + sorted(tests), cwd=build, env=env, timeout=300,
                                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
                        except subprocess.TimeoutExpired:
                            status = -1
                        rows = [r.rstrip("\n").split("\t") for r in open(report.name)]
                    if any(r[3] == "fail" and clause in r[4].split() for r in rows) or (status < 0 and not rows):
                        verdict = f"killed by {suite['name']}"
                        break
        sync_tree()
        good = verdict.startswith("killed")
        killed += good
        survived += not good
        print(f"{'ok  ' if good else 'FAIL'} {patch.stem:24} {verdict}", flush=True)
    print(f"{killed} passed, {survived} failed")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
