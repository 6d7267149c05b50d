"""Tests buffers without strides, as ctypes exports them, buffers of unusual formats, and arrays of uint8."""

from __future__ import annotations

import array
import ctypes
import subprocess
import sys

import numpy as np
import pytest

import lanewise as lw

IN_A_PROCESS = """
import ctypes
import lanewise as lw
values = (ctypes.c_float * 3)(1, 2, 3)
{statement}
"""


@pytest.mark.parametrize(
    "statement",
    [
        "assert lw.asarray(values).tolist() == [1, 2, 3]",
        "assert lw.add(lw.ones(3), values).tolist() == [2, 3, 4]",
        "assert (values + lw.ones(3)).tolist() == [2, 3, 4]",
        "x = lw.zeros(3); x[...] = values; assert x.tolist() == [1, 2, 3]",
        "assert lw.arange(4)[(ctypes.c_int * 2)(3, 1)].tolist() == [3, 1]",
        "assert lw.take(lw.arange(4), (ctypes.c_int * 2)(3, 1)).tolist() == [3, 1]",
        "assert lw.reshape(values, (3, 1)).shape == (3, 1)",
        "x = lw.ones(3); x += values; assert x.tolist() == [2, 3, 4]",
    ],
)
def test_ctypes_arrays_are_read(statement):
    """Each statement runs in a new process, which would crash if a check for strides == NULL were missing."""
    program = IN_A_PROCESS.format(statement=statement)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_ctypes_arrays_are_not_outputs():
    with pytest.raises(lw.ArgumentTypeError, match=r"^add: expected a tensor for out, got .*c_float_Array_3"):
        lw.add(1.0, lw.ones(3), out=(ctypes.c_float * 3)())


