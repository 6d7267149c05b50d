"""Tests that kernels loop where a device allows fewer workgroups than there is work for: on the real device with a
limit of 2 workgroups along each dimension, an operation of each template has the results of the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import normal, on_gpu, stays_on_gpu
from openers import Switch, open_player, real_player

import lanewise as lw

Place = Callable[[Any], lw.Tensor]


def integers(below: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(below).integers(-below, below, shape).astype(np.int32)


@pytest.fixture(autouse=True)
def few_workgroups(adapter: None, switch: Switch) -> None:
    """Opens the device with the limit, unless an earlier test has."""
    if switch.opener is not open_limited:
        switch.use(open_limited)


def open_limited(groups: int = 2) -> None:
    player = real_player()
    open_player(player, groups, player.max_buffer)


ROWS, LONG, WIDE = normal(70, 300), normal(9, 9001), normal(3000)
SQUARE, IMAGES, PICKED = normal(300, 150), normal(2, 4, 20, 30), integers(70, 200)
A, B, TALL = normal(3, 200, 37), normal(37, 150), normal(150, 37)
TILES_A, TILES_B, DEEP = normal(3, 200, 36), normal(36, 152), normal(70, 5001)
VECTORS, DEEP_TILES, QUERIES = normal(200, 152), normal(70, 5000), normal(2, 3, 150, 8)
MANY_KEYS = normal(3, 600, 8)
CHANNELS, FILTERS = normal(2, 12, 13, 14), normal(3 * 200, 4, 3, 3)
FLAGS, WORDS = normal(4000) > 0, integers(2**31 - 1, 3000)
INTEGERS = integers(9, 9, 9001)

CALLS: dict[str, Callable[[Place], Any]] = {
    "elementwise, vectors": lambda on: lw.maximum(on(WIDE), on(WIDE[::-1].copy())),
    "elementwise": lambda on: lw.subtract(on(ROWS)[:, ::-1], on(ROWS)[0]),
    "elementwise, packed": lambda on: lw.greater(on(SQUARE).T, on(SQUARE)[:, 0]),
    "elementwise, words": lambda on: lw.logical_not(on(FLAGS)),
    "elementwise, half words": lambda on: lw.astype(on(WIDE), "float16").copy(),
    "cast": lambda on: lw.astype(on(WORDS), "int64"),
    "cast of a view": lambda on: lw.astype(on(SQUARE).T, "int32"),
    "reduction": lambda on: lw.sum(on(ROWS)[:, ::-1], axis=1),
    "reduction, vectors": lambda on: lw.sum(on(ROWS), axis=1),
    "reduction, blocks": lambda on: lw.sum(on(LONG)[:, ::-1], axis=1),
    "reduction, vectors and blocks": lambda on: lw.max(on(LONG), axis=1),
    "reduction of short rows": lambda on: lw.sum(on(ROWS)[:, :10], axis=1),
    "reduction of bytes": lambda on: lw.any(on(SQUARE) > 3, axis=1),
    "reduction of columns": lambda on: lw.prod(on(SQUARE), axis=0),
    "reduction of pairs": lambda on: lw.vecdot(on(LONG), on(LONG)[0]),
    "variance": lambda on: lw.var(on(LONG), axis=1),
    "index reduction": lambda on: lw.argmax(on(ROWS), axis=1),
    "index reduction, blocks": lambda on: lw.argmin(on(LONG), axis=1),
    "matmul": lambda on: lw.matmul(on(A), on(B)),
    "matmul, blocks": lambda on: lw.matmul(on(DEEP), on(DEEP).T),
    "matmul, tiles": lambda on: lw.matmul(on(TILES_A), on(TILES_B)),
    "matmul, tile parts": lambda on: lw.matmul(on(DEEP_TILES[:68]), on(DEEP_TILES[:68]).T),
    "matmul of integers": lambda on: lw.matmul(on(INTEGERS), on(INTEGERS).T),
    "matmul, dots": lambda on: lw.matmul(on(VECTORS), on(VECTORS[:3]).T),
    "linear": lambda on: lw.linear(on(A), on(TALL), on(B)[0], activation="silu"),
    "take": lambda on: lw.take(on(ROWS), on(PICKED), axis=0),
    "take of bytes": lambda on: lw.take(on(FLAGS), on(PICKED)),
    "take_along_axis": lambda on: lw.take_along_axis(on(ROWS), lw.argmax(on(ROWS), axis=1, keepdims=True), axis=1),
    "put": lambda on: put(on(ROWS), on(PICKED), on(SQUARE[:200, :1])),
    "put of bytes": lambda on: put(on(FLAGS), on(PICKED), on(FLAGS[:200])),
    "softmax, blocks": lambda on: lw.softmax(on(LONG)),
    "softmax of short rows": lambda on: lw.softmax(on(ROWS)[:, :3]),
    "softmax, vectors": lambda on: lw.softmax(on(VECTORS)),
    "rms_norm, vectors": lambda on: lw.rms_norm(on(VECTORS), on(VECTORS)[0]),
    "softmax": lambda on: lw.softmax(on(ROWS)[:, 1:]),
    "softmax of columns": lambda on: lw.softmax(on(SQUARE), axis=0),
    "softmax of columns, blocks": lambda on: lw.softmax(on(WIDE).reshape(1500, 2), axis=0),
    "layer_norm": lambda on: lw.layer_norm(on(LONG), None, on(LONG)[0]),
    "rms_norm": lambda on: lw.rms_norm(on(ROWS)[:, ::-1], on(ROWS)[0]),
    "cumulative_sum": lambda on: lw.cumulative_sum(on(ROWS), axis=1),
    "cumulative_sum, turns": lambda on: lw.cumulative_sum(on(INTEGERS), axis=1),
    "cumulative_sum, blocks": lambda on: lw.cumulative_sum(on(INTEGERS).reshape(-1)),
    "cumulative_sum of columns": lambda on: lw.cumulative_sum(on(INTEGERS), axis=0),
    "rope": lambda on: lw.rope(on(ROWS), offset=5),
    "conv2d": lambda on: lw.conv2d(on(IMAGES), on(IMAGES[:, :, :3, :5]), padding=2),
    "conv2d, tiles": lambda on: lw.conv2d(on(CHANNELS), on(FILTERS), padding=1, groups=3),
    "max_pool2d": lambda on: lw.max_pool2d(on(IMAGES), 3, 1, 1),
    "avg_pool2d": lambda on: lw.avg_pool2d(on(IMAGES), 2),
    "attention, tiles": lambda on: lw.scaled_dot_product_attention(on(QUERIES), on(QUERIES), on(QUERIES)),
    "attention, parts": lambda on: lw.scaled_dot_product_attention(on(QUERIES), on(MANY_KEYS), on(MANY_KEYS)),
    "attention": lambda on: lw.scaled_dot_product_attention(on(QUERIES)[..., :5, :], on(QUERIES), on(QUERIES)),
    "sort, tiles": lambda on: lw.sort(on(ROWS), axis=0, descending=True),
    "sort, digits": lambda on: lw.argsort(on(LONG)),
    "topk, tiles": lambda on: lw.topk(on(LONG), 70)[1],
    "searchsorted": lambda on: lw.searchsorted(on(np.sort(WORDS)), on(WORDS) - 1),
}


def put(target: lw.Tensor, indices: lw.Tensor, values: lw.Tensor) -> lw.Tensor:
    """Writes the values to the positions of the target, and returns it. Indices of both signs may be equal."""
    target[indices] = values
    return target


@pytest.mark.parametrize("name", CALLS)
def test_results(name: str) -> None:
    expected = np.array(CALLS[name](lambda array: lw.asarray(array.copy())))
    kept: list[lw.Tensor] = []

    def uploaded(array: np.ndarray) -> lw.Tensor:
        kept.append(on_gpu(array))
        return kept[-1]

    before = lw.memory_stats()["readbacks"]
    result = CALLS[name](uploaded)
    assert lw.memory_stats()["readbacks"] == before
    assert result.backend == "wgpu" and result.dtype == expected.dtype
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(np.array(result), expected, rtol=2e-5, atol=2e-4)
    else:
        np.testing.assert_array_equal(np.array(result), expected)


@pytest.mark.parametrize("operation", ["rand", "randn"])
def test_creation(operation: str) -> None:
    with lw.use_backend("wgpu"), stays_on_gpu():
        result = getattr(lw, operation)((3, 1000), seed=1)
    assert np.array(result).tobytes() == np.array(getattr(lw, operation)((3, 1000), seed=1)).tobytes()


def test_ranges() -> None:
    with lw.use_backend("wgpu"), stays_on_gpu():
        result = lw.arange(5000)
    np.testing.assert_array_equal(np.array(result), np.arange(5000))


def test_prefix_sums_with_one_workgroup(switch: Switch) -> None:
    """It scans rows of two turns one after another, and rows that are shorter than a tile 64 at once."""
    switch.use(lambda: open_limited(1))
    for x in (integers(9, 70, 4100), integers(9, 200, 30)):
        np.testing.assert_array_equal(np.array(lw.cumulative_sum(on_gpu(x), axis=1)), x.cumsum(1))
