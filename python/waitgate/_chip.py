# SPDX-License-Identifier: Apache-2.0
"""A chip: the grid of tiles that two NoCs connect, with DRAM."""
from __future__ import annotations

import html
from types import TracebackType
from typing import Any, Callable, Iterable, Optional, Union

from ._library import ffi, lib, names, text
from ._text import Error, architecture
from ._tile import _STOPS, _check_mask, _explore, _report_desc, _whole, Checks, Hang, Tile, Timing
from ._watch import Watch, _Path

_KINDS = {value: name for name, value in names("WG_TILE_").items()}


class Chip:
    """Tiles by NoC 0 coordinates. All of them share one clock."""

    def __init__(self, arch: str = "bh", profile: str = "silicon", seed: int = 0, threads: int = 1):
        self.arch = arch
        desc = ffi.new("wg_grid_desc *", {"arch": architecture(arch), "seed": seed, "threads": threads,
                                          "profile": lib.WG_PROFILE_SILICON if profile == "silicon" else
                                          lib.WG_PROFILE_DOCUMENTED})
        desc.struct_size = ffi.sizeof("wg_grid_desc")
        out = ffi.new("wg_grid **")
        status = lib.wg_grid_create(desc, out)
        if status != lib.WG_OK:
            raise Error(text(lib.wg_status_text(status)))
        self._begin(out[0], None, ffi.gc(out[0], lib.wg_grid_destroy))

    @classmethod
    def _of_program(cls, program: Any, grid: Any, number: int = 0) -> Chip:
        chip = cls.__new__(cls)
        chip.arch = "wh" if lib.wg_grid_arch(grid) == lib.WG_ARCH_WH else "bh"
        chip._begin(grid, program, program._life)
        chip._number = number
        return chip

    def _begin(self, grid: Any, program: Any, life: Any) -> None:
        self._life = life  # what the grid belongs to; a watch and checks keep it until they have ended
        self._grid, self._program = grid, program  # a program advances time itself
        self._number = 0  # of a cluster
        self._tiles: dict[tuple[int, int], Tile] = {}

    def close(self) -> None:
        for tile in self._tiles.values():
            tile.close()
        self._grid = self._life = None

    def __enter__(self) -> Chip:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def _ask(self, status: int) -> None:
        if status != lib.WG_OK:
            raise Error(text(lib.wg_grid_error(self._grid)) or text(lib.wg_status_text(status)))

    @property
    def shape(self) -> tuple[int, int]:
        """Columns and rows."""
        return int(lib.wg_grid_width(self._grid)), int(lib.wg_grid_height(self._grid))

    def kind(self, x: int, y: int) -> str:
        """tensix, dram, eth …; none outside the grid."""
        return _KINDS[int(lib.wg_grid_kind(self._grid, x, y))]

    def tile(self, x: int, y: int) -> Tile:
        if (x, y) not in self._tiles:
            device = lib.wg_grid_tile(self._grid, x, y)
            if not device:
                raise Error(text(lib.wg_grid_error(self._grid)) or f"there is no Tensix tile at ({x}, {y})")
            self._tiles[x, y] = Tile._of_chip(self, device, self.arch)
            if self._program is not None:
                self._program._give(self._tiles[x, y], x, y, self._number)
        return self._tiles[x, y]

    def watch(self, *tiles: tuple[int, int], trace: Optional[_Path] = None, log: Optional[_Path] = None, profile: bool = True,
              timeline: bool = False, stats: bool = False) -> Watch:
        """Watches these tiles, (x, y), from now to the end of the `with` block; see Tile.watch()."""
        watch = Watch(ffi.NULL, self._grid, self._life, trace, log, profile, timeline, stats)
        for x, y in tiles:
            self.tile(x, y)
            watch._tile(x, y)
            self._tiles[x, y]._watched_by(watch, x, y)
        return watch

    def read(self, x: int, y: int, address: int, size: int) -> bytes:
        """Memory of any tile, including DRAM, as the NoC sees it."""
        out = bytearray(size)
        self._ask(lib.wg_grid_read(self._grid, x, y, address, ffi.from_buffer(out), size))
        return bytes(out)

    def write(self, x: int, y: int, address: int, data: Union[bytes, bytearray, memoryview]) -> None:
        self._ask(lib.wg_grid_write(self._grid, x, y, address, ffi.from_buffer(data), len(data)))

    @property
    def cycle(self) -> int:
        return int(lib.wg_grid_cycle(self._grid))

    def run(self, cycles: int = 2**63) -> str:
        """As Tile.run(), for all tiles. The report of a hang covers the waiting tiles."""
        if self._program is not None:
            return str(self._program.run(cycles))
        stop = ffi.new("wg_stop *")
        self._ask(lib.wg_grid_run(self._grid, cycles, stop))
        why = _STOPS[int(stop[0])]
        if why == "hung":
            raise Hang(self.hang_report())
        return why

    def _report(self, ask: Callable[[Any, Any, int], int], form: str) -> str:
        desc = _report_desc(form)
        programs = {at: tile._source[1] for at, tile in self._tiles.items()}
        of_tile = ffi.callback("void *(void *, unsigned, unsigned)", lambda _, x, y: programs.get((x, y), ffi.NULL))
        desc.source, desc.of_tile = ffi.addressof(lib, "wg_elf_source"), of_tile
        return _whole(ask, desc)

    def hang_report(self, form: str = "text") -> str:
        """The reason why nothing moves: over all tiles, and of each that waits. Forms: text, json, sarif."""
        return self._report(lambda desc, room, size: int(lib.wg_grid_hang_report(self._grid, desc, room, size)), form)

    def check(self, tiles: Iterable[tuple[int, int]], *checks: str) -> Checks:
        """As Tile.check(), for these tiles and what they send to each other; call it before programs are loaded."""
        out = ffi.new("wg_check **")
        self._ask(lib.wg_grid_check_begin(self._grid, _check_mask(checks), out))
        for x, y in tiles:
            if lib.wg_check_tile(out[0], x, y) != lib.WG_OK:
                lib.wg_check_end(out[0])
                raise Error(text(lib.wg_grid_error(self._grid)))
        return Checks(out[0], self._report, self._life)

    def explore(self, runs: int = 1000, result: Optional[tuple[int, int]] = None, first_seed: int = 1, max_cycles: int = 0,
                seen: Optional[Callable[[Timing], Optional[bool]]] = None) -> list[Timing]:
        """As Tile.explore(), for all tiles that have been used: `result` is memory of each, and races between tiles count, too."""
        if self._program is not None:
            raise Error("the time of this chip belongs to a program: Program.run()")
        address, length = result or (0, 0)
        return _explore(lambda desc, called: self._ask(lib.wg_grid_explore(self._grid, desc, called, ffi.NULL)),
                        "void *, wg_grid *, const wg_explored *", True,
                        {"runs": runs, "first_seed": first_seed, "max_cycles": max_cycles, "address": address, "bytes": length}, seen)

    def perturb(self, seed: int) -> None:
        """From now on as a chip that was made with this seed; 0: undisturbed."""
        self._ask(lib.wg_grid_perturb(self._grid, seed))

    def _used(self) -> list[tuple[int, int]]:
        columns, rows = self.shape
        return [(x, y) for y in range(rows) for x in range(columns) if lib.wg_grid_peek(self._grid, x, y)]

    def __repr__(self) -> str:
        if not self._grid:
            return "<Chip, closed>"
        return f"<Chip {self.arch} at cycle {self.cycle}, tiles in use: {len(self._used())}>"

    def _repr_html_(self) -> str:
        """A map, tiles in use in bold; then what each of these waits for."""
        if not self._grid:
            return "<p>This chip is closed.</p>"
        used, (columns, rows) = self._used(), self.shape
        lines = "".join("<tr>" + "".join(
            f"<td title=\"{x}-{y}\">{'<b>' * ((x, y) in used)}{self.kind(x, y)}{'</b>' * ((x, y) in used)}</td>"
            for x in range(columns)) + "</tr>" for y in range(rows))
        return (f"<p>{html.escape(repr(self)[1:-1])}</p><table style=\"font-size: smaller\">{lines}</table>"
                + (f"<pre>{html.escape(self.hang_report())}</pre>" if used else ""))

    def advance(self, cycles: int) -> None:
        if self._program is not None:
            raise Error("the time of this chip belongs to a program: Program.run()")
        self._ask(lib.wg_grid_advance(self._grid, cycles))

    @property
    def state_hash(self) -> int:
        return int(lib.wg_grid_state_hash(self._grid))
