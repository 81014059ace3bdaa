#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules about the source that no compiler checks.

Fields of instruction words are read with the accessors that isa/isa.h generates from insns.def, not with hand-written
shifts and masks. Differences between the architectures are data: nothing outside src/arch compares the architecture.

Shortcuts stay behind machine/fast.h: no plain file names one or asks for one, and no other file decides whether one may
be taken. Files that read lockstep, watched, perturbed or seed are listed here with the reason; so is how often a file asks
whether an event is observed. docs/architecture.md lists the files with tables by architecture. A fast file changes
schedules and request queues only through functions of the plain machine. Nothing casts a tile's const away.
"""
import collections
import pathlib
import re
import sys

# Directories that see instruction words.
WORDS = ("backend", "frontend", "fast", "explain", "observe")
SHIFTED = re.compile(r"\b(?:(?:\w+_)?word|w)\s*(?:>>|<<|&(?![&=]))|[\w)\]]\s*&\s*(?:\w+(?:->|\.))*(?:\w+_)?word\b(?!\s*[\[(])")
# Words other than instructions: commands of TDMA-RISC, requests of cores in events, RISC-V instructions.
OTHER_WORDS = {"src/backend/tdma.c", "src/explain/race_core.c", "src/explain/race_noc.c", "src/explain/race_spin.c"}

COMPARED = re.compile(r"(?:[!=<>]=|(?<![<>-])[<>](?![<>]))\s*(?:&wg_arch_\w+|WG_ARCH_\w+)|\bWG_ARCH_\w+\s*[!=]=|\bcase\s+WG_ARCH_\w+|\b\w*(?:arch_id|arch->id)\s*[!=]=")

# A shortcut by its name (machine/fast.def), or a query whether it may be taken.
SHORTCUT = r"\bWG_FAST_(?:%s)\b|\bwg_fast(?:_used)?\s*\("
SHORTCUTS = ("src/fast/", "src/machine/fast.h")

# Members of a tile that decide about shortcuts, and the files that read them for another reason.
DECIDES = re.compile(r"->\s*(lockstep|watched|perturbed)\b|\b(?:t|tile)\s*->\s*(seed)\b")
READERS = {
    "src/machine/fast.h": "decides",
    "src/machine/tile.h": "perturbed: draws a delay",
    "src/engine/device.c": "sets them; lockstep: ticks every cycle",
    "src/engine/cycle.h": "lockstep: every agent is ticked",
    "src/engine/perturb.c": "sets them; seed: draws a delay",
    "src/engine/poll.c": "which states are compared",
    "src/chip/grid.c": "sets them",
    "src/chip/grid_run.c": "lockstep: every cycle is run; watched: events in order, on one host thread",
    "src/report/emit.h": "watched: emits events",
    "src/frontend/stages.h": "stages with and without events and delays; delays",
    "src/frontend/gate.h": "delays",
    "src/frontend/fifo.c": "delays",
    "src/tile/memory.c": "delays",
    "src/riscv/core.c": "watched: emits stalls",
    "src/riscv/exec.c": "watched: emits events",
    "src/riscv/lsu.c": "seed: draws when an L0 cache is flushed",
    "src/backend/unpack.c": "delays",
    "src/backend/vector.c": "delays",
    "src/debug/gdb.c": "watched: of a debugger's client",
}

# How often a file asks whether an event is observed, and for what. Not to take a quicker way: that is machine/fast.h's.
ASKS = re.compile(r"\bwg_(?:any_|touch_|touch_l1_)?watched\s*\(")
ASKING = {
    "src/backend/config.c": (1, "touches"),
    "src/backend/config.h": (1, "touches"),
    "src/backend/matrix.c": (3, "touches, and reports of reads that emitting them finds"),
    "src/backend/mover.c": (2, "touches"),
    "src/backend/pack_move.c": (5, "touches"),
    "src/backend/pack_setup.c": (1, "touches"),
    "src/backend/pack_stream.c": (2, "touches"),
    "src/backend/scalar_memory.c": (1, "touches"),
    "src/backend/sync.c": (2, "touches"),
    "src/backend/tdma.c": (1, "touches"),
    "src/backend/unpack_move.c": (2, "touches"),
    "src/backend/unpack_nop.c": (1, "touches"),
    "src/backend/unpack_plan.c": (2, "touches"),
    "src/backend/vector.c": (2, "touches"),
    "src/backend/vector_macro.c": (1, "touches"),
    "src/backend/vector_memory.c": (2, "touches; a load is sampled in the cycle of its touches (docs/architecture.md)"),
    "src/engine/peek.c": (1, "a core that reaches the present emits events"),
    "src/frontend/gate.h": (1, "events"),
    "src/frontend/wait_gate.c": (2, "events"),
    "src/report/emit.h": (4, "events"),
    "src/report/touch.h": (9, "touches"),
    "src/riscv/exec.c": (1, "touches"),
    "src/riscv/lsu.c": (1, "touches"),
    "src/riscv/lsu_clock.c": (1, "touches"),
    "src/tile/memory.c": (3, "touches, stalls"),
}

# `check` of a unit gets a tile that it may not change.
CONST_AWAY = re.compile(r"\((?:struct )?wg_tile \*\)\s*[\w(&]")

# Wake-up times and request queues: changed only by their own functions.
OWNED = re.compile(r"\b(?:s|sched)(?:->|\.)(?:next\[[^]]*\]|soon|later|far)\s*(?:[-+|&^]?=(?!=)|\+\+|--)|"
                   r"\bqueue(?:->|\.)(?:head|count|last_seen_at|retry_at)\s*(?:[-+|&^]?=(?!=)|\+\+|--)|"
                   r"\blatch\.\w+\s*[-+|&^]?=(?!=)")


def code_of(text):
    """The text without comments and strings, line by line."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S).splitlines()


