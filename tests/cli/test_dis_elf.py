#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `waitgate dis` of ELF files with the RISC-V binutils: words, functions, source lines, Tensix inline.

usage: test_dis_elf.py WAITGATE FILE.elf...
"""
import json
import pathlib
import re
import subprocess
import sys

waitgate, files = sys.argv[1], sys.argv[2:]
passed = failed = tensix = 0


def sh(*cmd):
    return subprocess.run(list(map(str, cmd)), capture_output=True, text=True, check=True).stdout


def check(condition, what):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition and failed < 20:
        print("FAIL", what)


for file in files:
    arch = "wh" if pathlib.Path(file).name.startswith("wh_") else "bh"
    ours = {int(i["pc"], 16): i for i in json.loads(sh(waitgate, "dis", "--arch", arch, "--json", file))["instructions"]}
    # Words: objdump's dump of the text, four bytes at a time (it takes Tensix words for compressed instructions).
    dump = sh("riscv64-unknown-elf-objdump", "-s", "-j", ".text", file)
    for address, row in re.findall(r"^ ([0-9a-f]+) ((?:[0-9a-f]{1,8} ){1,4})", dump, re.M):
        for k, group in enumerate(row.split()):
            pc = int(address, 16) + 4 * k
            if len(group) == 8:
                word = int.from_bytes(bytes.fromhex(group), "little")
                check(pc in ours and int(ours[pc]["word"], 16) == word, f"{file}: word at {pc:#x}")
    # Functions: the symbol table's.
    symbols = sorted((int(a, 16), n) for a, t, n in re.findall(r"^([0-9a-f]+) ([Tt]) (\S+)$", sh("riscv64-unknown-elf-nm", file), re.M))
    for pc, name in symbols:
        if pc in ours and not name.startswith("."):
            same = {n for a, n in symbols if a == pc}
            check(ours[pc].get("function") in same, f"{file}: {ours[pc].get('function')} at {pc:#x} instead of {same}")
    # Source lines: addr2line's.
    pcs = [pc for pc, i in ours.items() if i["kind"] != "data"]
    lines = sh("riscv64-unknown-elf-addr2line", "-e", file, *map(hex, pcs)).splitlines()
    doubtful = {}
    for pc, line in zip(pcs, lines):
        source, _, number = line.split(" ")[0].rpartition(":")
        if number.isdigit() and int(number):
            mine = f"{pathlib.Path(ours[pc].get('file', '')).name}:{ours[pc].get('line')}"
            if mine == f"{pathlib.Path(source).name}:{number}":
                passed += 1
            else:
                doubtful[pc] = mine, line, number
    # addr2line 2.40 reports the unit's own file for functions of headers in some line tables: gdb names the right file.
    asked = [option for pc in doubtful for option in ("-ex", f"info line *{pc:#x}")]
    answers = sh("gdb-multiarch", "-nx", "-batch", *asked, file) if asked else ""
    for (pc, (mine, line, number)), answer in zip(doubtful.items(), answers.splitlines()):
        found = re.match(r'Line \d+ of "([^"]+)"', answer)
        gdb = f"{pathlib.Path(found[1]).name}:{number}" if found else answer
        check(mine == gdb, f"{file}: {pc:#x} is {mine} instead of {line} (gdb: {gdb})")
    # Tensix words are inline; their text equals that of `dis --ttinsn` for the words alone.
    words = [(pc, i) for pc, i in ours.items() if i["kind"] == "tensix"]
    tensix += len(words)
    alone = sh(waitgate, "dis", "--arch", arch, "--ttinsn", *(i["word"] for _, i in words)).splitlines() if words else []
    check(len(alone) == len(words), f"{file}: {len(alone)} lines of text for {len(words)} Tensix words")
    for (pc, i), line in zip(words, alone):
        text = line.split(None, 1)[1].strip()
        check(text == i["text"], f"{file}: {pc:#x} is {i['text']} instead of {text}")
check(tensix > 0, "no Tensix instruction in any file")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
