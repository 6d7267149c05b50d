"""Tests kernels on so many elements that one workgroup would loop more than 2^16 times. Lavapipe ends loops after that
number, which it counts for all loops of an invocation together, and leaves wrong results. Kernels that do not split
their loops (rows, windows and attention) are tested with fewer elements, and refused with more."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from harness import Runner
from openers import Switch
from recording import FakePlayer

import lanewise as lw
from lanewise.errors import BackendError
from lanewise.webgpu import provider

ROW = 12_000_000
CUT_SHORT = "wgpu cannot run this call: expected smaller operands, because this adapter cuts long loops short"


@pytest.fixture(scope="module")
def row() -> np.ndarray:
    return np.random.default_rng(1).uniform(-1, 1, ROW).astype(np.float32)


def test_prefix_sums(gpu: Runner) -> None:
    x = np.ones(ROW, np.int32)
    np.testing.assert_array_equal(gpu.run("cumulative_sum", x), np.arange(1, ROW + 1))


def test_softmax(gpu: Runner, row: np.ndarray) -> None:
    terms = np.exp(row.astype(np.float64))
    np.testing.assert_allclose(gpu.run("softmax", row) * ROW, terms * (ROW / terms.sum()), rtol=2e-5)


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


@pytest.mark.parametrize(("channels", "outputs"), [(300, 1), (3000, 1), (10_000, 8)])
def test_convolution(gpu: Runner, row: np.ndarray, channels: int, outputs: int) -> None:
    images = row[: channels * 9].reshape(1, channels, 3, 3)
    weight = row[-channels * 9 * outputs :].reshape(outputs, channels, 3, 3)
    terms = images.astype(np.float64) * weight
    difference = gpu.run("conv2d", images, weight)[0, :, 0, 0] - terms.sum((1, 2, 3))
    assert (abs(difference) <= 2e-7 * abs(terms).sum((1, 2, 3))).all()


def attention(queries: int, keys: int, depth: int) -> lw.Tensor:
    """Every value is 1, so the result is."""
    query, key = lw.ones((queries, depth)), lw.zeros((keys, depth))
    return lw.scaled_dot_product_attention(query, key, key + 1)


def convolution(rows: int) -> lw.Tensor:
    return lw.conv2d(lw.ones((1, 1, rows, 1)), lw.ones((1, 1, rows, 1))) / rows


def pooling(rows: int, columns: int) -> lw.Tensor:
    return lw.max_pool2d(lw.ones((1, 1, rows, columns)), (rows, columns))


# Calls whose loops have about the length where lavapipe ends them: 1 % more if the argument is 1. All results are 1.
LONG: dict[str, Callable[[float], lw.Tensor]] = {
    "a window's row": lambda part: pooling(1, int(66_200 * part)),
    "a window's rows": lambda part: pooling(int(16_600 * part), 2),
    "a kernel's rows": lambda part: convolution(int(22_060 * part)),  # few channels, which are not divided
    "keys": lambda part: attention(8, int(162_800 * part), 132),  # so wide that keys are not split
}


@pytest.mark.parametrize("name", LONG)
def test_loops_that_lavapipe_would_cut_short_are_refused(gpu: Runner, name: str) -> None:
    """Slightly shorter ones are computed, as all are on other adapters."""
    with lw.use_backend("wgpu"):
        np.testing.assert_allclose(LONG[name](0.97).numpy(), 1, rtol=1e-4)
        if "llvmpipe" not in provider.devices()[0].name:
            np.testing.assert_allclose(LONG[name](1).numpy(), 1, rtol=1e-4)
            return
        with pytest.raises(BackendError, match=CUT_SHORT):
            LONG[name](1).numpy()


@pytest.mark.parametrize(
    ("rows", "limit", "is_refused"),
    [(100, 4000, False), (101, 4000, True), (101, 4080, False), (200, 0, False), (200, -1, False)],
)
def test_rows_that_share_a_workgroup(switch: Switch, rows: int, limit: int, is_refused: bool) -> None:
    """Their loops add up: here, 80 rounds for a row, of too many to be divided. A limit of 0 or less is none."""
    player = FakePlayer()
    player.max_rounds = limit
    switch.use(lambda: player.open(groups=2))
    x = lw.zeros((rows, 100 * 256)).to("wgpu")
    if not is_refused:
        lw.softmax(x).tolist()
        return
    with pytest.raises(BackendError, match=CUT_SHORT):
        lw.softmax(x).tolist()


@pytest.mark.parametrize("name", ["max_rounds", "compiles_tiles"])
def test_a_limit_that_cannot_be_read(name: str) -> None:
    class Interrupted(FakePlayer):
        def __getattribute__(self, asked: str) -> object:
            if asked == name:
                raise KeyboardInterrupt
            return super().__getattribute__(asked)

    with pytest.raises(KeyboardInterrupt):
        Interrupted().open()
    player = FakePlayer()
    setattr(player, name, "many")
    with pytest.raises(TypeError):
        player.open()
