# SPDX-License-Identifier: Apache-2.0
"""What the suites of clusters share: the command with a cluster file, the examples' programs, programs of a test."""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

WAITGATE, ROOT, EXAMPLES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()


def run(folder, text, *options, name="cluster.yaml", command=("run",)):
    (folder / name).write_text(text)
    r = subprocess.run([WAITGATE, *command, str(folder / name), *map(str, options)], capture_output=True, text=True, timeout=120)
    return r.returncode, r.stdout, r.stderr


def elfs(folder):
    for elf in EXAMPLES.glob("*.erisc0.elf"):
        shutil.copy(elf, folder)


def build(folder, name, text, base, arch="wh"):
    """A program of this test."""
    common, header = ROOT / "examples/common", next(pathlib.Path(WAITGATE).resolve().parent.glob("src/isa/wg_kernel.h")).parent
    (folder / f"{name}.c").write_text("#include \"eth.h\"\n#include \"noc.h\"\n" + text)
    subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-Os", "-g", "-ffreestanding", "-nostdlib", f"-DWG_ARCH_{arch.upper()}",
                    "-msmall-data-limit=0", f"-Wl,--defsym=__base={base}", "-Wl,--no-warn-rwx-segments", f"-I{common}", f"-I{header}",
                    folder / f"{name}.c", common / "crt.S", "-T", common / "kernel.ld", "-o", folder / f"{name}.elf"], check=True)


def words(path):
    data = path.read_bytes()
    return [struct.unpack_from("<I", data, i)[0] for i in range(0, len(data), 16)]


def ring(d, topology, arch, program="ring"):
    """ring.c on a ring through all chips of a topology, using the existing links."""
    links = json.loads(run(d, f"topology: {topology}\n", "--json")[1])["links"]
    to = {}
    for link in links:
        (a, x), (b, y) = [(e["chip"], e["channel"]) for e in link["ends"]]
        to.setdefault(a, []).append((b, x, y))
        to.setdefault(b, []).append((a, y, x))

    def path(done, used):
        here = done[-1]
        for there, out, in_ in to[here]:
            if out in used[here] or in_ in used[there]:
                continue
            if there == done[0] and len(done) == len(to):
                return [(here, out, in_)]
            if there not in done:
                rest = path(done + [there], {**used, here: used[here] | {out}, there: used[there] | {in_}})
                if rest:
                    return [(here, out, in_)] + rest
        return None

    hops = path([0], {chip: frozenset() for chip in to})
    text = f"topology: {topology}\nmax-cycles: 1000000\nchips:\n"
    for i, (chip, out, _) in enumerate(hops):
        words_ = f"{i}, {len(hops)}, {out}"
        elf = f"{'wh_' if arch == 'wh' else ''}{program}.erisc0.elf"
        text += (f"  - {{chip: {chip}, tiles: [{{at: e{out}, erisc0: {elf}, load: [{{address: 0x28000, words: [0, {words_}]}}], "
                 f"dump: [{{address: 0x20000, length: 32, file: 'sum-{{chip}}'}}]}}, "
                 f"{{at: e{hops[i - 1][2]}, erisc0: {elf}, load: [{{address: 0x28000, words: [1, {words_}]}}]}}]}}\n")
    return text, len(hops)
