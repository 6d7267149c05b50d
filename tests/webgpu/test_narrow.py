"""Tests results and operands of 1 and 2 bytes: words at the ends of rows, which share them with others, and conversions
in reductions and operations on rows. Expected results are those of the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from harness import Runner, stays_on_gpu

import lanewise as lw

NARROW = ("bool", "int8", "uint8", "int16", "uint16", "float16", "bfloat16")
RANDOM = np.random.default_rng(5)


def drawn(dtype: str, shape: tuple[int, ...]) -> lw.Tensor:
    """Returns a tensor of the CPU. The sums of its elements are exact in float32."""
    low, high = (0, 2) if dtype == "bool" else (0, 100) if dtype.startswith("u") else (-50, 50)
    return lw.astype(lw.asarray(RANDOM.integers(low, high, shape).astype(np.int32)), getattr(lw, dtype))


def assert_same(result: lw.Tensor, expected: lw.Tensor) -> None:
    assert result.backend == "wgpu"
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    values = (np.asarray(lw.astype(each, lw.float32).to("cpu")) for each in (result, expected))
    np.testing.assert_allclose(*values, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("shape", [(5, 7), (3, 1), (1, 9), (300, 11), (2, 3, 130), (64, 64)])
def test_rows_that_share_words(gpu: Runner, dtype: str, shape: tuple[int, ...]) -> None:
    x, y = drawn(dtype, shape), drawn(dtype, shape)
    a, b = x.to("wgpu"), y.to("wgpu")
    for axis in range(len(shape)):
        assert_same(lw.concat([a, b], axis=axis), lw.concat([x, y], axis=axis))
        assert_same(lw.stack([a, b, a], axis=axis), lw.stack([x, y, x], axis=axis))
    for key in ((..., slice(1, -1)), (..., slice(None, None, 2)), (..., slice(None, None, -1)), (slice(1, None),)):
        into, expected = a.copy(), x.copy()
        into[key], expected[key] = b[key], y[key]
        assert_same(into, expected)


OPERATIONS = ("max", "min", "argmax", "sum", "var", "softmax", "cumulative_sum", "layer_norm", "sort", "argsort")


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("shape", [(37, 130), (3, 5000), (260, 9), (64, 256), (1, 1)])
@pytest.mark.parametrize("view", [(...,), (slice(None, None, -1),), (..., slice(None, None, 2))])
def test_conversions_as_elements_are_loaded(gpu: Runner, dtype: str, shape: tuple[int, ...], view: Any) -> None:
    x = drawn(dtype, shape)
    on_gpu, x = x.to("wgpu")[view], x[view]
    for operation in OPERATIONS:
        for keywords in ({"axis": 0}, {"axis": 1}) if operation != "layer_norm" else ({},):
            function: Any = getattr(lw, operation)
            try:
                expected = function(x, **keywords)
            except lw.DTypeError:
                continue
            if expected.dtype.itemsize < 8:
                assert_same(function(on_gpu, **keywords), expected)


@pytest.mark.parametrize("size", [1 << 14, (1 << 14) + 1, 70_000, 300_001])
@pytest.mark.parametrize("share", [0, 0.3, 1])
def test_positions_of_large_masks(gpu: Runner, size: int, share: float) -> None:
    mask, x = RANDOM.random(size) < share, np.arange(size, dtype=np.float32)
    on_gpu = lw.asarray(mask).to("wgpu")
    np.testing.assert_array_equal(np.array(lw.nonzero(on_gpu)[0]), np.nonzero(mask)[0])
    np.testing.assert_array_equal(np.array(lw.asarray(x).to("wgpu")[on_gpu]), x[mask])


def test_a_sum_of_narrow_elements_is_one_dispatch(gpu: Runner) -> None:
    x = drawn("float16", (3, 4000)).to("wgpu")
    with stays_on_gpu():
        before = lw.memory_stats("wgpu")["dispatches"]
        result = lw.argmax(x, axis=1)
        assert lw.memory_stats("wgpu")["dispatches"] == before + 1
    assert result.shape == (3,)
