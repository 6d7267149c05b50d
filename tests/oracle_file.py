"""Reads the oracle's files (contracts/README.md has their format) and judges results, with nothing but the standard
library: lanes without NumPy, such as a bare Pyodide, use it as it is.

    for case in read(path).cases:
        result = ...                                    # what the operation made of case.inputs
        complaint = case.complaint(result, "simd128")   # None, or what is wrong
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAGIC, VERSION = b"LWORACLE", 1
DTYPES = ("bool", "int32", "int64", "float16", "float32", "float64")
FORMATS = dict(zip(DTYPES, "?iqefd", strict=True))  # of struct
SMALLEST = {"float16": -24, "float32": -149, "float64": -1074}  # exponents of two
DIGITS = {"float16": 11, "float32": 24, "float64": 53}
OVERFLOW = {"float16": 2.0**16, "float32": 2.0**128, "float64": math.inf}  # infinity, as far as distances go


@dataclass(frozen=True)
class Array:
    dtype: str
    shape: tuple[int, ...]
    data: memoryview  # of bytes, row-major

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def values(self) -> tuple[Any, ...]:
        return struct.unpack(f"<{self.size}{FORMATS[self.dtype]}", self.data)


@dataclass(frozen=True)
class Bound:
    """The allowed error is the largest of the parts; all zero means the reference rounded once."""

    ulp: float
    absolute: float
    relative: float
    magnitude: float

    @property
    def exact(self) -> bool:
        return not (self.ulp or self.absolute or self.relative or self.magnitude)


@dataclass(frozen=True)
class Case:
    name: str
    kernel: str  # empty where there is none
    keywords: Mapping[str, Any]  # parameters of the call from Python
    excused: frozenset[str]  # backends
    strict: bool  # signs of zeros count
    result_dtype: str
    layout: bytes  # the kernel's
    scalars: bytes
    inputs: Sequence[Array | None]
    reference: Array  # float64 where the result is a float, else of its dtype
    magnitude: Array | None
    bounds: Mapping[str, Bound]

    @property
    def computed_dtype(self) -> str:
        return self.name.split()[0]

    def bound(self, backend: str) -> Bound:
        return self.bounds.get(backend, self.bounds[""])

    def complaint(self, result: Sequence[Any], backend: str) -> str | None:
        """What is wrong with the result's elements in row-major order, or None."""
        references = self.reference.values()
        magnitudes = self.magnitude.values() if self.magnitude else (0.0,) * len(references)
        if len(result) != len(references):
            return f"{self.name}: {len(result)} elements, {len(references)} expected"
        for i, (got, wanted, magnitude) in enumerate(zip(result, references, magnitudes, strict=True)):
            if not near(got, wanted, self.result_dtype, self.bound(backend), magnitude, self.strict):
                return f"{self.name}: element {i} is {got!r}, {wanted!r} expected"
        return None


@dataclass(frozen=True)
class Oracle:
    operation: str
    signature: int  # of the contracts it was made from: LW_SIGNATURE
    cases: tuple[Case, ...]


def near(got: Any, wanted: Any, dtype: str, bound: Bound, magnitude: float = 0.0, strict: bool = False) -> bool:
    """Whether a result is as near to its reference as the bound demands."""
    if dtype not in DIGITS:
        return bool(got == wanted)
    if math.isnan(wanted) or math.isnan(got):
        return math.isnan(wanted) and math.isnan(got)
    if bound.exact or wanted == 0 or math.isinf(wanted):
        rounded = rounded_once(wanted, dtype)
        if strict and got == 0 == rounded:
            return math.copysign(1.0, got) == math.copysign(1.0, rounded)
        if bound.exact or strict or math.isinf(wanted):
            return bool(got == rounded)
    limit = OVERFLOW[dtype]
    distance = abs(max(-limit, min(limit, got)) - max(-limit, min(limit, wanted)))
    allowed = max(
        bound.ulp * unit(wanted, dtype), bound.absolute, bound.relative * abs(wanted), bound.magnitude * magnitude
    )
    return distance <= allowed


def unit(value: float, dtype: str) -> float:
    """One unit in the last place of a dtype, beside this value."""
    below = OVERFLOW[dtype] / 2
    exponent = math.frexp(min(abs(value), below))[1] if value else SMALLEST[dtype]
    return math.ldexp(1.0, max(exponent - DIGITS[dtype], SMALLEST[dtype]))


def rounded_once(value: float, dtype: str) -> float:
    """A float64 in a narrower dtype, to nearest even; struct refuses what overflows."""
    try:
        return float(struct.unpack(FORMATS[dtype], struct.pack(FORMATS[dtype], value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.view = memoryview(content)
        self.position = 0

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self.view, self.position)
        self.position += struct.calcsize("<" + layout)
        return values

    def bytes(self, count: int) -> memoryview:
        """Padded to a multiple of 8 with zeros."""
        data = self.view[self.position : self.position + count]
        self.position += count
        self.position += -self.position % 8
        return data

    def text(self) -> str:
        (count,) = self.take("I")
        return str(self.bytes(count), "utf-8")

    def array(self) -> Array | None:
        code, ndim = self.take("II")
        if code >= len(DTYPES):
            return None
        shape = self.take(f"{ndim}q")
        (count,) = self.take("Q")
        return Array(DTYPES[code], shape, self.bytes(count))


def read(path: Path) -> Oracle:
    """The file of one operation."""
    reader = _Reader(path.read_bytes())
    magic, version, _, size, signature = reader.take("8sIIQQ")
    if magic != MAGIC or version != VERSION or size != len(reader.view):
        raise ValueError(f"{path}: not an oracle of version {VERSION}; run contracts/generate.py --oracle again")
    operation = reader.text()
    bound_count, case_count = reader.take("II")
    bounds = {reader.text(): Bound(*reader.take("4d")) for _ in range(bound_count)}
    return Oracle(operation, signature, tuple(_cases(reader, case_count, bounds)))


def _cases(reader: _Reader, count: int, bounds: Mapping[str, Bound]) -> Iterator[Case]:
    for _ in range(count):
        start = reader.position
        (size,) = reader.take("Q")
        name, kernel, keywords, excused = (reader.text() for _ in range(4))
        strict, result, layout_size, scalar_count = reader.take("IIII")
        layout, scalars = bytes(reader.bytes(layout_size)), bytes(reader.bytes(8 * scalar_count))
        input_count, has_magnitude = reader.take("II")
        inputs = [reader.array() for _ in range(input_count)]
        reference = reader.array()
        assert reference is not None
        magnitude = reader.array() if has_magnitude else None
        assert reader.position == start + size, name
        backends = frozenset(excused.split(",")) - {""}
        yield Case(name, kernel, json.loads(keywords), backends, bool(strict), DTYPES[result], layout, scalars, inputs,
                   reference, magnitude, bounds)  # fmt: skip
