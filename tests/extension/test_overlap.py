"""Tests writing to a view of a tensor from other views of the same memory: forwards, backwards, strided, repeated and
transposed ones, with every sort of overlap. NumPy computes the expected result from a copy of the memory.

The memory is that of an array or, in the tests `*_of_tensors`, that of a tensor, which may be on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import lanewise as lw

STEPS = (1, 2, 3, -1, -2, -3)
LENGTHS = (7, 100, 4000)  # about one vector, several vectors, and enough that kernels unroll their loops

Memory = Any  # an array or a tensor, which have the same views
Views = tuple[str, Memory, Memory]  # a description, the destination, and the source


def broadcast(view: Memory, shape: tuple[int, ...]) -> Memory:
    return lw.broadcast_to(view, shape) if isinstance(view, lw.Tensor) else np.broadcast_to(view, shape)


def line(base: Memory, low: int, step: int, length: int) -> Memory:
    """Returns a view of `length` elements of `base`. Element `low` of `base` has the lowest address."""
    assert low >= 0 and low + (length - 1) * abs(step) < base.size
    last = low + (length - 1) * abs(step)
    return base[low : last + 1 : step] if step > 0 else base[last : low - 1 if low else None : step]


def lines(base: Memory, other: Memory, length: int) -> Iterator[Views]:
    """Yields pairs of 1-dimensional views of `base` and `other` that are apart, overlap or coincide."""
    low = 4 * length
    for step, source_step in product(STEPS, (*STEPS, 0)):
        span, source_span = (length - 1) * abs(step), (length - 1) * abs(source_step)
        between = (-length // 2, -2, -1, 0, 1, 2, length // 2)
        for distance in (-source_span - 1, -source_span, *between, span, span + 1):
            label = f"{length} elements, steps {step} and {source_step}, distance {distance}"
            if source_step:
                source = line(other, low + distance, source_step, length)
            else:
                source = broadcast(other[low + distance : low + distance + 1], (length,))
            yield label, line(base, low, step, length), source


def rectangles(base: Memory, *, with_windows: bool = False) -> Iterator[Views]:
    """Yields pairs of 2-dimensional views: shifted, reversed, strided and transposed ones. The second
    view of a pair may also repeat one row or column or, for an array, have sliding windows as its rows, which share
    elements."""
    half = len(base) // 2
    cuts = [slice(half), slice(3, half + 3), slice(half, None), slice(None, None, 2), slice(None, None, -2)]
    cuts += [slice(half - 1, None, -1), slice(half, 0, -1)]
    views = [base[rows, columns] for rows, columns in product(cuts, cuts)]
    views += [view.T for view in views]
    flat = base.reshape(-1)
    sources = [*views, broadcast(base[half // 2, 3 : 3 + half], (half, half))]
    sources += [broadcast(base[3 : 3 + half, half // 2][:, None], (half, half))]
    if with_windows:
        sources += [np.lib.stride_tricks.sliding_window_view(flat[: 2 * half - 1], half)]
    for (i, target), (j, source) in product(enumerate(views), enumerate(sources)):
        yield f"views {i} and {j}", target, source


def check(memory: np.ndarray, pairs: Iterator[Views], write: Callable[[Any, Any], object]) -> None:
    """Asserts that `write` changes the memory in Lanewise as it does in NumPy with a copy of the source."""
    wrong = []
    initial = memory.copy()
    for label, target, source in pairs:
        memory[...] = initial
        source_copy = source.copy()
        write(target, source_copy)
        expected = memory.copy()
        memory[...] = initial
        write(lw.asarray(target), lw.asarray(source))
        if memory.tobytes() != expected.tobytes():
            wrong.append(label)
    assert not wrong, f"{len(wrong)} are wrong:\n" + "\n".join(wrong[:10])


def check_tensors(
    memory: np.ndarray, views: Callable[[Memory], Iterator[Views]], write: Callable[[Any, Any], object]
) -> None:
    """Asserts that `write` changes a tensor as it does NumPy's array with a copy of the source."""
    wrong = []
    initial, tensor = memory.copy(), lw.asarray(memory, copy=True)
    for (label, target, source), (_, tensor_target, tensor_source) in zip(views(memory), views(tensor), strict=True):
        memory[...] = initial
        write(target, source.copy())
        tensor[...] = initial
        write(tensor_target, tensor_source)
        if tensor.tobytes() != memory.tobytes():
            wrong.append(label)
    assert not wrong, f"{len(wrong)} are wrong:\n" + "\n".join(wrong[:10])


def assign(target: Any, source: Any) -> None:
    target[...] = source


def add_to(target: Any, source: Any) -> None:
    target += source


@pytest.mark.host
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("write", [assign, add_to])
def test_lines(write, length):
    memory = np.arange(12 * length, dtype=np.int32)
    check(memory, lines(memory, memory, length), write)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("write", [assign, add_to])
def test_lines_of_tensors(write, length):
    check_tensors(np.arange(12 * length, dtype=np.int32), lambda base: lines(base, base, length), write)


@pytest.mark.host
@pytest.mark.parametrize("write", [assign, add_to])
def test_rectangles(write):
    memory = np.arange(40 * 40, dtype=np.int32).reshape(40, 40)
    check(memory, rectangles(memory, with_windows=True), write)


@pytest.mark.parametrize("write", [assign, add_to])
def test_rectangles_of_tensors(write):
    memory = np.arange(12 * 12, dtype=np.int32).reshape(12, 12)
    check_tensors(memory, rectangles, write)


