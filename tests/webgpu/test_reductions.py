"""Tests reductions (the order of additions, lengths near multiples of a block of 4096 elements, axes) and matrix
products of many shapes."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from harness import Runner

BLOCK, PARTIALS = 4096, 64
LENGTHS = [1, 2, 63, 64, 65, 128, 4095, 4096, 4097, 3 * BLOCK + 5, 70_001, 1_000_003]


def tree_sum(x: np.ndarray) -> np.float32:
    """Returns the sum of a vector, whose elements it adds in the order that all backends use."""
    blocks = []
    for start in range(0, len(x), BLOCK):
        block = x[start : start + BLOCK]
        padded = np.full(-(-len(block) // PARTIALS) * PARTIALS, -0.0, np.float32)
        padded[: len(block)] = block
        partial = np.full(PARTIALS, -0.0, np.float32)
        for row in padded.reshape(-1, PARTIALS):
            partial = partial + row
        while len(partial) > 1:
            partial = partial[: len(partial) // 2] + partial[len(partial) // 2 :]
        blocks.append(partial[0])
    while len(blocks) > 1:
        pairs = [a + b for a, b in zip(blocks[::2], blocks[1::2], strict=False)]
        blocks = pairs + blocks[len(pairs) * 2 :]
    return blocks[0]


@pytest.mark.parametrize("length", LENGTHS)
def test_lengths(gpu: Runner, length: int) -> None:
    x = np.random.default_rng(length).uniform(-1, 1, length).astype(np.float32)
    total = gpu.reduction("sum_float32", x, [0], np.float32)
    assert total.tobytes() == tree_sum(x).tobytes()
    assert gpu.reduction("mean_float32", x, [0], np.float32) == np.float32(np.float64(tree_sum(x)) / length)
    assert gpu.reduction("max_float32", x, [0], np.float32) == x.max()
    x[-1] = np.nan
    assert np.isnan(gpu.reduction("min_float32", x, [0], np.float32))
    assert gpu.reduction("argmax_float32", x, [0], np.int32, kind="index_reduction") == length - 1


def test_sum_of_a_million_is_more_accurate_than_a_sequential_sum(gpu: Runner) -> None:
    x = np.full(2**20, 0.1, np.float32)
    assert abs(float(gpu.reduction("sum_float32", x, [0], np.float32)) - x.astype(np.float64).sum()) < 0.2


@pytest.mark.parametrize("rows", [0xFFFF, 0x1_0000, 0x1_8001])
def test_pairs_of_float32_for_any_number_of_rows(gpu: Runner, rows: int) -> None:
    """The sums must be right whichever bits of the number of rows are set. lw_rounded, in webgpu/math/pair.wgsl, flips
    the sign of an intermediate result if bit 31 of that number is set. Bit 31 is never set, but the compiler does not
    know that, and so cannot simplify (a + b) - a to b."""
    x = np.random.default_rng(rows).uniform(-1, 1, (rows, 3)).astype(np.float32)
    exact = x.astype(np.float64).sum(1).astype(np.float32)
    np.testing.assert_array_equal(gpu.reduction("sum_compensated_float32", x, [1], np.float32), exact)


@pytest.mark.parametrize("length", [1, 65, 4097])
@pytest.mark.parametrize("operation", ["sum", "mean"])
def test_negative_zeros_add_up_to_negative_zero(gpu: Runner, operation: str, length: int) -> None:
    total = gpu.reduction(f"{operation}_float32", np.full(length, -0.0, np.float32), [0], np.float32)
    assert total == 0
    assert np.signbit(total)


AXES = [[0], [1], [2], [0, 1], [1, 2], [0, 2], [0, 1, 2], []]


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("shape", [(5, 7, 9), (2, 4099, 3), (70, 1, 66), (3, 0, 2)])
def test_axes(gpu: Runner, shape: tuple[int, ...], axes: list[int]) -> None:
    x = np.random.default_rng(1).integers(-9, 9, shape).astype(np.int32)
    np.testing.assert_array_equal(gpu.reduction("sum_int32", x, axes, np.int32), x.sum(tuple(axes)))
    np.testing.assert_array_equal(gpu.reduction("any_int32", x, axes, np.bool_), x.any(tuple(axes)))
    np.testing.assert_array_equal(gpu.reduction("all_int32", x[::-1], axes, np.bool_), x[::-1].all(tuple(axes)))


def test_first_of_equals(gpu: Runner) -> None:
    x = np.random.default_rng(2).integers(0, 3, (6, 9001)).astype(np.int32)
    for operation in ("argmax", "argmin"):
        result = gpu.reduction(f"{operation}_int32", x, [1], np.int32, kind="index_reduction")
        np.testing.assert_array_equal(result, getattr(np, operation)(x, axis=1))


@pytest.mark.parametrize("length", [2, 100, 5000, 300_000])
def test_variance_survives_a_large_mean(gpu: Runner, length: int) -> None:
    x = (10_000 + np.random.default_rng(3).normal(0, 0.02, length)).astype(np.float32)
    result = gpu.reduction("var_float32", x, [0], np.float32, [1.0])
    np.testing.assert_allclose(result, x.astype(np.float64).var(ddof=1), rtol=1e-5)
    x[0] = 1e6
    np.testing.assert_allclose(
        gpu.reduction("std_float32", x, [0], np.float32, [0.0]), x.astype(np.float64).std(), rtol=1e-5
    )


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


def assert_product(result: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
    a, b = a.astype(np.float64), b.astype(np.float64)
    assert (np.abs(result - a @ b) <= 2e-6 * (np.abs(a) @ np.abs(b))).all()


@pytest.mark.parametrize(("left", "right"), MATRICES)
def test_matrices(gpu: Runner, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    generator = np.random.default_rng(4)
    a, b = (generator.normal(size=shape).astype(np.float32) for shape in (left, right))
    assert_product(gpu.matrix("matmul_float32", a, b), a, b)


@pytest.mark.parametrize(("columns", "rows", "depth"), [(4, 16, 8), (16, 2, 3), (1, 64, 1)])
def test_tiles_of_any_size(gpu: Runner, monkeypatch: pytest.MonkeyPatch, columns: int, rows: int, depth: int) -> None:
    """Detects a shader that confuses lw_columns, lw_rows and lw_depth, which the defaults, 16 for each, would hide."""
    generator = np.random.default_rng(7)
    a, b = (generator.normal(size=shape).astype(np.float32) for shape in ((2, 130, 100), (100, 70)))
    constants = {"lw_columns": columns, "lw_rows": rows, "lw_depth": depth}
    monkeypatch.setattr(gpu.executor, "_record", functools.partial(gpu.executor._record, constants=constants))
    assert_product(gpu.matrix("matmul_float32", a, b), a, b)


def test_views_of_matrices(gpu: Runner) -> None:
    base = np.random.default_rng(5).normal(size=(3, 90, 80)).astype(np.float32)
    a, b = base.mT[:, ::2, 1:], base[:, 1:, ::-3]
    assert_product(gpu.matrix("matmul_float32", a, b), a, b)


def test_nothing_beyond_the_edges_is_used(gpu: Runner) -> None:
    """The rows of A and the columns of B are parts of longer ones, whose other elements are NaN."""
    generator = np.random.default_rng(8)
    a, b = np.full((70, 60), np.nan, np.float32), np.full((75, 60), np.nan, np.float32).T
    a[:, :35], b[:35] = generator.normal(size=(70, 35)), generator.normal(size=(35, 75))
    assert_product(gpu.matrix("matmul_float32", a[:, :35], b[:35]), a[:, :35], b[:35])


def test_zero_times_infinity(gpu: Runner) -> None:
    a, b = np.zeros((70, 70), np.float32), np.ones((70, 70), np.float32)
    b[3, 4] = np.inf
    result = gpu.matrix("matmul_float32", a, b)
    assert np.isnan(result[:, 4]).all()
    assert (np.delete(result, 4, axis=1) == 0).all()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", range(7))
def test_layers(gpu: Runner, bias: bool, activation: int) -> None:
    generator = np.random.default_rng(6)
    x, weight = generator.normal(size=(33, 20)).astype(np.float32), generator.normal(size=(70, 20)).astype(np.float32)
    added = generator.normal(size=70).astype(np.float32) if bias else None
    result = gpu.matrix("linear_float32", x, weight.T, [added], [activation])
    y = x.astype(np.float64) @ weight.T + (0 if added is None else added)
    logistic = 1 / (1 + np.exp(-y))
    erf = np.vectorize(__import__("math").erf)(y / 2**0.5)
    expected = [
        y,
        np.maximum(y, 0),
        y * (1 + erf) / 2,
        y * (1 + np.tanh((2 / np.pi) ** 0.5 * (y + 0.044715 * y**3))) / 2,
        y * logistic,
        logistic,
        np.tanh(y),
    ]
    np.testing.assert_allclose(result, expected[activation], atol=1e-5, rtol=1e-5)
