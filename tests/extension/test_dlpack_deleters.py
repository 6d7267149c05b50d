"""Tests capsules of DLPack that other libraries may make, and their deleters. The deleter of a consumed capsule is
called exactly once, when the last user is gone; Lanewise leaves the deleter of a refused capsule to the capsule's
owner. Lanewise's own deleters work in threads that Python does not know, without the GIL, and after Python has
ended."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import lanewise as lw
from lanewise import _ext

Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class View(ctypes.Structure):
    """The struct DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class Managed(ctypes.Structure):
    """The struct DLManagedTensor."""

    _fields_ = (("view", View), ("manager", ctypes.c_void_p), ("deleter", Deleter))


class Versioned(ctypes.Structure):
    """The struct DLManagedTensorVersioned."""

    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("manager", ctypes.c_void_p),
        ("deleter", Deleter),
        ("flags", ctypes.c_uint64),
        ("view", View),
    )


NAMES = {Managed: b"dltensor", Versioned: b"dltensor_versioned"}


class Lender:
    """Lends three floats through a capsule, and counts the calls of its deleter."""

    def __init__(self, kind: type[Managed] | type[Versioned], **changes: Any) -> None:
        self.deleted: list[int] = []
        self.values = np.arange(3, dtype=np.float32)
        self.shape = (ctypes.c_int64 * 9)(3, *[1] * 8)
        self.struct = kind(deleter=Deleter(self.deleted.append))
        if isinstance(self.struct, Versioned):
            self.struct.version[0] = changes.pop("major", 1)
        view = self.struct.view
        view.data, view.device[0], view.ndim = self.values.ctypes.data, 1, 1
        view.code, view.bits, view.lanes, view.shape = 2, 32, 1, self.shape
        for name, value in changes.items():
            setattr(view, name, value)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self.capsule = new(ctypes.addressof(self.struct), NAMES[kind], None)

    def is_unused(self) -> bool:
        valid = ctypes.pythonapi.PyCapsule_IsValid
        valid.argtypes = (ctypes.py_object, ctypes.c_char_p)
        return bool(valid(self.capsule, NAMES[type(self.struct)]))


