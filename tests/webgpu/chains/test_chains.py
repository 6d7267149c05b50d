"""Tests chains of elementwise launches, which run as one kernel from the second time on. The first time, their kernels
run one by one, so each test compares both."""

from __future__ import annotations

import gc
import itertools
import threading
from collections.abc import Callable
from math import prod
from operator import iadd, imul, setitem
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from generator.schema import FLOATS, Contract
from harness import Runner, counted, floats, on_gpu
from openers import Switch

import lanewise as lw
from lanewise.webgpu.shaders import kernel_names

SPECIALS = {
    "bool": np.array([False, True]),
    "int8": np.array([0, 1, -1, 2, 7, -128, -127, 127], np.int8),
    "int16": np.array([0, 1, -1, 2, 7, -(2**15), 2**15 - 1, 255], np.int16),
    "int32": np.array([0, 1, -1, 2, 7, -(2**31), 2**31 - 1, 31], np.int32),
    "int64": np.array([0, 1, -1, 2**40, -(2**63), 2**63 - 1, 5], np.int64),
    "uint8": np.array([0, 1, 2, 7, 127, 128, 255], np.uint8),
    "uint16": np.array([0, 1, 2, 7, 255, 2**15, 2**16 - 1], np.uint16),
    "uint32": np.array([0, 1, 2, 7, 2**31 - 1, 2**31, 2**32 - 1], np.uint32),
    "bfloat16": np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, 3e38, 0.1], ml_dtypes.bfloat16),
    "float16": np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 65504, 0.1], np.float16),
    "float32": np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 3e38, 0.1, 7.0], np.float32),
    "float64": np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 1e300, 0.1], np.float64),
}
KEPT = 128  # kernels of chains
COUNT = 4 * 256 + 3  # more than a workgroup computes; the last vector is not full


def bits(result: Any) -> list[bytes]:
    """Returns the bits of one or more results. All NaN are the same."""
    arrays = [np.array(each) for each in (result if isinstance(result, tuple) else (result,))]
    return [np.nan_to_num(array, nan=np.nan, posinf=np.inf, neginf=-np.inf).tobytes() for array in arrays]


def fused(action: Callable[[], Any], runs: int = 1) -> Any:
    """Runs `action` three times, and asserts that the results have the same bits, and that all but the first time ran
    the expected number of chains as one kernel each. Returns the last result."""
    first = bits(action())
    for _ in range(2):
        result, change = counted(action)
        again, late = counted(lambda result=result: bits(result))
        assert change["chains_run"] + late["chains_run"] == runs
        assert again == first
    return result


def assert_chosen(condition: Any, left: Any, right: Any, arrays: tuple[np.ndarray, ...]) -> None:
    """Runs a chain that chooses elements where two operands differ, and compares its results with those of NumPy."""
    chosen, same = fused(lambda: ((z := lw.where(condition != left, left, right)), z == condition))
    a, b, c = arrays
    expected = np.where(a != b, b, c)
    np.testing.assert_array_equal(np.array(chosen), expected)
    np.testing.assert_array_equal(np.array(same), expected == a)


@pytest.fixture(autouse=True)
def fresh(request: pytest.FixtureRequest, switch: Switch) -> None:
    """Opens a new device, which has not seen any chain."""
    if "gpu" in request.fixturenames:
        request.getfixturevalue("gpu")
        switch.use(None)


def random(dtype: str, seed: int, shape: tuple[int, ...] = (COUNT,)) -> np.ndarray:
    """Returns an array of numbers, among them all special ones."""
    generator = np.random.default_rng(seed)
    specials = SPECIALS[dtype]
    array = generator.choice(specials, shape)
    if specials.dtype.kind == "f":
        ordinary = (generator.standard_normal(shape) * 3).astype(specials.dtype)
        array = np.where(generator.random(shape) < 0.9, ordinary, array)
    return array


