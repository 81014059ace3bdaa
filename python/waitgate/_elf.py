# SPDX-License-Identifier: Apache-2.0
"""ELF files of the baby cores."""
from __future__ import annotations

import os
from typing import Any, Union

from ._library import ffi, lib, text
from ._text import Error, architecture


class Elf:
    """A program for one core, with its symbols and source lines."""

    _owner: Any = None  # a Program, which closes it

    def __init__(self, path: Union[str, os.PathLike[str]]):
        room = ffi.new("char[]", 1024)
        self.path = os.fspath(path)
        self._handle = lib.wg_elf_open_file(os.fsencode(self.path), room, len(room))
        if not self._handle:
            raise Error(text(room))
        self._handle = ffi.gc(self._handle, lib.wg_elf_close)

    @classmethod
    def assemble(cls, source: str, address: int = 0x10000, arch: str = "bh", name: str = "core.s") -> Elf:
        """From RISC-V assembly with Tensix mnemonics in it."""
        errors = ffi.new("char **")
        handle = lib.wg_core_assemble(architecture(arch), name.encode(), source.encode(), address, errors)
        if not handle:
            message = text(errors[0])
            lib.wg_free(errors[0])
            raise Error(message.rstrip() or "out of memory")
        elf = cls.__new__(cls)
        elf.path, elf._handle = name, ffi.gc(handle, lib.wg_elf_close)
        return elf

    @classmethod
    def _of(cls, handle: Any, owner: Any) -> Elf:
        """One that belongs to a program."""
        elf = cls.__new__(cls)
        elf.path, elf._handle, elf._owner = "", handle, owner
        return elf

    @property
    def entry(self) -> int:
        return int(lib.wg_elf_entry(self._handle))

    def symbol(self, name: str) -> int:
        """The address of a symbol."""
        address = ffi.new("uint32_t *")
        if not lib.wg_elf_find(self._handle, name.encode(), address, ffi.NULL):
            raise KeyError(f"{self.path} has no symbol {name}")
        return int(address[0])

    def __repr__(self) -> str:
        return f"Elf({self.path!r})"
