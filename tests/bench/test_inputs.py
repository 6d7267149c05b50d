"""Benchmark inputs have the right shape and dtype, are inside the domain, and are the same each time."""

import math

import pytest

from tests.bench.inputs import PATTERN, draw, typical
from tests.bench.operations import Range


@pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 5), (PATTERN + 3,)])
def test_it_has_the_shape_and_dtype(dtype, shape):
    drawn = draw(dtype, shape, None, seed=0)
    assert (drawn.dtype, drawn.shape) == (dtype, shape)
    assert len(drawn.data) == drawn.nbytes
    assert len(drawn.view) == drawn.size == math.prod(shape)


def test_the_same_seed_gives_the_same_values_and_another_seed_others():
    assert draw("float32", (100,), None, 1) == draw("float32", (100,), None, 1)
    assert draw("float32", (100,), None, 1) != draw("float32", (100,), None, 2)


@pytest.mark.parametrize(
    ("dtype", "within", "expected"),
    [
        ("float32", None, (-8.0, 8.0)),
        ("float32", Range(-103.0, 88.0), (-8.0, 8.0)),
        ("float32", Range(0.0, 1e30), (0.0, 8.0)),
        ("float32", Range(-1.0, 1.0), (-1.0, 1.0)),
        ("float32", Range(100.0, 200.0), (100.0, 200.0)),
        ("int32", Range(-(2.0**31), 2.0**31 - 1), (-1000, 1000)),
        ("int32", Range(0, 99_999), (0, 99_999)),
    ],
)
def test_values_come_from_the_typical_part_of_the_domain(dtype, within, expected):
    assert typical(dtype, within) == expected
    low, high = expected
    assert all(low <= value <= high for value in draw(dtype, (1000,), within, 0).view)


def test_zero_is_left_out_where_the_domain_says_so():
    assert 0 not in list(draw("int32", (5000,), Range(-2, 2, exclude_zero=True), 0).view)
