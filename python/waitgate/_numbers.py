# SPDX-License-Identifier: Apache-2.0
"""Arrays as stored in L1 and Dst."""
from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._library import ffi, lib
from ._text import Error

Array = npt.NDArray[np.float32]
_TYPES = ("uint8 int8 uint16 int16 uint32 int32 fp32 tf32 bf16 fp16 fp8 fp8e4m3 sm8 sm16 sm32 "
          "bfp8 bfp4 bfp2 bfp8a bfp4a bfp2a").split()


def types() -> list[str]:
    """The element types that encode() and decode() know."""
    return list(_TYPES)


def _known(kind: str) -> None:
    if kind not in _TYPES:
        raise Error(f"there is no element type {kind!r}; there are {', '.join(_TYPES)}")


def encode(array: npt.ArrayLike, kind: str, tilized: bool = False) -> bytes:
    """The array's bytes in L1, rounded to nearest, ties to even. Tilized: 32 x 32 tiles of four 16 x 16 faces."""
    _known(kind)
    a = np.atleast_2d(np.ascontiguousarray(array, dtype=np.float32))
    if a.ndim != 2:
        raise Error(f"an array of {a.ndim} dimensions cannot be encoded; at most two are possible")
    data = ffi.cast("float *", ffi.from_buffer(a))
    size = lib.wg_encode_array(kind.encode(), tilized, data, *a.shape, ffi.NULL, 0)
    if not size:
        raise Error(f"{a.shape[0]} x {a.shape[1]} cannot be {kind}{' in tiles' if tilized else ''}: tiles are 32 x 32")
    out = bytearray(size)
    lib.wg_encode_array(kind.encode(), tilized, data, *a.shape, ffi.from_buffer(out), size)
    return bytes(out)


def encoded_size(kind: str, shape: tuple[int, int], tilized: bool = False) -> int:
    """The number of bytes that an array of this shape takes."""
    return len(encode(np.zeros(shape, np.float32), kind, tilized))


def decode(data: bytes, kind: str, shape: tuple[int, int], tilized: bool = False) -> Array:
    """The inverse of encode()."""
    _known(kind)
    out = np.empty(shape, np.float32)
    if not lib.wg_decode_array(kind.encode(), tilized, ffi.from_buffer(data), len(data),
                               ffi.cast("float *", ffi.from_buffer(out)), *shape):
        raise Error(f"{len(data)} bytes are no {shape[0]} x {shape[1]} array of {kind}{' in tiles' if tilized else ''}")
    return out


def from_dst(stored: npt.NDArray[np.uint32], kind: str) -> npt.NDArray[Any]:
    """Dst's stored bits (sign, mantissa, exponent) as numbers."""
    s = stored.astype(np.uint32)
    if kind == "raw":
        return s
    if kind == "bf16":
        return ((s >> 15 & 1) << 31 | (s & 0xFF) << 23 | (s >> 8 & 0x7F) << 16).view(np.float32)
    if kind == "fp16":
        half = ((s >> 15 & 1) << 15 | (s & 0x1F) << 10 | (s >> 5 & 0x3FF)).astype(np.uint16)
        return half.view(np.float16).astype(np.float32)
    if kind in ("fp32", "int32"):
        high, low = s >> 16, s & 0xFFFF
        bits = (high >> 15 & 1) << 31 | (high & 0xFF) << 23 | (high >> 8 & 0x7F) << 16 | low
        if kind == "fp32":
            return bits.view(np.float32)
        magnitude = (bits & 0x7FFFFFFF).astype(np.int32)
        return np.where(bits >> 31, -magnitude, magnitude)
    raise Error(f"Dst does not hold {kind!r}: raw, bf16, fp16, fp32 and int32 are possible")
