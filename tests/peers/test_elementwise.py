"""Tests activations, erf, lerp and fma against PyTorch or SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from agreement import agree, numbers, wide
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import special

NAMES = ("relu", "sigmoid", "tanh", "gelu", "silu", "softplus", "softsign", "mish", "selu", "hardswish")
ACTIVATIONS = [*((name, {}) for name in NAMES), ("gelu", {"approximate": "tanh"}), ("elu", {"alpha": 0.7})]


@pytest.mark.parametrize(("operation", "settings"), ACTIVATIONS, ids=str)
def test_activations(operation, settings, torch):
    """The inputs cover the range where activations are curved and the range where they are linear."""
    x = np.concatenate([np.linspace(-20, 20, 20_001), np.geomspace(1e-30, 1e30, 500), -np.geomspace(1e-30, 1e30, 500)])
    x = np.concatenate([x, [0.0, np.nan]]).astype("float32")  # no infinity, for which PyTorch's softsign returns NaN
    function = getattr(torch.nn.functional, operation)
    agree(operation, function(torch.from_numpy(*wide(x)), **settings).numpy(), x, **settings)


def test_scipy_functions():
    x = np.concatenate([np.linspace(-8, 8, 20_001), np.geomspace(1e-38, 1e38, 700), [np.inf, -np.inf, np.nan]])
    x = x.astype("float32")
    agree("erf", special.erf(*wide(x)), x)
    agree("sigmoid", special.expit(*wide(x)), x)


@given(st.data())
def test_leaky_relu(torch, data):
    x = data.draw(numbers(data.draw(hnp.array_shapes(max_dims=3)), -9, 9))
    slope = data.draw(st.floats(-2, 2, width=32))
    agree("leaky_relu", torch.nn.functional.leaky_relu(torch.from_numpy(*wide(x)), slope).numpy(), x, slope=slope)


@given(st.data())
def test_lerp_and_fma(torch, data):
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=4, max_side=6)).input_shapes
    arrays = [data.draw(numbers(shape, -9, 9)) for shape in shapes]
    x, y, z = (torch.from_numpy(array) for array in wide(*arrays))
    agree("fma", (x * y + z).numpy(), *arrays)  # in float64, products of float32 are exact, as in an fma
    size = (x.abs() + y.abs()) * (1 + z.abs())
    agree("lerp", torch.lerp(x, y, z).numpy(), *arrays, allowed=4 * 2.0**-24 * size.numpy())