@pytest.mark.contracts(lambda contract: contract.kind.name == "elementwise" and not contract.internal)
def test_each_operation(gpu: Runner, contract: Contract) -> None:
    """In a chain, each kernel stores the bits that it stores by itself, also if a compiler knows that its operands are
    the same, or knows the operands of another call."""
    function = getattr(lw, contract.operation)
    kernels = [kernel for kernel in contract.kernels if kernel.name in kernel_names()]
    dtypes = sorted({kernel.dtype for kernel in kernels if kernel.dtype in SPECIALS}) or ["float32", "bool"]
    index = on_gpu(random("int32", 9))
    for dtype in dtypes:
        inputs = [on_gpu(random(each.dtype or dtype, seed)) for seed, each in enumerate(contract.inputs)]

        def action(inputs: list[lw.Tensor] = inputs) -> tuple[lw.Tensor, ...]:
            result = function(*inputs)
            return result, result != result

        def related(inputs: list[lw.Tensor] = inputs) -> tuple[lw.Tensor, ...]:
            zero = (index - index).astype("float32")
            count = len(inputs)
            return tuple(function(*operands) for operands in (inputs, [inputs[0]] * count, [zero] * count))

        fused(action)
        if dtype == "float32":
            fused(related)


@pytest.mark.parametrize("before", SPECIALS)
@pytest.mark.parametrize("after", SPECIALS)
def test_each_cast(gpu: Runner, before: str, after: str) -> None:
    is_exact = before not in FLOATS or after in FLOATS
    x = on_gpu(random(before, 1) if is_exact else np.arange(-20, 20).astype(before))
    fused(lambda: ((y := x.copy()), y.astype(after)))


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "uint16"])
def test_small_integers(gpu: Runner, dtype: str) -> None:
    """They share words, so that the sign of one is not to change its neighbours."""
    array = random(dtype, 1)
    x = on_gpu(array)
    results = fused(lambda: ((y := lw.abs(x)), lw.where(y > 3, y, x), -y, y.astype("float32")))
    expected = np.abs(array)
    for result, values in zip(
        results, (expected, np.where(expected > 3, expected, array), -expected, expected), strict=True
    ):
        np.testing.assert_array_equal(np.array(result), values)


def test_a_chain_is_one_dispatch_and_allocates_no_temporary(gpu: Runner) -> None:
    x = on_gpu(random("float32", 1, (300, 70)))

    def action() -> lw.Tensor:
        return lw.gelu(x * 1.5 + 0.5) - x

    action().tolist(), action().tolist()
    gc.collect()
    lw.empty_cache()
    lw.reset_peak_memory_stats()
    bytes_before = lw.memory_stats("wgpu")["peak_allocated_bytes"]
    result, change = counted(action)
    assert (change["dispatches"], change["num_allocs"]) == (0, 0)
    _, change = counted(lambda: bits(result))
    assert (change["dispatches"], change["submissions"], change["readbacks"]) == (1, 1, 1)
    assert (change["num_allocs"], change["chains_run"], change["chains_compiled"]) == (1, 1, 0)
    assert lw.memory_stats("wgpu")["peak_allocated_bytes"] - bytes_before <= 1.25 * x.nbytes


def test_without_a_result_that_is_in_use_nothing_runs(gpu: Runner) -> None:
    x = floats(1.0, 2.0)
    for _ in range(3):
        lw.exp(x + 1)
        _, change = counted(lambda: lw.synchronize("wgpu"))
        assert change["dispatches"] == 0


def test_intermediate_results_in_use_are_stored(gpu: Runner) -> None:
    x = on_gpu(np.random.default_rng(2).standard_normal(COUNT).astype(np.float32))

    def action() -> tuple[lw.Tensor, ...]:
        double = x * 2
        shifted = double + 1
        return double, lw.floor(shifted), shifted > 0

    doubled, floored, positive = (np.array(each) for each in fused(action))
    array = np.array(x)
    np.testing.assert_array_equal(doubled, array * 2)
    np.testing.assert_array_equal(floored, np.floor(array * 2 + 1))
    np.testing.assert_array_equal(positive, array * 2 + 1 > 0)


def test_products_are_not_contracted(gpu: Runner) -> None:
    """x * x - (x * x, rounded) is 0; with a fused multiply-add it is not."""
    x = on_gpu(np.random.default_rng(3).standard_normal(1000).astype(np.float32))
    squares = x * x
    squares.tolist()
    assert not np.array(fused(lambda: x * x - squares)).any()


