"""Tests what all kernels have in common: views, results in place and in parts of tensors, and memory. The sweep tests
sizes and broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import Runner, on_gpu, stays_on_gpu

import lanewise as lw
from lanewise.errors import OutOfMemoryError

DTYPES = [np.bool_, np.int32, np.int64, np.float16, np.float32, np.float64]
EVERY_DTYPE = pytest.mark.parametrize("dtype", DTYPES)
View = Callable[[Any], Any]


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def test_more_elements_than_a_dispatch_has_invocations(gpu: Runner) -> None:
    size = 65_535 * 256 + 12_345
    x = np.arange(size, dtype=np.int32)
    np.testing.assert_array_equal(gpu.run("negative", x), -x)
    flags = x % 3 == 0
    np.testing.assert_array_equal(gpu.run("logical_not", flags), ~flags)


VIEWS: dict[str, View] = {
    "steps": lambda x: x[::-1, 1::3, ::-2],
    "permuted": lambda x: x.permute_dims((2, 0, 1))[1:-1] if isinstance(x, lw.Tensor) else x.transpose(2, 0, 1)[1:-1],
    "one row": lambda x: x[5],
    "one column": lambda x: x[..., 3:4],
    "empty": lambda x: x[2:2],
    "one element": lambda x: x[-1, -1, -1],
    "inside a word": lambda x: x[3, 1, 1:],
}


@EVERY_DTYPE
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views(gpu: Runner, view: View, dtype: type) -> None:
    base = (numbers(12, 14, 10) * 100).astype(dtype)
    x = on_gpu(base)
    with stays_on_gpu():
        seen = view(x)
        copied, same = seen.copy(), lw.equal(seen, seen)
    np.testing.assert_array_equal(np.array(seen), view(base))
    np.testing.assert_array_equal(np.array(copied), view(base))
    np.testing.assert_array_equal(np.array(same), view(base) == view(base))


@EVERY_DTYPE
def test_views_as_several_operands(gpu: Runner, dtype: type) -> None:
    base, flags = (numbers(12, 14, 10) * 100).astype(dtype), numbers(14, 10) > 0
    x, condition = on_gpu(base), on_gpu(flags)
    with stays_on_gpu():
        chosen = lw.where(condition, x[:, ::-1], x[0, 0])
    np.testing.assert_array_equal(np.array(chosen), np.where(flags, base[:, ::-1], base[0, 0]))


TARGETS: dict[str, View] = {
    "steps": lambda x: x[1:7:2, 10:2:-2],
    "a row inside a word": lambda x: x[1, 1:5],
    "a column": lambda x: x[2:6, 7],
    "transposed": lambda x: x.T[3:7, :3],
    "everything": lambda x: x[...],
}


@EVERY_DTYPE
@pytest.mark.parametrize("value", ["tensor", "number"])
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_assignments_keep_neighboring_elements(gpu: Runner, target: View, value: str, dtype: type) -> None:
    base = (numbers(9, 11) * 100).astype(dtype)
    values = np.array((numbers(*target(base).shape) * 10).astype(dtype)) if value == "tensor" else dtype(1)
    x = on_gpu(base)
    given = on_gpu(values) if value == "tensor" else values.item()
    with stays_on_gpu():
        target(x)[...] = given
    target(base)[...] = values
    np.testing.assert_array_equal(np.array(x), base)


@EVERY_DTYPE
@pytest.mark.parametrize("first", [0, 1, 2, 3, 4, 16])
@pytest.mark.parametrize("size", [1, 3, 6, 30, 1025])
def test_results_inside_a_tensor_keep_neighboring_elements(gpu: Runner, dtype: type, first: int, size: int) -> None:
    """Results that start or end inside a word of memory, or inside a vector of four elements."""
    base, values = (numbers(1100) > 0).astype(dtype), (numbers(size) * 100).astype(dtype)
    x, given = on_gpu(base), on_gpu(values)
    flags = on_gpu(np.ones(1100, np.bool_))
    with stays_on_gpu():
        lw.where(given != 0, given, given, out=x[first : first + size])
        lw.isnan(lw.astype(given, "float32"), out=flags[first : first + size])
    base[first : first + size] = values
    np.testing.assert_array_equal(np.array(x), base)
    expected = np.ones(1100, np.bool_)
    expected[first : first + size] = False
    np.testing.assert_array_equal(np.array(flags), expected)


HALVES = [
    (slice(0, 500), slice(0, 500), slice(500, 1000)),
    (slice(0, 500), slice(500, 1000), slice(0, 500)),
    (slice(0, 500), slice(0, 500), slice(0, 500)),
    (slice(0, 500), slice(999, 499, -1), slice(0, 500)),
    (slice(400, 500), slice(0, 100), slice(900, 1000)),
]


@pytest.mark.parametrize(("out", "left", "right"), HALVES)
def test_results_over_their_operands(gpu: Runner, out: slice, left: slice, right: slice) -> None:
    """Operands and result are parts of one tensor."""
    base = numbers(1000)
    x = on_gpu(base)
    with stays_on_gpu():
        lw.multiply(x[left], x[right], out=x[out])
    base[out] = base[left] * base[right]
    np.testing.assert_array_equal(np.array(x), base)


OVERLAPPING = [
    (slice(1, 501), slice(0, 500)),
    (slice(0, 500), slice(1, 501)),
    (slice(0, 500), slice(499, None, -1)),
    (slice(0, 1000, 2), slice(0, 500)),
    (slice(0, 1000, 2), slice(1, 1000, 2)),
]


@pytest.mark.parametrize("dtype", [np.bool_, np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("to", "given"), OVERLAPPING)
def test_assignments_that_overlap(gpu: Runner, to: slice, given: slice, dtype: type) -> None:
    """Elements are read before they are overwritten."""
    base = (numbers(1000) * 10).astype(dtype)
    x = on_gpu(base)
    with stays_on_gpu():
        x[to] = x[given]
    base[to] = base[given].copy()
    np.testing.assert_array_equal(np.array(x), base)


@pytest.mark.parametrize("to", [slice(0, 500), slice(3, 998), slice(0, 1000, 2), slice(None, None, -1)])
def test_changes_in_place(gpu: Runner, to: slice) -> None:
    base = numbers(1000)
    x, factor = on_gpu(base), on_gpu(base[to])
    with stays_on_gpu():
        x[to] *= factor
        x[to] += 1.5
        x[to] -= x[to][::-1]
    base[to] *= base[to].copy()
    base[to] += np.float32(1.5)
    base[to] -= base[to][::-1].copy()
    np.testing.assert_array_equal(np.array(x), base)


def test_flags_in_place(gpu: Runner) -> None:
    base = numbers(1001) > 0
    x = on_gpu(base)
    with stays_on_gpu():
        lw.logical_not(x[3:998], out=x[3:998])
        x[4:900] ^= x[100:996]
    base[3:998] = ~base[3:998]
    base[4:900] ^= base[100:996].copy()
    np.testing.assert_array_equal(np.array(x), base)


def test_more_work_than_a_batch(gpu: Runner) -> None:
    """The results of one batch are the operands of the next, and memory is reused many times."""
    x = on_gpu(np.zeros(100, np.float32))
    with stays_on_gpu():
        for _ in range(500):
            x = x + 1
    assert x.tolist() == [500.0] * 100


def test_an_upload_does_not_overtake_recorded_work(gpu: Runner) -> None:
    """The second upload goes to memory that the pending work still reads."""
    x = numbers(777)
    first = on_gpu(x)
    result = lw.abs(first)
    hits = lw.memory_stats("wgpu")["num_cache_hits"]
    del first
    other = on_gpu(np.zeros_like(x))
    assert lw.memory_stats("wgpu")["num_cache_hits"] == hits + 1
    np.testing.assert_array_equal(np.array(result), np.abs(x))
    assert not np.array(other).any()


def test_a_tensor_larger_than_the_memory(gpu: Runner) -> None:
    before = lw.memory_stats("wgpu")["allocated_bytes"]
    message = r"cannot allocate \d+ bytes on wgpu: "
    with lw.use_backend("wgpu"), pytest.raises(OutOfMemoryError, match=message):
        lw.zeros((2**44,))
    assert lw.memory_stats("wgpu")["allocated_bytes"] == before
    np.testing.assert_array_equal(gpu.run("negative", numbers(9)), -numbers(9))