# Files that have a table by architecture, which docs/architecture.md lists under "Another architecture".
BY_ARCHITECTURE = re.compile(r"\bWG_ARCH_(?:BH|WH)\b")


def tables_by_architecture(root):
    section = re.search(r"^## Another architecture\n(.*?)^## ", (root / "docs/architecture.md").read_text(), re.M | re.S)[1]
    told = {f"src/{name}" for name in re.findall(r"`(\w+/\w+\.\w+)`", section)}
    told |= {f"src/isa/{name}" for name in re.findall(r"`(\w+\.c)`", section) if (root / "src/isa" / name).exists()}
    have = {p.relative_to(root).as_posix() for p in (root / "src").rglob("*.[chd]*") if p.suffix in (".c", ".h", ".def")
            and p.relative_to(root / "src").parts[0] not in ("arch", "cli", "abi") and BY_ARCHITECTURE.search(p.read_text())}
    return [f"{name}: docs/architecture.md and the tree disagree on whether it has a table by architecture" for name in sorted(told ^ have)]


def violations(root):
    found, exempt, read, readers, asking = [], set(), 0, set(), collections.Counter()
    named = re.findall(r"WG_FAST_PATH\((\w+), \"", (root / "src/machine/fast.def").read_text())
    shortcut = re.compile(SHORTCUT % "|".join(named))
    for file in sorted(p for p in (root / "src").rglob("*") if p.suffix in (".c", ".h")):
        name, directory = file.relative_to(root).as_posix(), file.relative_to(root / "src").parts[0]
        read += 1
        for number, line in enumerate(code_of(file.read_text()), 1):
            if directory in WORDS and SHIFTED.search(line):
                if name in OTHER_WORDS:
                    exempt.add(name)
                else:
                    found.append(f"{name}:{number}: a field of a word without an accessor: {line.strip()}")
            if directory != "arch" and COMPARED.search(line):
                found.append(f"{name}:{number}: the architecture is compared: {line.strip()}")
            if not name.startswith(SHORTCUTS) and shortcut.search(line):
                found.append(f"{name}:{number}: a plain file asks for a shortcut by name: {line.strip()}")
            if directory != "cli" and (asked := DECIDES.search(line)):
                readers.add(name)
                if name not in READERS:
                    found.append(f"{name}:{number}: asks for `{asked[1] or asked[2]}`, which machine/fast.h is for: {line.strip()}")
            if directory != "cli" and (asks := len(ASKS.findall(line))):
                asking[name] += asks
            if CONST_AWAY.search(line):
                found.append(f"{name}:{number}: casts to a tile that may be changed: {line.strip()}")
            if directory == "fast" and OWNED.search(line):
                found.append(f"{name}:{number}: a shortcut changes a schedule, queue or latch by hand: {line.strip()}")
    found += [f"{name}: is listed as having words that are no instructions, and has none" for name in sorted(OTHER_WORDS - exempt)]
    found += [f"{name}: is listed as reading lockstep, watched, perturbed or seed, and does not"
              for name in sorted(READERS.keys() - readers)]
    for name in sorted(ASKING.keys() | asking.keys()):
        listed = ASKING.get(name, (0, ""))[0]
        if asking[name] != listed:
            found.append(f"{name}: asks {asking[name]} times whether an event is observed, and is listed with {listed}: what for? A "
                         "quicker way is for machine/fast.h to allow")
    found += tables_by_architecture(root)
    if len(named) < 5:
        found.append(f"only {len(named)} shortcuts were found in machine/fast.def")
    return read, found


def main():
    read, found = violations(pathlib.Path(sys.argv[1]))
    for text in found:
        print(f"FAIL {text}")
    if read < 200:
        print(f"FAIL only {read} files were read")
        return 1
    print(f"{read} files, {len(found)} violations")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
