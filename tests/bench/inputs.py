"""Input data as plain bytes, which every contestant turns into an array of its own.

Values are drawn without NumPy: a pattern of a prime number of elements, repeated, so that rows and blocks
differ and 16 million elements take milliseconds.
"""

from __future__ import annotations

import random
import struct
from array import array
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from tests.bench.operations import Range

FORMATS = {"bool": "?", "int32": "i", "int64": "q", "float32": "f", "float64": "d"}
ITEM_BYTES = {dtype: struct.calcsize(code) for dtype, code in FORMATS.items()}

PATTERN = 65_521
TYPICAL = 8.0  # values stay within +-8 where the domain allows: no overflow, no denormals, in any operation
TYPICAL_INTEGER = 1000

Shape = tuple[int, ...]


@dataclass(frozen=True)
class HostArray:
    """Contiguous row-major elements."""

    dtype: str
    shape: Shape
    data: bytes

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """What all elements take in memory."""
        return self.size * ITEM_BYTES[self.dtype]

    @property
    def view(self) -> memoryview[Any]:
        """The elements in one dimension, as the buffer protocol gives them."""
        code: Any = FORMATS[self.dtype]
        return memoryview(self.data).cast(code)


def draw(dtype: str, shape: Shape, within: Range | None, seed: int) -> HostArray:
    """Random elements of a shape, from the typical part of their domain."""
    generator = random.Random(seed)
    low, high = typical(dtype, within)
    count = prod(shape)
    length = min(count, PATTERN)
    values: list[float]
    if dtype == "bool":
        values = [generator.random() < 0.5 for _ in range(length)]
    elif dtype.startswith("int"):
        values = [generator.randint(int(low), int(high)) for _ in range(length)]
    else:
        values = [generator.uniform(low, high) for _ in range(length)]
    if within is not None and within.exclude_zero:
        values = [value or 1 for value in values]
    pattern = struct.pack(f"{length}{FORMATS[dtype]}", *values)
    times = -(-count // length) if length else 0
    return HostArray(dtype, shape, (pattern * times)[: count * ITEM_BYTES[dtype]])


def draw_indices(count: int, extent: int, seed: int) -> HostArray:
    """int32 positions along an axis of this extent, anywhere on it."""
    return draw("int32", (count,), Range(0, extent - 1), seed)


def ascending(x: HostArray) -> HostArray:
    """The elements of one dimension in order."""
    return replace(x, data=array(FORMATS[x.dtype], sorted(x.view)).tobytes())


def typical(dtype: str, within: Range | None) -> tuple[float, float]:
    """The part of a domain to draw from. Indices and small integer domains are used whole."""
    if dtype.startswith("int"):
        if within is None:
            return -TYPICAL_INTEGER, TYPICAL_INTEGER
        if within.low >= 0:
            return within.low, within.high
        return max(within.low, -TYPICAL_INTEGER), min(within.high, TYPICAL_INTEGER)
    if within is None:
        return -TYPICAL, TYPICAL
    low, high = max(within.low, -TYPICAL), min(within.high, TYPICAL)
    return (low, high) if low < high else (within.low, within.high)
