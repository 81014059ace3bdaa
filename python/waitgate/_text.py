# SPDX-License-Identifier: Apache-2.0
"""Instructions as text, architectures, errors."""
from __future__ import annotations

from ._library import ffi, lib, text


class Error(Exception):
    """An error of the library, with its message."""


class AssemblyError(Error):
    """A line that is not an instruction. `column` counts from 1."""

    def __init__(self, message: str, line: str, column: int):
        super().__init__(f"{message}\n    {line}\n    {' ' * (column - 1)}^")
        self.column = column


def architecture(name: str) -> int:
    try:
        return int({"bh": lib.WG_ARCH_BH, "wh": lib.WG_ARCH_WH}[name])
    except KeyError:
        raise Error(f"there is no architecture {name!r}: bh and wh are known") from None


def assemble(line: str, arch: str = "bh") -> int:
    """The word of one Tensix instruction, as `ttstallwait STALL_CFG, MATH|SFPU1`."""
    word, error = ffi.new("uint32_t *"), ffi.new("wg_asm_error *")
    data = line.encode()
    code = lib.wg_assemble_line(architecture(arch), data, len(data), word, error)
    if code == lib.WG_ASM_BLANK:
        raise AssemblyError("there is no instruction in this line", line, 1)
    if code != lib.WG_ASM_OK:
        raise AssemblyError(text(error.message), line, max(1, error.column))
    return int(word[0])


def disassemble(word: int, arch: str = "bh", symbolic: bool = False) -> str:
    """A word as text; an invalid instruction is `.word 0x…`."""
    room = ffi.new("char[]", lib.WG_DIS_MAX)
    lib.wg_disassemble(architecture(arch), word & 0xFFFFFFFF, lib.WG_DIS_SYMBOLIC if symbolic else 0, room, len(room))
    return text(room)


def version() -> str:
    return text(lib.wg_version())
