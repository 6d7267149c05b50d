"""The loss of a device: its tensors raise errors that say what to do, and those of other places are unaffected."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import pytest

import lanewise as lw
from lanewise import _ext
from tests.loopback.comparison import array, assert_same_bits, on, parts
from tests.loopback.test_faults import EVERY_LAUNCH, X, assert_works, inputs, run

LOST = "wgpu was lost: "


@EVERY_LAUNCH
def test_loss(failing: int) -> None:
    values = inputs("wgpu")
    _ext.inject("loss", failing)
    with pytest.raises(lw.DeviceError, match=LOST):
        run(values)
    for tensor in (tensor for value in values.values() for tensor in parts(value)):
        with pytest.raises(lw.DeviceError, match=LOST):
            tensor.tolist()
    assert_same_bits(lw.asarray(X) * 2 - lw.asarray(X.T), X * 2 - X.T)
    lw.reset("wgpu")
    assert_works()
    with pytest.raises(lw.DeviceError, match=LOST):
        values["x"].tolist()


def lose(x: lw.Tensor) -> None:
    """Makes the device lose everything."""
    _ext.inject("loss", 0)
    with pytest.raises(lw.DeviceError, match=LOST):
        x + 1


def assign(target: lw.Tensor, value: Any) -> None:
    target[0] = value


# Calls with a tensor of the device that was lost, and another of a new device or of the CPU.
CALLS: dict[str, Callable[[lw.Tensor, lw.Tensor], Any]] = {
    "read": lambda old, other: old.tolist(),
    "read a view": lambda old, other: old.T.tolist(),
    "one element": lambda old, other: float(old[1, 1]),
    "first operand": lambda old, other: old + other,
    "second operand": lambda old, other: other.T + old.T,
    "reduction": lambda old, other: lw.sum(old.T, axis=0),
    "copy": lambda old, other: old.T.copy(),
    "index": lambda old, other: old[[0]],
    "out": lambda old, other: lw.add(other, other, out=old),
    "+=": lambda old, other: old.__iadd__(other),
    "assign a number to it": lambda old, other: assign(old, 1),
    "assign a tensor to it": lambda old, other: assign(old.T, other[1]),
    "assign it": lambda old, other: assign(other, old[1]),
    "concat": lambda old, other: lw.concat([other, old]),
}


@pytest.mark.parametrize("is_lost", [True, False], ids=["lost", "replaced"])
@pytest.mark.parametrize("name", CALLS)
def test_tensors_of_an_earlier_device(name: str, is_lost: bool) -> None:
    """reset() opens another device. No call mixes their memory: it raises, and leaves the new device as it is."""
    old = on("wgpu", X)
    if is_lost:
        lose(old)
    lw.reset("wgpu")
    new = on("wgpu", X.T)
    with pytest.raises(lw.DeviceError, match=LOST):
        CALLS[name](old, new)
    assert_same_bits(new, X.T)
    assert_works()


def test_a_notebook_shows_that_a_tensor_is_lost() -> None:
    old = on("wgpu", X)
    lose(old)
    text = f"Tensor(shape={X.shape}, dtype=float32, backend=wgpu; {LOST}"
    bundle = old._repr_mimebundle_()
    assert bundle["text/plain"].startswith(text)
    assert bundle["text/html"].endswith(f"{html.escape(str(old))}</pre><small>shape {X.shape}, float32, wgpu</small>")
    lw.reset("wgpu")
    assert_works()


NEW: dict[str, Callable[[], Any]] = {
    "to": lambda: lw.asarray(X).to("wgpu"),
    "zeros": lambda: lw.zeros(10_000, device="wgpu"),
    "full": lambda: lw.full((3, 3), 2.0, device="wgpu"),
}


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("cached", [True, False], ids=["from the cache", "new memory"])
def test_new_tensors_on_a_lost_device(name: str, cached: bool) -> None:
    blocks = NEW[name]()
    lose(on("wgpu", X))
    del blocks
    if not cached:
        lw.empty_cache()
    with pytest.raises(lw.DeviceError, match=LOST):
        array(NEW[name]())
    lw.reset("wgpu")
    assert array(NEW[name]()).size > 0


def test_tensors_of_a_replaced_device_are_freed():
    """They do not stay in a cache that nothing empties."""
    x = lw.zeros((1000,)).to("wgpu")
    before = lw.memory_stats("wgpu")["reserved_bytes"]
    lw.reset("wgpu")
    del x
    assert before >= 4000 and lw.memory_stats("wgpu")["reserved_bytes"] == 0
