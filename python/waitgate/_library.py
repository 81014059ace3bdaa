# SPDX-License-Identifier: Apache-2.0
"""The shared library and its declarations, taken from the public headers."""
from __future__ import annotations

import ctypes.util
import os
import pathlib
from typing import Any, Iterator

import cffi

_HERE = pathlib.Path(__file__).resolve().parent


def _declarations() -> str:
    for folder in _folders():
        if (folder / "_api.h").is_file():
            return (folder / "_api.h").read_text()
    raise ImportError("waitgate: _api.h, which the build makes, is not there; set WAITGATE_BUILD to the build's folder")


def _folders() -> Iterator[pathlib.Path]:
    yield _HERE
    if "WAITGATE_BUILD" in os.environ:
        yield pathlib.Path(os.environ["WAITGATE_BUILD"]) / "python"
        yield pathlib.Path(os.environ["WAITGATE_BUILD"])


def _library() -> str:
    if "WAITGATE_LIBRARY" in os.environ:
        return os.environ["WAITGATE_LIBRARY"]
    for folder in _folders():
        for name in ("libwaitgate_tools.so.0", "libwaitgate_tools.so"):
            if (folder / name).exists():
                return str(folder / name)
    return ctypes.util.find_library("waitgate_tools") or "libwaitgate_tools.so.0"


ffi: Any = cffi.FFI()
ffi.cdef(_declarations())
try:
    lib: Any = ffi.dlopen(_library())
except OSError as error:
    raise ImportError(f"waitgate: {error}; set WAITGATE_LIBRARY to libwaitgate_tools.so") from None


def text(pointer: Any) -> str:
    """A C string, "" for NULL."""
    return str(ffi.string(pointer).decode(errors="replace")) if pointer else ""


def names(prefix: str) -> dict[str, int]:
    """The enumerators with this prefix, by the rest of their name in lower case."""
    return {name[len(prefix):].lower(): getattr(lib, name) for name in dir(lib) if name.startswith(prefix)}
