"""Tests prefix sums, which have the bits of the CPU, for rows around a tile of 64 elements and around those that are
scanned at once, for few rows and many, along any axis."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Runner, on_gpu, stays_on_gpu

import lanewise as lw

TILE, TURN = 64, 4096
LENGTHS = [1, 2, 3, 4, 5, 63, 64, 65, 127, 128, 129, 300, TURN - 1, TURN, TURN + 1, 3 * TURN + 5, 4 * TURN + 1, 70_001]


def numbers(dtype: str, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(shape)
    return (rng.uniform(-1, 1, shape) if dtype == "float32" else rng.integers(-99, 99, shape)).astype(dtype)


def assert_as_on_cpu(gpu: Runner, x: np.ndarray, axis: int) -> None:
    assert gpu.guarded("cumulative_sum", x, axis=axis).tobytes() == np.array(lw.cumulative_sum(x, axis=axis)).tobytes()


@pytest.mark.parametrize("length", [*LENGTHS, 1025 * TURN + 7])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_one_row(gpu: Runner, dtype: str, length: int) -> None:
    assert_as_on_cpu(gpu, numbers(dtype, length), 0)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_rows_and_columns(gpu: Runner, dtype: str, length: int) -> None:
    for rows in (3, 70) if length < 10_000 else (3,):
        assert_as_on_cpu(gpu, numbers(dtype, rows, length), 1)
        assert_as_on_cpu(gpu, numbers(dtype, length, rows), 0)
    assert_as_on_cpu(gpu, numbers(dtype, 2, min(length, 1000), 17), 1)


@pytest.mark.parametrize("view", [np.s_[:, 1:], np.s_[:, ::-1], np.s_[::2, ::3]])
@pytest.mark.parametrize("length", [70, 4100, 20_000])
def test_views(gpu: Runner, length: int, view: tuple[slice, slice]) -> None:
    x = numbers("float32", 5, length)
    part = on_gpu(x)[view]
    with stays_on_gpu():
        result = lw.cumulative_sum(part, axis=1)
    assert np.array(result).tobytes() == np.array(lw.cumulative_sum(x[view].copy(), axis=1)).tobytes()


@pytest.mark.parametrize("shape", [(7, 30), (2, 9000), (1, 20_000)])
def test_in_place(gpu: Runner, shape: tuple[int, int]) -> None:
    x = numbers("int32", *shape)
    tensor = on_gpu(x)
    with stays_on_gpu():
        lw.cumulative_sum(tensor, axis=1, out=tensor)
    np.testing.assert_array_equal(np.array(tensor), x.cumsum(1))
