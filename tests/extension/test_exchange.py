"""Tests conversion from and to NumPy, the buffer protocol, DLPack and Python numbers."""

from __future__ import annotations

import array
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import lanewise as lw
from lanewise.dtypes import ALL

DLPACK = ("__dlpack__", "__dlpack_device__")
DTYPES = [dtype.name for dtype in ALL if dtype.format]  # NumPy has them without ml_dtypes, too


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (3, 4), (2, 0, 3), (2, 3, 4)])
def test_numpy_both_ways(dtype, shape):
    a = np.arange(int(np.prod(shape))).astype(dtype).reshape(shape)
    t = lw.asarray(a)
    assert t.shape == shape and t.dtype == dtype
    assert t.tolist() == a.tolist()
    back = np.asarray(t)
    assert back.dtype == a.dtype and back.shape == shape
    np.testing.assert_array_equal(back, a)


@pytest.mark.host
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 4), (2, 3, 4)])
def test_numpy_both_ways_without_copies(dtype, shape):
    a = np.arange(int(np.prod(shape))).astype(dtype).reshape(shape)
    assert np.asarray(lw.asarray(a)).ctypes.data == a.ctypes.data


@pytest.mark.host
def test_writes_are_seen_on_both_sides():
    a = np.zeros((2, 3), np.float32)
    t = lw.asarray(a)
    t[0, 1] = 5
    a[1, 2] = 7
    assert t.tolist() == [[0, 5, 0], [0, 0, 7]]


@pytest.mark.host
def test_views_keep_their_strides():
    a = np.arange(24, dtype=np.int32).reshape(4, 6)
    for view in (a[::-1], a[:, ::-2], a.T, a[1:3, 2:5].T[::-1]):
        assert lw.asarray(view).strides == view.strides


@pytest.mark.host
def test_strides_that_are_not_multiples_of_the_item_size():
    record = np.zeros(5, dtype=[("flag", "?"), ("value", "<f4")])
    record["value"] = [1, 2, 3, 4, 5]
    t = lw.asarray(record["value"])
    assert t.strides == (5,)
    assert (t * 2).tolist() == [2, 4, 6, 8, 10]
    np.testing.assert_array_equal(np.from_dlpack(t), record["value"])


def test_numpy_functions_accept_tensors():
    t = lw.asarray([0.0, 1.0])
    assert isinstance(np.exp(t), np.ndarray)
    np.testing.assert_allclose(np.exp(t), np.exp([0.0, 1.0]), rtol=1e-6)


def test_numpy_computes_on_arrays_and_into_them():
    t = lw.asarray([1.0, 2.0, 4.0])
    a = np.ones(3, np.float32)
    same = a
    a += t
    a[:1] *= t[:1]
    assert a is same and a.tolist() == [2, 3, 5]
    assert np.mean(t) == np.float32(7 / 3) and np.sum(t) == 7 and np.max(t) == 4
    assert isinstance(np.concatenate([t, a]), np.ndarray)
    assert isinstance(np.multiply.outer(t, t), np.ndarray)
    assert isinstance(np.add(t, a), np.ndarray)
    assert isinstance(a + t, lw.Tensor) and isinstance(a < t, lw.Tensor)


def test_numpy_functions_return_the_tensor_that_is_out():
    t, quotient, remainder = lw.asarray([1.0, 2.0, 4.0]), lw.zeros(3), lw.zeros(3)
    assert np.add(t, 1, out=t) is t and t.tolist() == [2, 3, 5]
    assert np.divmod(t, 2, out=(quotient, remainder)) == (quotient, remainder)
    assert quotient.tolist() == [1, 1, 2] and remainder.tolist() == [0, 1, 1]
    assert np.divmod(t, 2, out=(quotient, None))[0] is quotient
    assert np.add.accumulate(t, out=t) is t and t.tolist() == [2, 5, 10]
    assert np.clip(t, 3, 9, out=t) is t and t.tolist() == [3, 5, 9]
    total, a = lw.zeros(()), np.ones(3, np.float32)
    assert np.sum(t, out=total) is total and float(total) == 17
    assert np.add(t, 1, out=a) is a


def test_one_element():
    t = lw.asarray([[2.5]])
    assert t.item() == 2.5 and f"{t[0, 0]:.3f}" == "2.500" and f"{t}" == str(t)
    with pytest.raises(lw.ArgumentError, match=r"expected a tensor of one element, got shape \(3,\)"):
        lw.ones((3,)).item()


@pytest.mark.host
def test_borrowed_memory_is_released():
    a = array.array("f", [1, 2, 3])
    t = lw.asarray(a)
    with pytest.raises(BufferError):
        a.append(4)
    del t
    a.append(4)


def test_buffer_flags():
    t = lw.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert memoryview(t).format == "f" and memoryview(t).shape == (2, 3)
    assert bytes(t) == np.asarray(t).tobytes()
    frozen = np.ones(2, np.float32)
    frozen.flags.writeable = False
    assert memoryview(lw.asarray(frozen)).readonly


@pytest.mark.host
def test_strided_memory_is_not_exported_as_bytes():
    t = lw.ones((2, 3))
    with pytest.raises(BufferError, match="contiguous"):
        array.array("f").frombytes(t.T)


