"""Tensors on a device: each call returns what it returns on the CPU, bit for bit, and its result is on the device."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from generator.schema import DTYPES, INTEGERS

import lanewise as lw
from lanewise import _ext
from tests.loopback.comparison import array, assert_same_bits, on

X = np.linspace(-3, 4, 24, dtype=np.float32).reshape(4, 6)
W = np.linspace(0.5, 2, 24, dtype=np.float32).reshape(6, 4)
INDICES = np.array([3, 0, 3, 1], np.int64)


class Operands:
    """The same operands on one backend."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.x, self.w = on(place, X), on(place, W)
        self.row, self.number = on(place, X[0]), on(place, 1.5)
        self.whole, self.indices = on(place, [[7, 2], [5, 3]], np.int32), on(place, INDICES, np.int64)


def changed(target: lw.Tensor, change: Callable[[lw.Tensor], Any]) -> lw.Tensor:
    """Returns the tensor after a change, which happens in its memory."""
    change(target)
    return target


def assigned(target: lw.Tensor, key: Any, value: Any) -> lw.Tensor:
    return changed(target, lambda tensor: operator.setitem(tensor, key, value))


def chain(x: lw.Tensor) -> lw.Tensor:
    """Changes a tensor in its memory several times, also through a view."""
    view = x[::2]
    x *= 2
    view += x[1::2]
    x -= view[0]
    lw.exp(x, out=x)
    return x


# Nothing of these is read by the host.
ON_THE_DEVICE: dict[str, Callable[[Operands], Any]] = {
    "sum of two": lambda o: o.x + o.x,
    "a Python number": lambda o: 2 - o.x,
    "a NumPy scalar": lambda o: o.x * np.float32(3),
    "a NumPy array": lambda o: o.x + X[1],
    "a strided NumPy array": lambda o: o.x + W.T,
    "a list": lambda o: lw.add(o.row, [1, 2, 3, 4, 5, 6]),
    "0-d and 2-d": lambda o: o.number * o.x,
    "0-d and 0-d": lambda o: o.number + o.number,
    "two dtypes": lambda o: o.whole + o.number,
    "integers": lambda o: o.whole // 2 + o.whole % 3,
    "rows broadcast": lambda o: o.x / o.row,
    "columns broadcast": lambda o: o.x[:, 1:2] + o.row,
    "broadcast_to": lambda o: lw.broadcast_to(o.row, (3, 2, 6)) + 1,
    "transposed": lambda o: o.x.T,
    "transposed and added": lambda o: o.x.T + o.w,
    "a view of a view": lambda o: o.x[1:][:, 2:][::2, 1],
    "negative strides": lambda o: o.x[::-1, ::-2] * 2,
    "a view of negative strides": lambda o: o.x[::-1][1:, ::-3],
    "newaxis": lambda o: o.row[:, None] + o.row[None, :],
    "one element": lambda o: o.x[2, -1],
    "an empty view": lambda o: o.x[2:2] + 1,
    "reshaped": lambda o: lw.reshape(o.x.T, (8, 3)),
    "flipped": lambda o: lw.flip(o.x, axis=1),
    "cast": lambda o: (o.x * 10).astype(lw.int32),
    "cast of a view": lambda o: o.x.T[::-1].astype(lw.float64),
    "a product": lambda o: o.x @ o.w,
    "a product of views": lambda o: o.x[::-1].T @ o.w.T[:, ::-1].T[:4],
    "a reduction": lambda o: lw.sum(o.x, axis=0),
    "a reduction of a view": lambda o: lw.max(o.x.T[::2], axis=1),
    "an index reduction": lambda o: lw.argmax(o.x, axis=1),
    "two results": lambda o: lw.eigh(o.x @ o.x.T),
    "sorted": lambda o: lw.sort(o.x[:, ::-1]),
    "where": lambda o: lw.where(o.x > o.row, o.x, 0.0),
    "an index": lambda o: o.x[o.whole - 4],
    "a list of indices": lambda o: o.x[[3, -1, 0]],
    "take": lambda o: lw.take(o.x, o.whole - 4, axis=0),
    "take_along_axis": lambda o: lw.take_along_axis(o.x, o.whole[:, :1] - 4, axis=0),
    "copied": lambda o: o.x.T.copy(),
    "cumulative_sum": lambda o: lw.cumulative_sum(o.x, axis=1),
    "out": lambda o: lw.add(o.x, 1, out=on(o.place, np.zeros_like(X))),
    "out is an operand": lambda o: lw.multiply(o.x, o.row, out=o.x),
    "out is a view": lambda o: lw.exp(o.row, out=o.x[2]) + o.x[1:3],
    "+=": lambda o: changed(o.x, lambda x: operator.iadd(x, o.row)),
    "+= to a view": lambda o: (operator.iadd(o.x[1:, ::2], 5), o.x),
    "@= of a number": lambda o: changed(o.x, lambda x: operator.imul(x, 2)),
    "a chain": lambda o: chain(o.x),
    "assign a number": lambda o: assigned(o.x, (slice(None), 1), 9),
    "assign an array": lambda o: assigned(o.x, slice(1, 3), X[:2]),
    "assign a tensor": lambda o: assigned(o.x, (slice(None), slice(None, None, -2)), o.w.T[:, :3]),
    "assign what overlaps": lambda o: assigned(o.x, slice(1, None), o.x[:-1]),
    "assign another dtype": lambda o: assigned(o.x, (slice(2), slice(2)), o.whole),
    "assign to a transposed view": lambda o: (assigned(o.x.T, 2, o.row[:4]), o.x),
    "assign by indices": lambda o: assigned(o.x, o.whole[1] - 3, 1.0),
    "assign rows by indices": lambda o: assigned(o.x, [0, 2], o.x[2:]),
    "assign an element": lambda o: assigned(o.x, (1, 1), o.number),
    "assign by a mask of NumPy": lambda o: assigned(o.x, X > 2, o.number),
}
# The host reads a part of these: masks, from which shapes follow, and int64 indices, which must be in the range of
# int32. The blocks of concat and stack are joined on the host.
READ: dict[str, Callable[[Operands], Any]] = {
    "a mask": lambda o: o.x[o.x > 0],
    "nonzero": lambda o: lw.nonzero(o.x > 1),
    "assign by a mask": lambda o: assigned(o.x, o.x < 0, 0.0),
    "int64 indices": lambda o: o.x[o.indices],
    "assign by int64 indices": lambda o: assigned(o.x, o.indices[:3:2], 1.0),
    "concat": lambda o: lw.concat([o.x, o.w.T, X]),
    "stack": lambda o: lw.stack([o.x, o.w.T]),
}


