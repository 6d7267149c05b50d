"""Tests what all kernels have in common: sizes, strides, broadcasting, results in place, chains of calls, errors."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest
from harness import Runner, strided_layout

from lanewise import webgpu
from lanewise.errors import BackendError, OutOfMemoryError, ShapeError
from lanewise.webgpu.buffers import size_class

SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 255, 256, 257, 1000, 4097]


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("size", SIZES)
def test_sizes(gpu: Runner, size: int) -> None:
    x, y = numbers(size), numbers(size)[::-1]
    np.testing.assert_array_equal(gpu.elementwise("add_float32", [x, y], np.float32), x + y)
    np.testing.assert_array_equal(gpu.elementwise("less_float32", [x, y], np.bool_), x < y)
    halves = x.astype(np.float16)
    np.testing.assert_array_equal(gpu.elementwise("copy_bits16", [halves], np.float16), halves)


def test_more_elements_than_a_dispatch_has_invocations(gpu: Runner) -> None:
    size = 65_535 * 256 + 12_345
    x = np.arange(size, dtype=np.int32)
    np.testing.assert_array_equal(gpu.elementwise("negative_int32", [x], np.int32), -x)
    flags = x % 3 == 0
    np.testing.assert_array_equal(gpu.elementwise("logical_not_bool", [flags], np.bool_), ~flags)


SHAPES = [
    ((3, 1, 5), (4, 1)),
    ((), (2, 3)),
    ((1, 1), (1,)),
    ((2, 1, 3, 1, 2, 1, 3, 1), (2, 1, 2, 1, 3, 1, 2)),
    ((0, 3), (1, 3)),
    ((17, 1), (1, 19)),
]


@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_broadcasting(gpu: Runner, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    x, y = numbers(*left), numbers(*right)
    np.testing.assert_array_equal(gpu.elementwise("subtract_float32", [x, y], np.float32), x - y)
    np.testing.assert_array_equal(gpu.elementwise("greater_float32", [x, y], np.bool_), x > y)


@pytest.mark.parametrize("dtype", [np.bool_, np.int32, np.int64, np.float16, np.float32, np.float64])
def test_views(gpu: Runner, dtype: type) -> None:
    base = (numbers(12, 14, 10) * 100).astype(dtype)
    bits = base.itemsize * 8
    for view in (base[::-1, 1::3, ::-2], base.transpose(2, 0, 1)[1:-1], base[5], base[..., 3:4], base[2:2]):
        np.testing.assert_array_equal(gpu.elementwise(f"copy_bits{bits}", [view], dtype), view)
    flags = numbers(14, 10) > 0
    chosen = gpu.elementwise(f"where_bits{bits}", [flags, base[:, ::-1], base[0, 0]], dtype)
    np.testing.assert_array_equal(chosen, np.where(flags, base[:, ::-1], base[0, 0]))


@pytest.mark.parametrize("dtype", [np.bool_, np.float16, np.float32, np.float64])
def test_strided_results_keep_neighboring_elements(gpu: Runner, dtype: type) -> None:
    item = np.dtype(dtype).itemsize
    target, values = (numbers(9, 11) > 0).astype(dtype), (numbers(3, 4) > 0).astype(dtype)
    out = gpu.upload(target)
    region = target[1:7:2, 10:2:-2]
    first = region.__array_interface__["data"][0] - target.__array_interface__["data"][0]
    layout = dict(strided_layout(values.shape, [values.strides], item))
    layout["strides"] = [[*values.strides], [*region.strides]]
    kernel = f"copy_bits{item * 8}"
    gpu.executor.launch(kernel, "elementwise", layout, [gpu.upload(values)], [(out[0], first)], [])
    region[...] = values
    result = np.empty_like(target)
    gpu.executor.download(out[0], memoryview(result.reshape(-1)).cast("B"))
    np.testing.assert_array_equal(result, target)


def launch_in(gpu: Runner, kernel: str, base: np.ndarray, out: slice, *inputs: slice) -> np.ndarray:
    """Runs a kernel whose operands are slices of one buffer, and returns the whole buffer."""
    buffer, _ = gpu.upload(base)
    views = [base[each] for each in (*inputs, out)]
    start = base.__array_interface__["data"][0]
    operands = [(buffer, view.__array_interface__["data"][0] - start) for view in views]
    layout = {"ndim": 1, "inner": 0, "shape": [len(views[0])], "strides": [[*view.strides] for view in views]}
    gpu.executor.launch(kernel, "elementwise", layout, operands[:-1], operands[-1:], [])
    after = np.empty_like(base)
    gpu.executor.download(buffer, memoryview(after).cast("B"))
    return after


@pytest.mark.parametrize(
    ("out", "inputs"),
    [
        (slice(0, 500), [slice(0, 500), slice(500, 1000)]),
        (slice(0, 500), [slice(500, 1000), slice(0, 500)]),
        (slice(0, 500), [slice(0, 500), slice(0, 500)]),
        (slice(1, 501), [slice(0, 500), slice(2, 502)]),
        (slice(0, 500), [slice(499, None, -1), slice(0, 500)]),
        (slice(0, 1000, 2), [slice(0, 1000, 2), slice(1, 1000, 2)]),
    ],
)
def test_results_over_their_operands(gpu: Runner, out: slice, inputs: list[slice]) -> None:
    base = numbers(1000)
    inputs = [slice(499, None, -1) if each.step == -1 else each for each in inputs]
    expected = base.copy()
    expected[out] = base[inputs[0]] * base[inputs[1]]
    np.testing.assert_array_equal(launch_in(gpu, "multiply_float32", base, out, *inputs), expected)


def test_copies_between_dispatches(gpu: Runner) -> None:
    """A copy cannot be part of a compute pass, so it ends the pass, and the next pass must set its pipeline again."""
    x = numbers(1000)
    buffer, _ = gpu.upload(x)
    layout = strided_layout((500,), [(4,)], 4)
    for first in (0, 1, 2):  # the result overlaps the input, so the executor copies the input and binds the copy
        operands = [(buffer, 4 * first)], [(buffer, 4 * (first + 250))]
        gpu.executor.launch("negative_float32", "elementwise", layout, *operands, [])
    result, expected = np.empty_like(x), x.copy()
    gpu.executor.download(buffer, memoryview(result).cast("B"))
    for first in (0, 1, 2):
        expected[first + 250 : first + 750] = -expected[first : first + 500]
    np.testing.assert_array_equal(result, expected)


def test_flags_in_place(gpu: Runner) -> None:
    base = numbers(1001) > 0
    expected = base.copy()
    expected[3:998] = ~base[3:998]
    whole = slice(3, 998)
    np.testing.assert_array_equal(launch_in(gpu, "logical_not_bool", base, whole, whole), expected)


def test_a_chain_stays_on_the_device(gpu: Runner) -> None:
    x = numbers(3000)
    executor = gpu.executor
    first, second = gpu.upload(x)[0], executor.allocate(x.nbytes)
    layout = strided_layout(x.shape, [x.strides], 4)
    executor.flush()
    calls = []
    submit, read = executor._gpu.submit, executor._gpu.read
    executor._gpu.submit = lambda *arguments: (calls.append("submit"), submit(*arguments))
    executor._gpu.read = lambda *arguments: (calls.append("read"), read(*arguments))
    try:
        expected = x
        for _ in range(10):
            executor.launch("relu_float32", "elementwise", layout, [(first, 0)], [(second, 0)], [])
            executor.launch("negative_float32", "elementwise", layout, [(second, 0)], [(first, 0)], [])
            expected = -np.maximum(expected, 0)
        assert not calls
        result = np.empty_like(x)
        executor.download(first, memoryview(result).cast("B"))
        assert calls == ["submit", "read"]
    finally:
        del executor._gpu.submit, executor._gpu.read
    np.testing.assert_array_equal(result, expected)


def test_an_upload_does_not_overtake_recorded_work(gpu: Runner) -> None:
    x = numbers(777)
    buffer = gpu.upload(x)[0]
    out = gpu.executor.allocate(x.nbytes)
    layout = strided_layout(x.shape, [x.strides], 4)
    gpu.executor.launch("abs_float32", "elementwise", layout, [(buffer, 0)], [(out, 0)], [])
    gpu.executor.upload(buffer, memoryview(np.zeros_like(x)).cast("B"))
    result = np.empty_like(x)
    gpu.executor.download(out, memoryview(result).cast("B"))
    np.testing.assert_array_equal(result, np.abs(x))


def test_released_memory_serves_again(gpu: Runner) -> None:
    handles = set()
    for _ in range(20):
        buffer = gpu.executor.allocate(5000)
        handles.add(id(buffer.handle))
        buffer.release()
    assert len(handles) <= 2
    assert all(size <= size_class(size) <= size * 9 / 8 + 256 for size in range(1, 100_000, 97))


def test_memory_survives_the_collection_of_a_cycle(gpu: Runner) -> None:
    x = numbers(54_321)
    cycle = [gpu.upload(x)[0]]
    cycle.append(cycle)
    handle = id(cycle[0].handle)
    del cycle
    gc.collect()
    buffers = [gpu.upload(x)[0] for _ in range(4)]
    assert handle in {id(each.handle) for each in buffers}


def test_shaders_come_from_the_given_file(gpu: Runner, tmp_path: Path) -> None:
    """webgpu.open() reads shaders from the file named by its second argument, or by default from the build's file."""
    x = numbers(100)
    built = Runner(webgpu.open(gpu.executor.device))
    np.testing.assert_array_equal(built.elementwise("negative_float32", [x], np.float32), -x)
    empty = Runner(webgpu.open(gpu.executor.device, tmp_path / "none.wgsl"))
    with pytest.raises(BackendError, match=r"build the package: .*none\.wgsl is missing"):
        empty.elementwise("negative_float32", [x], np.float32)


def test_errors(gpu: Runner) -> None:
    executor = gpu.executor
    x = gpu.upload(numbers(4))
    with pytest.raises(BackendError, match="nonsense_float32: wgpu has no shader"):
        executor.launch("nonsense_float32", "elementwise", {}, [x], [x], [])
    with pytest.raises(OutOfMemoryError, match="split it, or keep it on the CPU"):
        executor.allocate(2**40)
    huge = {"ndim": 1, "inner": 0, "shape": [2**31], "strides": [[0], [4]]}
    with pytest.raises(ShapeError, match="expected at most 2147483647 elements on wgpu, got 2147483648"):
        executor.launch("abs_float32", "elementwise", huge, [x], [gpu.upload(numbers(5))], [])
    budget, executor._pool.budget = executor._pool.budget, 1000
    try:
        with pytest.raises(OutOfMemoryError, match="LANEWISE_WGPU_MEMORY"):
            executor.allocate(10**8)
    finally:
        executor._pool.budget = budget