@pytest.mark.parametrize("function", [lw.asarray, lw.exp, lambda v: lw.ones(2) + v, lw.sum])
def test_errors_inside_the_buffer_protocol_come_through(function):
    view = memoryview(b"abcd").cast("f")
    view.release()
    with pytest.raises(ValueError, match="released"):
        function(view)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="__buffer__ in Python came with 3.12")
def test_errors_in_a_python_buffer_come_through():
    class Stubborn:
        def __buffer__(self, flags: int) -> memoryview:
            raise RuntimeError("no buffer today")

    with pytest.raises(RuntimeError, match="today"):
        lw.asarray(Stubborn())


@pytest.mark.parametrize("dtype", ["complex64", "longdouble", "datetime64[s]"])
def test_foreign_dtypes_are_refused(dtype):
    with pytest.raises((lw.DTypeError, ValueError), match=r"^asarray: expected|^asarray: .*memory"):
        lw.asarray(np.zeros(3, dtype))


@pytest.mark.parametrize(
    ("elements", "message"),
    [
        (["a"], "expected numbers, got strings$"),
        ([b"a"], "expected numbers, got bytes$"),
        ([object()], "expected numbers, got Python objects; "),
        (np.zeros(1, [("a", "i4"), ("b", "f4")]), "expected numbers, got records; give one field"),
        (np.zeros(1, "g"), r"expected .*, got longdouble \(.*\); convert it first, as x\.astype\('float64'\)"),
    ],
)
def test_elements_that_are_not_numbers_are_named(elements, message):
    with pytest.raises(lw.DTypeError, match=f"^asarray: {message}"):
        lw.asarray(np.array(elements))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_dlpack_names_a_dtype_that_it_refuses(dtype):
    with pytest.raises(lw.DTypeError, match=f"^from_dlpack: expected bool, int8, .*, got {dtype}; convert it first"):
        lw.from_dlpack(np.zeros(3, dtype))


def test_asarray_reads_uint8_without_a_buffer():
    """From an object that, like torch.Tensor, has DLPack and __array__ but no buffer."""

    def exporter(array):
        return SimpleNamespace(**{name: getattr(array, name) for name in DLPACK}, __array__=array.__array__)

    assert lw.asarray(exporter(np.array([1, 255], np.uint8))).tolist() == [1, 255]
    with pytest.raises(lw.DTypeError, match="expected real numbers"):
        lw.asarray(exporter(np.ones(2, np.complex64)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_both_ways(dtype):
    a = np.arange(12).astype(dtype).reshape(3, 4)[:, ::2]
    t = lw.from_dlpack(a)
    np.testing.assert_array_equal(np.asarray(t), a)
    back = np.from_dlpack(t)
    np.testing.assert_array_equal(back, a)
    if a.size:
        assert back.ctypes.data == a.ctypes.data
    assert t.__dlpack_device__() == (1, 0)


@pytest.mark.host
def test_dlpack_refuses_unsupported_exports():
    t = lw.ones((3,))
    with pytest.raises(BufferError):
        t.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError):
        t.__dlpack__(stream=1)
    frozen = lw.broadcast_to(t, (4, 3))
    with pytest.raises(BufferError, match="read-only"):
        frozen.__dlpack__()
    assert frozen.__dlpack__(max_version=(1, 0)) is not None


def test_lists():
    assert lw.asarray([[1, 2], [3, 4]]).dtype == lw.int32
    assert lw.asarray([1, 2.5]).dtype == lw.float32
    assert lw.asarray([True, False]).dtype == lw.bool
    assert lw.asarray([1, 2**40]).dtype == lw.int64
    assert lw.asarray([]).shape == (0,) and lw.asarray([]).dtype == lw.float32
    assert lw.asarray([[], []]).shape == (2, 0)
    assert lw.asarray([1.9, -1.9, 1e30], dtype=lw.float64).tolist() == [1.9, -1.9, 1e30]
    assert lw.asarray([lw.asarray(1.5), 2]).tolist() == [1.5, 2.0]


@pytest.mark.parametrize("ragged", [[[1, 2], [3]], [1, [2]], [[1], 2], [[[1]], [[1, 2]]]])
def test_ragged_lists_are_refused(ragged):
    with pytest.raises(lw.ShapeError, match="ragged"):
        lw.asarray(ragged)


def test_lists_of_other_objects_are_refused():
    with pytest.raises(lw.ArgumentTypeError, match="expected numbers in the list"):
        lw.asarray(["a"])
    with pytest.raises(OverflowError):
        lw.asarray([2**70])


def test_a_list_that_contains_itself_is_refused():
    loop: list = []
    loop.append(loop)
    with pytest.raises(lw.ShapeError):
        lw.asarray(loop)


def test_float16_values():
    halves = np.array([0.0, -0.0, 1.0, -2.5, 65504.0, 6e-8, 6.1e-5, np.inf, -np.inf, np.nan], np.float16)
    np.testing.assert_array_equal(lw.asarray(halves).tolist(), halves.tolist())
    values = np.random.default_rng(3).uniform(-7e4, 7e4, 2000)
    small = np.random.default_rng(4).uniform(-1e-4, 1e-4, 2000)
    for source in (values, small):
        with np.errstate(over="ignore"):
            expected = source.astype(np.float16)
        result = np.asarray(lw.asarray(source.tolist(), dtype=lw.float16))
        np.testing.assert_array_equal(result, expected)
