# SPDX-License-Identifier: Apache-2.0
"""The commands of `waitgate` as functions: their JSON output as a dictionary."""
from __future__ import annotations

import html
import json
import os
from typing import Any, Optional, Union

from ._library import ffi, lib, text
from ._text import Error

Path = Union[str, os.PathLike[str]]
_ERROR = 6  # the exit status of a command that could not do its work


def command(*words: object) -> tuple[int, str, str]:
    """`waitgate WORDS…`: exit status, standard output, standard error."""
    kept = [ffi.new("char[]", os.fsencode(w) if isinstance(w, (str, bytes, os.PathLike)) else str(w).encode()) for w in words]
    out, error = ffi.new("char **"), ffi.new("char **")
    status = lib.wg_run_command(len(kept), ffi.new("char *[]", kept) if kept else ffi.NULL, out, error)
    result = int(status), text(out[0]), text(error[0])
    lib.wg_free(out[0])
    lib.wg_free(error[0])
    return result


class Result(dict[str, Any]):
    """The outcome of a run: the JSON of the command line, with shorthands."""

    def __init__(self, status: int, said: str, words: list[str], report: Optional[str] = None):
        super().__init__(json.loads(said))
        self.status, self._words, self._report = status, words, report  # of a Program, which cannot be run again

    @property
    def cycles(self) -> int:
        return int(self["cycles"])

    @property
    def done(self) -> bool:
        return self["result"] in ("done", "until")

    @property
    def hung(self) -> bool:
        return bool(self["result"] == "hang")

    @property
    def findings(self) -> list[dict[str, Any]]:
        return list(self["findings"])

    def report(self, *options: str) -> str:
        """The same run as text, as the command line prints it; made by running it again, unless it is of a Program."""
        if self._report is not None:
            if options:
                raise Error("the options of a program's report are given to Program()")
            return self._report
        return command(self._words[0], *options, *self._words[1:])[1]

    def __repr__(self) -> str:
        return f"<{self['program']}: {self['result']} after {self.cycles} cycles>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.report(*(['--timeline'] if self._report is None else [])))}</pre>"


def _words(name: str, files: tuple[Path, ...], options: dict[str, Any]) -> list[str]:
    words: list[str] = [name]
    for key, value in options.items():
        option = "--" + key.rstrip("_").replace("_", "-")
        for v in value if isinstance(value, (list, tuple)) else [value]:
            if v is True:
                words.append(option)
            elif v is not None and v is not False:
                words += [option, os.fspath(v) if isinstance(v, os.PathLike) else str(v)]
    return words + ["--"] + [os.fspath(f) for f in files]


def _json(words: list[str]) -> tuple[int, str]:
    status, out, error = command(words[0], "--json", *words[1:])
    if status == _ERROR or not out:
        raise Error(error.strip() or "the command has nothing to say")
    return status, out


def _run(name: str, files: tuple[Path, ...], options: dict[str, Any]) -> Result:
    words = _words(name, files, options)
    return Result(*_json(words), words)


def run(*files: Path, **options: Any) -> Result:
    """`waitgate run`: options by name, as max_cycles=1000, seed=3, load=["0x1000=a.npy:bf16"]."""
    return _run("run", files, options)


def check(*files: Path, **options: Any) -> Result:
    """`waitgate check`: races and broken rules are in result["reports"]."""
    return _run("check", files, options)


def profile(*files: Path, **options: Any) -> Result:
    """`waitgate profile`: the cost of each line."""
    return _run("profile", files, options)


def explore(*files: Path, **options: Any) -> dict[str, Any]:
    """`waitgate explore`: runs under many legal timings."""
    status, out = _json(_words("explore", files, options))
    result: dict[str, Any] = json.loads(out)
    result["status"] = status
    return result
