"""Tests that kernels which examine the bits of a number examine all of them. Inputs are infinity (of integers, the
number of which all bits are set), 1 and 0, and each of these with one bit flipped, for every bit including the sign.
Oracle files have such numbers for some bits only."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from harness import Runner

FLOATS = ("float16", "float32", "float64")


def patterns(dtype: str) -> np.ndarray:
    """Returns infinity or the number of which all bits are set, 1 and 0, each unchanged and with each of its bits
    flipped."""
    first = np.inf if dtype in FLOATS else ~np.dtype(dtype).type(0)
    words = np.array([first, 1, 0], dtype).view(f"u{np.dtype(dtype).itemsize}")
    bits = words.dtype.type(1) << np.arange(8 * words.itemsize, dtype=words.dtype)
    return np.concatenate([words, (words[:, None] ^ bits).ravel()]).view(dtype)


# The operations of one and two floats that have a kernel for each dtype of floats, and those with one for float32
OF_ONE = [*product(["isnan", "isinf", "isfinite"], FLOATS), ("signbit", "float32"), ("logical_not", "float32")]
COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
OF_TWO = [*product(COMPARISONS, FLOATS)]
OF_TWO += product(["minimum", "maximum", "logical_and", "logical_or", "logical_xor"], ["float32"])
OF_INTEGERS = [*COMPARISONS, "minimum", "maximum", "floor_divide", "remainder", "bitwise_right_shift"]


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


@pytest.mark.parametrize(("operation", "dtype"), [*product(OF_INTEGERS, ["int32", "uint32"]), ("pow", "uint32")])
def test_operations_of_two_integers(gpu: Runner, operation: str, dtype: str) -> None:
    x = patterns(dtype)[:, None]
    with np.errstate(divide="ignore", over="ignore"):
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
@pytest.mark.parametrize("dtype", ["int32", "uint32", "float32"])
def test_the_first_of_equal_extremes(gpu: Runner, operation: str, dtype: str) -> None:
    """Each row repeats one number, so the result must be index 0. The reduction's identity must not win, even if that
    number is the least or the greatest of its dtype."""
    numbers = patterns(dtype) if dtype == "float32" else [np.iinfo(dtype).min, np.iinfo(dtype).max]
    x = np.repeat(np.array(numbers, dtype)[:, None], 3, 1)
    got = gpu.guarded(operation, x, axis=1)
    assert not got.any()
