"""Tests reductions along any axes against NumPy."""

from __future__ import annotations

import numpy as np
from agreement import agree, numbers, wide
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=7) | st.tuples(st.integers(0, 9000))


def reduced(data, dtype="float32", extremes=False):
    """Draws an array, the axes to reduce, and keepdims."""
    x = data.draw(numbers(data.draw(SHAPES), -10, 10, dtype, extremes))
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1) | hnp.valid_tuple_axes(x.ndim))
    return x, {"axis": axis, "keepdims": data.draw(st.booleans())}


def count(x, axis):
    """Returns how many elements are reduced to each element of the result."""
    return np.sum(np.ones_like(x, "int64"), axis=axis).max(initial=0)


@given(st.data())
def test_var_and_std(data):
    x, settings = reduced(data)
    correction = data.draw(st.sampled_from([0.0, 1.0, 0.5]))
    assume(count(x, settings["axis"]) > correction)
    x += data.draw(st.sampled_from([0, 100, 10_000]))
    agree("var", np.var(*wide(x), ddof=correction, **settings), x, correction=correction, **settings)
    agree("std", np.std(*wide(x), ddof=correction, **settings), x, correction=correction, **settings)


@given(st.data())
def test_sums(data):
    x, settings = reduced(data)
    size = np.sum(np.abs(*wide(x)), **settings)
    agree("sum", np.sum(*wide(x), **settings), x, magnitude=size, **settings)
    agree("norm_l1", size, x, **settings)
    agree("sum_of_squares", np.sum(np.square(*wide(x)), **settings), x, **settings)
    agree("norm_l2", np.sqrt(np.sum(np.square(*wide(x)), **settings)), x, **settings)
    assume(count(x, settings["axis"]))
    agree("mean", np.mean(*wide(x), **settings), x, magnitude=np.mean(np.abs(*wide(x)), **settings), **settings)


@given(st.data())
def test_extremes(data):
    x, settings = reduced(data, data.draw(st.sampled_from(["float32", "int32"])), extremes=True)
    assume(count(x, settings["axis"]))
    agree("max", np.max(x, **settings), x, **settings)
    agree("min", np.min(x, **settings), x, **settings)
    agree("any", np.any(x, **settings), x, **settings)
    agree("all", np.all(x, **settings), x, **settings)
    if not isinstance(settings["axis"], tuple):
        agree("argmax", np.argmax(x, **settings).astype("int32"), x, **settings)
        agree("argmin", np.argmin(x, **settings).astype("int32"), x, **settings)


@given(st.data())
def test_sums_of_integers_wrap_around(data):
    shape = data.draw(SHAPES)
    x = data.draw(numbers(shape, -(2**31), 2**31 - 1, "int32", extremes=True))
    axis = data.draw(st.none() | hnp.valid_tuple_axes(x.ndim))
    agree("sum", np.sum(x, axis=axis, dtype="int32"), x, axis=axis)
    agree("prod", np.prod(x, axis=axis, dtype="int32"), x, axis=axis)


@given(st.data())
def test_vecdot(data):
    n = data.draw(st.integers(0, 5000))
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=4)).input_shapes
    x, y = (data.draw(numbers((*shape, n))) for shape in shapes)
    expected, size = np.vecdot(*wide(x, y)), np.vecdot(*wide(np.abs(x), np.abs(y)))
    agree("vecdot", expected, x, y, magnitude=size)
    if x.ndim == y.ndim == 1:
        agree("dot", expected, x, y, magnitude=size)
