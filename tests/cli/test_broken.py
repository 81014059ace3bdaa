#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels with one deliberate mistake each, and their twins without it (tests/broken).

usage: test_broken.py WAITGATE ROOT FOLDER_OF_wg_kernel.h [NAME …]

The first paragraph of `waitgate check` has the words of every line `says: WORDS`; of the twin nothing is reported. A
line of a .tasm file that ends with `; broken` or `; fixed` is in only one of the two; C has FIXED. `cores:` names
the cores of a C kernel, whose program is built once for each with -Os and with -O2, its flags from 0x20100 on cleared;
`tiles: 2` puts it on two tiles of a chip, on core B unless `cores:` says otherwise; TILE_1 is defined on the first, PLACE(n)
is the n-th. Without `arch:` (.arch) it runs on
both architectures.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

WAITGATE, ROOT, HEADERS = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
NAMES = sys.argv[4:]
GCC = shutil.which("riscv64-unknown-elf-gcc")
BASES = {"BRISC": 0x6000, "NCRISC": 0x9000, "TRISC0": 0xC000, "TRISC1": 0x12000, "TRISC2": 0x18000}
LEAST = 83


def check(folder, arch, *what):
    (folder / "zeros").write_bytes(bytes(64))
    r = subprocess.run([WAITGATE, "check", "--checks", "race,memory,init,sync", "--verify", "0", "--max-cycles", "100000", "--arch", arch,
                        "--buffer", "0x20000:0x200", "--buffer", "0x30000:0x2000", *map(str, what)],
                       capture_output=True, text=True, timeout=120, cwd=folder, env=dict(os.environ, COLUMNS="1000"))
    return r.returncode, r.stdout + r.stderr


def first_paragraph(out):
    """Without the tile and the line on how the run ended."""
    rest = re.sub(r"^(.*\n)(?:tile \S+\n(?:0 race reports\n)?)*", "", out).lstrip("\n")
    return re.split(r"\n\n|(?<=.)\n==================\n", rest.removeprefix("==================\n"))[0]


def tasm(file, arch, folder, kind):
    other = "fixed" if kind == "broken" else "broken"
    text = "\n".join("" if line.endswith(f"; {other}") else line.removesuffix(f"; {kind}") for line in file.read_text().split("\n"))
    (folder / file.name).write_text(text)
    return check(folder, arch, file.name)


def build(file, arch, level, kind, core, extra, out):
    common = ROOT / "examples/common"
    subprocess.run([GCC, "-march=rv32im", "-mabi=ilp32", level, "-g", "-Wall", "-Werror", "-ffreestanding", "-nostdlib", "-msmall-data-limit=0",
                    f"-DWG_ARCH_{arch.upper()}", f"-DCORE_{core}", f"-D__other={BASES['TRISC1']}", *extra, *(["-DFIXED"] if kind == "fixed" else []),
                    f"-I{common}", f"-I{HEADERS}", f"-Wl,--defsym=__base={BASES[core]}", "-Wl,--no-warn-rwx-segments", "-T",
                    common / "kernel.ld", common / "crt.S", file, "-lgcc", "-o", out], check=True)


def cores(file, arch, level, folder, kind):
    what = []
    for core in re.search(r"^// cores: (.*)", file.read_text(), re.M)[1].split():
        elf = folder / f"{file.stem}.{core.lower()}.elf"
        build(file, arch, level, kind, core, [], elf)
        what += [f"--{core.lower()}", elf.name]
    return check(folder, arch, "--load", "0x20100=zeros", *what)


def tiles(file, arch, level, folder, kind):
    y = {"bh": 2, "wh": 1}[arch]
    text = file.read_text()
    own = re.search(r"^// cores: (.*)", text, re.M)
    yaml = f"arch: {arch}\nmax-cycles: 100000\ntiles:\n"
    for tile in range(1, int(re.search(r"^// tiles: (\d)", text, re.M)[1]) + 1):
        yaml += f"  - at: [{tile}, {y}]\n    load:\n      - {{address: 0x30010, words: [0, 0, 0, 0, 0]}}\n"
        yaml += "      - {address: 0x30040, words: [0]}\n"
        for core in own[1].split() if own else ["BRISC"]:
            elf = folder / f"tile{tile}.{core.lower()}.elf"
            build(file, arch, level, kind, core, [f"-DTILE_{tile}", f"-DPLACE(n)=((n) | {y} << 6)", "-DNEIGHBOUR=PLACE(2)"], elf)
            yaml += f"    {core.lower()}: {elf.name}\n"
    (folder / "chip.yaml").write_text(yaml)
    return check(folder, arch, "chip.yaml")


def complaints(name, run, wanted):
    with tempfile.TemporaryDirectory() as scratch:
        status, out = run(pathlib.Path(scratch), "broken")
        first = first_paragraph(out)
        if status not in (2, 3, 4, 5):
            yield f"{name}: the broken one ends with {status}:\n{out}"
        for words in wanted:
            if words not in first:
                yield f"{name}: no `{words}` in\n{first}\nof\n{out}"
        status, out = run(pathlib.Path(scratch), "fixed")
        if status or re.search(r"WARNING|NOTE: |\bnotes? \(--all|^(warning|undefined|note): ", out, re.M):
            yield f"{name}: the fixed one ends with {status}:\n{out}"


def main():
    jobs, pairs = [], set()
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        for file in sorted((ROOT / "tests/broken").glob("*.*")):
            text = file.read_text()
            own = re.search(r"^(?:\.|// )arch:? (\w+)", text, re.M)
            wanted = re.findall(r"^(?:#|//) says: (.*)$", text, re.M)
            assert wanted, f"{file}: it expects nothing"
            if (file.suffix == ".c" and not GCC) or (NAMES and file.stem not in NAMES):
                continue
            pairs.add(file.name)
            for arch in [own[1]] if own else ["bh", "wh"]:
                for level in ("-Os", "-O2") if file.suffix == ".c" else ("",):
                    if file.suffix == ".tasm":
                        run = lambda d, kind, file=file, arch=arch: tasm(file, arch, d, kind)
                    else:
                        how = tiles if re.search(r"^// tiles:", text, re.M) else cores
                        run = lambda d, kind, file=file, arch=arch, level=level, how=how: how(file, arch, level, d, kind)
                    jobs.append(pool.submit(lambda *a: list(complaints(*a)), f"{file.name} {arch} {level}", run, wanted))
        bad = [text for job in jobs for text in job.result()]
    for text in bad:
        print("FAIL " + text)
    assert NAMES or not GCC or len(pairs) >= LEAST, pairs
    print(f"{len(pairs)} pairs: {len(jobs)} passed, {len({b.split(':')[0] for b in bad})} failed")
    sys.exit(1 if bad or not jobs else 0)


main()
