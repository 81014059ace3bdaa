# SPDX-License-Identifier: Apache-2.0
"""The examples' kernels, compiled with parts of their sources replaced."""
import pathlib
import shutil
import subprocess

BASES = {"brisc": "0x4000", "trisc0": "0x8000", "trisc1": "0x10000", "trisc2": "0x14000"}


def compiled(d, product, root, name, *edits):
    """The ELF files of an example, and their folder, with parts of its sources replaced: (file, old, new). `product`: a file
    of the build's main folder."""
    folder = d / f"{name}{len(list(d.iterdir()))}"
    shutil.copytree(root / "examples/common", folder)
    shutil.copy(root / f"examples/{name}.c", folder)
    for file, old, new in edits:
        text = (folder / file).read_text()
        assert text.count(old) == 1, (file, old)
        (folder / file).write_text(text.replace(old, new))
    header = next(pathlib.Path(product).resolve().parent.glob("src/isa/wg_kernel.h")).parent
    for core, base in BASES.items():
        subprocess.run(["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-Os", "-g", "-ffreestanding", "-nostdlib",
                        "-msmall-data-limit=0", "-DWG_ARCH_BH", f"-DCORE_{core.upper()}", f"-I{folder}", f"-I{header}",
                        f"-Wl,--defsym=__base={base}", "-Wl,--no-warn-rwx-segments", "-T", folder / "kernel.ld", folder / "crt.S",
                        folder / f"{name}.c", "-lgcc", "-o", folder / f"{name}.{core}.elf"], check=True)
    return sorted(folder.glob("*.elf")), folder


def line_with(path, words):
    return next(i for i, text in enumerate(path.read_text().splitlines(), 1) if words in text)
