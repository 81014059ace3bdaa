#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two rules about the source that no compiler knows.

Fields of instruction words are read by the accessors that isa/isa.h makes from insns.def, not by hand-written shifts and
masks. What differs between the architectures is data: nothing outside src/arch compares the architecture.
"""
import pathlib
import re
import sys

# Directories that see instruction words.
WORDS = ("backend", "frontend", "fast", "explain", "observe")
SHIFTED = re.compile(r"\b(?:word|w)\s*(?:>>|<<|&(?![&=]))|[\w)\]]\s*&\s*(?:\w+(?:->|\.))*word\b(?!\s*[\[(])")
# Words that are no instructions: commands of TDMA-RISC, requests of cores in events, RISC-V instructions.
OTHER_WORDS = {"src/backend/tdma.c", "src/explain/race_core.c", "src/explain/race_noc.c", "src/explain/race_spin.c"}

COMPARED = re.compile(r"[!=]=\s*(?:&wg_arch_\w+|WG_ARCH_\w+)|\bWG_ARCH_\w+\s*[!=]=|\bcase\s+WG_ARCH_\w+|\b\w*(?:arch_id|arch->id)\s*[!=]=")
# The architectures themselves; the command line, which parses and prints their names.
NAMES = ("arch", "cli")


def code_of(text):
    """The text without comments and strings, line by line."""
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S).splitlines()


def violations(root):
    found, exempt, read = [], set(), 0
    for file in sorted(p for p in (root / "src").rglob("*") if p.suffix in (".c", ".h")):
        name, directory = file.relative_to(root).as_posix(), file.relative_to(root / "src").parts[0]
        read += 1
        for number, line in enumerate(code_of(file.read_text()), 1):
            if directory in WORDS and SHIFTED.search(line):
                if name in OTHER_WORDS:
                    exempt.add(name)
                else:
                    found.append(f"{name}:{number}: a field of a word without an accessor: {line.strip()}")
            if directory not in NAMES and COMPARED.search(line):
                found.append(f"{name}:{number}: the architecture is compared: {line.strip()}")
    found += [f"{name}: is listed as having words that are no instructions, and has none" for name in sorted(OTHER_WORDS - exempt)]
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