@pytest.mark.parametrize("name", [*ON_THE_DEVICE, *READ])
def test_bits_and_place(name: str) -> None:
    compute = ON_THE_DEVICE.get(name) or READ[name]
    operands = Operands("wgpu")
    before = lw.memory_stats("wgpu")["readbacks"]
    result = compute(operands)
    read = lw.memory_stats("wgpu")["readbacks"] - before
    assert read == 0 or name in READ
    for tensor in result if isinstance(result, tuple) else (result,):
        assert (tensor.backend, tensor.device, tensor.is_committed) == ("wgpu", "wgpu", True)
    assert_same_bits(result, compute(Operands("cpu")))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [1, True, 2.5])
def test_a_number_that_is_assigned_is_not_uploaded(dtype: str, number: float) -> None:
    if isinstance(number, float) and dtype in INTEGERS:
        number = 7 if dtype.startswith("u") else -7
    x, indices = on("wgpu", X, dtype), on("wgpu", [3, 0], np.int32)
    expected = array(x)
    before = lw.memory_stats("wgpu")
    x[indices] = number
    x[1:, indices] = number
    x.T[indices] = number
    after = lw.memory_stats("wgpu")
    assert all(after[name] == before[name] for name in ("uploads", "readbacks"))
    expected[[3, 0]] = expected[1:, [3, 0]] = expected.T[[3, 0]] = number
    assert_same_bits(x, expected)


NEW: dict[str, Callable[..., lw.Tensor]] = {
    "zeros": lambda **place: lw.zeros((2, 3), **place),
    "ones": lambda **place: lw.ones(5, dtype=lw.int32, **place),
    "full": lambda **place: lw.full((2, 3), 7, dtype=lw.int64, **place),
    "eye": lambda **place: lw.eye(3, **place),
    "arange": lambda **place: lw.arange(2, 11, 3, **place),
    "linspace": lambda **place: lw.linspace(0, 1, 7, **place),
    "rand": lambda **place: lw.rand(9, seed=3, **place),
    "asarray": lambda **place: lw.asarray([1.5, 2.5], **place),
    "asarray of NumPy": lambda **place: lw.asarray(X, **place),
    "zeros_like": lambda **place: lw.zeros_like(X, **place),
}
FILLED = ("zeros", "full", "arange", "rand")  # by a launch, without an upload


@pytest.mark.parametrize("name", NEW)
def test_creation(name: str) -> None:
    """On the device that is named, or that of use_backend(): a tensor with device="cpu" is made without it."""
    before = lw.memory_stats("wgpu")
    made = NEW[name](device="wgpu")
    assert name not in FILLED or lw.memory_stats("wgpu")["uploads"] == before["uploads"]
    with lw.use_backend("wgpu"):
        inside, host = NEW[name](), NEW[name](device="cpu")
        assert [lw.isfinite(each.astype("float32")).device for each in (inside, host)] == ["wgpu", "cpu"]
    assert (made.device, made.is_committed, host.device, host.is_committed) == ("wgpu", True, "cpu", True)
    assert lw.memory_stats("wgpu")["readbacks"] == before["readbacks"]
    for each in (made, inside, host):
        assert_same_bits(each, NEW[name]())


