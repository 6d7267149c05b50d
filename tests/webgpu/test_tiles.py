"""Tests the entry point that computes convolution in tiles of 64 x 64 elements. The expected results are computed in
float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from harness import Runner, on_gpu, stays_on_gpu
from recording import FakePlayer

import lanewise as lw

Shape = tuple[int, ...]


def normal(*shape: int, seed: int = 4) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(np.float32)


def convolution(
    x: np.ndarray,
    weight: np.ndarray,
    stride: Any = (1, 1),
    padding: Any = (0, 0),
    dilation: Any = (1, 1),
    groups: int = 1,
) -> np.ndarray:
    rows, columns = padding
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (rows, rows), (columns, columns)))
    outputs, channels, *kernel = weight.shape
    size = [(padded.shape[2 + d] - dilation[d] * (kernel[d] - 1) - 1) // stride[d] + 1 for d in range(2)]
    result = np.zeros((len(x), outputs, *size))
    for o, p, q in np.ndindex(outputs, *kernel):
        first = o * groups // outputs * channels
        taps = padded[:, first : first + channels, p * dilation[0] :, q * dilation[1] :]
        taps = taps[:, :, :: stride[0], :: stride[1]][:, :, : size[0], : size[1]]
        result[:, o] += np.einsum("nchw,c->nhw", taps, weight[o, :, p, q].astype(np.float64))
    return result


CONVOLUTIONS: list[tuple[Shape, Shape, dict[str, Any]]] = [
    ((1, 1, 8, 8), (8, 1, 1, 1), {}),
    ((2, 16, 8, 8), (64, 16, 1, 1), {}),
    ((1, 5, 9, 9), (65, 5, 3, 3), {"padding": (1, 1)}),
    ((3, 7, 5, 13), (9, 7, 3, 3), {"padding": (2, 0)}),
    ((2, 3, 20, 17), (70, 3, 5, 5), {"stride": (2, 3), "padding": (2, 1)}),
    ((2, 4, 15, 14), (8, 4, 3, 2), {"dilation": (2, 3), "padding": (3, 2)}),
    ((2, 6, 9, 8), (24, 2, 3, 3), {"groups": 3, "padding": (1, 1)}),
    ((1, 4, 9, 8), (130, 2, 3, 3), {"groups": 2, "stride": (2, 2)}),
    ((5, 2, 3, 3), (8, 2, 3, 3), {"padding": (3, 3)}),
    ((1, 2, 130, 1), (8, 2, 3, 1), {}),
]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("images", "weights", "keywords"), CONVOLUTIONS)
def test_convolution(gpu: Runner, images: Shape, weights: Shape, keywords: dict[str, Any], bias: bool) -> None:
    x, weight, added = normal(*images), normal(*weights, seed=5), normal(weights[0], seed=6) if bias else None
    result = gpu.guarded("conv2d", x, weight, added, **keywords)
    expected = convolution(x, weight, **keywords) + (0 if added is None else added.reshape(-1, 1, 1))
    size = convolution(abs(x), abs(weight), **keywords) + 5
    assert result.shape == expected.shape
    assert (abs(result - expected) <= 1e-6 * size).all()


def test_convolution_of_views(gpu: Runner) -> None:
    """Around the operands are NaN, which must not be used."""
    x, weight = np.full((2, 9, 11, 4), np.nan, np.float32), np.full((17, 3, 4, 3), np.nan, np.float32)
    x[..., :3], weight[1:] = normal(2, 9, 11, 3), normal(16, 3, 4, 3)
    images, filters = on_gpu(x), on_gpu(weight)
    with stays_on_gpu():
        result = lw.conv2d(
            lw.permute_dims(images, (0, 3, 2, 1))[:, 2::-1], filters[1:, :, ::2, ::-1], stride=(1, 2), padding=(1, 1)
        )
    expected = convolution(x.transpose(0, 3, 2, 1)[:, 2::-1], weight[1:, :, ::2, ::-1], (1, 2), (1, 1))
    np.testing.assert_allclose(np.array(result), expected, atol=1e-5)


@pytest.mark.parametrize("outputs", [4, 16])
def test_infinity_times_padding_is_nan(gpu: Runner, outputs: int) -> None:
    """As on the CPU. With few output channels, each element is computed by itself."""
    x, weight = abs(normal(2, 3, 9, 9)), normal(outputs, 3, 3, 3)
    weight[2, 1, 0, 1] = np.inf
    x[1, 2, 4, 4] = np.nan
    result = gpu.run("conv2d", x, weight, padding=(1, 1))
    with np.errstate(invalid="ignore"):
        expected = convolution(x, weight, padding=(1, 1))
    assert np.isnan(expected[0, 2, 0]).all() and np.isposinf(expected[0, 2, 1:]).all()
    np.testing.assert_allclose(result, expected, atol=1e-5)


def test_when_tiles_are_used(fake: FakePlayer) -> None:
    """They need 8 output channels of a group."""

    def entry(result: lw.Tensor) -> tuple[str, Shape]:
        dispatch = fake.recorded(result)[-1]
        return dispatch.entry, dispatch.groups

    def zeros(*shape: int) -> lw.Tensor:
        return on_gpu(np.zeros(shape), np.float32)

    images = zeros(3, 6, 10, 10)
    assert entry(lw.conv2d(images, zeros(65, 6, 1, 1))) == ("tiles", (5, 2, 1))
    assert entry(lw.conv2d(images, zeros(24, 2, 3, 3), groups=3)) == ("tiles", (3, 1, 3))
    assert entry(lw.conv2d(images, zeros(21, 2, 3, 3), groups=3))[0] == "main"
