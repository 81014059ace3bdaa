#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Includes between the directories of src/ point downward, in the order that docs/architecture.md states.

An include of another directory names it: "directory/file.h", neither a path with .. nor in angle brackets.
"""
import pathlib
import re
import sys


def stated_order(page):
    """Directory -> height, from the block after "Layers" in the page; a line is a layer, the highest first."""
    block = re.search(r"^## Layers\n.*?^```\n(.*?)^```", page, re.M | re.S)
    layers = [re.findall(r"\w+", line.split("#")[0]) for line in block[1].splitlines()]
    return {name: len(layers) - i for i, layer in enumerate(layers) for name in layer}


def violations(root):
    src = root / "src"
    height = stated_order((root / "docs/architecture.md").read_text())
    unplaced = {p.name for p in src.iterdir() if p.is_dir()} ^ set(height)
    found = [f"src/{name}: docs/architecture.md and the tree disagree on whether it exists" for name in sorted(unplaced)]
    count = 0
    for file in sorted(p for p in src.rglob("*") if p.suffix in (".c", ".h", ".inc", ".def")):
        here = file.relative_to(src).parts[0]
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if re.match(r'\s*#\s*include\s*"(?:[^"]*/)?\.\.?/', line):
                found.append(f"{file.relative_to(root)}:{number}: includes by a path with dots: {line.strip()}")
                continue
            include = re.match(r'\s*#\s*include\s*["<](\w+)/', line)
            if include and include[1] not in height and "<" in line:
                continue  # a library's
            if not include or include[1] == here or include[1] == "waitgate":
                continue
            count += 1
            if height.get(include[1], 0) >= height.get(here, 0):
                found.append(f"{file.relative_to(root)}:{number}: {here} includes {include[1]}, which is not below it")
    return count, found


def main():
    root = pathlib.Path(sys.argv[1])
    count, found = violations(root)
    for text in found:
        print(f"FAIL {text}")
    if count < 100:
        print(f"FAIL only {count} includes between directories were read")
        return 1
    print(f"{count} includes between directories, {len(found)} upward")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
