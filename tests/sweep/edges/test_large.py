"""Tests sizes above 2^24, where float32 cannot hold every index, and sums that lose digits if computed naively."""

import numpy as np
import pytest

import lanewise as lw

SIZE = 2**24 + 4097


@pytest.fixture(scope="module")
def long_array():
    """Returns values that all differ, so that a rounded index selects a wrong value."""
    return np.arange(SIZE, dtype="int32")


def test_argmax_beyond_float32_integers(backend, long_array):
    """argmax and argmin find an extreme near the end: the first of two equal floats, an integer, or (argmax) NaN."""
    values = np.zeros(SIZE, "float32")
    values[SIZE - 2 :] = 1
    x = lw.asarray(values)
    assert int(lw.argmax(x)) == SIZE - 2
    assert int(lw.argmin(-x)) == SIZE - 2
    assert int(lw.argmax(lw.asarray(long_array))) == SIZE - 1
    assert int(lw.argmin(lw.asarray(long_array[::-1]))) == SIZE - 1
    values[:] = np.nan
    values[: SIZE - 1] = 7
    assert int(lw.argmax(lw.asarray(values))) == SIZE - 1


def test_indices_beyond_float32_integers(backend, long_array):
    x = lw.asarray(long_array)
    places = [SIZE - 1, 2**24 + 1, -SIZE]
    assert lw.take(x, lw.asarray(places)).tolist() == [SIZE - 1, 2**24 + 1, 0]
    assert lw.arange(SIZE)[-3:].tolist() == [SIZE - 3, SIZE - 2, SIZE - 1]
    assert int(lw.sum(x > 2**24)) == SIZE - 1 - 2**24
    assert int((x + 1)[-1]) == SIZE


def test_sums_keep_their_digits(backend):
    values = np.random.default_rng(7).uniform(-1, 2, 2**24).astype("float32")
    error = abs(float(lw.sum(lw.asarray(values))) - np.sum(values, dtype="float64"))
    assert error <= 1e-6 * np.sum(np.abs(values), dtype="float64")


def test_cumulative_sum_keeps_its_digits(backend):
    """Each partial sum's error, relative to the sum of the magnitudes so far, does not grow with the position."""
    values = np.random.default_rng(9).uniform(-1, 2, SIZE).astype("float32")
    expected, magnitude = np.cumsum(values, dtype="float64"), np.cumsum(np.abs(values), dtype="float64")
    assert (np.abs(np.asarray(lw.cumulative_sum(lw.asarray(values))) - expected) <= 4.2e-7 * magnitude).all()


def test_compensated_sum_is_rounded_once(backend):
    """Values from 1e-8 to 1e8 are added, then 1000 small ones, then the negated values: only the small ones remain."""
    values = (10.0 ** np.random.default_rng(10).uniform(-8, 8, 2**20)).astype("float32")
    small = np.full(1000, 1e-3, "float32")
    x = np.concatenate([values, small, -values])
    assert abs(float(lw.sum_compensated(lw.asarray(x))) - 1000 * float(small[0])) <= 1e-14 * np.sum(values, dtype="f8")