@pytest.fixture(params=NAMES, ids=lambda kind: kind.__name__.lower())
def kind(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield request.param
    gc.collect()


def test_a_consumed_capsule_is_deleted_once(kind):
    lender = Lender(kind)
    tensor = _ext.from_dlpack_capsule(lender.capsule)
    assert tensor.tolist() == [0, 1, 2] and not lender.is_unused()
    view, array = tensor[1:], np.asarray(tensor)
    del tensor
    for used in (lender.capsule, 3):
        with pytest.raises(lw.ArgumentTypeError, match="unused"):
            _ext.from_dlpack_capsule(used)
    del array
    assert lender.deleted == [] and view.tolist() == [1, 2]
    del view
    assert lender.deleted == [ctypes.addressof(lender.struct)]
    del lender.capsule
    assert len(lender.deleted) == 1


@pytest.mark.parametrize("look", [np.asarray, memoryview, lambda x: x.__dlpack__(), lambda x: x[1:], iter])
def test_the_deleter_waits_for_the_last_user(kind, look):
    lender = Lender(kind)
    seen = look(_ext.from_dlpack_capsule(lender.capsule))
    assert lender.deleted == []
    del seen
    gc.collect()
    assert len(lender.deleted) == 1


@pytest.mark.parametrize("changes", [{"ndim": 9}, {"ndim": -1}, {"bits": 8}, {"lanes": 2}, {"code": 9}, {"major": 2}])
def test_a_refused_capsule_stays_with_its_owner(kind, changes):
    if kind is Managed and "major" in changes:
        pytest.skip("has no version")
    lender = Lender(kind, **changes)
    with pytest.raises((lw.LanewiseError, BufferError)):
        _ext.from_dlpack_capsule(lender.capsule)
    assert lender.deleted == [] and lender.is_unused()


@pytest.mark.parametrize("shape", [(2**62,), (-1,), (-2, -3), (0, -1), (2**62, 2**62, 4)])
def test_an_impossible_shape_is_deleted_once(kind, shape):
    """The shape is refused after the capsule has been consumed, so Lanewise has to call the deleter."""
    lender = Lender(kind, ndim=len(shape))
    lender.shape[: len(shape)] = shape
    with pytest.raises(lw.ShapeError, match=r"fewer than 2\^63 bytes, got shape \("):
        _ext.from_dlpack_capsule(lender.capsule)
    assert len(lender.deleted) == (not lender.is_unused())


@pytest.mark.parametrize("strides", [None, (4, 1), (8, -1), (-8, 3), (0, 2), (1, 4)])
def test_elements_are_where_offset_and_strides_say(kind, strides):
    """NumPy and PyTorch export views with an offset of 0, in `data`; other libraries use the field."""
    for dtype, code in {"bool": 6, "int32": 0, "int64": 0, "float16": 2, "float32": 2, "float64": 2}.items():
        memory = (np.arange(60) % 59 % 2 if dtype == "bool" else np.arange(60)).astype(dtype)
        data, first, steps = memory[20:], 17, strides or (4, 1)
        lender = Lender(kind, ndim=2, code=code, bits=8 * memory.itemsize, byte_offset=first * memory.itemsize)
        lender.shape[:2] = 3, 4
        lender.struct.view.data = data.ctypes.data
        lender.struct.view.strides = (ctypes.c_int64 * 2)(*strides) if strides else None
        places = first + np.arange(3)[:, None] * steps[0] + np.arange(4) * steps[1]
        tensor = _ext.from_dlpack_capsule(lender.capsule)
        found = tensor.tolist(), tensor.dtype
        del tensor  # while its deleter is there
        assert found == (data[places].tolist(), dtype)


def test_a_capsule_without_a_deleter(kind):
    lender = Lender(kind)
    lender.struct.deleter = Deleter()
    assert _ext.from_dlpack_capsule(lender.capsule).tolist() == [0, 1, 2]


# The programs below make the C library call the deleter of a capsule: pthread_create() calls it in a thread that Python
# does not know, and __cxa_atexit() after Python has ended. The deleter of a tensor made by borrowed() frees an array
# whose __del__ runs Python code, which needs the GIL.
PROGRAM = """
import ctypes, gc, threading
import numpy as np
import lanewise as lw

libc, python = ctypes.CDLL(None), ctypes.pythonapi
pointer_of, rename = python.PyCapsule_GetPointer, python.PyCapsule_SetName
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
rename.argtypes = (ctypes.py_object, ctypes.c_char_p)
deleted = []

class Array(np.ndarray):
    def __del__(self):
        deleted.append((threading.get_native_id(), python.PyGILState_Check()))

def consume(x, versioned):
    "Returns the deleter and its argument, as a consumer of the capsule keeps them."
    capsule = x.__dlpack__(max_version=(1, 0) if versioned else None)
    name = b"dltensor_versioned" if versioned else b"dltensor"
    pointer = pointer_of(capsule, name)
    assert rename(capsule, used := b"used_" + name) == 0
    names.append(used)  # the capsule does not copy it
    words = ctypes.cast(pointer, ctypes.POINTER(ctypes.c_void_p))
    return ctypes.c_void_p(words[2 if versioned else 7]), ctypes.c_void_p(pointer)

def borrowed():
    return lw.asarray(np.arange(1000, dtype=np.float32).view(Array))

def start(deleter, pointer):
    thread = ctypes.c_ulong()
    assert libc.pthread_create(ctypes.byref(thread), None, deleter, pointer) == 0
    return thread

names = []
"""
IN_A_THREAD = """
for versioned in (False, True):
    work = consume(borrowed(), versioned)
    gc.collect()
    assert deleted == [], "deleted too early"
    libc.pthread_join(start(*work), None)  # this call releases the GIL, so no thread holds it
    assert len(deleted) == 1, deleted
    assert deleted[0][0] != threading.get_native_id() and deleted[0][1] == 1, deleted
    deleted.clear()
"""
WHILE_PYTHON_RUNS = """
for turn in range(40):
    x = [lw.full((100 * turn + 1,), float(i)) for i in range(25)] + [borrowed()]
    works = [consume(each, i % 2 == 0) for i, each in enumerate(x)]
    del x
    threads = [start(*work) for work in works]
    for i in range(200):
        y = lw.full((100 * turn + 1,), 7.0)
        assert float(y[-1]) == float(y[0]) == 7
    for thread in threads:
        libc.pthread_join(thread, None)
del y
assert len(deleted) == 40, len(deleted)
stats = lw.memory_stats()
assert stats["allocated_bytes"] == 0, stats
assert stats["reserved_bytes"] == stats["cached_bytes"], stats
"""
AFTER_PYTHON = """
for i in range(4):
    deleter, pointer = consume(borrowed() if i < 2 else lw.ones(100), i % 2 == 0)
    assert libc.__cxa_atexit(deleter, pointer, None) == 0
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="calls pthread_create() and __cxa_atexit() of Linux")
@pytest.mark.parametrize(
    "program", [IN_A_THREAD, WHILE_PYTHON_RUNS, AFTER_PYTHON], ids=["thread", "while Python runs", "after Python"]
)
def test_deleters_without_the_gil(program):
    done = subprocess.run(
        [sys.executable, "-c", f"{PROGRAM}{program}\nprint('done')"], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stderr
