#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The size and shape of the tree: nothing is duplicated further, and nothing outgrows a readable size.

    executors     functions that compute RISC-V instructions and advance a pc: at most three
    phases E-G    places that take an instruction off a gate and advance the frontend: two, plain and fast
    shortcuts     lines of src/fast: at most 4,500; of what the frontend exports to it alone, frontend/unobserved.h: at most 240
    functions     at most 100 lines
    files         at most 800 lines; none that patch or a merge leaves behind
"""
import ast
import pathlib
import re
import sys

MOST_EXPORTED_LINES = 240
MOST_FAST_LINES, MOST_FUNCTION_LINES, MOST_FILE_LINES = 4500, 100, 800

# Functions that are one table: a label per instruction, in a dispatch by computed goto.
TABLES = {("src/fast/lines.c", "run_lines")}

# Instruction arithmetic comes from these two, by including them or by calling a function that does.
ARITHMETIC = re.compile(r'#\s*include\s+"riscv/(?:alu|branch)\.inc"|\b(?:wg_alu|wg_multiply|wg_branch_taken)\s*\(')
# The pc of a core, or of its cursor.
PC = re.compile(r"\b(?:run|q|k->run|m->run)\s*(?:->|\.)\s*pc\s*(?:\+=|=(?!=))")
EXECUTORS = {
    "src/riscv/exec.c": {"src/riscv/exec.c": 1, "src/riscv/step.c": 3, "src/riscv/pipeline.h": 8},
    "src/fast/lines.c": {"src/fast/lines.c": 2},
    "src/fast/group_cycle.c": {"src/fast/group_cycle.c": 1},
}
# Computes results, but has no pc: a period is replayed from its recorded steps. The lists are checked for labels, too.
REPLAY = {"src/fast/period.c": 4}
# Sets a pc, but computes nothing: reset, interrupts and debuggers.
SETS_PC = {"src/riscv/core.c", "src/engine/peek.c"}

# The entries of a frontend's FIFOs, and the head of the gate.
FIFO = re.compile(r"\b(?:f|frontend)\s*->\s*(?:down_head|gate_end|down_end|fifo_head|fifo_count|down\[[^]]*\]|fifo\[[^]]*\])"
                  r"\s*(?:[-+|&^]?=(?!=)|\+\+|--)")
EXPORTED = "src/frontend/unobserved.h"
PHASES_FAST = {"src/fast/thread.h", "src/fast/pipeline.c", "src/fast/burst.c"}


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def code_of(text):
    """The text without comments and strings."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S)


def c_functions(text):
    """Name, first line and number of lines of each function: from a brace at the start of a line to its closing
    brace."""
    lines = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, code_of(text), flags=re.M).split("\n")
    depth, start = 0, None
    for number, line in enumerate(lines):
        if depth == 0 and line.startswith("{"):
            start = number
        depth += line.count("{") - line.count("}")
        if depth == 0 and start is not None and "}" in line:
            first = start
            while first and lines[first - 1].strip() and not lines[first - 1].rstrip().endswith((";", "}")):
                first -= 1
            name = re.search(r"(\w+)\s*\(", re.sub(r"__attribute__\s*\(\(.*?\)\)", "", " ".join(lines[first:start])))
            yield (name[1] if name else "?"), first + 1, number - first + 1
            start = None


