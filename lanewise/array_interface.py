"""Reads objects whose only protocol for arrays is NumPy's array interface, such as the images of Pillow.

creation.py calls read() for an object that it cannot read through the buffer protocol, DLPack or __array__. See
https://numpy.org/doc/stable/reference/arrays.interface.html
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from itertools import accumulate
from operator import mul
from typing import Any, Final

from lanewise import _ext, dtypes
from lanewise._ext import Tensor
from lanewise._facts import MAX_NDIM
from lanewise.dtypes import CODES
from lanewise.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError, named

__all__ = ["read"]

_IS_TRUE: Final = bytes(map(bool, range(256)))  # table for bytes.translate: 0 stays 0, all else becomes 1


@named("asarray")
def read(obj: Any, copy: bool | None) -> Tensor:
    """Returns the elements of `obj` as a new tensor. Checks the interface before reading data."""
    interface = obj.__array_interface__
    if not isinstance(interface, Mapping):
        raise _error("a dict", interface)
    if copy is False:
        raise ArgumentError("expected copy=None or True for an object with __array_interface__, got False")
    if interface.get("mask") is not None:
        raise ArgumentTypeError("expected an array without a mask, got a mask, which would be lost; remove it")
    shape = _shape(interface.get("shape"))
    code, itemsize = _type(interface.get("typestr"))
    row_major = tuple(accumulate(shape[:0:-1], mul, initial=itemsize))[::-1] if shape else ()
    strides = _strides(interface.get("strides"), row_major, itemsize)
    reach = [step * (extent - 1) for step, extent in zip(strides, shape, strict=True)]
    low, high = sum(min(step, 0) for step in reach), sum(max(step, 0) for step in reach) + itemsize
    data = b"" if 0 in shape else _bytes(obj, interface, low, high)
    if CODES[code] is dtypes.bool:
        data = data.translate(_IS_TRUE)  # Pillow stores true as 255
    elements = _ext.from_bytes(data, CODES[code], (len(data) // itemsize,))
    if strides == row_major or 0 in shape:
        return _ext.reshape(elements, shape)
    positions = _ext.create("full", (), dtypes.int32, (-low // itemsize,))
    for extent, step in zip(shape, strides, strict=True):
        along = _ext.create("arange", extent, dtypes.int32, (0, step // itemsize))
        positions = _ext.add(_ext.expand_dims(positions, -1), along)
    return _ext.take(elements, positions)


def _shape(shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, tuple) or not all(_is_int(extent) and extent >= 0 for extent in shape):
        raise _error("a tuple of non-negative ints as shape", shape)
    if len(shape) > MAX_NDIM or math.prod(extent or 1 for extent in shape) >= 2**31:
        raise ShapeError(f"expected at most {MAX_NDIM} dimensions and fewer than 2^31 elements, got shape {shape}")
    return shape


def _type(typestr: Any) -> tuple[str, int]:
    """Splits a typestr such as "<f4". Returns the code of kind and item size, "f4", and the item size, 4."""
    if not isinstance(typestr, str) or len(typestr) < 3 or not typestr[2:].isdecimal() or len(typestr) > 8:
        raise _error("a typestr such as '<f4'", typestr)
    order, code = typestr[0], typestr[1:]
    if code not in CODES or order not in ("<|" if code[1:] == "1" else "<"):
        raise DTypeError(
            f"expected an array of {', '.join(dtype.name for dtype in CODES.values())} in little-endian "
            f"byte order, got typestr {typestr!r}; convert it first"
        )
    return code, int(code[1:])


def _strides(strides: Any, row_major: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    if strides is None:
        return row_major
    fits = isinstance(strides, tuple) and len(strides) == len(row_major)
    if not fits or not all(_is_int(step) and step % itemsize == 0 and abs(step) < 2**31 for step in strides):
        raise _error(f"None or {len(row_major)} multiples of {itemsize} between -2^31 and 2^31 as strides", strides)
    return tuple(strides)


def _bytes(obj: Any, interface: Mapping[str, Any], low: int, high: int) -> bytes:
    """Returns the memory that the elements occupy: bytes `low` to `high`, relative to the first element."""
    data = interface.get("data")
    if isinstance(data, tuple):
        if len(data) != 2 or not _is_int(data[0]) or not isinstance(data[1], bool):
            raise _error("data to be a pair of address and read-only flag", data)
        if data[0] + low <= 0 or data[0] + high > sys.maxsize:
            raise _error("a valid address of the first element", data[0])
        import ctypes

        return ctypes.string_at(data[0] + low, high - low)
    offset = interface.get("offset", 0)
    try:
        content = memoryview(obj if data is None else data).tobytes()
    except TypeError:
        raise _error("data to be a buffer or a pair of address and read-only flag", data) from None
    if not _is_int(offset) or offset + low < 0:
        raise _error(f"an int offset of at least {-low}", offset)
    if offset + high > len(content):
        raise _error(f"at least {offset + high} bytes of data", len(content))
    return content[offset + low : offset + high]


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _error(expected: str, value: Any) -> ArgumentError:
    return ArgumentError(f"expected {expected} in __array_interface__, got {value!r:.80}")
