#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The playground's module would build: what its sources need is in the core, among themselves, or in site/absent.c; and the site's
pages link to nothing outside of it. `make site` builds it and looks at it with a browser; this test needs neither.

usage: test_playground.py BUILD_DIRECTORY ROOT CC
"""
import pathlib
import re
import subprocess
import sys

import suite
from suite import test

BUILD, ROOT, CC = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
# Libraries that a browser does not have. Others are used only if a macro says that they are there.
IMAGE = "image.c.o"  # of src/elf: what the small assembler makes
LIBRARIES = {"yaml.h", "histedit.h", "libelf.h", "gelf.h"}


def run(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True, cwd=BUILD).stdout


def symbols(file):
    """By member of an archive, or for an object: the names it defines and the names it needs."""
    defined, needed = {}, {}
    for line in run("nm", "-A", file).splitlines():
        found = re.match(r"(?:.*[:/])?([^:/]+\.o):[0-9a-f ]* ([A-Za-z]) (wg_\w+)$", line)
        if found:
            (needed if found[2] == "U" else defined).setdefault(found[1], set()).add(found[3])
    return defined, needed


def parts():
    """The objects of the command line that a browser gets."""
    text = (ROOT / "src/cli/meson.build").read_text()
    first, rest = text.split("subdir_done()")
    absent = {name + ".o" for name in re.findall(r"'(\w+\.c)'", rest)} - {"main.c.o"}
    assert "chip_yaml.c.o" in absent and "'session.c'" in first
    members = {p.name for p in (BUILD / "src/cli/libwaitgate_cli.a.p").glob("*.o")}
    return members - absent


@test
def links(folder):
    mine = parts() | {IMAGE}
    assert len(mine) > 60, mine
    defined, needed = symbols(BUILD / "src/cli/libwaitgate_cli.a")
    for all_of, part in zip((defined, needed), symbols(BUILD / "src/elf/libwaitgate_elf.a")):
        all_of[IMAGE] = part.get(IMAGE, set())
    assert "wg_elf_make" in defined[IMAGE]
    run(CC, "-c", "-std=gnu17", "-D_GNU_SOURCE", f"-I{ROOT}/include", f"-I{ROOT}/src", ROOT / "site/absent.c", "-o", folder / "absent.o")
    absent, absent_needs = symbols(folder / "absent.o")
    core = [set().union(*symbols(BUILD / name)[0].values()) for name in ("libwaitgate_core.a", "libwaitgate_isa.a")]
    own = set().union(*(defined.get(name, set()) for name in mine))
    there = own.union(*core, absent["absent.o"])
    missing = {name: needed[name] - there for name in mine if needed.get(name, set()) - there}
    assert not missing and not absent_needs["absent.o"] - there, missing
    assert not own & absent["absent.o"], f"in site/absent.c, and in a source: {own & absent['absent.o']}"


@test
def includes(_):
    for line in run("ninja", "-t", "deps").split("\n\n"):
        name = pathlib.Path(line.split(":")[0]).name
        if ("libwaitgate_cli.a.p" in line.split(":")[0] and name in parts()) or name == IMAGE:
            taken = {pathlib.Path(header.strip()).name for header in line.splitlines()[1:]}
            assert not taken & LIBRARIES, f"{name} includes {taken & LIBRARIES}, which a browser does not have"


@test
def pages(_):
    """Links between pages stay within the folders that scripts/site copies."""
    roots = [ROOT / name for name in ("docs", "examples", "exercises", "CONTRIBUTING.md", "CHANGELOG.md")]
    for page in [p for root in roots for p in ([root] if root.is_file() else root.rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
            path = (page.parent / target).resolve()
            assert "://" in target or any(path == root or root in path.parents for root in roots), f"{page.relative_to(ROOT)} links to {target}"


suite.run()
