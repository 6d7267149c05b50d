"""The benchmark's input data as plain bytes, from which Lanewise and each other library make their own arrays.

Values are drawn without NumPy: at most 65,521 are drawn, then repeated, so that 16 million elements take milliseconds.
This number is prime, so that the rows and blocks of a matrix differ from each other.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from lanewise.dtypes import ALL, as_dtype
from lanewise.typeinfo import iinfo
from tests.cases.operations import Range

ITEM_BYTES = {dtype.name: dtype.itemsize for dtype in ALL}

PATTERN = 65_521
TYPICAL = 8.0  # values are in [-8, 8] if the domain allows it, so that no operation overflows or gives denormals
TYPICAL_INTEGER = 1000

Shape = tuple[int, ...]


@dataclass(frozen=True)
class HostArray:
    """An array in plain memory: contiguous elements in row-major order."""

    dtype: str
    shape: Shape
    data: bytes

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes."""
        return self.size * ITEM_BYTES[self.dtype]

    @property
    def values(self) -> tuple[Any, ...]:
        """The elements as Python numbers."""
        return unpacked(self.dtype, self.data)


def packed(dtype: str, values: Sequence[float]) -> bytes:
    """Returns numbers as the bytes of a dtype, rounded to it."""
    if code := as_dtype(dtype).format:
        return struct.pack(f"{len(values)}{code}", *values)
    # bfloat16, the upper half of a float32. To round it, half of the last bit that is kept is added, ties to even.
    words = memoryview(struct.pack(f"{len(values)}f", *values)).cast("B").cast("I")
    return struct.pack(f"{len(values)}H", *(word + 0x7FFF + (word >> 16 & 1) >> 16 for word in words))


def unpacked(dtype: str, data: bytes) -> tuple[Any, ...]:
    """Returns the elements that the bytes of an array hold, as Python numbers."""
    count = len(data) // ITEM_BYTES[dtype]
    if code := as_dtype(dtype).format:
        return struct.unpack(f"{count}{code}", data)
    return struct.unpack(f"{count}f", struct.pack(f"{count}I", *(word << 16 for word in memoryview(data).cast("H"))))


def draw(dtype: str, shape: Shape, within: Range | None, seed: int, *, spread: bool = False) -> HostArray:
    """Draws random elements from typical(dtype, within), a part of the domain `within`; None means no limits.

    With `spread`, every element is drawn, integers from all that their dtype can hold, so that few elements are equal.
    """
    generator = random.Random(seed)
    low, high = typical(dtype, within)
    count, kind = prod(shape), as_dtype(dtype).kind
    length = count if spread else min(count, PATTERN)
    if spread and kind in "iu":
        return HostArray(dtype, shape, generator.randbytes(count * ITEM_BYTES[dtype]))
    values: list[float]
    if kind == "b":
        values = [generator.random() < 0.5 for _ in range(length)]
    elif kind == "f":
        values = [generator.uniform(low, high) for _ in range(length)]
    else:
        values = [generator.randint(int(low), int(high)) for _ in range(length)]
    if within is not None and within.exclude_zero:
        values = [value or 1 for value in values]
    pattern = packed(dtype, values)
    times = -(-count // length) if length else 0
    return HostArray(dtype, shape, (pattern * times)[: count * ITEM_BYTES[dtype]])


def ascending(x: HostArray) -> HostArray:
    """Sorts an array of one dimension."""
    return HostArray(x.dtype, x.shape, packed(x.dtype, sorted(x.values)))


def typical(dtype: str, within: Range | None) -> tuple[float, float]:
    """Returns the part of a domain to draw from. An integer domain without negative numbers is used in full, as far as
    the dtype can hold it."""
    if as_dtype(dtype).kind in "iu":
        held = iinfo(dtype)
        if within is not None and within.low >= 0:
            return within.low, min(within.high, held.max)
        low, high = (within.low, within.high) if within else (held.min, held.max)
        return max(low, held.min, -TYPICAL_INTEGER), min(high, held.max, TYPICAL_INTEGER)
    if within is None:
        return -TYPICAL, TYPICAL
    low, high = max(within.low, -TYPICAL), min(within.high, TYPICAL)
    return (low, high) if low < high else (within.low, within.high)
