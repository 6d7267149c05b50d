"""Tests that kernels which examine the bits of a float examine all of them. Inputs are infinity, 1 and 0, and each of
these with one bit flipped, for every bit including the sign. Oracle files have such numbers for some bits only."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from harness import Runner

FLOATS = ("float16", "float32", "float64")


def patterns(dtype: str) -> np.ndarray:
    """Returns infinity, 1 and 0, each unchanged and with each of its bits flipped."""
    words = np.array([np.inf, 1, 0], dtype).view(f"u{np.dtype(dtype).itemsize}")
    bits = words.dtype.type(1) << np.arange(8 * words.itemsize, dtype=words.dtype)
    return np.concatenate([words, (words[:, None] ^ bits).ravel()]).view(dtype)


# The operations of one and two floats that have a kernel for each dtype of floats, and those with one for float32
OF_ONE = [*product(["isnan", "isinf", "isfinite"], FLOATS), ("signbit", "float32"), ("logical_not", "float32")]
COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
OF_TWO = [*product(COMPARISONS, FLOATS)]
OF_TWO += product(["minimum", "maximum", "logical_and", "logical_or", "logical_xor"], ["float32"])


@pytest.mark.parametrize(("operation", "dtype"), OF_ONE)
def test_operations_of_one_float(gpu: Runner, operation: str, dtype: str) -> None:
    x = patterns(dtype)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(gpu.guarded(operation, x), getattr(np, operation)(x))


@pytest.mark.parametrize(("operation", "dtype"), OF_TWO)
def test_operations_of_two_floats(gpu: Runner, operation: str, dtype: str) -> None:
    """Every pair of numbers, including those that differ in one bit."""
    x = patterns(dtype)[:, None]
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(gpu.guarded(operation, x, x.T), getattr(np, operation)(x, x.T))


@pytest.mark.parametrize("dtype", FLOATS)
def test_every_float_except_zero_is_true(gpu: Runner, dtype: str) -> None:
    x = patterns(dtype)
    got = gpu.run("astype", x, dtype="bool")
    np.testing.assert_array_equal(got, x != 0)


@pytest.mark.parametrize("operation", ["any", "all"])
def test_reductions_of_one_float32(gpu: Runner, operation: str) -> None:
    x = patterns("float32").reshape(-1, 1)
    got = gpu.guarded(operation, x, axis=1)
    np.testing.assert_array_equal(got, x[:, 0] != 0)


@pytest.mark.parametrize("operation", ["argmin", "argmax"])
@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_the_first_of_equal_extremes(gpu: Runner, operation: str, dtype: str) -> None:
    """Each row repeats one number, so the result must be index 0. The reduction's identity must not win, even if that
    number is the least or the greatest of its dtype."""
    numbers = [np.iinfo(np.int32).min, np.iinfo(np.int32).max] if dtype == "int32" else patterns(dtype)
    x = np.repeat(np.array(numbers, dtype)[:, None], 3, 1)
    got = gpu.guarded(operation, x, axis=1)
    assert not got.any()