@pytest.mark.parametrize("dtype", SPECIALS)
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 1023])
def test_every_size_of_item_and_tail(gpu: Runner, dtype: str, count: int) -> None:
    a, b = (random(dtype, seed, (count,)) for seed in (1, 2))
    x, y = on_gpu(a), on_gpu(b)
    assert_chosen(y, x, y, (b, a, b))


@pytest.mark.parametrize("dtype", SPECIALS)
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[1 : 1 + 6 * 10].reshape((6, 10)),  # not at the start of a vector
        lambda x: x[: 6 * 10].reshape((10, 6)).T,
        lambda x: x[: 2 * 6 * 10 : 2].reshape((6, 10)),
        lambda x: x[6 * 10 - 1 :: -1].reshape((6, 10)),
        lambda x: x[7:17],  # broadcast
        lambda x: x[7:13].reshape((6, 1)),
        lambda x: x[9],
    ],
)
def test_views(gpu: Runner, dtype: str, view: Callable[[Any], Any]) -> None:
    array, flat = random(dtype, 4, (200,)), random(dtype, 5, (6, 10))
    x, y = on_gpu(flat), view(on_gpu(array))
    assert_chosen(y, x, y, (view(array), flat, view(array)))


def strided(choice: Random, shape: tuple[int, ...]) -> Callable[[Any, Any], Any]:
    """Draws a layout. Returns a function that makes a view with this shape of a flat array of a library: axes repeat,
    have gaps or run backwards, and are in any order in memory."""
    steps = [choice.choice((0, 1, 1, 1, 2, -1, -2)) for _ in shape]
    lengths = [abs(step) * extent + choice.choice((0, 0, 1)) or 1 for step, extent in zip(steps, shape, strict=True)]
    lengths = [length if step else 1 for step, length in zip(steps, lengths, strict=True)]
    order = sorted(range(len(shape))) if choice.random() < 0.5 else choice.sample(range(len(shape)), len(shape))
    places = dict(zip(order, [prod(lengths[axis] for axis in order[i + 1 :]) for i in range(len(order))], strict=True))
    first = sum((lengths[axis] - 1) * places[axis] for axis, step in enumerate(steps) if step < 0)
    start = choice.choice((0, 0, 0, 1)) - first % -4  # mostly, the first element is at the start of a vector

    def view(library: Any, flat: Any) -> Any:
        table = flat[start : start + prod(lengths)].reshape([lengths[axis] for axis in order])
        table = library.permute_dims(table, [order.index(axis) for axis in range(len(shape))])
        for axis, step in enumerate(steps):
            whole = (slice(None),) * axis
            table = table[(*whole, slice(None, None, step or 1))][(*whole, slice(shape[axis]))]
        return library.broadcast_to(table, shape)

    return view


@pytest.mark.parametrize("dtype", SPECIALS)
def test_layouts(gpu: Runner, dtype: str) -> None:
    """Views of one tensor, many of them with the same first element."""
    choice = Random(dtype)
    array = random(dtype, 6, (1 << 14,))
    tensor = on_gpu(array)
    for _ in range(20):
        shape = tuple(choice.choices((1, 2, 3, 5), (3, 2, 2, 1), k=choice.choice((1, 2, 3, 3, 4))))
        views = [strided(choice, shape) for _ in range(3)]
        assert_chosen(*(view(lw, tensor) for view in views), tuple(view(np, array) for view in views))


def test_many_strided_operands(gpu: Runner) -> None:
    """More than a kernel's parameters describe: the nodes run one by one."""
    array = np.arange(2.0**4 * 4, dtype=np.float32).reshape((4, 2, 2, 2, 2))
    orders = [(*np.roll((1, 2, 3, 4), k).tolist(), 0) for k in range(4)] + [(2, 1, 4, 3, 0), (4, 2, 1, 3, 0)]
    views = [array.transpose(order) for order in orders]
    tensor = on_gpu(array)
    operands = [lw.permute_dims(tensor, order) for order in orders]
    total = fused(lambda: sum(operands[1:], operands[0]), runs=0)
    np.testing.assert_array_equal(np.array(total), sum(views))


