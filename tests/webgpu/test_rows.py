"""Tests operations on rows: lengths around those that a team of invocations holds in registers, axes, views, and
elements so large or small that a row is scaled."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from harness import Runner, normal, on_gpu, stays_on_gpu

import lanewise as lw


def softmax(x: np.ndarray) -> np.ndarray:
    terms = np.exp(x - x.max(-1, keepdims=True))
    return terms / terms.sum(-1, keepdims=True)


def layer_norm(x: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)


def rms_norm(x: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)


def minmax(x: np.ndarray) -> np.ndarray:
    low, high = x.min(-1, keepdims=True), x.max(-1, keepdims=True)
    return (x - low) / (high - low)


# operation -> its definition, for rows along the last axis
ROWS: dict[str, Callable[..., np.ndarray]] = {
    "softmax": softmax,
    "log_softmax": lambda x: np.log(softmax(x)),
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "minmax": minmax,
}
WITH_AXIS = ["softmax", "log_softmax", "minmax"]
LENGTHS = [*range(2, 18), 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000, 1024, 2047, 2048, 2049, 4100, 8191, 8192, 8193]


def assert_near(result: object, expected: np.ndarray) -> None:
    np.testing.assert_allclose(np.array(result), expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("operation", "length"), [*product(["softmax", "layer_norm"], LENGTHS), *product(ROWS, [3, 100, 1025, 20_000])]
)
def test_rows(gpu: Runner, operation: str, length: int) -> None:
    """As many rows as a workgroup has and one more, if that is quick."""
    x = normal(min(257, 20_000 // length + 2), length)
    assert_near(gpu.guarded(operation, x), ROWS[operation](x.astype(float)))


@pytest.mark.parametrize("view", [np.s_[:, ::-1], np.s_[:, 1:], np.s_[::2, ::3]])
@pytest.mark.parametrize("length", [7, 64, 1001, 9000])
@pytest.mark.parametrize("operation", ROWS)
def test_views(gpu: Runner, operation: str, length: int, view: tuple[slice, slice]) -> None:
    x = normal(9, length)
    part = on_gpu(x)[view]
    with stays_on_gpu():
        result = getattr(lw, operation)(part)
    assert_near(result, ROWS[operation](x[view].astype(float)))


@pytest.mark.parametrize("columns", [1, 2, 3, 7, 8, 9, 31, 33, 257])
@pytest.mark.parametrize(
    ("operation", "length"),
    [*product(["softmax"], [2, 4, 5, 9, 31, 32, 33, 64, 256, 257, 1024, 1025, 2049]), *product(WITH_AXIS, [7, 100])],
)
def test_columns(gpu: Runner, operation: str, length: int, columns: int) -> None:
    """Along an axis in the middle."""
    x = normal(2, length, columns)
    expected = ROWS[operation](np.moveaxis(x.astype(float), 1, -1))
    assert_near(gpu.guarded(operation, x, axis=1), np.moveaxis(expected, -1, 1))


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e15, 1e30])
@pytest.mark.parametrize("length", [5, 64, 300, 9001])
@pytest.mark.parametrize("operation", ["layer_norm", "rms_norm"])
def test_some_rows_are_scaled(gpu: Runner, operation: str, length: int, scale: float) -> None:
    """Their neighbors, which share a workgroup, are not. Without eps, the scale cancels."""
    x = normal(70, length)
    x[::3] *= np.float32(scale)
    expected = ROWS[operation](x.astype(float), eps=0)
    assert_near(gpu.guarded(operation, x, eps=0.0), expected)


@pytest.mark.parametrize("length", [3, 64, 65])
def test_rows_with_nan_and_infinity(gpu: Runner, length: int) -> None:
    """A row of softmax with NaN or infinity is NaN, and no other is."""
    x = normal(70, length)
    x[::7, -1], x[1::7, 0] = np.nan, np.inf
    result = gpu.guarded("softmax", x)
    np.testing.assert_array_equal(np.isnan(result).any(1), np.arange(70) % 7 < 2)
    np.testing.assert_array_equal(np.isnan(result).all(1), np.arange(70) % 7 < 2)


def test_a_row_operation_in_place(gpu: Runner) -> None:
    """Each shape takes another way through registers or memory."""
    for shape, axis in (((50, 10), 1), ((50, 64), 1), ((10, 50), 0), ((2, 9000), 1), ((1500, 9), 0)):
        x = normal(*shape)
        tensor = on_gpu(x)
        with stays_on_gpu():
            lw.softmax(tensor, axis=axis, out=tensor)
        assert_near(tensor, np.moveaxis(softmax(np.moveaxis(x.astype(float), axis, -1)), -1, axis))


@pytest.mark.parametrize("length", [5, 64, 1001])
def test_weights_of_any_stride(gpu: Runner, length: int) -> None:
    x, weight, bias = normal(7, length), normal(2 * length), normal(length)
    expected = layer_norm(x.astype(float)) * weight[::-2] + bias
    rows, factors, added = on_gpu(x), on_gpu(weight)[::-2], on_gpu(bias)
    with stays_on_gpu():
        result = lw.layer_norm(rows, factors, added)
    assert_near(result, expected)
