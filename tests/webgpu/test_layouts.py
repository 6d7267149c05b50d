"""Tests the bytes that shaders read as LwLayout and LwMatrixLayout, and the limits of what these structs can hold."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

import pytest
from recording import constant, decode

from lanewise.errors import ShapeError
from lanewise.webgpu.layouts import Strided, matrix_parameters

MAX_ELEMENTS = 2**31 - 1
JUNK = [-7] * 8  # stands for the arbitrary contents of unused rows and columns of a C struct


def _row(*values: int) -> list[int]:
    """Returns a row of a C struct: the values, then junk."""
    return [*values, *JUNK][:8]


def _strided(shape: Sequence[int], strides: Sequence[Sequence[int]], inner: int = 0) -> Strided:
    """Returns a layout with these strides per operand, as decoded from a C struct with junk in its unused elements."""
    rows = [*(_row(*each) for each in strides), *[JUNK] * 5][:5]
    return Strided("f", {"ndim": len(shape), "inner": inner, "shape": _row(*shape), "strides": rows}, len(strides))


def _words(*values: int, length: int) -> list[int]:
    """Returns values modulo 2^32, then zeros up to a length."""
    return [value % 2**32 for value in values] + [0] * (length - len(values))


SCALARS = [1.5, -2, 1e300, -math.inf]  # -2 is an integer parameter; 1e300 is infinite in float32
SCALAR_WORDS = list(struct.unpack("<4I", struct.pack("<fiff", 1.5, -2, math.inf, -math.inf)))


def test_every_field_of_a_strided_layout() -> None:
    strided = _strided([2, 3, 5000], [[-1, 12, 4], [8, 0, -4], [20, 24, 0]], inner=2)
    content = strided.parameters([-1, 4, 2**32 + 8], SCALARS, packed=True)
    assert len(content) == 256
    assert decode("LwLayout", content) == {
        "offsets": _words(-1, 4, 8, length=4),
        "scalars": SCALAR_WORDS,
        "shape": _words(2, 3, 5000, length=8),
        "strides": _words(-1, 8, 20, 0, 12, 0, 24, 0, 4, -4, 0, length=32),
        "count": 2,
        "packed": 1,
        "outer": 1,
        "ndim": 3,
        "length": 15_000,
        "blocks": 4,
    }


def test_every_field_of_a_strided_layout_with_all_dimensions_and_operands() -> None:
    strides = [[operand * 10 + d for d in range(8)] for operand in range(4)]
    content = _strided([1, 2, 1, 2, 1, 2, 1, 2], strides).parameters([1, 2, 3, 4], [], packed=False)
    fields = decode("LwLayout", content)
    assert fields["shape"] == [1, 2, 1, 2, 1, 2, 1, 2]
    assert fields["strides"] == [operand * 10 + d for d in range(8) for operand in range(4)]
    assert (fields["offsets"], fields["scalars"]) == ([1, 2, 3, 4], [0] * 4)
    assert [fields[name] for name in ("count", "packed", "outer", "ndim", "length", "blocks")] == [16, 0, 8, 8, 1, 1]


def _matrix(batch: Sequence[int], m: int, n: int, k: int, batch_strides: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Returns the layout of three operands, as decoded from a C struct with junk in its unused elements."""
    layout = {"batch_ndim": len(batch), "batch_shape": _row(*batch), "m": m, "n": n, "k": k}
    layout["batch_strides"] = [*(_row(*each) for each in batch_strides), JUNK, JUNK]
    return layout | {"row_strides": _row(-4, 8, 12)[:5], "column_strides": _row(16, -20, 24)[:5]}


def test_every_field_of_a_matrix_layout() -> None:
    layout = _matrix([2, 3], 5, 6, 7, [[-1, 4], [8, 12], [16, 20]])
    content, batch = matrix_parameters("f", layout, [-4, 8, 12], SCALARS, absent=5)
    assert (len(content), batch) == (256, 6)
    assert decode("LwMatrixLayout", content) == {
        "offsets": _words(-4, 8, 12, length=4),
        "scalars": SCALAR_WORDS,
        "row_strides": _words(-4, 8, 12, length=4),
        "column_strides": _words(16, -20, 24, length=4),
        "batch_shape": _words(2, 3, length=8),
        "batch_strides": _words(-1, 8, 16, 0, 4, 12, 20, length=32),
        "m": 5,
        "n": 6,
        "k": 7,
        "batch_ndim": 2,
        "batch": 6,
        "absent": 5,
    }


@pytest.mark.parametrize(("length", "blocks"), [(0, 1), (1, 1), (4096, 1), (4097, 2), (8192, 2), (8193, 3)])
def test_blocks_are_those_of_the_shader(length: int, blocks: int) -> None:
    assert constant("reduction", "lw_block") == 4096
    assert _strided([7, length], [[4, 4], [4, 0]], inner=1).blocks == blocks


@pytest.mark.parametrize(
    ("shape", "strides", "offset", "fills"),
    [
        ([6], [2], 0, True),
        ([6], [2], 4, True),
        *(([6], [2], offset, False) for offset in (1, 2, 3, 5, 6)),
        ([6], [4], 0, False),
        ([6], [-2], 0, False),
        ([2], [4], 0, False),
        ([3, 5], [10, 2], 0, True),
        ([3, 5], [12, 2], 0, False),
        ([3, 5], [10, 4], 0, False),
        ([3, 5], [2, 6], 0, False),
        ([1, 3, 1], [99, 2, 77], 0, True),
        ([], [], 0, True),
    ],
)
def test_only_contiguous_elements_from_a_word_boundary_on_fill_words(
    shape: list[int], strides: list[int], offset: int, fills: bool
) -> None:
    strided = _strided(shape, [[8] * len(shape), strides])
    assert strided.fills_words(1, offset, 2) is fills


@pytest.mark.parametrize(("shape", "inner"), [([MAX_ELEMENTS], 0), ([1, MAX_ELEMENTS], 1)])
def test_elements_that_32_bits_count(shape: list[int], inner: int) -> None:
    strides = [[4] * len(shape)] * 2
    strided = _strided(shape, strides, inner)
    assert strided.count * strided.length == MAX_ELEMENTS
    with pytest.raises(ShapeError, match="expected at most 2147483647 elements on wgpu, got 2147483648"):
        _strided([*shape[:-1], MAX_ELEMENTS + 1], strides, inner)


def _products(batch: int, m: int, n: int, k: int) -> int:
    return matrix_parameters("matmul_float32", _matrix([batch], m, n, k, [[4]] * 3), [0, 0, 0], [], 0)[1]


@pytest.mark.parametrize(
    ("fits", "exceeds"),
    [
        ((MAX_ELEMENTS, 1, 1, 1), (2**31, 1, 1, 1)),
        ((1, MAX_ELEMENTS, 1, 0), (1, 2**16, 2**15, 1)),
        ((1, 1, 0, MAX_ELEMENTS), (1, 2**16, 1, 2**15)),
        ((1, 0, 1, MAX_ELEMENTS), (1, 1, 2**16, 2**15)),
        ((1, 2**15, 1, 2**15), (2, 2**15, 1, 2**15)),
        ((1, 1, 2**15, 2**15), (2, 1, 2**15, 2**15)),
        ((1, 2**15, 2**15, 1), (2, 2**15, 2**15, 1)),
    ],
)
def test_elements_of_each_operand_that_32_bits_count(fits: tuple[int, ...], exceeds: tuple[int, ...]) -> None:
    assert _products(*fits) == fits[0]
    with pytest.raises(ShapeError, match=r"^matmul_float32: expected at most 2147483647 elements per operand"):
        _products(*exceeds)
