"""Tests matrix products of many shapes, layers and attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from harness import Runner, on_gpu, stays_on_gpu

import lanewise as lw

MATRICES = [
    ((1, 1), (1, 1)),
    ((5, 3), (3, 2)),
    ((64, 64), (64, 64)),
    ((65, 17), (17, 63)),
    ((130, 100), (100, 70)),
    ((1, 300), (300, 1)),
    ((3, 4, 5), (5, 6)),
    ((2, 1, 9, 8), (3, 8, 7)),
    ((4, 0), (0, 3)),
    ((0, 4), (4, 3)),
    ((2, 1, 3, 1, 2, 1, 4, 5), (1, 3, 1, 2, 2, 2, 5, 3)),
]
# k is split into parts of at least 128. Above 2^15 it is split for any number of tiles.
LONG = [
    ((3, 1023), (1023, 4)),
    ((3, 1024), (1024, 4)),
    ((70, 5000), (5000, 65)),
    ((1, 100_003), (100_003, 1)),
    ((3, 4, 3001), (3, 3001, 5)),
    ((2, 1, 2, 1500), (3, 1500, 2)),
]


def normal(*shape: int, seed: int = 4) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(np.float32)


def assert_product(result: Any, a: np.ndarray, b: np.ndarray) -> None:
    a, b = a.astype(np.float64), b.astype(np.float64)
    assert (np.abs(np.asarray(result) - a @ b) <= 2e-6 * (np.abs(a) @ np.abs(b))).all()


@pytest.mark.parametrize(("left", "right"), MATRICES + LONG)
def test_matrices(gpu: Runner, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = normal(*left), normal(*right, seed=5)
    assert_product(gpu.guarded("matmul", a, b), a, b)


@pytest.mark.parametrize("m", [4, 60, 64, 68, 132])
@pytest.mark.parametrize("n", [8, 124, 128, 132, 260])
@pytest.mark.parametrize("k", [4, 8, 12, 20, 24, 28, 124])
def test_edges_of_tiles(gpu: Runner, m: int, n: int, k: int) -> None:
    """Tiles of 64 x 128 from strips of 8, with odd and even numbers of strips, whole and not; both transpositions."""
    a, b = normal(m, k), normal(k, n, seed=5)
    left, right = on_gpu(a.T), on_gpu(b.T)
    for result in (on_gpu(a) @ on_gpu(b), on_gpu(a) @ right.T, left.T @ on_gpu(b), left.T @ right.T):
        assert_product(result, a, b)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("n", [4, 8, 252, 260, 1028])
@pytest.mark.parametrize("k", [1, 7, 8, 33, 1001])
def test_few_rows(gpu: Runner, m: int, n: int, k: int) -> None:
    a, b, bias = normal(2, m, k), normal(k, n, seed=5), normal(n, seed=6)
    assert_product(on_gpu(a) @ on_gpu(b), a, b)
    assert_product(on_gpu(a.swapaxes(1, 2)).mT @ on_gpu(b), a, b)
    weight = on_gpu(b).T
    result = np.asarray(lw.linear(on_gpu(a), weight, on_gpu(bias)))
    assert (np.abs(result - (a.astype(float) @ b + bias)) <= 2e-6 * (np.abs(a) @ np.abs(b) + np.abs(bias))).all()


@pytest.mark.parametrize(("batch", "m", "n", "k"), [(2, 68, 132, 20), (3, 8, 8, 256), (1, 12, 140, 516)])
def test_tiles_of_batches_and_parts(gpu: Runner, batch: int, m: int, n: int, k: int) -> None:
    a, b = normal(batch, m, k), normal(batch, k, n, seed=5)
    left, right = on_gpu(a.swapaxes(1, 2)), on_gpu(b.swapaxes(1, 2))
    for result in (on_gpu(a) @ on_gpu(b), on_gpu(a) @ right.mT, left.mT @ on_gpu(b), left.mT @ right.mT):
        assert_product(result, a, b)
    wide_a, wide_b = normal(batch, m, k + 4), normal(batch, k, n + 8, seed=6)  # rows with gaps between them
    result = on_gpu(wide_a)[:, :, 4:] @ on_gpu(wide_b)[:, :, 4 : n + 4]
    assert_product(result, wide_a[:, :, 4:], wide_b[:, :, 4 : n + 4])


@pytest.mark.parametrize("k", [4, 36, 520])
def test_tiles_of_matrices_in_reverse(gpu: Runner, k: int) -> None:
    """Strides along k, m and n are negative; elements of vectors are contiguous."""
    a, b = normal(68, k), normal(k, 132, seed=5)
    x, y, left, right = on_gpu(a), on_gpu(b), on_gpu(a.T), on_gpu(b.T)
    with stays_on_gpu():
        products = (left[::-1].T @ y[::-1], x[::-1] @ y, x @ right[::-1].T, x[:2] @ y[::-1])
    assert_product(products[0], a[:, ::-1], b[::-1])
    assert_product(products[1], a[::-1], b)
    assert_product(products[2], a, b[:, ::-1])
    assert_product(products[3], a[:2], b[::-1])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_special_element_stays_in_its_row_and_column(gpu: Runner, value: float) -> None:
    """What is loaded beyond the edges of a strip is not multiplied with it."""
    a, b = normal(68, 20), normal(20, 132, seed=5)
    a[66, 18] = b[17, 131] = value
    result = np.asarray(on_gpu(a) @ on_gpu(b))
    special = ~np.isfinite(result)
    assert special[66].all() and special[:, 131].all() and special.sum() == 132 + 68 - 1


@pytest.mark.parametrize("k", [1025, 40_000])
def test_integers_are_exact_however_k_is_split(gpu: Runner, k: int) -> None:
    random = np.random.default_rng(k)
    a, b = (random.integers(-(2**31), 2**31, shape).astype(np.int32) for shape in ((5, k), (k, 3)))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(gpu.guarded("matmul", a, b), a @ b)


@pytest.mark.parametrize("depth", [1, 7, 20])
def test_views_of_matrices(gpu: Runner, depth: int) -> None:
    base = normal(3, 90 * depth, 80)
    x = on_gpu(base)
    with stays_on_gpu():
        square = lw.matmul(x.mT[:, ::2, 1:], x[:, 1:, ::-3])
        rows = lw.matmul(x[0, ::-1], x[1, :80, :])
    assert_product(square, base.mT[:, ::2, 1:], base[:, 1:, ::-3])
    assert_product(rows, base[0, ::-1], base[1, :80, :])


# Rows that are contiguous, with n and k that are multiples of 4, are multiplied in tiles of vectors; if there are only
# few rows or columns, and B is transposed, as dot products.
TILES = [
    ((1, 4), (4, 4)),
    ((64, 64), (64, 64)),
    ((65, 68), (68, 132)),
    ((3, 130, 20), (20, 64)),
    ((2, 1, 7, 36), (3, 36, 72)),
    ((9, 2052), (2052, 20)),
    ((70, 1040), (2, 1040, 68)),
    ((5, 40_004), (40_004, 8)),
    ((1, 4), (4, 1)),
    ((4, 516), (516, 70)),
    ((2, 70, 1028), (1028, 3)),
    ((3, 1, 252), (3, 252, 5)),
    ((2, 100_000), (100_000, 2)),
]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("left", "right"), TILES)
def test_tiles(gpu: Runner, left: tuple[int, ...], right: tuple[int, ...], transposed: bool) -> None:
    """Around the operands are NaN, which must not be used."""
    a, b = normal(*left), normal(*right, seed=5)
    wide, long = (np.full((*each.shape[:-2], each.shape[-2] + 3, each.shape[-1] + 8), np.nan, np.float32)
                  for each in (a, b.mT if transposed else b))  # fmt: skip
    wide[..., 1:-2, 4:-4], long[..., 1:-2, 4:-4] = a, b.mT if transposed else b
    x, y = on_gpu(wide)[..., 1:-2, 4:-4], on_gpu(long)[..., 1:-2, 4:-4]
    with stays_on_gpu():
        product = lw.matmul(x, y.mT if transposed else y)
    assert_product(product, a, b)
    assert_product(gpu.run("matmul", a, b), a, b)


@pytest.mark.parametrize("k", [35, 36, 1300])
def test_nothing_beyond_the_edges_is_used(gpu: Runner, k: int) -> None:
    """The rows of A and the columns of B are parts of longer ones, whose other elements are NaN."""
    a, b = np.full((70, k + 25), np.nan, np.float32), np.full((75, k + 25), np.nan, np.float32)
    a[:, :k], b[:, :k] = normal(70, k), normal(75, k, seed=5)
    x, y = on_gpu(a), on_gpu(b)
    with stays_on_gpu():
        product = lw.matmul(x[:, :k], y.T[:k])
    assert_product(product, a[:, :k], b.T[:k])


@pytest.mark.parametrize("columns", [70, 72])
@pytest.mark.parametrize("k", [68, 70, 1100])
def test_zero_times_infinity(gpu: Runner, k: int, columns: int) -> None:
    a, b = np.zeros((70, k), np.float32), np.ones((k, columns), np.float32)
    b[3, 4] = np.inf
    result = gpu.run("matmul", a, b)
    assert np.isnan(result[:, 4]).all()
    assert (np.delete(result, 4, axis=1) == 0).all()


@pytest.mark.parametrize("depth", [10, 1200])
def test_a_product_in_the_tensor_of_its_operands(gpu: Runner, depth: int) -> None:
    base = normal(10 * depth * 2 + 100)
    x = on_gpu(base)
    a, b = (slice(10 * depth * i + 100, 10 * depth * (i + 1) + 100) for i in range(2))
    with stays_on_gpu():
        lw.matmul(x[a].reshape((10, depth)), x[b].reshape((depth, 10)), out=x[:100].reshape((10, 10)))
    after = np.array(x)
    np.testing.assert_array_equal(after[100:], base[100:])
    assert_product(after[:100].reshape(10, 10), base[a].reshape(10, depth), base[b].reshape(depth, 10))


ACTIVATIONS = ("none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh")


@pytest.mark.parametrize("depth", [20, 1500])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_layers(gpu: Runner, bias: bool, activation: str, depth: int) -> None:
    x, weight = normal(33, depth), normal(70, depth, seed=5) / np.float32(math.sqrt(depth))
    added = normal(70, seed=6) if bias else None
    result = gpu.guarded("linear", x, weight, added, activation=activation)
    y = x.astype(np.float64) @ weight.T + (0 if added is None else added)
    logistic = 1 / (1 + np.exp(-y))
    erf = np.vectorize(math.erf)(y / 2**0.5)
    expected = {
        "none": y,
        "relu": np.maximum(y, 0),
        "gelu": y * (1 + erf) / 2,
        "gelu_tanh": y * (1 + np.tanh((2 / np.pi) ** 0.5 * (y + 0.044715 * y**3))) / 2,
        "silu": y * logistic,
        "sigmoid": logistic,
        "tanh": np.tanh(y),
    }
    np.testing.assert_allclose(result, expected[activation], atol=1e-5, rtol=1e-5)


def attention(query: np.ndarray, key: np.ndarray, value: np.ndarray, mask: Any = 0.0) -> np.ndarray:
    """Returns what scaled_dot_product_attention computes, in float64. True in a mask of bools is a key to attend to."""
    query, key, value = (each.astype(np.float64) for each in (query, key, value))
    added = np.where(mask, 0, -np.inf) if np.asarray(mask).dtype == bool else np.asarray(mask, np.float64)
    scores = query @ key.mT / math.sqrt(query.shape[-1]) + added
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ value


QUERIES = [
    (7, 9),
    (3, 7, 9),
    (2, 3, 2, 2, 5, 8),
    (2, 1, 3, 2, 1, 3, 5, 8),
    (2, 65, 1),
]


@pytest.mark.parametrize("shape", QUERIES)
@pytest.mark.parametrize("mask", ["none", "float", "bool", "rows"])
def test_attention(gpu: Runner, shape: tuple[int, ...], mask: str) -> None:
    """A dispatch has up to four dimensions of the batch; with more, there are several dispatches."""
    *batch, queries, depth = shape
    keys = queries + 66
    query = normal(*shape)
    key, value = normal(*batch[1:], keys, depth, seed=5), normal(*batch[-1:], keys, 70, seed=6)
    masks = {
        "none": None,
        "float": normal(*batch, queries, keys),
        "bool": normal(*batch, queries, keys) > -0.5,
        "rows": normal(keys),
    }
    given = masks[mask]
    result = gpu.guarded("scaled_dot_product_attention", query, key, value, given)
    expected = attention(query, key, value, 0.0 if given is None else given)
    np.testing.assert_allclose(result, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("window", "offset"), [(None, 0), (70, 0), (200, 90)])
def test_attention_to_earlier_keys(gpu: Runner, window: int | None, offset: int) -> None:
    """Values of keys that a query does not see may be NaN."""
    query, key, value = normal(3, 150, 8), normal(260, 8, seed=5), normal(260, 70, seed=6)
    distance = np.arange(150)[:, None] + offset - np.arange(260)
    seen = (distance >= 0) & (distance < (window or 1000))
    expected = attention(query, key, value, seen)
    value[~seen.any(0)] = np.nan
    keywords = {"is_causal": True, "window": window, "offset": offset}
    result = gpu.guarded("scaled_dot_product_attention", query, key, value, **keywords)
    np.testing.assert_allclose(result, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("mask", [True, 0.5, -3.0])
def test_attention_with_a_number_as_mask(gpu: Runner, mask: Any) -> None:
    """Whatever number is added to all scores, or if all keys may be seen, the result is that without a mask."""
    query, key, value = normal(5, 8), normal(9, 8, seed=5), normal(9, 3, seed=6)
    result = gpu.run("scaled_dot_product_attention", query, key, value, mask)
    np.testing.assert_allclose(result, attention(query, key, value), atol=1e-5, rtol=1e-5)


def test_attention_on_views(gpu: Runner) -> None:
    """Heads are a dimension of one tensor, as models compute them."""
    base = normal(3, 20, 4, 8)
    x = on_gpu(base)
    with stays_on_gpu():
        heads = lw.permute_dims(x, (0, 2, 1, 3))
        result = lw.scaled_dot_product_attention(heads[0], heads[1], heads[2, :, :, ::-1])
    q, k, v = base.transpose(0, 2, 1, 3)
    np.testing.assert_allclose(np.array(result), attention(q, k, v[..., ::-1]), atol=1e-5, rtol=1e-5)
