"""Tests matrix products against NumPy, linear layers against PyTorch, eigenvalues against LAPACK.

A sum of products, added in any order, may err by the contract's tolerance times the sum of the products' magnitudes.
"""

from __future__ import annotations

import numpy as np
from agreement import UNIT, agree, numbers, wide
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tested import HOSTS

import lanewise as lw

EXTENT = st.integers(0, 6) | st.integers(7, 90)


def stacks(data, count=2):
    """Draws the leading dimensions of `count` operands: shapes that broadcast with each other."""
    return data.draw(hnp.mutually_broadcastable_shapes(num_shapes=count, max_dims=2, max_side=3)).input_shapes


def product(operation, x, y, **settings):
    agree(operation, np.matmul(*wide(x, y)), x, y, magnitude=np.matmul(*wide(np.abs(x), np.abs(y))), **settings)


@given(st.data())
def test_matmul(data):
    m, k, n = (data.draw(EXTENT) for _ in range(3))
    x, y = (data.draw(numbers((*stack, *shape))) for stack, shape in zip(stacks(data), ((m, k), (k, n)), strict=True))
    product("matmul", x, y)
    product("matmul", x, y[(0,) * (y.ndim - 2)][:, 0] if n and y.size else np.ones(k, "float32"))
    if x.ndim > 1 and m and x.size:
        product("matmul", x[..., 0, :] if x.ndim == 2 else x, y)


@given(st.data())
def test_matmul_of_integers_wraps_around(data):
    m, k, n = (data.draw(st.integers(0, 40)) for _ in range(3))
    x, y = (data.draw(numbers(shape, -(2**31), 2**31 - 1, "int32", extremes=True)) for shape in ((m, k), (k, n)))
    agree("matmul", np.matmul(x, y), x, y)


@given(st.data())
def test_products_of_vectors(data):
    m, k = data.draw(EXTENT), data.draw(EXTENT)
    matrices, vectors = stacks(data)
    x, y = data.draw(numbers((*matrices, m, k))), data.draw(numbers((*vectors, k)))
    size = np.matmul(np.abs(x), np.abs(y)[..., None], dtype="float64")[..., 0]
    agree("matvec", np.matmul(x, y[..., None], dtype="float64")[..., 0], x, y, magnitude=size)
    transposed = np.swapaxes(x, -1, -2)
    agree("vecmat", np.matmul(y[..., None, :], transposed, dtype="float64")[..., 0, :], y, transposed, magnitude=size)
    a, b = data.draw(numbers((m,))), data.draw(numbers((k,)))
    agree("outer", np.outer(*wide(a, b)), a, b)


@given(st.data())
def test_linear(torch, data):
    inputs, outputs = data.draw(EXTENT), data.draw(EXTENT)
    batch = data.draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=9))
    x, weight = data.draw(numbers((*batch, inputs), -3, 3)), data.draw(numbers((outputs, inputs), -1, 1))
    bias = data.draw(st.none() | numbers((outputs,), -1, 1))
    names = ["none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"]
    name = data.draw(st.sampled_from(names))
    function = getattr(torch.nn.functional, name.removesuffix("_tanh"), lambda x: x)
    keywords = {"approximate": "tanh"} if name == "gelu_tanh" else {}
    sums = np.matmul(*wide(x, weight.T)) + (0 if bias is None else bias)
    size = np.matmul(*wide(np.abs(x), np.abs(weight.T))) + (0 if bias is None else np.abs(bias))
    # gelu, whose slope is up to 1.13, increases an error by more than any other activation
    expected = function(torch.from_numpy(np.asarray(sums)), **keywords).numpy()
    agree("linear", expected, x, weight, bias, activation=name, magnitude=1.13 * size)


@given(st.data())
def test_eigh(data):
    """Eigenvalues agree with LAPACK's. Eigenvectors are not unique; they are orthonormal and reconstruct the matrix."""
    n = data.draw(st.integers(1, 30))
    (stack,) = stacks(data, 1)
    x = data.draw(numbers((*stack, n, n), -3, 3))
    x[...] = (x + np.swapaxes(x, -1, -2)) / 2
    if data.draw(st.booleans()) and n > 2:
        x[..., :2, :] = x[..., :, :2] = 0  # two zero rows, so that the eigenvalue 0 is repeated
    expected = np.linalg.eigvalsh(*wide(x))
    largest = np.abs(expected).max(initial=0)
    for backend in HOSTS:
        with lw.use_backend(backend):
            values, vectors = (np.asarray(each) for each in lw.eigh(x))
            alone = np.asarray(lw.eigvalsh(x))
        # eigenvalues are computed in float64 and rounded once
        assert np.abs(values - expected).max(initial=0) <= 2 * UNIT * largest
        assert np.array_equal(alone, values)
        transposed = np.swapaxes(vectors, -1, -2).astype("float64")
        assert np.abs(np.matmul(transposed, vectors) - np.eye(n)).max(initial=0) <= 4 * n * UNIT
        again = np.matmul(vectors * values[..., None, :].astype("float64"), transposed)
        assert np.abs(again - x).max(initial=0) <= 4 * n * UNIT * largest
