"""Tests softmax, layer_norm, rms_norm and minmax along any axis against SciPy, PyTorch and NumPy."""

from __future__ import annotations

import numpy as np
from agreement import UNIT, agree, numbers, wide
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import special

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=7) | st.tuples(st.integers(1, 5000))


def rows(data, low=-10, high=10):
    x = data.draw(numbers(data.draw(SHAPES), low, high))
    return x, data.draw(st.integers(-x.ndim, x.ndim - 1))


def scales(data, x, axis):
    """Draws a weight or a bias: None, or an array with a number for each position along the axis."""
    return data.draw(st.none() | numbers((x.shape[axis],), -2, 2))


def last(torch, x, axis):
    """Returns x as a PyTorch tensor with this axis last, as PyTorch's layers require."""
    return torch.from_numpy(np.moveaxis(x, axis, -1).copy())


def tensors(torch, *arrays):
    return [None if array is None else torch.from_numpy(array) for array in wide(*arrays)]


@given(st.data())
def test_softmax(data):
    x, axis = rows(data, *data.draw(st.sampled_from([(-1, 1), (-30, 30), (-1000, 1000)])))
    agree("softmax", special.softmax(*wide(x), axis), x, axis=axis)
    agree("log_softmax", special.log_softmax(*wide(x), axis), x, axis=axis)


@given(st.data())
def test_layer_norm(torch, data):
    x, axis = rows(data)
    weight, bias = scales(data, x, axis), scales(data, x, axis)
    eps = data.draw(st.sampled_from([1e-5, 1e-3, 1.0]))
    normalized = torch.nn.functional.layer_norm(
        last(torch, *wide(x), axis), (x.shape[axis],), *tensors(torch, weight, bias), eps
    )
    # the mean's rounding error, at most 4 UNIT times the row's largest number, is divided by the spread and multiplied
    # by a weight of at most 2
    spread = np.sqrt(np.var(*wide(x), axis=axis, keepdims=True) + eps)
    allowed = 2 * 4 * UNIT * np.abs(x).max(axis=axis, keepdims=True) / spread
    expected = np.moveaxis(normalized.numpy(), -1, axis)
    agree("layer_norm", expected, x, weight, bias, axis=axis, eps=eps, allowed=allowed)


@given(st.data())
def test_rms_norm(torch, data):
    x, axis = rows(data)
    weight = scales(data, x, axis)
    eps = data.draw(st.sampled_from([1e-5, 1e-3, 1.0]))
    normalized = torch.nn.functional.rms_norm(
        last(torch, *wide(x), axis), (x.shape[axis],), *tensors(torch, weight), eps
    )
    agree("rms_norm", np.moveaxis(normalized.numpy(), -1, axis), x, weight, axis=axis, eps=eps)


@given(st.data())
def test_minmax(data):
    x, axis = rows(data)
    wide_x = x.astype("float64")
    low = wide_x.min(axis=axis, keepdims=True)
    with np.errstate(invalid="ignore"):
        agree("minmax", (wide_x - low) / (wide_x.max(axis=axis, keepdims=True) - low), x, axis=axis)
