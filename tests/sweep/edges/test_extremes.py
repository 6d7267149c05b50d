"""Tests max and min with NaN, infinities and signed zeros at any position. CPU kernels first
reduce each block without regard to NaN and the signs of zeros, on a code path that depends on the length."""

import numpy as np
import pytest

import lanewise as lw

LENGTHS = (1, 2, 7, 8, 9, 17, 33, 40, 64, 100, 129, 200, 1000, 4096, 4097)
# (operation, sign) such that sign * operation(sign * x) is the maximum of x, so both share the same tests.
EXTREMES = {"max": (lw.max, 1.0), "min": (lw.min, -1.0)}


@pytest.fixture(params=EXTREMES)
def extreme(request):
    return EXTREMES[request.param]


def places(length):
    """Returns positions at the start, at the end and some in between."""
    return sorted(
        {*range(min(length, 9)), *range(length // 3, length, length // 11 + 1), *range(max(length - 9, 0), length)}
    )


def result(extreme, values):
    operation, sign = extreme
    return np.float32(sign) * np.float32(operation(lw.asarray(np.float32(sign) * values)))


@pytest.mark.parametrize("length", LENGTHS)
def test_nan_propagates_from_every_position(backend, extreme, length):
    for nan in (np.float32(np.nan), -np.float32(np.nan)):
        for place in places(length):
            values = np.linspace(-3, 5, length, dtype="float32")
            values[place] = nan
            assert np.isnan(result(extreme, values)), place


@pytest.mark.parametrize("length", LENGTHS)
def test_positive_zero_is_larger(backend, extreme, length):
    zeros = np.full(length, -0.0, "float32")
    assert np.signbit(result(extreme, zeros))
    assert not np.signbit(result(extreme, -zeros))
    for place in places(length):
        for others in (-0.0, -1.0, -np.inf):
            values = np.full(length, others, "float32")
            values[place] = 0.0
            assert result(extreme, values).tobytes() == np.float32(0.0).tobytes(), (place, others)
        values = np.full(length, -1.0, "float32")
        values[place] = -0.0
        assert result(extreme, values).tobytes() == np.float32(-0.0).tobytes(), place


@pytest.mark.parametrize("length", LENGTHS)
def test_infinities_of_both_signs_do_not_give_nan(backend, extreme, length):
    """CPU kernels detect NaN by the sum of a block, which is also NaN for infinities of both signs."""
    for place in places(length):
        values = np.full(length, -np.inf, "float32")
        values[-1 - place] = 3.0
        assert result(extreme, values) == 3
        values[place] = np.inf
        assert result(extreme, values) == np.inf
