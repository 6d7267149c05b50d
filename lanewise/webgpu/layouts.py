"""Encodes a kernel's layout and parameters as the bytes that its shader reads: the structs LwLayout and LwMatrixLayout
of webgpu/kinds. Offsets and strides are encoded modulo 2^32, because shaders compute addresses modulo 2^32.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final

from lanewise.errors import ShapeError
from lanewise.webgpu.device import PARAMETER_BYTES

__all__ = ["BLOCK", "Strided", "matrix_parameters"]

BLOCK: Final = 4096  # number of elements in a block of a reduction
DIMENSIONS: Final = 8
OPERANDS: Final = 4  # maximum number of operands: one per component of a WGSL vec4
MAX_ELEMENTS: Final = 2**31 - 1  # indices in shaders have 32 bits


class Strided:
    """The fields of an lw_layout. A kernel computes `count` results, each from `length` elements in `blocks` blocks."""

    __slots__ = ("blocks", "count", "length", "ndim", "outer", "shape", "strides")

    def __init__(self, kernel: str, layout: Mapping[str, Any], operands: int) -> None:
        self.ndim: int = layout["ndim"]
        self.outer: int = self.ndim - layout["inner"]
        self.shape: list[int] = list(layout["shape"][: self.ndim])
        self.strides: list[list[int]] = [list(strides[: self.ndim]) for strides in layout["strides"][:operands]]
        self.count = math.prod(self.shape[: self.outer])
        self.length = math.prod(self.shape[self.outer :])
        if self.count * self.length > MAX_ELEMENTS:
            raise ShapeError(
                f"{kernel}: expected at most {MAX_ELEMENTS} elements on wgpu, got {self.count * self.length}; split "
                "the tensor, or keep it on the CPU"
            )
        self.blocks = max(1, -(-self.length // BLOCK))

    def fills_words(self, operand: int, offset: int, item_bytes: int) -> bool:
        """Returns whether the elements of an operand are contiguous and start at a multiple of 4 bytes."""
        step = item_bytes
        for extent, stride in zip(reversed(self.shape), reversed(self.strides[operand]), strict=True):
            if extent != 1 and stride != step:
                return False
            step *= extent
        return offset % 4 == 0

    def parameters(self, offsets: Sequence[int], scalars: Sequence[float], packed: bool) -> bytes:
        """Returns struct LwLayout as bytes. `packed` is what fills_words() returns for the result."""
        words = _words(offsets, OPERANDS) + _scalars(scalars)
        words += _words(self.shape, DIMENSIONS) + _transposed(self.strides)
        words += [self.count, int(packed), self.outer, self.ndim, self.length, self.blocks]
        return _packed(words)


def matrix_parameters(
    kernel: str, layout: Mapping[str, Any], offsets: Sequence[int], scalars: Sequence[float], absent: int
) -> tuple[bytes, int]:
    """Returns struct LwMatrixLayout as bytes, and the number of products. `absent` has bit i set for absent input i."""
    operands = len(offsets)
    shape = list(layout["batch_shape"][: layout["batch_ndim"]])
    batch = math.prod(shape)
    m, n, k = layout["m"], layout["n"], layout["k"]
    if max(batch * m * n, batch * m * k, batch * k * n) > MAX_ELEMENTS:
        raise ShapeError(
            f"{kernel}: expected at most {MAX_ELEMENTS} elements per operand on wgpu, got {batch} products of "
            f"({m}, {k}) and ({k}, {n}); split the batch, or keep it on the CPU"
        )
    words = _words(offsets, OPERANDS) + _scalars(scalars)
    words += _words(layout["row_strides"][:operands], OPERANDS)
    words += _words(layout["column_strides"][:operands], OPERANDS)
    words += _words(shape, DIMENSIONS)
    words += _transposed([strides[: len(shape)] for strides in layout["batch_strides"][:operands]])
    words += [m, n, k, len(shape), batch, absent]
    return _packed(words), batch


def _words(values: Sequence[int], length: int) -> list[int]:
    return [value & 0xFFFFFFFF for value in values] + [0] * (length - len(values))


def _scalars(values: Sequence[float]) -> list[int]:
    """Encodes floats as float32, and integers (also choices and flags, which are passed as integers) as int32."""
    bits = []
    for value in values:
        packed = struct.pack("<i", value) if isinstance(value, int) else _float32(value)
        bits.append(int.from_bytes(packed, "little"))
    return _words(bits, OPERANDS)


def _float32(value: float) -> bytes:
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", math.copysign(math.inf, value))


def _transposed(strides: Sequence[Sequence[int]]) -> list[int]:
    """Returns, for each dimension in turn, the strides of all operands, padded to OPERANDS."""
    padding = [0] * (OPERANDS - len(strides))
    words = [word for each in zip(*strides, strict=True) for word in (*each, *padding)]
    return _words(words, DIMENSIONS * OPERANDS)


def _packed(words: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(words)}I", *words).ljust(PARAMETER_BYTES, b"\0")
