"""Tests kernels on so many elements that one workgroup would loop more than 2^16 times. Lavapipe ends loops after that
number, which it counts for all loops of an invocation together, and leaves wrong results. Kernels that do not split
their loops (rows, windows and attention) are tested with fewer elements."""

from __future__ import annotations

import numpy as np
import pytest
from harness import Runner

ROW = 12_000_000


@pytest.fixture(scope="module")
def row() -> np.ndarray:
    return np.random.default_rng(1).uniform(-1, 1, ROW).astype(np.float32)


def test_prefix_sums(gpu: Runner) -> None:
    x = np.ones(ROW, np.int32)
    np.testing.assert_array_equal(gpu.run("cumulative_sum", x), np.arange(1, ROW + 1))


@pytest.mark.parametrize("operation", ["argmax", "argmin"])
def test_extremes(gpu: Runner, row: np.ndarray, operation: str) -> None:
    assert gpu.run(operation, row) == getattr(np, operation)(row)


def test_moments(gpu: Runner, row: np.ndarray) -> None:
    x = row.astype(np.float64)
    np.testing.assert_allclose(gpu.run("mean", row), x.mean(), atol=1e-6)
    np.testing.assert_allclose(gpu.run("var", row), x.var(), rtol=1e-5)


def test_products(gpu: Runner, row: np.ndarray) -> None:
    a, b = row[: ROW // 12].reshape(2, -1), row[ROW // 12 : ROW // 6].reshape(-1, 2)
    size = np.abs(a) @ np.abs(b)
    assert (np.abs(gpu.run("matmul", a, b) - a.astype(np.float64) @ b) <= 2e-6 * size).all()


@pytest.mark.parametrize(("queries", "keys"), [(2, 1000), (2, 5000), (8, 60_000)])
def test_attention(gpu: Runner, row: np.ndarray, queries: int, keys: int) -> None:
    query, key, value = (
        row[: queries * 16].reshape(queries, 16),
        row[: keys * 16].reshape(keys, 16),
        row[-keys * 3 :].reshape(-1, 3),
    )
    weights = np.exp(query.astype(np.float64) @ key.T / 4)
    expected = weights @ value / weights.sum(-1, keepdims=True)
    np.testing.assert_allclose(gpu.run("scaled_dot_product_attention", query, key, value), expected, atol=2e-5)


@pytest.mark.parametrize(("channels", "outputs"), [(300, 1), (3000, 1), (60_000, 8)])
def test_convolution(gpu: Runner, row: np.ndarray, channels: int, outputs: int) -> None:
    images = row[: channels * 9].reshape(1, channels, 3, 3)
    weight = row[-channels * 9 * outputs :].reshape(outputs, channels, 3, 3)
    terms = images.astype(np.float64) * weight
    difference = gpu.run("conv2d", images, weight)[0, :, 0, 0] - terms.sum((1, 2, 3))
    assert (abs(difference) <= 2e-7 * abs(terms).sum((1, 2, 3))).all()
