"""Reads the oracle's files (contracts/README.md describes their format) and compares results with them. Uses only the
standard library and the facts of the package, so that it also runs in a Pyodide without NumPy.

    for case in read(path).cases:
        result = ...                                    # the operation's result for case.inputs
        complaint = case.complaint(result, "simd128")   # None, or a text that says what is wrong
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lanewise._facts import DTYPES as FACTS

MAGIC, VERSION = b"LWORACLE", 3
STRICT, MAGNITUDE, REST = 1, 2, 4  # flags of a case
DTYPES = tuple(name for name, *_ in FACTS)
FORMATS = {name: format for name, _, _, format, _ in FACTS}  # format characters of the module struct
DIGITS = {name: fraction + 1 for name, _, kind, _, fraction in FACTS if kind == "f"}
_LIMITS = {name: 2 ** (8 * size - DIGITS[name] - 1) for name, size, kind, _, _ in FACTS if kind == "f"}
SMALLEST = {name: 3 - limit - DIGITS[name] for name, limit in _LIMITS.items()}  # exponent of the smallest denormal
# Results and references are clamped to this magnitude before they are subtracted, so that infinity can be compared.
OVERFLOW = {name: 2.0**limit if limit < 1024 else math.inf for name, limit in _LIMITS.items()}


@dataclass(frozen=True)
class Array:
    dtype: str
    shape: tuple[int, ...]
    data: memoryview  # bytes, row-major

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def values(self) -> tuple[Any, ...]:
        if not FORMATS[self.dtype]:  # bfloat16, the upper half of a float32
            words = struct.unpack(f"<{self.size}H", self.data)
            return struct.unpack(f"<{self.size}f", struct.pack(f"<{self.size}I", *(word << 16 for word in words)))
        return struct.unpack(f"<{self.size}{FORMATS[self.dtype]}", self.data)


@dataclass(frozen=True)
class Bound:
    """The allowed error: the largest of `ulp` units in the last place, `absolute`, `relative` * |reference|, and
    `magnitude` * Case.magnitude. If all are 0, the result must be the reference rounded once."""

    ulp: float
    absolute: float
    relative: float
    magnitude: float

    @property
    def is_exact(self) -> bool:
        return not (self.ulp or self.absolute or self.relative or self.magnitude)


@dataclass(frozen=True)
class Case:
    name: str
    kernel: str  # "" if the operation has no kernel
    keywords: Mapping[str, Any]  # parameters of the Python call
    excused: frozenset[str]  # backends that skip this case
    strict: bool  # whether -0.0 and 0.0 differ
    result_dtype: str
    layout: bytes  # the layout argument of the kernel
    scalars: bytes
    inputs: Sequence[Array | None]
    reference: Array  # of dtype float64 if the result is a float, otherwise of the result's dtype
    magnitude: Array | None  # the reference computed from the inputs' absolute values
    rest: Array | None  # the exact reference minus `reference`, if float64 cannot hold it
    bounds: Mapping[tuple[str, str], Bound]  # (dtype, backend); "" stands for those without a bound of their own
    # The last result that met each bound. sweep/judge.py does not examine the same bits again for another backend.
    accepted: dict[Bound, bytes] = field(default_factory=dict, compare=False, repr=False)

    @property
    def computed_dtype(self) -> str:
        return self.name.split()[0]

    def bound(self, backend: str) -> Bound:
        dtype = self.result_dtype if (self.result_dtype, "") in self.bounds else ""
        return self.bounds.get((dtype, backend), self.bounds[dtype, ""])

    def complaint(self, result: Sequence[Any], backend: str) -> str | None:
        """Returns a message about a wrong number of elements or the first wrong one in row-major order, else None."""
        references = self.reference.values()
        zeros = (0.0,) * len(references)
        magnitudes, rests = (each.values() if each else zeros for each in (self.magnitude, self.rest))
        if len(result) != len(references):
            return f"{self.name}: expected {len(references)} elements, got {len(result)}"
        bound = self.bound(backend)
        for i, (got, expected, scale, rest) in enumerate(zip(result, references, magnitudes, rests, strict=True)):
            if not near(got, expected, self.result_dtype, bound, scale, self.strict, rest):
                return f"{self.name}: element {i}: expected {expected!r}, got {got!r}"
        return None


@dataclass(frozen=True)
class Oracle:
    operation: str
    signature: int  # LW_SIGNATURE, a hash of the table of kernels, when the file was written
    cases: tuple[Case, ...]


def near(
    got: Any, expected: Any, dtype: str, bound: Bound, magnitude: float = 0.0, strict: bool = False, rest: float = 0.0
) -> bool:
    """Returns whether a result is within the bound of its reference, which is expected + rest."""
    if got == expected != 0:  # the most frequent outcome
        return True
    if dtype not in DIGITS:
        return bool(got == expected)
    if math.isnan(expected) or math.isnan(got):
        return math.isnan(expected) and math.isnan(got)
    if bound.is_exact or expected == 0 or math.isinf(expected):
        rounded = rounded_once(expected, dtype)
        if strict and got == 0 == rounded:
            return math.copysign(1.0, got) == math.copysign(1.0, rounded)
        if bound.is_exact or strict or math.isinf(expected):
            return bool(got == rounded)
    limit = OVERFLOW[dtype]
    distance = abs(max(-limit, min(limit, got)) - max(-limit, min(limit, expected)) - rest)
    allowed = max(
        bound.ulp * unit(expected, dtype), bound.absolute, bound.relative * abs(expected), bound.magnitude * magnitude
    )
    return distance <= allowed


def unit(value: float, dtype: str) -> float:
    """Returns one unit in the last place of a dtype at this value."""
    below = OVERFLOW[dtype] / 2
    exponent = math.frexp(min(abs(value), below))[1] if value else SMALLEST[dtype]
    return math.ldexp(1.0, max(exponent - DIGITS[dtype], SMALLEST[dtype]))


def rounded_once(value: float, dtype: str) -> float:
    """Rounds a float64 to a dtype, ties to even. Values too large for the dtype become infinite."""
    if math.isnan(value) or math.isinf(value):
        return value
    step = unit(value, dtype)
    rounded = round(value / step) * step
    return math.copysign(rounded if abs(rounded) < OVERFLOW[dtype] else math.inf, value)


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.view = memoryview(content)
        self.position = 0

    def unpack(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self.view, self.position)
        self.position += struct.calcsize("<" + layout)
        return values

    def bytes(self, count: int) -> memoryview:
        """Returns the next `count` bytes; skips the zeros that pad them to a multiple of 8."""
        data = self.view[self.position : self.position + count]
        self.position += count
        self.position += -self.position % 8
        return data

    def text(self) -> str:
        (count,) = self.unpack("I")
        return str(self.bytes(count), "utf-8")

    def array(self) -> Array | None:
        code, ndim = self.unpack("II")
        if code >= len(DTYPES):
            return None
        shape = self.unpack(f"{ndim}q")
        (count,) = self.unpack("Q")
        return Array(DTYPES[code], shape, self.bytes(count))


def read(path: Path) -> Oracle:
    """Reads the file of one operation."""
    reader = _Reader(path.read_bytes())
    magic, version, _, size, signature = reader.unpack("8sIIQQ")
    if magic != MAGIC or version != VERSION or size != len(reader.view):
        raise ValueError(
            f"{path}: expected a whole oracle file of version {VERSION}, got {magic!r}, version {version}, "
            f"{len(reader.view)} of {size} bytes; run contracts/generate.py --oracle again"
        )
    operation = reader.text()
    bound_count, case_count = reader.unpack("II")
    bounds = {(reader.text(), reader.text()): Bound(*reader.unpack("4d")) for _ in range(bound_count)}
    return Oracle(operation, signature, tuple(_cases(reader, case_count, bounds)))


def _cases(reader: _Reader, count: int, bounds: Mapping[tuple[str, str], Bound]) -> Iterator[Case]:
    for _ in range(count):
        start = reader.position
        (size,) = reader.unpack("Q")
        name, kernel, keywords, excused = (reader.text() for _ in range(4))
        flags, result, layout_size, scalar_count = reader.unpack("IIII")
        layout, scalars = bytes(reader.bytes(layout_size)), bytes(reader.bytes(8 * scalar_count))
        input_count, _ = reader.unpack("II")
        inputs = [reader.array() for _ in range(input_count)]
        reference = reader.array()
        assert reference is not None
        magnitude, rest = (reader.array() if flags & each else None for each in (MAGNITUDE, REST))
        given = json.loads(keywords)
        parameters = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}
        placements, _ = reader.unpack("II")
        assert placements or reader.position == start + size, name
        reader.position = start + size  # skips further memory layouts of the operands, which only runner.c reads
        backends = frozenset(excused.split(",")) - {""}
        yield Case(name, kernel, parameters, backends, bool(flags & STRICT), DTYPES[result], layout, scalars,
                   inputs, reference, magnitude, rest, bounds)  # fmt: skip
