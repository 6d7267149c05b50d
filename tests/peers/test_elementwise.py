"""Tests operations on broadcast, strided, reversed and empty arrays against NumPy. Tests activations, erf, lerp and
fma against PyTorch or SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from agreement import agree, numbers, wide
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import special

import lanewise as lw

ARITHMETIC = (
    *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "maximum", "minimum", "copysign"),
    *("logaddexp", "atan2", "hypot"),
)
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
LOGIC = ("logical_and", "logical_or", "logical_xor")
WRAPPING = ("add", "subtract", "multiply", "floor_divide", "remainder", "maximum", "minimum", *COMPARISONS)
BITWISE = {"bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift"}  # Lanewise's names -> NumPy's
OF_INTEGERS = {name: name for name in (*WRAPPING, "bitwise_and", "bitwise_or", "bitwise_xor")} | BITWISE

PAIRS = hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=6)


def pair(data, dtype, low, high):
    shapes = data.draw(PAIRS).input_shapes
    return [data.draw(numbers(shape, low, high, dtype, extremes=True)) for shape in shapes]


@given(st.data())
def test_arithmetic(data):
    x, y = pair(data, "float32", -9, 9)
    for name in ARITHMETIC:
        with np.errstate(all="ignore"):
            expected = getattr(np, {"atan2": "arctan2"}.get(name, name))(*wide(x, y))
        agree(name, expected, x, y)


@given(st.data())
def test_comparisons(data):
    x, y = pair(data, data.draw(st.sampled_from(["float32", "int32", "bool"])), -3, 3)
    for name in (*COMPARISONS, *LOGIC):
        agree(name, getattr(np, name)(x, y), x, y)


@given(st.data())
def test_integers_wrap_around(data):
    x, y = pair(data, "int32", -(2**31), 2**31 - 1)
    for name, theirs in OF_INTEGERS.items():
        with np.errstate(all="ignore"):
            expected = getattr(np, theirs)(x, y)
        agree(name, expected, x, y)


@given(st.data())
def test_integer_powers(data):
    shapes = data.draw(PAIRS).input_shapes
    x = data.draw(numbers(shapes[0], -(2**31), 2**31 - 1, "int32", extremes=True))
    y = data.draw(numbers(shapes[1], 0, 40, "int32"))
    with np.errstate(all="ignore"):
        agree("pow", np.power(x, y), x, y)


@given(st.data())
def test_mixed_dtypes(data):
    """int32 times float32 gives float32, and int32 plus bool gives int32, with the values that NumPy computes."""
    shapes = data.draw(PAIRS).input_shapes
    x = data.draw(numbers(shapes[0], -1000, 1000, "int32"))
    y = data.draw(numbers(shapes[1], -10, 10))
    agree("multiply", np.multiply(*wide(x, y)), x, y)
    agree("add", np.add(x, y > 0, dtype="int32"), x, y > 0)


ACTIVATIONS = {
    "relu": ("relu", {}),
    "sigmoid": ("sigmoid", {}),
    "tanh": ("tanh", {}),
    "gelu": ("gelu", {}),
    "gelu, tanh": ("gelu", {"approximate": "tanh"}),
    "silu": ("silu", {}),
    "softplus": ("softplus", {}),
    "softsign": ("softsign", {}),
    "mish": ("mish", {}),
    "selu": ("selu", {}),
    "elu": ("elu", {"alpha": 0.7}),
    "hardswish": ("hardswish", {}),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name, torch):
    """The inputs cover the range where activations are curved and the range where they are linear."""
    operation, settings = ACTIVATIONS[name]
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


@given(st.data())
def test_where_and_clip(data):
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=4, max_side=6)).input_shapes
    x, low, high = (data.draw(numbers(shape, -9, 9)) for shape in shapes)
    agree("where", np.where(x > 0, low, high), lw.asarray(x) > 0, low, high)
    agree("clip", np.clip(*wide(x, low, high)), x, low, high)