def test_the_longest_chain(gpu: Runner) -> None:
    """32 launches make a chain; the next one begins another."""
    x = on_gpu(np.arange(100, dtype=np.float32))

    def action() -> lw.Tensor:
        y = x
        for _ in range(70):
            y = -y
        return y

    np.testing.assert_array_equal(np.array(fused(action, runs=3)), np.arange(100))


def test_as_many_buffers_as_a_kernel_can_have(gpu: Runner) -> None:
    """8 buffers, results included. While operands are added, the sum so far and the new one are results in use."""
    arrays = [np.full(50, float(i), np.float32) for i in range(20)]
    operands = [on_gpu(each) for each in arrays]
    for count, chain_count in ((6, 1), (11, 2), (16, 3)):
        total = fused(lambda count=count: sum(operands[1:count], operands[0]), runs=chain_count)
        np.testing.assert_array_equal(np.array(total), sum(arrays[:count]))
        _, change = counted(lambda count=count: sum(operands[1:count], operands[0]).tolist())
        assert change["dispatches"] == chain_count
    results = fused(lambda: tuple(operands[0] + i for i in range(10)), runs=2)
    for i, each in enumerate(results):
        assert each.tolist() == [float(i)] * 50


def test_more_chains_than_are_kept(gpu: Runner) -> None:
    """Those that ran last are kept. Others are compiled again if they come back, with the same results."""
    x = on_gpu(np.arange(-20, 20, dtype=np.float32) / 8)
    functions = (lw.abs, lw.negative, lw.floor, lw.ceil, lw.square, lw.relu)
    steps = list(itertools.product(functions, repeat=3))[: KEPT + 4]

    def run(number: int) -> list[bytes]:
        first, second, third = steps[number]
        return bits(third(second(first(x))))

    expected = [run(number) for number in range(len(steps))]
    again, change = counted(lambda: [run(number) for number in range(len(steps))])
    assert again == expected
    assert (change["chains_compiled"], change["chains_run"], change["chains_kept"]) == (KEPT + 4, KEPT + 4, KEPT)
    for number, compiled in ((KEPT + 3, [0, 0]), (4, [0, 0]), (0, [0, 0, 1, 0]), (4, [0, 0]), (5, [0, 0, 1])):
        for count in compiled:
            result, change = counted(lambda number=number: run(number))
            assert result == expected[number]
            assert (change["chains_compiled"], change["chains_kept"]) == (count, 0), number


def test_many_numbers(gpu: Runner) -> None:
    """Numbers are parameters: other ones do not need another kernel."""
    x = on_gpu(np.arange(50, dtype=np.float32))

    def action(factor: float) -> lw.Tensor:
        y = x
        for i in range(24):
            y = lw.clip(y * factor, -1e6 - i, 1e6 + i)
        return y

    fused(lambda: action(1.0), runs=3)
    result, change = counted(lambda: action(2.0).tolist())
    assert change["chains_compiled"] == 0
    expected = np.arange(50.0)
    for i in range(24):
        expected = np.clip(expected * 2, -1e6 - i, 1e6 + i)
    assert result == expected.tolist()