@pytest.mark.parametrize("committed", [False, True], ids=["uncommitted", "committed"])
@pytest.mark.parametrize("swap", [False, True], ids=["device first", "CPU first"])
def test_operands_on_two_places(committed: bool, swap: bool) -> None:
    """The backend that lw.Backend lists last runs a call whose operands are committed to several."""
    host = lw.asarray(X)
    operands = [on("wgpu", X), host.to("cpu") if committed else host]
    result = lw.subtract(*operands[:: -1 if swap else 1])
    assert result.device == ("cpu" if committed else "wgpu") and result.is_committed
    assert_same_bits(result, X - X)


def test_strict_backends() -> None:
    x, host = on("wgpu", X), lw.asarray(X)
    with lw.strict_backends():
        assert_same_bits(x + host, X + X)
        for call in (lambda: x + host.to("cpu"), lambda: lw.concat([host.to("cpu"), x])):
            with pytest.raises(lw.BackendError, match="expected operands on one backend"):
                call()
    assert_same_bits(x + host.to("cpu"), X + X)


def test_uncommitted_tensors_stay_where_they_are() -> None:
    host = lw.asarray(X)
    with lw.use_backend("wgpu"):
        inside = host + 1
    assert (host.device, host.is_committed) == ("cpu", False)
    assert inside.device == "wgpu"
    assert (host + 1).device == "cpu"
    uploads = lw.memory_stats("wgpu")["uploads"]
    assert_same_bits(on("wgpu", X) * host, X * X)
    assert lw.memory_stats("wgpu")["uploads"] == uploads + 2
    assert host.device == "cpu"


def test_to_copies_only_between_places() -> None:
    x = on("wgpu", X)
    uploads, readbacks = (lw.memory_stats("wgpu")[name] for name in ("uploads", "readbacks"))
    same = x.to("wgpu")
    same += 1
    assert_same_bits(x.T.to("cpu"), (X + 1).T)
    assert x.to("scalar").backend == "scalar"
    stats = lw.memory_stats("wgpu")
    assert (stats["uploads"] - uploads, stats["readbacks"] - readbacks) == (0, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: lw.asarray(X, copy=False, device="wgpu"),
        lambda: lw.asarray(lw.asarray(X), copy=False, device="wgpu"),
        lambda: lw.asarray(on("wgpu", X), copy=False, device="cpu"),
        lambda: lw.from_dlpack(X, copy=False, device="wgpu"),
        lambda: on("wgpu", X).__array__(copy=False),
    ],
)
def test_without_copies_nothing_moves(call: Callable[[], Any]) -> None:
    before = lw.memory_stats("wgpu")
    with pytest.raises(lw.ArgumentError, match=r"^(asarray|from_dlpack|__array__): expected .* on .* with copy=False"):
        call()
    after = lw.memory_stats("wgpu")
    assert after["readbacks"] == before["readbacks"]


def test_without_copies_data_is_shared_where_it_is() -> None:
    x = on("wgpu", X)
    assert lw.asarray(x, copy=False, device="wgpu") is x
    with lw.use_backend("wgpu"):
        assert np.shares_memory(lw.asarray(X, copy=False, device="cpu").numpy(), X)


@pytest.mark.parametrize("strided", [False, True], ids=["contiguous", "strided"])
def test_out_on_another_place(strided: bool) -> None:
    x, host = on("wgpu", X.T if strided else X), lw.zeros(X.shape)
    source = x.T if strided else x
    assert lw.add(source, 1, out=host) is host
    assert_same_bits(host, X + 1)
    there = on("wgpu", np.zeros_like(X))
    assert lw.add(host.to("cpu"), 1, out=there) is there and there.device == "wgpu"
    assert_same_bits(there, X + 1 + 1)


def test_memory_statistics() -> None:
    before = lw.memory_stats("wgpu")
    x = on("wgpu", np.zeros(1024))
    y = x + 1
    stats = lw.memory_stats("wgpu")
    assert stats["allocated_bytes"] == before["allocated_bytes"] + 2 * x.nbytes
    assert stats["num_allocs"] == before["num_allocs"] + 2
    del y
    assert lw.memory_stats("wgpu")["cached_bytes"] == before["cached_bytes"] + x.nbytes
    y = x + 2
    assert lw.memory_stats("wgpu")["num_cache_hits"] == before["num_cache_hits"] + 1
    assert _ext.live_blocks() == 2
    assert array(y)[0] == 2


def test_threads() -> None:
    """Threads launch and read, while reads release the GIL."""
    _ext.slow_reads(0.002)
    x, results = on("wgpu", X), {}

    def work(number: int) -> None:
        own, totals = x * number, []
        for step in range(10):
            own += step
            totals.append(lw.sum(own[::-1]).tolist())
        results[number] = totals, own.tolist()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        own, totals = on("cpu", X) * number, []
        for step in range(10):
            own += step
            totals.append(lw.sum(own[::-1]).tolist())
        assert results[number] == (totals, own.tolist())
