"""Tests sorting and searching against NumPy, with ties, NaN and signed zeros among the elements."""

from __future__ import annotations

import numpy as np
from agreement import agree, numbers
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tested import HOSTS

import lanewise as lw

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=7) | st.tuples(st.integers(0, 5000))


KINDS = st.sampled_from([("float32", 5), ("float32", 1e6), ("int32", 5), ("int32", 2**31 - 1)])


def tied(data, shapes=SHAPES, kind=None):
    """Draws whole numbers from a small range, so that many are equal, or from a large one, so that few are."""
    dtype, reach = kind or data.draw(KINDS)
    array = data.draw(numbers(data.draw(shapes), -reach, reach, dtype, extremes=True))
    array[...] = np.floor(array)
    return array


def order(x, axis, descending):
    """Returns the indices that sort x; equal elements keep their order, even if descending."""
    if not descending:
        return np.argsort(x, axis=axis, kind="stable").astype("int32")
    backwards = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return np.flip(x.shape[axis] - 1 - backwards, axis).astype("int32")


@given(st.data())
def test_sort_and_argsort(data):
    x = tied(data)
    axis, descending = data.draw(st.integers(-x.ndim, x.ndim - 1)), data.draw(st.booleans())
    places = order(x, axis, descending)
    agree("argsort", places, x, axis=axis, descending=descending)
    agree("sort", np.take_along_axis(x, places, axis), x, axis=axis, descending=descending)


@given(st.data())
def test_topk(data):
    x = tied(data)
    axis, largest = data.draw(st.integers(-x.ndim, x.ndim - 1)), data.draw(st.booleans())
    k = data.draw(st.integers(0, x.shape[axis]))
    places = np.take(order(x, axis, largest), range(k), axis)
    for backend in HOSTS:
        with lw.use_backend(backend):
            values, indices = lw.topk(x, k, axis=axis, largest=largest)
        np.testing.assert_array_equal(indices, places)
        np.testing.assert_array_equal(values, np.take_along_axis(x, places, axis))


@given(st.data())
def test_searchsorted(data):
    kind = data.draw(KINDS)
    haystack, needles = tied(data, st.tuples(st.integers(0, 300)), kind), tied(data, kind=kind)
    side = data.draw(st.sampled_from(["left", "right"]))
    in_order = np.sort(haystack)
    agree("searchsorted", np.searchsorted(in_order, needles, side).astype("int32"), in_order, needles, side=side)
    places = np.argsort(haystack).astype("int32")
    by_sorter = np.searchsorted(haystack, needles, side, places).astype("int32")
    agree("searchsorted", by_sorter, haystack, needles, places, side=side)


@given(st.data())
def test_nonzero(data):
    x = tied(data)
    for backend in HOSTS:
        with lw.use_backend(backend):
            indices = lw.nonzero(x)
        for ours, theirs in zip(indices, np.nonzero(x), strict=True):
            np.testing.assert_array_equal(ours, theirs)
