# SPDX-License-Identifier: Apache-2.0
"""Arrays as stored in L1 and Dst."""
from __future__ import annotations

from typing import Any, Union

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


# The range of integers that float32 does not hold.
_WIDE = {"int32": (-2 ** 31, 2 ** 31 - 1), "uint32": (0, 2 ** 32 - 1), "sm32": (1 - 2 ** 31, 2 ** 31 - 1)}


def _faces(shape: tuple[int, int]) -> npt.NDArray[np.intp]:
    """The index in the array of each element of 32 x 32 tiles, in their order."""
    rows, columns = shape
    index = np.arange(rows * columns).reshape(rows // 32, 2, 16, columns // 32, 2, 16)
    return index.transpose(0, 3, 1, 4, 2, 5).ravel()


def _tiled(shape: tuple[int, ...], tilized: bool) -> bool:
    return not tilized or (len(shape) == 2 and shape[0] % 32 == 0 and shape[1] % 32 == 0)


def _encode_wide(array: npt.ArrayLike, kind: str, tilized: bool) -> bytes:
    given = np.atleast_2d(np.asarray(array))
    if not _tiled(given.shape, tilized):
        raise Error(f"{given.shape[0]} x {given.shape[1]} cannot be {kind} in tiles: tiles are 32 x 32")
    low, high = _WIDE[kind]
    whole = given if given.dtype.kind in "iub" else np.rint(np.nan_to_num(given.astype(np.float64), nan=0.0))
    if whole.size and (whole.min() < low or whole.max() > high):
        raise Error(f"values from {whole.min()} to {whole.max()} are not all {kind}")
    bits = whole.astype(np.int64)
    if kind == "sm32":
        bits = np.where(bits < 0, -bits | 1 << 31, bits)
    stored = (bits & 0xFFFFFFFF).astype("<u4").ravel()
    return bytes((stored[_faces(given.shape)] if tilized else stored).tobytes())


def _decode_wide(data: bytes, kind: str, shape: tuple[int, int], tilized: bool) -> npt.NDArray[Any]:
    stored = np.frombuffer(data, "<u4").copy()
    if tilized:
        flat = np.empty_like(stored)
        flat[_faces(shape)] = stored
        stored = flat
    if kind == "sm32":
        magnitude = (stored & 0x7FFFFFFF).astype(np.int32)
        return np.where(stored >> 31 != 0, -magnitude, magnitude).reshape(shape)
    return stored.view(np.int32 if kind == "int32" else np.uint32).reshape(shape)


def encode(array: npt.ArrayLike, kind: str, tilized: bool = False) -> bytes:
    """
    The array's bytes in L1, rounded to nearest, ties to even. Tilized: 32 x 32 tiles of four 16 x 16 faces. int32, uint32 and sm32 are
    exact, and a value beyond their range is an error.
    """
    _known(kind)
    if np.ndim(array) > 2:
        raise Error(f"an array of {np.ndim(array)} dimensions cannot be encoded; at most two are possible")
    if kind in _WIDE:
        return _encode_wide(array, kind, tilized)
    a = np.atleast_2d(np.ascontiguousarray(array, dtype=np.float32))
    data = ffi.cast("float *", ffi.from_buffer(a))
    size = lib.wg_encode_array(kind.encode(), tilized, data, *a.shape, ffi.NULL, 0)
    if not size:
        raise Error(f"{a.shape[0]} x {a.shape[1]} cannot be {kind}{' in tiles' if tilized else ''}: tiles are 32 x 32")
    out = bytearray(size)
    lib.wg_encode_array(kind.encode(), tilized, data, *a.shape, ffi.from_buffer(out), size)
    return bytes(out)


Shape = Union[int, tuple[int, ...]]  # an int: of a row


def encoded_size(kind: str, shape: Shape, tilized: bool = False) -> int:
    """The number of bytes that an array of this shape takes."""
    return len(encode(np.zeros(shape, np.float32), kind, tilized))


def decode(data: bytes, kind: str, shape: Shape, tilized: bool = False) -> npt.NDArray[Any]:
    """The inverse of encode(): float32, or for int32, uint32 and sm32 integers of 32 bits."""
    _known(kind)
    if isinstance(shape, int):
        shape = (shape,)
    if len(shape) == 1:
        row: npt.NDArray[Any] = decode(data, kind, (1, shape[0]), tilized)[0]
        return row
    if len(shape) != 2:
        raise Error(f"an array of {len(shape)} dimensions cannot be decoded; one or two are possible")
    if kind in _WIDE and _tiled(shape, tilized) and len(data) == 4 * shape[0] * shape[1]:
        return _decode_wide(data, kind, (shape[0], shape[1]), tilized)
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
