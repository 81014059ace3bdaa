# SPDX-License-Identifier: Apache-2.0
"""A run whose time the caller advances: a .tasm program, ELF files, a chip file, or a cluster file."""
from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Optional

from ._chip import Chip
from ._commands import _ERROR, Path, Result, _words
from ._elf import Elf
from ._library import ffi, lib, text
from ._text import Error
from ._tile import _STOPS, CORES, Hang, Tile


class Program:
    """
    What `waitgate run FILES…` would run, loaded and before its first cycle. Options are given by name, as for waitgate.run();
    `tasm` is the text of a program instead of files, `command` is run, check, profile, trace or report.

        with waitgate.Program("kernel.tasm") as p:
            p.run(100)
            print(p.tile.semaphore(2))
            p.run()
            print(p.end()["expectations"])
    """

    def __init__(self, *files: Path, command: str = "run", tasm: Optional[str] = None, **options: Any):
        self._handle: Any = None
        words = _words(command, ("-",) if tasm is not None else files, options)
        kept = [ffi.new("char[]", os.fsencode(w)) for w in words]
        source = ffi.new("char[]", tasm.encode()) if tasm is not None else ffi.NULL
        errors = ffi.new("char **")
        self._handle = lib.wg_program_open(len(kept), ffi.new("char *[]", kept), source, errors)
        if not self._handle:
            message = text(errors[0])
            lib.wg_free(errors[0])
            raise Error(message.strip())
        self._life = ffi.gc(self._handle, lib.wg_program_close)
        self._words = words
        self._tile: Optional[Tile] = None
        self._chips: list[Chip] = []
        self._cluster = lib.wg_program_cluster(self._handle)
        device, grid = lib.wg_program_device(self._handle), lib.wg_program_chip(self._handle)
        if device:
            arch = "wh" if lib.wg_program_arch(self._handle) == lib.WG_ARCH_WH else "bh"
            self._tile = Tile._of_program(self, device, arch)
            self._give(self._tile, 0, 0)
        elif grid:
            self._chips = [Chip._of_program(self, grid)]
        else:
            self._chips = [Chip._of_program(self, lib.wg_cluster_chip(self._cluster, i), i)
                           for i in range(lib.wg_cluster_chips(self._cluster))]

    def _give(self, tile: Tile, x: int, y: int, chip: int = 0) -> None:
        """The tile knows its programs."""
        for core in range(len(CORES)):
            elf = lib.wg_program_elf(self._handle, chip, x, y, core)
            if elf:
                tile._programs[core], tile._elfs[core] = Elf._of(elf, self), elf

    @property
    def _open(self) -> Any:
        if not self._handle:
            raise Error("the program has been closed")
        return self._handle

    @property
    def tile(self) -> Tile:
        """The tile; of a chip, see chip.tile(x, y)."""
        if self._tile is None:
            raise Error("this program is of a chip, or of several: Program.chip, Program.chips")
        return self._tile

    @property
    def chip(self) -> Chip:
        if len(self._chips) != 1:
            raise Error(f"this program has {len(self._chips)} chips: Program.chips" if self._chips else "this program is of one tile: Program.tile")
        return self._chips[0]

    @property
    def chips(self) -> list[Chip]:
        """Of a chip file one, of a cluster file all."""
        return list(self._chips)

    @property
    def cycle(self) -> int:
        return self._chips[0].cycle if self._tile is None else self._tile.cycle

    def run(self, cycles: int = 2**63, hang_is_error: bool = True) -> str:
        """As Tile.run(); the streams of a .tasm program are pushed meanwhile."""
        stop = ffi.new("wg_stop *")
        if lib.wg_program_run(self._open, cycles, stop) != lib.WG_OK:
            raise Error(text(lib.wg_program_error(self._handle)))
        why = _STOPS[int(stop[0])]
        if why == "hung" and hang_is_error:
            raise Hang(self._tile.hang_report() if self._tile is not None else
                       "\n".join(chip.hang_report() for chip in self._chips))
        return why

    def end(self) -> Result:
        """Once, after the last run(): the result, as waitgate.run() returns it. Files that options name are complete."""
        errors = ffi.new("char **")
        status = int(lib.wg_program_end(self._open, errors))
        complaint = text(errors[0])
        lib.wg_free(errors[0])
        if status == _ERROR:
            raise Error(complaint.strip())
        said = [lib.wg_program_report(self._handle, json) for json in (True, False)]
        words = [text(s) for s in said]
        for s in said:
            lib.wg_free(s)
        return Result(status, words[0], self._words, report=words[1])

    def close(self) -> None:
        if self._handle:
            if self._tile is not None:
                self._tile.close()
            for chip in self._chips:
                chip.close()
        self._handle = self._life = None

    def __enter__(self) -> Program:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()
