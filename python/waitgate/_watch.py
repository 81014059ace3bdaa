# SPDX-License-Identifier: Apache-2.0
"""A run, watched: trace, log, profile, timeline, report."""
from __future__ import annotations

import html
import json
import os
from types import TracebackType
from typing import Any, Optional, Union

from ._elf import Elf
from ._library import ffi, lib, text
from ._text import Error

_Path = Union[str, os.PathLike[str]]


class Watch:
    """The result of Tile.profile(), Tile.watch() and Chip.watch(). It lasts until the end of its `with` block, or
    close()."""

    def __init__(self, device: Any, grid: Any, life: Any, trace: Optional[_Path], log: Optional[_Path], profile: bool, timeline: bool,
                 stats: bool):
        kept = [ffi.new("char[]", os.fsencode(path)) if path is not None else ffi.NULL for path in (trace, log)]
        desc = ffi.new("wg_watch_desc *", {"device": device, "grid": grid, "title": ffi.NULL, "trace": kept[0], "log": kept[1],
                                           "profile": profile, "timeline": timeline, "stats": stats})
        desc.struct_size = ffi.sizeof("wg_watch_desc")
        self._room, self._profiled, self._timeline = ffi.new("char[]", 1024), profile, timeline
        self._elfs: list[Elf] = []
        self._ended = False
        self._life = life  # of the device or chip, which must outlive the watch
        self._handle = lib.wg_watch_begin(desc, self._room, len(self._room))
        if not self._handle:
            raise Error(text(self._room))

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            lib.wg_watch_free(self._handle)
        self._handle = self._life = None

    def _ask(self, right: bool) -> None:
        if not right:
            raise Error(text(self._room))

    def _tile(self, x: int, y: int) -> None:
        self._ask(lib.wg_watch_tile(self._handle, x, y, self._room, len(self._room)))

    def _program(self, x: int, y: int, core: int, elf: Elf) -> None:
        if not self._ended and lib.wg_watch_elf(self._handle, x, y, core, elf._handle):
            self._elfs.append(elf)  # it outlives the watch

    def close(self) -> None:
        """Ends the watch at the present cycle: files are complete, and the profile is available."""
        if not self._ended:
            self._ended = True
            self._ask(lib.wg_watch_end(self._handle, self._room, len(self._room)))

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def _words(self, pointer: Any, what: str, asked: str) -> str:
        if not pointer:
            raise Error(f"there is no {what}: " + (f"begin the watch with {asked}=True" if self._ended else "the watch has not ended"))
        words = text(pointer)
        lib.wg_free(pointer)
        return words

    @property
    def text(self) -> str:
        """The tables of `waitgate profile`."""
        return self._words(lib.wg_watch_profile(self._handle, False), "profile", "profile")

    @property
    def data(self) -> dict[str, Any]:
        """The output of `waitgate profile --json`."""
        found: dict[str, Any] = json.loads(self._words(lib.wg_watch_profile(self._handle, True), "profile", "profile"))
        return found

    @property
    def timeline(self) -> str:
        """The picture of `waitgate run --timeline`."""
        return self._words(lib.wg_watch_timeline_text(self._handle), "timeline", "timeline")

    @property
    def stats(self) -> dict[str, Any]:
        """The output of `waitgate run --stats --json`."""
        found: dict[str, Any] = json.loads(self._words(lib.wg_watch_statistics(self._handle, True), "statistics", "stats"))
        return found

    def report(self, path: _Path) -> None:
        """Writes the page of `waitgate report`."""
        self._ask(lib.wg_watch_report(self._handle, os.fsencode(path), self._room, len(self._room)))

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        if not self._ended:
            return "<p>This watch has not ended.</p>"
        parts = ([self.timeline] if self._timeline else []) + ([self.text] if self._profiled else [])
        return "".join(f"<pre>{html.escape(part)}</pre>" for part in parts)
