#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every member of a tile's state is in src/engine/state.def, with its kind.

usage: test_state_fields.py CC SOURCE_ROOT
"""
import pathlib
import re
import subprocess
import sys

import suite
from suite import test

CC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
BIT_FIELDS = ("b_valid", "debug_valid", "debug_control")
WALK = r"""
import gdb
done = set()
def element(t):
    name = t.strip_typedefs() if t.code == gdb.TYPE_CODE_ARRAY else t
    while name.strip_typedefs().code == gdb.TYPE_CODE_ARRAY:
        name = name.strip_typedefs().target()
    return name
def members(t):
    for f in t.strip_typedefs().fields():
        if f.name:
            yield f
        else:
            yield from members(f.type)
def walk(t):
    name = str(t)
    if name in done or t.strip_typedefs().code not in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION) or '{' in name:
        return
    done.add(name)
    for f in members(t):
        e = element(f.type)
        print('FIELD', name, f.name, str(e))
        walk(e)
for name in ('wg_tile', 'wg_noc_box', 'wg_network'):
    walk(gdb.lookup_type(name))
"""


def structures(d):
    """{structure: {member: type}} from the compiler's debug information."""
    (d / "s.c").write_text('#include "machine/tile.h"\n#include "noc/network.h"\nwg_tile t; wg_noc_box b; wg_network n;\n')
    (d / "walk.py").write_text(WALK)
    subprocess.run([CC, "-g", "-c", "-D_GNU_SOURCE", f"-I{ROOT}/include", f"-I{ROOT}/src", "s.c"], cwd=d, check=True)
    out = subprocess.run(["gdb", "-nx", "-batch", "-x", "walk.py", "s.o"], cwd=d, capture_output=True, text=True, check=True).stdout
    found = {}
    for line in out.splitlines():
        word = line.split(None, 3)
        if word[:1] == ["FIELD"]:
            found.setdefault(word[1], {})[word[2]] = word[3]
    return found


def tables():
    """{structure: {member: kind}} from the source's tables."""
    source = (ROOT / "src/engine/state.def").read_text()
    found = {}
    for name, body in re.findall(r"#define T (\w+)\nSTATE\n(.*?) END\(", source, re.S):
        listed = {}
        for kind, arguments in re.findall(r"\b([A-Z][A-Z0-9_]+)\(((?:[^()]|\([^()]*\))*)\)", body):
            member = re.split(r"[.\[]", arguments.split(",")[0].strip())[0]
            if kind == "BITS":
                listed.update(dict.fromkeys(BIT_FIELDS, kind))
            elif kind != "PAD":
                listed.setdefault(member, kind.removeprefix("A_"))
        found["wg_" + name] = listed
    return found


@test
def every_field_is_listed(d):
    real, listed = structures(d), tables()
    assert len(listed) > 50 and len(real) > len(listed), (len(listed), len(real))
    state = list(real["wg_tile"])
    real["wg_tile"] = {m: real["wg_tile"][m] for m in state[state.index("sched"):]}
    for name, fields in listed.items():
        missing, unknown = real[name].keys() - fields.keys(), fields.keys() - real[name].keys()
        assert not missing, f"{name}: {sorted(missing)} not listed in state.def"
        assert not unknown, f"{name}: {sorted(unknown)} listed, but no members"


@test
def truth_values_are_checked(d):
    real, listed = structures(d), tables()
    for name, fields in listed.items():
        for member, kind in fields.items():
            assert real[name][member] not in ("bool", "_Bool") or kind in ("BOOL", "BITS", "DERIVED"), (name, member, kind)


suite.run()
