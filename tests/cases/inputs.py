"""The benchmark's input data as plain bytes, from which Lanewise and each other library make their own arrays.

Values are drawn without NumPy: at most 65,521 are drawn, then repeated, so that 16 million elements take milliseconds.
This number is prime, so that the rows and blocks of a matrix differ from each other.
"""

from __future__ import annotations

import random
import struct
from array import array
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from tests.cases.operations import Range

FORMATS = {"bool": "?", "int32": "i", "int64": "q", "float32": "f", "float64": "d"}
ITEM_BYTES = {dtype: struct.calcsize(code) for dtype, code in FORMATS.items()}

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
    def view(self) -> memoryview[Any]:
        """The elements as a one-dimensional memoryview."""
        code: Any = FORMATS[self.dtype]
        return memoryview(self.data).cast(code)


def draw(dtype: str, shape: Shape, within: Range | None, seed: int) -> HostArray:
    """Draws random elements from typical(dtype, within), a part of the domain `within`; None means no limits."""
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


def ascending(x: HostArray) -> HostArray:
    """Sorts an array of one dimension."""
    return replace(x, data=array(FORMATS[x.dtype], sorted(x.view)).tobytes())


def typical(dtype: str, within: Range | None) -> tuple[float, float]:
    """Returns the part of a domain to draw from. An integer domain without negative numbers is used in full."""
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
