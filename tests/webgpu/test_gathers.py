"""Tests operations that read or write elements at positions which indices give: take, take_along_axis, assignments to
indexed elements, searchsorted, and where, which chooses between elements."""

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
    np.testing.assert_array_equal(np.array(part), np.take(x[::-1, :, ::-1], clamped(INDICES[::-1], 5), axis))


@EVERY_SIZE
def test_take_from_everything(gpu: Runner, dtype: Any) -> None:
    x, indices = values(4, 5, dtype=dtype), np.array([[19, -20], [50, 7], [-21, 7]], np.int32)
    expected = x.ravel()[clamped(indices, 20)]
    np.testing.assert_array_equal(gpu.guarded("take", x, indices), expected)
    np.testing.assert_array_equal(gpu.guarded("take", x.T.copy(), indices), x.T.ravel()[clamped(indices, 20)])


def test_indices_of_an_empty_axis(gpu: Runner) -> None:
    """They cannot be clamped, so they raise the error that the CPU raises."""
    x, indices = on_gpu(np.zeros(0, np.float32)), on_gpu(np.array([2], np.int32))
    with pytest.raises(lw.IndexOutOfRangeError, match="take: expected indices within axis 0 of extent 0, got 2"):
        lw.take(x, indices)
    with pytest.raises(lw.IndexOutOfRangeError, match="setitem: index 2 is out of range for axis 0 of extent 0"):
        x[indices] = 1


@EVERY_SIZE
@pytest.mark.parametrize("axis", [0, 1])
def test_take_along_axis(gpu: Runner, axis: int, dtype: Any) -> None:
    x = values(5, 5, dtype=dtype)
    indices = np.random.default_rng(3).integers(-8, 8, (5, 5)).astype(np.int32)
    expected = np.take_along_axis(x, clamped(indices, 5), axis)
    np.testing.assert_array_equal(gpu.run("take_along_axis", x, indices, axis=axis), expected)


def put(target: np.ndarray, indices: Any, given: np.ndarray) -> None:
    """Writes along the first axis, one index after the other, so that the last of equal indices wins. Leaves out those
    that are out of range."""
    for index, value in zip(np.ravel(indices), given, strict=True):
        if -len(target) <= index < len(target):
            target[index] = value


@EVERY_SIZE
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_put(gpu: Runner, axis: int, dtype: Any) -> None:
    base = values(*moved(5, axis), dtype=dtype)
    given = values(*moved(len(INDICES), axis), dtype=dtype)
    x, new, at = on_gpu(base), on_gpu(given), on_gpu(INDICES, np.int32)
    with stays_on_gpu():
        x[(slice(None),) * axis + (at,)] = new
    put(np.moveaxis(base, axis, 0), INDICES, np.moveaxis(given, axis, 0))
    np.testing.assert_array_equal(np.array(x), base)


@EVERY_SIZE
@pytest.mark.parametrize("axis", [0, 1])
def test_put_into_a_view(gpu: Runner, axis: int, dtype: Any) -> None:
    """Elements between those of the view are kept, also those in the same word."""
    base, given = values(11, 12, dtype=dtype), values(len(INDICES), 5, dtype=dtype)
    x, new, at = on_gpu(base), on_gpu(given), on_gpu(INDICES, np.int32)
    view = (slice(1, 10, 2), slice(10, 0, -2))
    with stays_on_gpu():
        target = x[view] if axis == 0 else x[view].T
        target[at] = new
    put(base[view] if axis == 0 else base[view].T, INDICES, given)
    np.testing.assert_array_equal(np.array(x), base)


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
def test_put_of_numbers_and_rows(gpu: Runner, dtype: Any) -> None:
    """Values that broadcast: a number, one row for all indices, a number for each index; indices of two dimensions."""
    base, row = values(5, 7, dtype=dtype), values(7, dtype=dtype)
    x, y, z, new = (on_gpu(each) for each in (base, base, base, row))
    at, square = on_gpu([4, 0], np.int32), on_gpu([[1, 3], [1, 0]], np.int32)
    column = values(2, 1, dtype=dtype)
    given = on_gpu(column)
    with stays_on_gpu():
        x[at] = 1
        x[:, at] = 0
        y[square] = new
        z[at] = given
    expected = base.copy()
    expected[[4, 0]] = 1
    expected[:, [4, 0]] = 0
    np.testing.assert_array_equal(np.array(x), expected)
    expected = base.copy()
    expected[[1, 3, 0]] = row
    np.testing.assert_array_equal(np.array(y), expected)
    expected = base.copy()
    expected[[4, 0]] = column
    np.testing.assert_array_equal(np.array(z), expected)


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
