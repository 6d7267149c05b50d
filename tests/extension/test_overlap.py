"""Tests writing to a view of a tensor from other views of the same memory: forwards, backwards, strided, repeated and
transposed ones, with every sort of overlap. NumPy computes the expected result from a copy of the memory.

The memory is that of an array or that of a tensor, which may be on a device."""

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
Write = Callable[[Any, Any], None]
OWNERS = pytest.mark.parametrize("owner", [pytest.param("array", marks=pytest.mark.host), "tensor"])


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


def check(memory: np.ndarray, views: Callable[[Memory], Iterator[Views]], write: Write, owner: str) -> None:
    """Asserts that `write` changes memory in Lanewise as it does in NumPy with a copy of the source. The memory is that
    of an array or of a tensor, as `owner` says."""
    wrong = []
    initial = memory.copy()
    own = memory.copy() if owner == "array" else lw.asarray(memory, copy=True)
    for (label, target, source), (_, own_target, own_source) in zip(views(memory), views(own), strict=True):
        memory[...] = own[...] = initial
        write(target, source.copy())
        write(lw.asarray(own_target), lw.asarray(own_source))
        if own.tobytes() != memory.tobytes():
            wrong.append(label)
    assert not wrong, f"{len(wrong)} are wrong:\n" + "\n".join(wrong[:10])


def assign(target: Any, source: Any) -> None:
    target[...] = source


def add_to(target: Any, source: Any) -> None:
    target += source


@OWNERS
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("write", [assign, add_to])
def test_lines(write, length, owner):
    memory = np.arange(12 * length, dtype=np.int32)
    check(memory, lambda base: lines(base, base, length), write, owner)


@OWNERS
@pytest.mark.parametrize("write", [assign, add_to])
def test_rectangles(write, owner):
    size = 40 if owner == "array" else 12
    memory = np.arange(size * size, dtype=np.int32).reshape(size, size)
    check(memory, lambda base: rectangles(base, with_windows=owner == "array"), write, owner)


@pytest.mark.host
@pytest.mark.parametrize("dtype", ["float32", "int64", "float16", "bool"])
def test_views_of_another_dtype(dtype):
    """The source is a view of the destination's memory with another dtype, and is converted."""
    memory = (np.arange(3000, dtype=np.int64) % 2 * 0x3C00_3F80_0000).view(np.int32)
    if dtype == "bool":
        memory[:] = np.array([1, 0, 0, 1], np.uint8).view(np.int32)
    check(memory, lambda base: lines(base, base.view(dtype)[: base.size], 100), assign, "array")


@OWNERS
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("overlapping", ["values", "indices", "both"])
def test_put(length, overlapping, owner):
    """Assigns to target[indices]. The values, the indices, or both are views of the memory that is written."""
    memory = np.random.default_rng(1).permutation(12 * length).astype(np.int32) % length
    order = np.random.default_rng(2).permutation(length).astype(np.int32)

    def write(target: Any, source: Any) -> None:
        target[order if overlapping == "values" else source] = 7 if overlapping == "indices" else source

    check(memory, lambda base: lines(base, base, length), write, owner)


# Kind of operation -> a call with `out` on a matrix of 20 x 20, and the shape of its result.
INTO: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "elementwise": (lw.negative, (20, 20)),
    "two inputs": (lambda x, out: lw.add(x, x, out=out), (20, 20)),
    "reduction": (lambda x, out: lw.sum(x, axis=0, out=out), (20,)),
    "rows": (lambda x, out: lw.softmax(x, axis=1, out=out), (20, 20)),
    "sort": (lambda x, out: lw.sort(x, axis=0, out=out), (20, 20)),
    "matrix": (lambda x, out: lw.matmul(x, x, out=out), (20, 20)),
    "gather": (lambda x, out: lw.take(x, lw.arange(19, -1, -1), axis=1, out=out), (20, 20)),
    "prefix": (lambda x, out: lw.cumulative_sum(x, axis=0, out=out), (20, 20)),
}


@OWNERS
@pytest.mark.parametrize("kind", INTO)
def test_out(kind, owner):
    """`out` gets the right result, or is refused and left as it is. It is refused only if it overlaps the source."""
    function, shape = INTO[kind]
    memory = np.random.default_rng(3).uniform(-9, 9, (60, 40)).astype(np.float32)
    own, size = memory.copy() if owner == "array" else lw.asarray(memory, copy=True), int(np.prod(shape))
    wrong, written = [], 0
    for low in (0, 1, 20, 390, 800, 1600, 2400 - size):
        out = lw.asarray(own.reshape(-1)[low : low + size].reshape(shape))
        array = memory.reshape(-1)[low : low + size]
        for (label, source, _), (_, view, _) in zip(rectangles(memory[:40]), rectangles(own[:40]), strict=True):
            if not label.endswith(" 0"):  # "views i and j": view i is the same for every j
                continue
            own[...] = memory
            expected = np.asarray(function(lw.asarray(source, copy=True), out=lw.empty(shape)))
            try:
                function(lw.asarray(view), out=out)
            except lw.ArgumentError as error:
                good = "shares no memory" in str(error) and np.may_share_memory(array, source)
                good = good and np.array_equal(own, memory)
            else:
                good, written = np.array_equal(out, expected), written + 1
            if not good:
                wrong.append(f"out at {low}, {label}")
    assert not wrong, "\n".join(wrong[:10])
    assert written > 20