@pytest.mark.host
def test_ctypes_arrays_share_their_memory():
    values = ((ctypes.c_int * 3) * 2)()
    tensor = lw.asarray(values)
    values[1][2] = 7
    assert tensor.strides == (12, 4)
    assert tensor.tolist() == [[0, 0, 0], [0, 0, 7]]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (ctypes.c_float(2.5), 2.5),
        ((ctypes.c_float * 0)(), []),
        ((ctypes.c_bool * 2)(True, False), [True, False]),
        ((ctypes.c_longlong * 2)(1, 2**40), [1, 2**40]),
        ((ctypes.c_ubyte * 2)(1, 255), [1, 255]),
        (((ctypes.c_double * 2) * 1)(), [[0.0, 0.0]]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_ctypes_objects(values, expected):
    assert lw.asarray(values).tolist() == expected


class Pair(ctypes.Structure):
    _fields_ = (("first", ctypes.c_float), ("second", ctypes.c_float))


@pytest.mark.parametrize(
    "values",
    [
        (ctypes.c_float.__ctype_be__ * 2)(1, 2),
        ctypes.pointer(ctypes.c_float(1)),
        (ctypes.c_char * 2)(),
        (ctypes.c_wchar_p * 1)(),
        (ctypes.c_longdouble * 1)(),
        (Pair * 2)(),
        Pair(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_ctypes_objects_of_other_types_are_refused(values):
    for call in (lw.asarray, lw.exp, lambda x: lw.ones(2) + x):
        with pytest.raises(lw.DTypeError, match=r"^(asarray|exp|add): expected (an array of bool|numbers, got)"):
            call(values)


class Buffer(ctypes.Structure):
    """The C struct Py_buffer."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)),
        ("internal", ctypes.c_void_p),
    )


def memoryview_of(values: np.ndarray, text: bytes) -> memoryview:
    """Returns a memoryview of `values` with the format `text`. The caller must keep both arguments alive."""
    buffer = Buffer(buf=values.ctypes.data, len=values.nbytes, itemsize=values.itemsize, ndim=1, format=text)
    buffer.shape, buffer.strides = (ctypes.c_ssize_t * 1)(values.size), (ctypes.c_ssize_t * 1)(values.itemsize)
    function = ctypes.pythonapi.PyMemoryView_FromBuffer
    function.restype = ctypes.py_object
    view = function(ctypes.byref(buffer))
    assert isinstance(view, memoryview)
    return view


@pytest.mark.parametrize("prefix", ["", "<", "=", "@", ">", "!"])
@pytest.mark.parametrize("code", "?bhiqBHIQefd")
def test_formats_with_a_byte_order(prefix, code):
    values, text = np.array([0, 1, 1], code), (prefix + code).encode()
    view = memoryview_of(values, text)
    if prefix not in (">", "!") or code in "?bB":  # a single byte has no byte order
        assert lw.asarray(view).tolist() == [0, 1, 1]
        assert lw.where(lw.asarray(view), 1, 0).tolist() == [0, 1, 1]
    else:
        with pytest.raises(lw.DTypeError, match=rf"^asarray: .* got big-endian elements \(format '{text.decode()}'\)"):
            lw.asarray(view)


@pytest.mark.parametrize(
    "text", [b"", b"<", b"ff", b"2f", b"(3)f", b"T{f:x:}", b"&f", b"P", b"O", b"x", b"Zf", b"f" * 300]
)
def test_unusual_formats_are_refused(text):
    values = np.ones(3, np.float32)
    view = memoryview_of(values, text)
    for call in (lw.asarray, lw.exp, lambda x: lw.ones(3) + x):
        with pytest.raises(lw.DTypeError):
            call(view)


@pytest.mark.parametrize("dtype", [None, lw.uint16, lw.int32, lw.int64, lw.float16, lw.float32, lw.float64])
def test_uint8_arrays_are_read_as_they_are_or_in_a_given_dtype(dtype):
    values = np.arange(256, dtype=np.uint8).reshape(4, 8, 8)
    repeated = np.broadcast_to(values[0], (3, 8, 8))
    for view in (values, values[::-1], values[:, ::3, ::-2], values.T, values[:0], repeated):
        tensor = lw.asarray(view, dtype=dtype)
        assert tensor.dtype == (dtype or lw.uint8)
        np.testing.assert_array_equal(np.asarray(tensor), view)
        assert dtype is None or not tensor.readonly


def test_uint8_arrays_of_other_sources():
    assert lw.asarray(array.array("B", [0, 255])).tolist() == [0, 255]
    assert lw.asarray(memoryview(bytes([0, 255]))).tolist() == [0, 255]
    assert lw.asarray(np.uint8(255)).tolist() == 255
    assert lw.asarray(np.array(255, np.uint8), dtype=lw.float32).tolist() == 255
    assert lw.asarray(np.array([0, 7], np.uint8), dtype=lw.bool).tolist() == [False, True]


def test_uint8_arrays_are_operands():
    values = np.array([200, 100], np.uint8)
    assert lw.add(values, values).tolist() == [144, 200]
    assert (lw.asarray([0.5, 2.0]) * values).tolist() == [100, 200]
    assert lw.arange(201)[values].tolist() == [200, 100]
    x = lw.zeros(2)
    x[...] = values
    assert x.tolist() == [200, 100]


@pytest.mark.host
def test_uint8_arrays_are_shared():
    values = np.zeros(3, np.uint8)
    lw.asarray(values, copy=False)[1] = 255
    assert values.tolist() == [0, 255, 0]


@pytest.mark.parametrize("dtype", [">i2", ">u4", ">i8", ">f2", ">f4", ">f8"])
def test_big_endian_arrays_are_converted(dtype):
    values = np.arange(12, dtype=dtype).reshape(3, 4)
    for view in (values, values.T, values[::-1, ::2], values[1, 2:3]):
        tensor = lw.asarray(view)
        assert tensor.dtype == np.dtype(dtype).newbyteorder("=")
        np.testing.assert_array_equal(np.asarray(tensor), view)
        np.testing.assert_array_equal(np.asarray(lw.add(view, view)), view + view)
    with pytest.raises(lw.ArgumentError, match=r"^asarray: .*copy"):
        lw.asarray(values, copy=False)


@pytest.mark.parametrize("value", [b"abc", bytearray(b"abc")], ids=lambda value: type(value).__name__)
def test_bytes_are_not_numbers(value):
    words = rf"^asarray: expected numbers, got {type(value).__name__}; .*memoryview"
    with pytest.raises(lw.ArgumentTypeError, match=words):
        lw.asarray(value)


class Unreadable:
    def __array__(self, dtype: object = None, copy: object = None) -> object:
        return object()


def test_an_unreadable_array_method_is_an_error():
    with pytest.raises(lw.ArgumentTypeError, match=r"^asarray: .*Unreadable"):
        lw.asarray(Unreadable())
    with pytest.raises(lw.ArgumentTypeError, match=r"^exp: "):
        lw.exp(Unreadable())


def test_keyboard_interrupt_while_a_type_is_examined():
    class Interrupting(type):
        def __getattribute__(cls, name):
            if name == "soften_mask":
                raise KeyboardInterrupt
            return super().__getattribute__(name)

    class Array(array.array, metaclass=Interrupting):
        pass

    with pytest.raises(KeyboardInterrupt):
        lw.asarray(Array("f", [1.0]))
