"""Compares sort, argsort, topk, searchsorted and nonzero with NumPy, at lengths where the algorithm changes, on views,
ties and NaN."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lanewise as lw

LENGTHS = [0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 500, 4095, 4096, 4097, 8191, 9000, 20_000]
BACKENDS = [info.name for info in lw.backends() if info.available and not info.name.is_gpu]


def order(x, descending):
    if descending:
        return len(x) - 1 - np.argsort(x[::-1], kind="stable")[::-1]
    return np.argsort(x, kind="stable")


def same(result, expected):
    """Compares bit by bit, including the signs of zeros and the bits of NaN."""
    result = np.ascontiguousarray(result)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result.view(np.int32), np.ascontiguousarray(expected).view(np.int32), strict=True)


def drawn(length, kind, seed=0):
    """Returns a row of one of KINDS, most of which are hard for some sorting algorithm."""
    random = np.random.default_rng([seed, length])
    if kind == "bits":  # random bits: all magnitudes, both zeros, NaNs with payloads
        x = random.integers(-(2**31), 2**31, length, dtype=np.int32).view(np.float32)
        x[random.random(length) < 0.2] = 0.0
        x[random.random(length) < 0.2] = -0.0
        return x
    if kind == "ascending":
        return np.sort(random.standard_normal(length, dtype=np.float32))
    if kind == "descending":
        return np.sort(random.integers(-(2**31), 2**31, length, dtype=np.int32))[::-1]
    if kind == "ties":
        return random.integers(0, 4, length).astype(np.int32)
    if kind == "equal":
        return np.full(length, 7.0, np.float32)
    return random.standard_normal(length, dtype=np.float32)


KINDS = ["bits", "ascending", "descending", "ties", "equal", "normal"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_length(backend, kind):
    for length in LENGTHS:
        x = drawn(length, kind)
        with lw.use_backend(backend):
            for descending in (False, True):
                places = order(x, descending)
                same(lw.argsort(x, descending=descending), places.astype(np.int32))
                same(lw.sort(x, descending=descending), x[places])


def hard_rows():
    random = np.random.default_rng(3)
    normal = random.standard_normal(20_000)
    yield np.full(3000, 2**31 - 1, np.int32)
    yield np.full(3000, 2**64 - 1, np.uint64)
    yield np.maximum(normal, 0)  # zeros, which a descending sort compares as -0
    yield np.where(normal > 1, np.inf, np.minimum(normal, 0.1))  # pivots that are the least key, and the largest
    yield np.concatenate([random.integers(-(2**63), 2**63, 9000), [2**63 - 1, -(2**63)] * 9])
    yield np.where(normal > 0, normal, 1 + normal * 1e-13)  # most keys differ in their last bits only
    yield np.where(np.arange(20_000) % 9, normal, np.nextafter(np.roll(normal, 1), -9))  # so do a few
    yield np.arange(70_000, dtype=np.int64) % 777 - 300


@pytest.mark.parametrize("backend", BACKENDS)
def test_hard_rows(backend):
    for x in hard_rows():
        with lw.use_backend(backend):
            for descending in (False, True):
                places = order(x, descending)
                same(lw.argsort(x, descending=descending), places.astype(np.int32))
                same(lw.sort(x, descending=descending), x[places])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_topk(backend, kind):
    for length in (1, 40, 4097, 9000, 50_000):
        x = drawn(length, kind, 1)
        for k in {0, 1, min(length, 10), length // 3, length}:
            for largest in (True, False):
                places = order(x, largest)[:k]
                with lw.use_backend(backend):
                    values, indices = lw.topk(x, k, largest=largest)
                same(indices, places.astype(np.int32))
                same(values, x[places])


@pytest.mark.parametrize("backend", BACKENDS)
@given(st.data())
def test_axes_of_views(backend, data):
    shape = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=4))
    x = drawn(math.prod(shape) * 2, data.draw(st.sampled_from(KINDS))).reshape(*shape, 2)[..., ::-1]
    x = x.transpose(data.draw(st.permutations(range(x.ndim))))
    axis, descending = data.draw(st.integers(-x.ndim, x.ndim - 1)), data.draw(st.booleans())
    k = data.draw(st.integers(0, x.shape[axis]))
    places = np.apply_along_axis(order, axis, x, descending) if x.size else np.zeros(x.shape, int)
    first = np.take(places, range(k), axis)
    with lw.use_backend(backend):
        tensor = lw.asarray(x)
        same(lw.argsort(tensor, axis=axis, descending=descending), places.astype(np.int32))
        same(lw.sort(tensor, axis=axis, descending=descending), np.take_along_axis(x, places, axis))
        values, indices = lw.topk(tensor, k, axis=axis, largest=descending)
        same(indices, first.astype(np.int32))
        same(values, np.take_along_axis(x, first, axis))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_searchsorted(backend, kind):
    for length in (0, 1, 2, 3, 15, 16, 17, 100, 4096, 5000):
        unsorted, x = drawn(length, kind), drawn(77, kind, 2).reshape(7, 11)
        row, sorter = np.sort(unsorted), np.argsort(unsorted, kind="stable").astype(np.int32)
        x.flat[: length // 2] = row[: min(length // 2, 77)][::-1]
        for side in ("left", "right"):
            with lw.use_backend(backend):
                expected = np.searchsorted(row, x, side).astype(np.int32)
                same(lw.searchsorted(row, x, side=side), expected)
                same(lw.searchsorted(unsorted, x, side=side, sorter=sorter), expected)


def test_searchsorted_of_views_numbers_and_other_dtypes():
    row = lw.asarray([5.0, 4.0, 3.0, 2.0, 1.0])[::-2]  # [1, 3, 5]
    assert lw.searchsorted(row, lw.asarray([[3, 0], [9, 1]]).T).tolist() == [[1, 3], [0, 0]]
    assert lw.searchsorted(row, 3).tolist() == 1 and lw.searchsorted(row, 3, side="right").tolist() == 2
    assert lw.searchsorted([False, True], [True, False]).tolist() == [1, 0]
    assert lw.searchsorted([1, 2, 3], [2.5]).tolist() == [2]
    assert lw.searchsorted([3.0, 1.0, 2.0], [2.0, 4.0], sorter=[1, 2, 0]).tolist() == [1, 3]
    with pytest.raises(lw.IndexOutOfRangeError):
        lw.searchsorted([3.0, 1.0], [2.0], sorter=[0, 2]).tolist()
    assert lw.searchsorted(lw.ones(3, "float16"), 1.0).tolist() == 0


@given(st.data())
def test_nonzero(data):
    shape = data.draw(st.lists(st.integers(0, 6), min_size=1, max_size=4))
    dtype = data.draw(st.sampled_from(["bool", "int32", "int64", "float16", "float32", "float64"]))
    x = (drawn(math.prod(shape), "ties") // 2).reshape(shape).astype(dtype).T
    for got, expected in zip(lw.nonzero(lw.asarray(x)), np.nonzero(x), strict=True):
        same(got, expected.astype(np.int32))


def test_nonzero_of_special_values():
    assert lw.nonzero([lw.nan, -0.0, 0.0, lw.inf, 1e-45])[0].tolist() == [0, 3, 4]
    x = lw.asarray([[0.0, 2.0], [3.0, 0.0]])
    assert x[x.nonzero()].tolist() == [2.0, 3.0]
    with pytest.raises(lw.ShapeError, match=r"^nonzero: expected at least 1 dimension .*, got shape \(\)"):
        lw.nonzero(1.0)


def test_nonzero_of_many_and_of_no_elements():
    with pytest.raises(lw.ShapeError, match=r"fewer than 2\^31 elements, got shape \(2147483648,\)"):
        lw.nonzero(lw.broadcast_to([False], (2**31,)))
    assert [each.shape for each in lw.nonzero(lw.broadcast_to([False], (2**27,)))] == [(0,)]
    assert [each.shape for each in lw.nonzero(lw.zeros((3, 0)))] == [(0,), (0,)]


def test_dtypes_and_backends():
    assert lw.sort([True, False]).tolist() == [0, 1]
    assert lw.argsort([3, 1, 2]).tolist() == [1, 2, 0]
    assert [each.tolist() for each in lw.topk([True, False, True], 2)] == [[True, True], [0, 2]]
    x = lw.asarray([2.0, 1.0]).to("scalar")
    values, indices = x.topk(1)
    assert {each.backend for each in (x.sort(), x.argsort(), values, indices)} == {lw.Backend.SCALAR}
    halves, largest = lw.asarray([2.0, -1.5], lw.bfloat16), lw.asarray([2**63, 7, 2**64 - 1], lw.uint64)
    assert (lw.sort(halves).dtype, lw.sort(halves).tolist()) == (lw.bfloat16, [-1.5, 2.0])
    assert lw.argsort(largest).tolist() == [1, 0, 2] and lw.topk(largest, 1)[0].tolist() == [2**64 - 1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lw.sort(1.0), lw.AxisError, "^sort: expected an axis within 0 dimensions, got -1"),
        (lambda: lw.sort([1.0], axis=1), lw.AxisError, "^sort: expected an axis within 1 dimension, got 1"),
        (lambda: lw.sort([1.0], axis=(0,)), lw.ArgumentTypeError, "^sort: expected an int for axis, got"),
        (lambda: lw.argsort({1}), lw.ArgumentTypeError, "^argsort: x: expected numbers, got a set"),
        (lambda: lw.topk([1.0], 2), lw.ShapeError, "^topk: expected k of at most 1, the extent of axis 0, got 2"),
        (lambda: lw.topk([1.0], -1), lw.ArgumentError, "^topk: expected k of at least 0, got -1"),
        (lambda: lw.topk([1.0], "1"), lw.ArgumentTypeError, "^topk: expected an int for k, got '1'"),
        (lambda: lw.topk(3.0, 1), lw.AxisError, "^topk: expected an axis within 0 dimensions, got -1"),
        (lambda: lw.searchsorted([[1.0]], [1.0]), lw.ShapeError, "^searchsorted: expected x1 of one dimension"),
        (
            lambda: lw.searchsorted([1.0], [1.0], side=1),
            lw.ArgumentError,
            "^searchsorted: expected one of 'left', 'right'",
        ),
    ],
)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()
