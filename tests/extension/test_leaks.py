"""Calls every slot, method, attribute and protocol of the extension's types, and every function of its module, many
times, also with arguments that are refused, and tests that nothing is lost: no memory, no reference, no tensor.

The names are read from the types and the module. A new name is tested too, or its test fails for lack of arguments."""

from __future__ import annotations

import copy
import ctypes
import gc
import inspect
import pickle
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import leak_calls
import numpy as np
import pytest
from leak_meter import HAS_BLOCKS, Call, is_counted, losses, tensor_bytes

import lanewise as lw
from lanewise import _ext

TYPES = [each for each in vars(_ext).values() if isinstance(each, type)]
# Attributes that Python gives every object, such as __class__, are not the extension's.
ATTRIBUTES = [
    (owner, name)
    for owner in TYPES
    for name in dir(owner)
    if inspect.getattr_static(owner, name) is not inspect.getattr_static(object, name, None)
]
# of tests/loopback/loopback.c
LOOPBACK = ("open_loopback", "inject", "slow_reads", "live_blocks", "launches", "without")
FUNCTIONS = [name for name, each in vars(_ext).items() if callable(each) and name not in LOOPBACK]


@pytest.fixture(autouse=True, scope="module")
def _frozen() -> Iterator[None]:
    """Keeps the garbage collector from scanning the objects of other test modules."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _memory() -> Iterator[None]:
    """Checks after each test that all tensors that it made are gone."""
    before = tensor_bytes()
    yield
    gc.collect()
    assert tensor_bytes() <= before, "tensors outlive their last reference"


@pytest.mark.parametrize(("owner", "name"), ATTRIBUTES, ids=[f"{owner.__name__}.{name}" for owner, name in ATTRIBUTES])
def test_attributes(owner: type, name: str) -> None:
    assert losses(leak_calls.attribute_calls(owner, name)) == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    assert losses(leak_calls.function_calls(name)) == []


class Buffer(ctypes.Structure):
    """Memory that is large enough for the struct Py_buffer."""

    _fields_ = (("words", ctypes.c_void_p * 16),)


def _get_buffer(flags: int) -> Callable[[Any], None]:
    def call(x: Any) -> None:
        view = Buffer()
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(x), ctypes.byref(view), flags)
        ctypes.pythonapi.PyBuffer_Release(ctypes.byref(view))

    return call


def _break_off(x: Any) -> None:
    for _ in x:
        break


def _use_capsule_twice(x: Any) -> None:
    capsule = x.__dlpack__(max_version=(1, 0))
    _ext.from_dlpack_capsule(capsule)
    _ext.from_dlpack_capsule(capsule)


def _delete_item(x: Any) -> None:
    del x[0]


def _write_while_viewed(x: Any) -> None:
    with memoryview(x) as view:
        x[...] = view


PROTOCOLS: dict[str, list[Callable[[Any], object]]] = {
    "buffer": [
        *(_get_buffer(flags) for flags in (0, 1, 4, 8, 0x18, 0x1C, 0x38, 0x58, 0x98, 0x11D, 0x19)),
        *(memoryview, bytes, bytearray, lambda x: memoryview(x).tolist(), lambda x: memoryview(x)[::2]),
        *(np.asarray, np.array, lambda x: np.asarray(x, "f8"), lambda x: np.frombuffer(x, "u1")),
        *(lambda x: lw.asarray(memoryview(x)), _write_while_viewed),
    ],
    "DLPack": [
        *(np.from_dlpack, lambda x: np.from_dlpack(x, copy=True), lw.from_dlpack, _use_capsule_twice),
        *(lambda x: lw.from_dlpack(np.asarray(x)), lambda x: _ext.from_dlpack_capsule(x.__dlpack__())),
        *(lambda x: x.__dlpack__(), lambda x: x.__dlpack__(max_version=(1, 0), copy=True)),
        *(lambda x: _ext.from_dlpack_capsule(x.__dlpack__(max_version=(1, 0))), lambda x: lw.from_dlpack(x, copy=True)),
        lambda x: _ext.from_dlpack_capsule(np.asarray(x).__dlpack__(max_version=(1, 0))),
    ],
    "iteration": [
        *(iter, list, _break_off, lambda x: next(iter(x)), lambda x: [*zip(x, x, strict=False)], reversed),
        *(lambda x: 2 in x, lambda x: (lambda a, *b: None)(*x), lambda x: next(iter(x)) + 1, sorted, sum),
    ],
    "pickle": [
        *(lambda x, n=n: pickle.loads(pickle.dumps(x, n)) for n in range(6)),
        *(lambda x: pickle.dumps(x, 5, buffer_callback=lambda _: False), copy.copy, copy.deepcopy),
    ],
    "conversion": [int, float, complex, bool, hash, repr, str, format, len, round, abs, lambda x: [1] * x],
    "NumPy": [
        *(lambda x: np.add(x, 1), lambda x: np.add(x, 1, out=x), lambda x: np.mean(x), lambda x: np.ones(3) + x),
        *(lambda x: np.add(x, "text"), lambda x: np.concatenate([x, x]), lambda x: x.__array_interface__),
    ],
    "others": [weakref.ref, _delete_item, lambda x: pow(x, 2, 3), lambda x: x.nothing, lambda x: x()],
}  # fmt: skip


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_protocols(protocol: str) -> None:
    small = [x for x in leak_calls.tensors() if x.size < leak_calls.LARGE]
    calls = [Call(f"{protocol} {i}", each, (x,)) for i, each in enumerate(PROTOCOLS[protocol]) for x in small]
    assert losses(calls) == []


KEPT: list[object] = []
LOSSES: dict[str, tuple[str, Callable[[Any], object]]] = {
    "a block": ("blocks of Python", lambda x: KEPT.append(object())),
    "a reference to an argument": ("references to Tensor", lambda x: KEPT.append(x)),
    "a reference to a dtype": ("references to DType", lambda x: KEPT.append(x.dtype)),
    "a tensor": ("bytes of tensors", lambda x: KEPT.append(x + 1)),
    "a view": ("blocks of Python", lambda x: KEPT.append(x[1:])),
    "a result": ("a result outlives", lambda x: (KEPT.append(y := x + 1), y)[1]),
}
if is_counted(3):
    LOSSES["a reference to a small int"] = ("references to small ints", lambda x: KEPT.append(3))


@pytest.mark.skipif(not HAS_BLOCKS, reason="nothing is counted without Python's allocator")
@pytest.mark.parametrize("loss", LOSSES)
def test_losses_are_seen(loss: str) -> None:
    expected, function = LOSSES[loss]
    try:
        found = losses([Call("harmless", abs, (lw.ones(3),)), Call("losing", function, (lw.ones(3),))])
    finally:
        KEPT.clear()
    assert any(each.startswith("losing(") and expected in each for each in found)
    assert not any(each.startswith("harmless") for each in found)
