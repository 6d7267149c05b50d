"""Tests the statistics of rand and randn: moments, tails and independence.

Seeds are fixed, so a test always passes or always fails. With random seeds, about one comparison in 10^5 would fail by
chance.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

import lanewise as lw

COUNT = 1 << 20
UNLIKELY = NormalDist().inv_cdf(1 - 0.5e-5)  # the bound of the tests, in standard deviations


def uniform(name, seed):
    """Returns a sample, mapped to numbers that should be uniform in [0, 1]."""
    sample = np.asarray(getattr(lw, name)(COUNT, seed=seed), dtype=np.float64)
    if name == "rand":
        return sample
    return np.array([math.erf(each) for each in sample / math.sqrt(2)]) / 2 + 0.5


@pytest.fixture(scope="module", params=[(name, seed) for name in ("rand", "randn") for seed in (1, 2**40 + 1)])
def sample(request):
    return uniform(*request.param)


def test_distribution(sample):
    """Kolmogorov-Smirnov test: bounds the largest distance from the uniform distribution function."""
    ranks = np.arange(COUNT) / COUNT
    distance = np.abs(np.sort(sample) - ranks).max()
    assert math.sqrt(COUNT) * distance < math.sqrt(math.log(2 / 1e-5) / 2)


def test_bins_and_tails(sample):
    """Each of 64 equal bins, and each tail of probability 2^-1 to 2^-14, has about the expected count."""
    expected = COUNT / 64
    counts = np.histogram(sample, 64, (0, 1))[0]
    chi_squared = np.sum((counts - expected) ** 2 / expected)
    assert abs(chi_squared - 63) < UNLIKELY * math.sqrt(2 * 63) * 1.2  # 1.2, because chi squared is slightly skewed
    for tail in (sample, 1 - sample):
        for power in range(1, 15):
            p = 2.0**-power
            deviation = np.count_nonzero(tail < p) - COUNT * p
            assert abs(deviation) < UNLIKELY * math.sqrt(COUNT * p * (1 - p)) + 1, power


@pytest.mark.parametrize("lag", [1, 2, 3, 4, 5, 8, 64, 256, 1024])
def test_numbers_are_not_correlated(sample, lag):
    """Numbers `lag` positions apart are not correlated. Neither are their distances from the mean."""
    for values in (sample - 0.5, np.abs(sample - 0.5) - 0.25):
        products = values[:-lag] * values[lag:]
        deviations = products.mean() / (values.var() / math.sqrt(len(products)))
        assert abs(deviations) < UNLIKELY


def test_seeds_are_independent():
    for other in (2, 3, 2**32 + 1, -1):
        x, y = (np.asarray(lw.randn(COUNT, seed=seed), dtype=np.float64) for seed in (1, other))
        assert abs(np.mean(x * y)) < UNLIKELY / math.sqrt(COUNT)


def test_moments_of_randn():
    z = np.asarray(lw.randn(COUNT, seed=3), dtype=np.float64)
    for power, expected, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs(np.mean(z**power) - expected) < UNLIKELY * math.sqrt(variance / COUNT), power


def test_without_a_seed_a_stream_is_continued():
    first, second = lw.randn(100), lw.randn(100)
    assert not np.array_equal(first.numpy(), second.numpy())


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_wrong_arguments(name):
    function = getattr(lw, name)
    for call, error in (
        (lambda: function(-1), lw.ShapeError),
        (lambda: function((2, -1), seed=1), lw.ShapeError),
        (lambda: function(3, seed=0.5), lw.ArgumentTypeError),
        (lambda: function(3, seed=2**63), lw.ArgumentError),
        (lambda: function(3, seed=1, offset=-1), lw.ArgumentError),
        (lambda: function(3, offset=1), lw.ArgumentError),
    ):
        with pytest.raises(error, match=f"^{name}: "):
            call()
