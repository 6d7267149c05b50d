"""Tests operations that read or write elements at positions which indices give, with more elements than
tests/sweep/test_indices.py, and of every size: take, assignments to indexed elements, searchsorted, and where."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from harness import Runner, on_gpu, stays_on_gpu

import lanewise as lw

DTYPES = [np.bool_, np.float16, np.float32, np.int64]  # one for each size of an element
EVERY_SIZE = pytest.mark.parametrize("dtype", DTYPES)
INDICES = [3, -1, 0, 3, -2, 2, 99, -99, 1]  # some are equal, negative or out of range; the extent is 5


def values(*shape: int, dtype: Any) -> np.ndarray:
    numbers = np.random.default_rng([*shape, 1]).integers(-99, 99, shape)
    return numbers > 0 if dtype is np.bool_ else numbers.astype(dtype)


def clamped(indices: Any, extent: int) -> np.ndarray:
    """Returns the positions that WebGPU reads: negative indices count from the end, then indices are clamped."""
    indices = np.asarray(indices, np.int64)
    return np.clip(np.where(indices < 0, indices + extent, indices), 0, extent - 1)


def moved(extent: int, axis: int, rest: tuple[int, ...] = (3, 7)) -> tuple[int, ...]:
    """Returns a shape with this extent along an axis."""
    return (*rest[:axis], extent, *rest[axis:])


@EVERY_SIZE
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_take(gpu: Runner, axis: int, dtype: Any) -> None:
    x = values(*moved(5, axis), dtype=dtype)
    indices = np.array(INDICES, np.int32)
    expected = np.take(x, clamped(INDICES, 5), axis)
    np.testing.assert_array_equal(gpu.guarded("take", x, indices, axis=axis), expected)
    whole, at = on_gpu(x), on_gpu(np.repeat(indices, 2))
    with stays_on_gpu():
        part = lw.take(whole[::-1, :, ::-1], at[::-2], axis=axis)
        of_all = lw.take(whole[::-1], at[::2] * 9)
    np.testing.assert_array_equal(np.array(part), np.take(x[::-1, :, ::-1], clamped(INDICES[::-1], 5), axis))
    np.testing.assert_array_equal(np.array(of_all), x[::-1].ravel()[clamped(indices * 9, x.size)])


def put(target: np.ndarray, indices: Any, given: np.ndarray) -> None:
    """Writes along the first axis, one index after the other, so that the last of equal indices wins. Leaves out those
    that are out of range."""
    for index, value in zip(np.ravel(indices), given, strict=True):
        if -len(target) <= index < len(target):
            target[index] = value


@EVERY_SIZE
@pytest.mark.parametrize("count", [1, 255, 1000, 5000])
def test_the_last_of_many_equal_indices_wins(gpu: Runner, count: int, dtype: Any) -> None:
    base = values(300, dtype=dtype)
    indices = np.random.default_rng(count).integers(-300, 300, count).astype(np.int32)
    given = values(count, dtype=dtype)
    x, new, at = on_gpu(base), on_gpu(given), on_gpu(indices)
    with stays_on_gpu():
        x[at] = new
    put(base, indices, given)
    np.testing.assert_array_equal(np.array(x), base)


@EVERY_SIZE
def test_put_of_a_part_of_the_target(gpu: Runner, dtype: Any) -> None:
    """Values are read before elements are overwritten."""
    base = values(12, 5, dtype=dtype)
    x, at = on_gpu(base), on_gpu([11, 2, 0], np.int32)
    with stays_on_gpu():
        x[at] = x[:3]
    base[[11, 2, 0]] = base[:3].copy()
    np.testing.assert_array_equal(np.array(x), base)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
@pytest.mark.parametrize("size", [1, 2, 100, 4097])
def test_searchsorted(gpu: Runner, size: int, dtype: Any, side: str) -> None:
    random = np.random.default_rng(size)
    row = np.sort(random.integers(-50, 50, size)).astype(dtype)
    sought = random.integers(-60, 60, (7, 90)).astype(dtype)
    np.testing.assert_array_equal(gpu.guarded("searchsorted", row, sought, side=side), row.searchsorted(sought, side))
    x, y = on_gpu(np.repeat(row, 3)), on_gpu(sought)
    with stays_on_gpu():
        found = lw.searchsorted(x[1::3], y.T[::-2], side=side)
    np.testing.assert_array_equal(np.array(found), row.searchsorted(sought.T[::-2], side))


@pytest.mark.parametrize("start", [0, 3])
@pytest.mark.parametrize("shared", [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)])
def test_where_into_its_operands(gpu: Runner, shared: tuple[int, ...], start: int) -> None:
    """Bools as conditions are read as bools, and as values they are bytes: both may be the result itself."""
    random = np.random.default_rng(len(shared))
    arrays = [random.random(1000) < 0.5 for _ in range(3)]
    for position in shared:
        arrays[position] = arrays[shared[0]]
    tensors = [on_gpu(each) for each in arrays]
    parts = [tensors[shared[0] if i in shared else i][start:] for i in range(3)]
    lw.where(*parts, out=parts[shared[0]])
    np.testing.assert_array_equal(np.array(parts[shared[0]]), np.where(*arrays)[start:])