# Writes to x, or to its view x[1:], while y = x * 2 + 1 is pending -> what x is then
WRITES: dict[str, tuple[Callable[..., object], list[float]]] = {
    "item": (lambda x, view, y: setitem(x, 0, 9), [9, 2, 3]),
    "slice": (lambda x, view, y: setitem(x, slice(1, None), 9), [1, 9, 9]),
    "whole": (lambda x, view, y: setitem(x, ..., y), [3, 5, 7]),
    "add": (lambda x, view, y: iadd(x, y), [4, 7, 10]),
    "out": (lambda x, view, y: lw.add(y, 1, out=x), [4, 6, 8]),
    "put": (lambda x, view, y: setitem(x, lw.asarray([2, 0]), y[:2]), [5, 2, 3]),
    "view": (lambda x, view, y: imul(view, 2), [1, 4, 6]),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_to_an_input_comes_after_the_chain(gpu: Runner, name: str) -> None:
    write, expected = WRITES[name]

    def action() -> tuple[lw.Tensor, ...]:
        x = floats(1.0, 2.0, 3.0)
        view = x[1:]
        y = x * 2 + 1
        write(x, view, y)
        return x, y, y + x

    fused(action, runs=1)
    x, y, both = (each.tolist() for each in action())
    assert (x, y) == (expected, [3, 5, 7])
    assert both == [a + b for a, b in zip(x, y, strict=True)]


def test_a_pending_result_is_written(gpu: Runner) -> None:
    def action() -> tuple[lw.Tensor, ...]:
        x = floats(1.0, 2.0, 3.0)
        y = x * 2 + 1
        z = y - 1
        y += 1
        y[0] = 0
        return y, z

    y, z = fused(action)
    assert (y.tolist(), z.tolist()) == ([0, 6, 8], [2, 4, 6])


def test_views_of_pending_results(gpu: Runner) -> None:
    def action() -> tuple[lw.Tensor, ...]:
        y = on_gpu(np.arange(12.0, dtype=np.float32)) * 2 + 1
        table = y.reshape((3, 4))
        column = table.T[1]
        column += 100
        return y, table, column * 1, y[3:7] + 0

    y, table, column, part = fused(action)
    expected = np.arange(12) * 2 + 1.0
    expected[1::4] += 100
    for result, array in ((y, expected), (table, expected.reshape((3, 4))), (column, expected[1::4])):
        np.testing.assert_array_equal(np.array(result), array)
    np.testing.assert_array_equal(np.array(part), expected[3:7])


def test_what_uses_a_pending_result_runs_it(gpu: Runner) -> None:
    x = on_gpu(np.arange(1.0, 13.0, dtype=np.float32).reshape((3, 4)))
    y = np.array(x) * 2 + 1

    def pending() -> lw.Tensor:
        return x * 2 + 1

    for _ in range(3):
        assert lw.sum(pending()).item() == y.sum()
        np.testing.assert_array_equal(np.array(pending() @ pending().T), y @ y.T)
        np.testing.assert_array_equal(np.array(lw.max(pending(), axis=0)), y.max(0))
        assert pending()[1, 2].item() == y[1, 2] and float(pending()[0, 0]) == y[0, 0]
        assert lw.sort(pending()).tolist() == y.tolist()
        assert np.array_equal(lw.eigvalsh(pending() @ pending().T * 0).tolist(), np.zeros(3))  # on the CPU
        np.testing.assert_array_equal(np.array(lw.concat([pending(), pending()])), np.concatenate([y, y]))
        np.testing.assert_array_equal(np.array(pending().to("cpu") + 1), y + 1)
        assert repr(pending()) == repr(lw.asarray(y.astype(np.float32)).to("wgpu"))
        np.testing.assert_array_equal(np.array(lw.take(pending(), lw.asarray([2, 0]), axis=0)), y[[2, 0]])


def test_a_chain_in_use_by_another_thread(gpu: Runner) -> None:
    """Results that one thread computes are read by others while it goes on."""
    x = on_gpu(np.arange(64.0, dtype=np.float32))
    wrong: list[Any] = []

    def read(tensor: lw.Tensor, factor: int) -> None:
        if tensor.tolist() != [i * factor + 1.0 for i in range(64)]:
            wrong.append(factor)

    threads = []
    for factor in range(60):
        result = x * factor + 1
        threads.append(threading.Thread(target=read, args=(result, factor)))
        threads[-1].start()
        other = x - factor
    assert other.tolist()[0] == -59
    for thread in threads:
        thread.join()
    assert wrong == []


def test_memory_stays_flat(gpu: Runner) -> None:
    x = on_gpu(np.ones(1000, np.float32))
    sizes = set()
    for _ in range(20):
        y = x
        for _ in range(100):
            y = (y + 1) * 0.5
        y.tolist()
        sizes.add(lw.memory_stats("wgpu")["reserved_bytes"])
    assert len(sizes) <= 2