def functions(file):
    if file.suffix == ".py":
        tree = ast.walk(ast.parse(file.read_text()))
        return [(f.name, f.lineno, f.end_lineno - f.lineno + 1) for f in tree
                if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return list(c_functions(file.read_text())) if file.suffix in (".c", ".h", ".inc") else []


def sizes(root, files):
    found, tables, longest = [], set(), (0, "")
    for file in files:
        name = file.relative_to(root).as_posix()
        lines = file.read_text().count("\n")
        if lines > MOST_FILE_LINES:
            found.append(f"{name}: {lines} lines; a file has at most {MOST_FILE_LINES}")
        for function, first, count in functions(file):
            if (name, function) in TABLES:
                tables.add((name, function))
                continue
            longest = max(longest, (count, f"{name}:{first}: {function}()"))
            if count > MOST_FUNCTION_LINES:
                found.append(f"{name}:{first}: {function}() has {count} lines; a function has at most {MOST_FUNCTION_LINES}")
    found += [f"{name}: {function}() is listed as a table, and does not exist" for name, function in sorted(TABLES - tables)]
    print(f"longest function: {longest[0]} lines, {longest[1]}")
    return found


def executors(root, sources):
    """The functions that compute instructions, how often, and those that advance a pc."""
    found, expected = [], dict(REPLAY)
    for parts in EXECUTORS.values():
        expected.update(parts)
    for file in sources:
        name, text = file.relative_to(root).as_posix(), re.sub(r"/\*.*?\*/", blank, file.read_text(), flags=re.S)
        uses, advances = len(ARITHMETIC.findall(text)), bool(PC.search(text))
        if uses != expected.get(name, 0):
            found.append(f"{name}: reads the arithmetic of instructions {uses} times, not {expected.get(name, 0)}: "
                         "another executor?")
        if advances and name not in SETS_PC and (name not in expected or name in REPLAY):
            found.append(f"{name}: advances a core's pc, and belongs to no executor")
    if len(EXECUTORS) > 3:
        found.append(f"{len(EXECUTORS)} executors; there are at most three")
    print(f"executors: {', '.join(EXECUTORS)}")
    return found


def phases(root, sources):
    """Functions of the plain frontend that change its FIFOs, and other callers and writers."""
    found, movers, fast = [], set(), set()
    texts = {file.relative_to(root).as_posix(): code_of(file.read_text()) for file in sources}
    for name, text in texts.items():
        if not name.startswith("src/frontend/"):
            found += [f"{name}:{text[:m.start()].count(chr(10)) + 1}: changes a FIFO of a frontend: {m[0]}"
                      for m in FIFO.finditer(text)]
            continue
        lines = text.split("\n")
        movers |= {function for function, first, count in c_functions(text)
                   if FIFO.search("\n".join(lines[first - 1:first - 1 + count]))}
    movers -= {"wg_push_words", "wg_frontend_discard"}  # phase H fills the first FIFO, soft reset empties it
    called = re.compile(r"\b(?:" + "|".join(sorted(m for m in movers if m.startswith("wg_"))) + r")\s*\(")
    for name, text in texts.items():
        if not name.startswith(("src/frontend/", "src/machine/")) and called.search(text):
            fast.add(name)
    found += [f"{name}: takes part in phases E to G; besides the plain frontend only {', '.join(sorted(PHASES_FAST))} do"
              for name in sorted(fast - PHASES_FAST)]
    if len(movers) < 5 or not fast:
        found.append(f"only {len(movers)} functions were found that move a frontend up, and {len(fast)} files that call them")
    print(f"phases E to G: src/frontend; {', '.join(sorted(fast))}")
    return found


def leftovers(root):
    """Files of patch and of merges that were committed by mistake; build directories are not part of the tree."""
    folders = [d for d in root.iterdir() if d.is_dir() and not d.name.startswith((".", "build"))]
    return [f"{p.relative_to(root).as_posix()}: left behind by patch or a merge" for d in folders for p in sorted(d.rglob("*"))
            if p.suffix in (".orig", ".rej") or re.search(r"\.(BACKUP|BASE|LOCAL|REMOTE)\.", p.name)]


def main():
    root = pathlib.Path(sys.argv[1])
    kinds = (".c", ".h", ".inc", ".def", ".py", ".js")
    files = sorted(p for d in ("src", "include", "tests", "bench", "python", "examples") for p in (root / d).rglob("*")
                   if p.suffix in kinds and p.is_file())
    sources = [p for p in files if p.is_relative_to(root / "src") and p.suffix in (".c", ".h")]
    fast = sum(p.read_text().count("\n") for p in sources if p.is_relative_to(root / "src/fast"))
    found = sizes(root, files) + executors(root, sources) + phases(root, sources) + leftovers(root)
    exported = (root / EXPORTED).read_text().count("\n")
    header = (root / "src/machine/fast.h").read_text().count("\n")
    print(f"src/fast: {fast} lines; besides, {EXPORTED}: {exported}, src/machine/fast.h: {header}")
    if exported > MOST_EXPORTED_LINES:
        found.append(f"{EXPORTED} has {exported} lines, at most {MOST_EXPORTED_LINES} are wanted")
    found += [f"{p.relative_to(root).as_posix()}: includes {EXPORTED}, which is for src/fast" for p in sources
              if not p.is_relative_to(root / "src/fast") and f'"{EXPORTED[4:]}"' in p.read_text()]
    if fast > MOST_FAST_LINES:
        found.append(f"src/fast has {fast} lines, at most {MOST_FAST_LINES} are wanted")
    if len(sources) < 200 or fast < 1000:
        found.append(f"only {len(sources)} sources were read")
    for text in found:
        print(f"FAIL {text}")
    print(f"{len(files)} files, {len(found)} violations")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
