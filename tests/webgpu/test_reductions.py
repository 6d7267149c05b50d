"""Tests reductions: the order of additions, lengths near multiples of a block of 4096 elements, axes, views."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from harness import Runner, on_gpu, stays_on_gpu

import lanewise as lw

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
    assert gpu.guarded("sum", x).tobytes() == tree_sum(x).tobytes()
    assert gpu.guarded("mean", x) == np.float32(np.float64(tree_sum(x)) / length)
    assert gpu.guarded("max", x) == x.max()
    x[-1] = np.nan
    assert np.isnan(gpu.run("min", x))
    assert gpu.guarded("argmax", x) == length - 1


@pytest.mark.parametrize("length", [5, 70, 4097, 9000])
@pytest.mark.parametrize("step", [1, 3, -1])
def test_views_are_added_in_the_same_order(gpu: Runner, length: int, step: int) -> None:
    """The sums of rows, of columns and of strided views have the same bits as those of contiguous vectors."""
    base = np.random.default_rng(length).uniform(-1, 1, (3, 3 * length + 2)).astype(np.float32)
    x = on_gpu(base)
    part = (slice(None), slice(2 if step > 0 else None, None, step))
    with stays_on_gpu():
        rows, columns = lw.sum(x[part], axis=1), lw.sum(x.T[part[::-1]], axis=0)
    expected = np.array([tree_sum(each) for each in base[part]])
    assert np.array(rows).tobytes() == expected.tobytes()
    assert np.array(columns).tobytes() == expected.tobytes()


SHORT = [1, 3, 4, 5, 60, 61, 64, 67, 508, 516, 4094, 4100]
LONG = [2 * BLOCK, 3 * BLOCK + 4, 5 * BLOCK + 1, 16 * BLOCK, 16 * BLOCK + 4, 33 * BLOCK]


@pytest.mark.parametrize(("rows", "length"), [*product([1, 15, 17, 40], SHORT), *product([1, 3, 9], LONG)])
def test_contiguous_rows(gpu: Runner, rows: int, length: int) -> None:
    """Rows that start at multiples of 16 bytes are read four elements at a time, by a workgroup up to 16 blocks. Before
    and behind each of them is NaN."""
    base = np.full((rows, 4 + (length + 7) // 4 * 4), np.nan, np.float32)
    base[:, 4 : 4 + length] = np.random.default_rng(length).uniform(-1, 1, (rows, length))
    x, part = on_gpu(base)[:, 4 : 4 + length], base[:, 4 : 4 + length]
    with stays_on_gpu():
        total, largest, first, spread = (getattr(lw, name)(x, axis=1) for name in ("sum", "max", "argmin", "var"))
    assert np.array(total).tobytes() == np.array([tree_sum(each) for each in part]).tobytes()
    np.testing.assert_array_equal(np.array(largest), part.max(1))
    np.testing.assert_array_equal(np.array(first), part.argmin(1))
    np.testing.assert_allclose(np.array(spread), part.astype(float).var(1), rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("length", [*range(2, 66), 127, 128, 129, 200, 255, 256, 257])
def test_short_rows(gpu: Runner, length: int) -> None:
    """As many as three workgroups have, and as columns. Teams of 1 to 8 or 32 invocations reduce them."""
    x = np.random.default_rng(length).uniform(-1, 1, (513, length)).astype(np.float32)
    expected = np.array([tree_sum(each) for each in x])
    assert gpu.guarded("sum", x, axis=1).tobytes() == expected.tobytes()
    assert gpu.guarded("sum", x.T.copy(), axis=0).tobytes() == expected.tobytes()
    np.testing.assert_array_equal(gpu.guarded("argmax", x, axis=1), x.argmax(1))
    np.testing.assert_array_equal(gpu.guarded("all", x > -0.99, axis=1), (x > -0.99).all(1))
    np.testing.assert_allclose(gpu.guarded("std", x, axis=1), x.std(1, dtype=float), rtol=3e-7)


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 127, 128, 129, 255, 256, 257])
@pytest.mark.parametrize("length", [3, 20, 64, 300, 4096, 4097, 9001])
def test_columns(gpu: Runner, length: int, columns: int) -> None:
    """Along an axis in the middle."""
    x = np.random.default_rng(length).uniform(-1, 1, (2, length, columns)).astype(np.float32)
    expected = np.array([tree_sum(column) for part in x for column in part.T]).reshape(2, columns)
    assert gpu.guarded("sum", x, axis=1).tobytes() == expected.tobytes()
    np.testing.assert_array_equal(gpu.guarded("argmin", x, axis=1), x.argmin(1))
    np.testing.assert_allclose(gpu.guarded("norm_l2", x, axis=1), np.sqrt((x.astype(float) ** 2).sum(1)), rtol=2e-7)


@pytest.mark.parametrize("length", [4, 130, 132, BLOCK, BLOCK + 1, 17 * BLOCK + 3, 1_000_003])
@pytest.mark.parametrize("operation", ["any", "all"])
def test_bools(gpu: Runner, operation: str, length: int) -> None:
    """Four are read at once. One of them differs from all others."""
    x = np.full((3, length), operation == "all")
    for row, position in enumerate((0, length // 2, length - 1)):
        x[row, position] ^= True
    x[1] = operation == "all"
    np.testing.assert_array_equal(gpu.guarded(operation, x, axis=1), getattr(x, operation)(1))


@pytest.mark.parametrize("shape", [(5_000_003,), (2, 4_300_000), (4_194_305, 1)])
def test_more_blocks_than_a_workgroup_combines(gpu: Runner, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).uniform(-1, 1, shape).astype(np.float32)
    rows = x.reshape(shape[0], -1) if len(shape) == 2 and shape[1] > 1 else x.reshape(1, -1)
    axis = 1 if rows.shape[0] > 1 else None
    expected = np.array([tree_sum(each) for each in rows]).reshape(-1 if axis else ())
    assert gpu.run("sum", x, axis=axis).tobytes() == expected.tobytes()


def test_more_results_than_are_combined_at_once(gpu: Runner) -> None:
    """1026 blocks, whose results are combined in runs of 1024."""
    base = np.random.default_rng(1).uniform(-1, 1, 1025 * BLOCK + 5).astype(np.float32)
    x = on_gpu(base)
    with stays_on_gpu():
        total = lw.sum(x[::-1])
    assert np.array(total).tobytes() == tree_sum(base[::-1]).tobytes()


@pytest.mark.parametrize("rows", [0xFFFF, 0x1_0000, 0x1_8001])
def test_pairs_of_float32_for_any_number_of_rows(gpu: Runner, rows: int) -> None:
    """The sums must be right whichever bits of the number of rows are set. lw_rounded, in webgpu/math/pair.wgsl, adds
    to intermediate results if bit 31 of that number is set. Bit 31 is never set, but the compiler does not know that,
    and so cannot simplify (a + b) - a to b."""
    x = np.random.default_rng(rows).uniform(-1, 1, (rows, 3)).astype(np.float32)
    exact = x.astype(np.float64).sum(1).astype(np.float32)
    np.testing.assert_array_equal(gpu.run("sum_compensated", x, axis=1), exact)


@pytest.mark.parametrize("length", [1, 65, 4097])
@pytest.mark.parametrize("operation", ["sum", "mean"])
def test_negative_zeros_add_up_to_negative_zero(gpu: Runner, operation: str, length: int) -> None:
    total = gpu.guarded(operation, np.full(length, -0.0, np.float32))
    assert total == 0
    assert np.signbit(total)


AXES = [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2), ()]


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("shape", [(5, 7, 9), (2, 4099, 3), (70, 1, 66), (3, 0, 2)])
def test_axes(gpu: Runner, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).integers(-9, 9, shape).astype(np.int32)
    np.testing.assert_array_equal(gpu.guarded("sum", x, axis=axes), x.sum(axes, dtype=np.int32))
    np.testing.assert_array_equal(gpu.guarded("any", x, axis=axes), x.any(axes))
    reversed_rows = on_gpu(x)[::-1]
    with stays_on_gpu():
        every = lw.all(reversed_rows, axis=axes)
    np.testing.assert_array_equal(np.array(every), x[::-1].all(axes))


@pytest.mark.parametrize("length", [7, 4097, 9001])
def test_two_inputs(gpu: Runner, length: int) -> None:
    """x2 is the same for all rows; then both inputs are one tensor."""
    x = np.random.default_rng(5).uniform(-1, 1, (4, length)).astype(np.float32)
    y = np.random.default_rng(6).uniform(-1, 1, length).astype(np.float32)
    expected = np.array([tree_sum(row * y) for row in x])
    assert gpu.guarded("vecdot", x, y).tobytes() == expected.tobytes()
    factor = on_gpu(x)
    with stays_on_gpu():
        squares = lw.vecdot(factor, factor, axis=1)
    assert np.array(squares).tobytes() == np.array([tree_sum(row * row) for row in x]).tobytes()


@pytest.mark.parametrize("operation", ["argmax", "argmin"])
def test_first_of_equals(gpu: Runner, operation: str) -> None:
    x = np.random.default_rng(2).integers(0, 3, (6, 9001)).astype(np.int32)
    np.testing.assert_array_equal(gpu.guarded(operation, x, axis=1), getattr(np, operation)(x, axis=1))
    np.testing.assert_array_equal(gpu.guarded(operation, x), getattr(np, operation)(x))


@pytest.mark.parametrize("length", [2, 100, 5000, 300_000])
def test_variance_survives_a_large_mean(gpu: Runner, length: int) -> None:
    x = (10_000 + np.random.default_rng(3).normal(0, 0.02, length)).astype(np.float32)
    result = gpu.guarded("var", x, correction=1.0)
    np.testing.assert_allclose(result, x.astype(np.float64).var(ddof=1), rtol=1e-5)
    x[0] = 1e6
    np.testing.assert_allclose(gpu.guarded("std", x), x.astype(np.float64).std(), rtol=1e-5)


def test_many_blocks_of_small_numbers(gpu: Runner) -> None:
    """Each is scaled up. Their sum must not overflow."""
    x = (np.random.default_rng(3).normal(size=1_000_000) * 2.0**-47).astype(np.float32)
    np.testing.assert_allclose(gpu.run("std", np.tile(x, 4)), x.std(dtype=float), rtol=3e-7)
    np.testing.assert_allclose(gpu.run("norm_l2", np.tile(x, 4)), 2 * np.sqrt((x.astype(float) ** 2).sum()), rtol=2e-7)


def test_a_reduction_reads_the_tensor_that_it_writes(gpu: Runner) -> None:
    """Operand and result are parts of one tensor, and so of one buffer."""
    base = np.random.default_rng(4).uniform(-1, 1, 5010).astype(np.float32)
    x = on_gpu(base)
    with stays_on_gpu():
        lw.sum(x[10:], out=x[3:4].reshape(()))
        lw.max(x[10:100].reshape((9, 10)), axis=1, out=x[:9])
    base[3] = tree_sum(base[10:])
    base[:9] = base[10:100].reshape(9, 10).max(1)
    np.testing.assert_array_equal(np.array(x), base)


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("length", [3, BLOCK + 1, 17 * BLOCK + 3])
@pytest.mark.parametrize("scales", [(1e-37,), (1e-30,), (1e35,), (1e-30, 1, 1e19, 1e35, 0), (1e-30, 0), (1e13, 1e-13)])
def test_squares_neither_overflow_nor_underflow(gpu: Runner, scales: tuple[float, ...], length: int, step: int) -> None:
    factors = np.repeat(scales, -(-length // len(scales)))[:length]
    x = (np.random.default_rng(length).uniform(-1, 1, length) * factors).astype(np.float32)
    norm = np.array(lw.norm_l2(on_gpu(np.repeat(x, step))[::step]))
    np.testing.assert_allclose(norm, np.sqrt((x.astype(float) ** 2).sum()), rtol=1.7e-7)


SCALES = [(1e-30,), (1.8e19,), (1e38,), (1e-30, 1, 1e19, 1e38, 0), (1e-30, 0, 1e-25), (1e13, 1e14, 1e20)]


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("length", [3, BLOCK + 1, 17 * BLOCK + 3])
@pytest.mark.parametrize("scales", SCALES)
def test_squares_of_deviations_neither_overflow_nor_underflow(
    gpu: Runner, scales: tuple[float, ...], length: int, step: int
) -> None:
    """Whatever the scales of a row's blocks: each part of a row has one of `scales`."""
    factors = np.repeat(scales, -(-length // len(scales)))[:length]
    x = (np.random.default_rng(length).uniform(-1, 1, length) * factors).astype(np.float32)
    row = on_gpu(np.repeat(x, step))[::step]
    for correction in (0, 1):
        np.testing.assert_allclose(
            np.array(lw.std(row, correction=correction)), np.std(x, ddof=correction, dtype=float), rtol=3e-7
        )
        with np.errstate(over="ignore"):
            variance = np.var(x, ddof=correction, dtype=float).astype(np.float32)
        np.testing.assert_allclose(np.array(lw.var(row, correction=correction)), variance, rtol=4e-7, atol=1e-37)
