"""Tests matrix products of many shapes, with operands of every layout in memory, and layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from generator import references
from harness import Runner, normal, on_gpu, stays_on_gpu

import lanewise as lw

Shape = tuple[int, ...]

# Extents around those of tiles, and of strips along k: multiples of 4, as vectors of elements need, and others.
MULTIPLES = ([4, 60, 64, 68, 132], [8, 124, 128, 132, 260], [4, 8, 12, 20, 24, 28, 124])
OTHERS = ([1, 5, 64, 67], [1, 7, 128, 131], [1, 8, 9, 31, 257])
FEW_ROWS = ([1, 2, 3, 4, 5], [4, 8, 252, 260, 1028], [1, 7, 8, 33, 1001])
# All tiles, whole and in parts: 64 x 64 with few columns, 64 x 128 with a small batch, and with a large one 128 x 256,
# or 128 x 128 if B is read along k.
TILES = [
    *(((2, 197, k), (k, n)) for n in (60, 450, 512) for k in (20, 33)),
    ((2, 197, 1030), (1030, 60)),
    ((2, 197, 1030), (1030, 450)),
    ((30, 197, 33), (33, 450)),
    ((30, 197, 20), (20, 512)),
]
BATCHES = [
    ((3, 4, 5), (5, 6)),
    ((2, 1, 9, 8), (3, 8, 7)),
    ((4, 0), (0, 3)),
    ((0, 4), (4, 3)),
    ((2, 1, 3, 1, 2, 1, 4, 5), (1, 3, 1, 2, 2, 2, 5, 3)),
    ((2, 1, 7, 36), (3, 36, 72)),
    ((3, 130, 20), (20, 64)),
    ((2, 68, 20), (2, 20, 132)),
    ((3, 8, 256), (3, 256, 8)),
    ((1, 12, 516), (1, 516, 140)),
]
# k is split into parts of at least 128. Above 2^15 it is split for any number of tiles.
LONG = [
    ((1, 300), (300, 1)),
    ((3, 1023), (1023, 4)),
    ((3, 1024), (1024, 4)),
    ((4, 516), (516, 70)),
    ((9, 2052), (2052, 20)),
    ((70, 1040), (2, 1040, 68)),
    ((70, 5000), (5000, 65)),
    ((2, 70, 1028), (1028, 3)),
    ((3, 1, 252), (3, 252, 5)),
    ((3, 4, 3001), (3, 3001, 5)),
    ((2, 1, 2, 1500), (3, 1500, 2)),
    ((5, 40_004), (40_004, 8)),
    ((2, 100_000), (100_000, 2)),
    ((1, 100_003), (100_003, 1)),
]


def assert_near(results: Sequence[Any], a: np.ndarray, b: np.ndarray, added: Any = 0.0) -> None:
    """Asserts that each result is A @ B plus what is added. NumPy computes that once, which takes long, too."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    expected, size = a @ b + added, np.abs(a) @ np.abs(b) + np.abs(added)
    for result in results:
        assert (np.abs(np.asarray(result) - expected) <= 1e-6 * size).all()


def layouts(x: np.ndarray) -> tuple[lw.Tensor, ...]:
    """Returns a matrix whose rows are contiguous, one whose columns are, and one of elements between NaN."""
    spaced = np.full((*x.shape[:-1], 3 * x.shape[-1]), np.nan, np.float32)
    spaced[..., 1::3] = x[..., ::-1]
    return on_gpu(x), on_gpu(x.mT).mT, on_gpu(spaced)[..., 1::3][..., ::-1]


def framed(x: np.ndarray) -> lw.Tensor:
    """Returns a matrix whose rows are contiguous, but in reverse in memory, with NaN around each of them."""
    wide = np.full((*x.shape[:-2], x.shape[-2] + 3, x.shape[-1] + 8), np.nan, np.float32)
    wide[..., 1:-2, 4:-4] = x[..., ::-1, :]
    return on_gpu(wide)[..., 1:-2, 4:-4][..., ::-1, :]


def shapes(extents: tuple[list[int], ...], *batch: int) -> list[tuple[Shape, Shape]]:
    """Returns the shapes of A and B for extents m, n and k; A may be a batch of matrices. Each m meets each n and each
    k, and each n meets each k. Not all three are combined: tiles and strips are divided along each axis by itself."""
    rows, columns, depths = extents
    chosen = {
        *((m, n, depths[(i + j) % len(depths)]) for i, m in enumerate(rows) for j, n in enumerate(columns)),
        *((m, columns[(j - i) % len(columns)], k) for i, m in enumerate(rows) for j, k in enumerate(depths)),
        *((rows[(j - i) % len(rows)], n, k) for i, n in enumerate(columns) for j, k in enumerate(depths)),
    }
    return [((*batch, m, k), (k, n)) for m, n, k in sorted(chosen)]


def assert_products(lefts: Sequence[lw.Tensor], rights: Sequence[lw.Tensor], a: np.ndarray, b: np.ndarray) -> None:
    """Multiplies A by B in each of their layouts."""
    with stays_on_gpu():
        products = [left @ right for left in lefts for right in rights]
    assert_near(products, a, b)


@pytest.mark.parametrize(("left", "right"), [*shapes(MULTIPLES), *TILES])
def test_vectors(gpu: Runner, left: Shape, right: Shape) -> None:
    a, b = normal(*left), normal(*right, seed=5)
    assert_products(layouts(a)[:2], layouts(b)[:2], a, b)


@pytest.mark.parametrize(("left", "right"), shapes(FEW_ROWS, 2))
def test_few_rows(gpu: Runner, left: Shape, right: Shape) -> None:
    a, b, bias = normal(*left), normal(*right, seed=5), normal(right[1], seed=6)
    assert_products(layouts(a)[:2], layouts(b)[:2], a, b)
    assert_near([lw.linear(on_gpu(a), on_gpu(b).T, on_gpu(bias))], a, b, bias)


@pytest.mark.parametrize(("left", "right"), [*shapes(OTHERS), *BATCHES, *LONG])
def test_products(gpu: Runner, left: Shape, right: Shape) -> None:
    a, b = normal(*left), normal(*right, seed=5)
    assert_products(layouts(a), layouts(b), a, b)


@pytest.mark.parametrize(("left", "right"), BATCHES + LONG)
def test_nothing_around_matrices_is_used_or_changed(gpu: Runner, left: Shape, right: Shape) -> None:
    a, b = normal(*left), normal(*right, seed=5)
    assert_products((framed(a), framed(a.mT).mT), (framed(b), framed(b.mT).mT), a, b)
    assert_near([gpu.guarded("matmul", a, b)], a, b)


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
    assert_near([after[:100].reshape(10, 10)], base[a].reshape(10, depth), base[b].reshape(depth, 10))


@pytest.mark.parametrize("depth", [20, 1500])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ["none", "relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"])
def test_layers(gpu: Runner, bias: bool, activation: str, depth: int) -> None:
    x, weight = normal(33, depth), normal(70, depth, seed=5) / np.float32(math.sqrt(depth))
    added = normal(70, seed=6) if bias else None
    result = gpu.guarded("linear", x, weight, added, activation=activation)
    y = x.astype(np.float64) @ weight.T + (0 if added is None else added)
    np.testing.assert_allclose(result, references.activate(y, activation), atol=1e-5, rtol=1e-5)