@pytest.mark.host
@pytest.mark.parametrize("dtype", ["float32", "int64", "float16", "bool"])
def test_views_of_another_dtype(dtype):
    """The source is a view of the destination's memory with another dtype, and is converted."""
    memory = (np.arange(3000, dtype=np.int64) % 2 * 0x3C00_3F80_0000).view(np.int32)
    other = memory.view(np.uint8).astype(bool).view(dtype) if dtype == "bool" else memory.view(dtype)
    if dtype == "bool":
        memory[:] = np.tile(np.array([1, 0, 0, 1], np.uint8).view(np.int32), memory.size)
        other = memory.view(bool)
    check(memory, lines(memory, other[: memory.size], 100), assign)


def put_case(length: int, overlapping: str) -> tuple[np.ndarray, Callable[[Any, Any], None]]:
    """Returns memory, and a function that assigns to target[indices]. The values, the indices, or both are views of the
    memory that is written."""
    memory = np.random.default_rng(1).permutation(12 * length).astype(np.int32) % length
    order = np.random.default_rng(2).permutation(length).astype(np.int32)

    def write(target: Any, source: Any) -> None:
        target[order if overlapping == "values" else source] = 7 if overlapping == "indices" else source

    return memory, write


@pytest.mark.host
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("overlapping", ["values", "indices", "both"])
def test_put(length, overlapping):
    memory, write = put_case(length, overlapping)
    check(memory, lines(memory, memory, length), write)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("overlapping", ["values", "indices", "both"])
def test_put_of_tensors(length, overlapping):
    memory, write = put_case(length, overlapping)
    check_tensors(memory, lambda base: lines(base, base, length), write)


# Kind of operation -> a call with `out`, the shape of its source and that of its result.
INTO: dict[str, tuple[Callable[..., Any], tuple[int, ...], tuple[int, ...]]] = {
    "elementwise": (lw.negative, (20, 20), (20, 20)),
    "two inputs": (lambda x, out: lw.add(x, x, out=out), (20, 20), (20, 20)),
    "reduction": (lambda x, out: lw.sum(x, axis=0, out=out), (20, 20), (20,)),
    "rows": (lambda x, out: lw.softmax(x, axis=1, out=out), (20, 20), (20, 20)),
    "sort": (lambda x, out: lw.sort(x, axis=0, out=out), (20, 20), (20, 20)),
    "matrix": (lambda x, out: lw.matmul(x, x, out=out), (20, 20), (20, 20)),
    "gather": (lambda x, out: lw.take(x, lw.arange(19, -1, -1), axis=1, out=out), (20, 20), (20, 20)),
    "prefix": (lambda x, out: lw.cumulative_sum(x, axis=0, out=out), (20, 20), (20, 20)),
}


@pytest.mark.host
@pytest.mark.parametrize("kind", INTO)
def test_out(kind):
    """`out` gets the right result, or is refused and left as it is. It is refused only if it overlaps the source."""
    function, _, shape = INTO[kind]
    memory = np.random.default_rng(3).uniform(-9, 9, (60, 40)).astype(np.float32)
    initial = memory.copy()
    size = int(np.prod(shape))
    outs = [memory.reshape(-1)[low : low + size].reshape(shape) for low in (0, 1, 20, 390, 800, 1600, 2400 - size)]
    wrong, written = [], 0
    for place, out in enumerate(outs):
        for label, source, _ in rectangles(memory[:40]):
            if not label.endswith(" 0"):  # "views i and j": view i is the same for every j
                continue
            memory[...] = initial
            expected = np.asarray(function(lw.asarray(source.copy()), out=lw.empty(shape)))
            try:
                function(lw.asarray(source), out=lw.asarray(out))
            except lw.ArgumentError as error:
                good = "shares no memory" in str(error) and np.may_share_memory(out, source)
                good = good and np.array_equal(memory, initial)
            else:
                good, written = np.array_equal(out, expected), written + 1
            if not good:
                wrong.append(f"out {place}, {label}")
    assert not wrong, "\n".join(wrong[:10])
    assert written > 20


@pytest.mark.parametrize("kind", INTO)
def test_out_of_tensors(kind):
    """As test_out, with views of one tensor."""
    function, _, shape = INTO[kind]
    memory = np.random.default_rng(3).uniform(-9, 9, (60, 40)).astype(np.float32)
    tensor, size = lw.asarray(memory, copy=True), int(np.prod(shape))
    wrong, written = [], 0
    for low in (0, 1, 20, 390, 800, 1600, 2400 - size):
        out = tensor.reshape(-1)[low : low + size].reshape(shape)
        array = memory.reshape(-1)[low : low + size]
        for (label, source, _), (_, view, _) in zip(rectangles(memory[:40]), rectangles(tensor[:40]), strict=True):
            if not label.endswith(" 0"):
                continue
            tensor[...] = memory
            expected = np.asarray(function(lw.asarray(source, copy=True), out=lw.empty(shape)))
            try:
                function(view, out=out)
            except lw.ArgumentError as error:
                good = "shares no memory" in str(error) and np.may_share_memory(array, source)
                good = good and np.array_equal(tensor, memory)
            else:
                good, written = np.array_equal(out, expected), written + 1
            if not good:
                wrong.append(f"out at {low}, {label}")
    assert not wrong, "\n".join(wrong[:10])
    assert written > 20
