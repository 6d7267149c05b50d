"""Tests every dtype through every way in and out: buffers, DLPack, the array interface, NumPy's arrays in any layout
and byte order, lists, pickles."""

from __future__ import annotations

import itertools
import pickle

import ml_dtypes
import numpy as np
import pytest

import lanewise as lw
from lanewise.dtypes import ALL

each_dtype = pytest.mark.parametrize("dtype", ALL, ids=str)


def numbers(dtype: lw.DType) -> np.ndarray:
    """Returns 24 numbers of a dtype, extremes among them."""
    found = np.arange(24).astype(dtype)
    if dtype.kind in "iu":
        found[:2] = np.iinfo(dtype).min, np.iinfo(dtype).max
    elif dtype.kind == "f":
        found[:4] = np.nan, np.inf, -0.0, ml_dtypes.finfo(dtype).smallest_subnormal
    return found.reshape(4, 6)


def unaligned(array: np.ndarray) -> np.ndarray:
    memory = np.zeros(array.nbytes + 1, np.uint8)
    memory[1:] = np.frombuffer(array.tobytes(), np.uint8)
    return memory[1:].view(array.dtype).reshape(array.shape)


def read_only(array: np.ndarray) -> np.ndarray:
    copied = array.copy()
    copied.flags.writeable = False
    return copied


LAYOUTS = {
    "contiguous": lambda array: array,
    "transposed": lambda array: array.T,
    "strided": lambda array: array[::2, 1::3],
    "reversed": lambda array: array[::-1, ::-1],
    "broadcast": lambda array: np.broadcast_to(array, (2, *array.shape)),
    "unaligned": unaligned,
    "read-only": read_only,
    "byte-swapped": lambda array: array.astype(array.dtype.newbyteorder(">")),
}


def is_same(tensor: lw.Tensor, array: np.ndarray, dtype: lw.DType) -> bool:
    return (
        tensor.dtype is dtype
        and tensor.shape == array.shape
        and tensor.tobytes() == np.ascontiguousarray(array).astype(np.dtype(dtype)).tobytes()
    )


@pytest.mark.host  # memory is shared
@each_dtype
@pytest.mark.parametrize("layout", LAYOUTS)
def test_arrays_of_any_layout(dtype, layout):
    array = LAYOUTS[layout](numbers(dtype))
    tensor = lw.asarray(array)
    assert is_same(tensor, array, dtype)
    shares = dtype is not lw.bfloat16 and array.dtype.isnative
    assert np.shares_memory(tensor.numpy(), array) == shares
    if not shares:
        with pytest.raises(lw.ArgumentError, match="copy=False"):
            lw.asarray(array, copy=False)


@each_dtype
def test_operations_read_arrays_of_any_layout(dtype):
    for layout in LAYOUTS.values():
        array = layout(numbers(dtype))
        assert is_same(lw.where(lw.asarray(True), array, lw.asarray(0, dtype=dtype)), array, dtype)


@pytest.mark.host
@each_dtype
def test_numpy_reads_tensors(dtype):
    array = numbers(dtype)
    tensor = lw.asarray(array)
    for view, expected in ((tensor, array), (tensor.T, array.T), (tensor[::-1, ::2], array[::-1, ::2])):
        for read in (view.numpy(), np.asarray(view), np.array(view)):
            assert read.dtype == np.dtype(dtype) and read.tobytes() == expected.tobytes()
        assert np.shares_memory(view.numpy(), tensor.numpy())
    assert np.zeros(3, dtype).dtype == dtype
    if dtype.format:
        assert is_same(lw.asarray(memoryview(tensor)), array, dtype)
        assert tensor.__array_interface__["typestr"] == np.dtype(dtype).str
    else:
        with pytest.raises(BufferError, match="astype"):
            memoryview(tensor)


@pytest.mark.host
@each_dtype
def test_dlpack(dtype):
    array = numbers(dtype)
    tensor = lw.asarray(array)
    assert is_same(lw.from_dlpack(tensor[:, ::2]), array[:, ::2], dtype)
    if dtype is not lw.bfloat16:  # which NumPy does not exchange
        assert np.from_dlpack(tensor).tobytes() == array.tobytes()
        assert is_same(lw.from_dlpack(array), array, dtype)


@each_dtype
def test_pickles_and_lists(dtype):
    array = numbers(dtype)
    tensor = lw.asarray(array)
    assert is_same(pickle.loads(pickle.dumps(tensor.T)), array.T, dtype)
    assert is_same(lw.asarray(tensor.tolist(), dtype=dtype), array, dtype)
    assert repr(tensor.tolist()) == repr(array.astype("f8" if dtype is lw.bfloat16 else array.dtype).tolist())
    assert dtype in (lw.int32, lw.float32, lw.bool) or f"dtype={dtype}" in repr(tensor)


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype.kind in "iu"], ids=str)
def test_an_integer_that_a_dtype_lacks(dtype):
    limits, one = lw.iinfo(dtype), lw.ones(2, dtype=dtype)
    calls = [
        lambda number: lw.asarray([number], dtype=dtype),
        lambda number: lw.full(2, number, dtype=dtype),
        one.__add__,
    ]
    for wrong, call in itertools.product((limits.max + 1, limits.min - 1), calls):
        with pytest.raises(lw.RangeError, match=f"{dtype}"):
            call(wrong)
        assert lw.all(one != wrong) and lw.all((one < wrong) == (wrong > 0))
    assert lw.asarray([limits.min, limits.max], dtype=dtype).tolist() == [limits.min, limits.max]


@pytest.mark.parametrize("dtype", ["c8", "c16", "g", "U3", "S2", "O", "M8[s]", [("x", "f4")]])
def test_elements_that_are_not_real_numbers(dtype):
    with pytest.raises(lw.LanewiseError, match=r"^asarray: expected "):
        lw.asarray(np.zeros(3, dtype))


def test_the_default_dtypes():
    try:
        lw.set_default_dtype(lw.float64)
        lw.set_default_dtype("int64")
        made = [lw.asarray([0.5]), lw.zeros(2), lw.rand(2), lw.asarray([1, 2]) / 3, lw.mean(lw.ones(2, dtype="int8"))]
        made += [lw.linspace(0, 1, 3), lw.asarray([1]).astype(float), lw.ones(2, dtype="uint8") * 0.5, lw.full(2, 0.5)]
        assert {each.dtype for each in made} == {lw.float64}
        whole = [lw.asarray([1]), lw.arange(3), lw.sum(lw.ones(2, dtype="int32")), lw.full(2, 7), lw.ones(2, dtype=int)]
        assert {each.dtype for each in whole} == {lw.int64}
        assert lw.prod(lw.ones(2, dtype="uint8")).dtype is lw.uint64 and lw.sum(lw.asarray([True])).dtype is lw.int64
        assert (lw.ones(2, dtype="float32") * 0.5).dtype is lw.float32
        info = lw.__array_namespace_info__().default_dtypes()
        assert info == {"real floating": lw.float64, "integral": lw.int64, "indexing": lw.int32}
    finally:
        lw.set_default_dtype("float32")
        lw.set_default_dtype("int32")
    assert lw.zeros(2).dtype is lw.float32 and lw.arange(2).dtype is lw.int32
    for wrong in ("float16", "uint8", "bool"):
        with pytest.raises(lw.DTypeError, match="expected int32, int64, float32 or float64"):
            lw.set_default_dtype(wrong)


def test_lists_are_assigned_in_the_dtype_of_the_tensor():
    for key in (slice(None), [0, 1]):
        x = lw.zeros(2, dtype="float64")
        x[key] = [0.1, 1e300]
        assert x.tolist() == [0.1, 1e300]
        large, small = lw.zeros(2, dtype="uint64"), lw.zeros(2, dtype="uint8")
        large[key] = [2**63, 1]
        assert large.tolist() == [2**63, 1]
        for wrong in ([300, 1], np.int64(300)):
            with pytest.raises(lw.RangeError, match=r"^setitem: .*uint8"):
                small[key if isinstance(wrong, list) else 0] = wrong
        small[key] = [1.9, 2.9]
        assert small.tolist() == [1, 2]


def test_sums_are_computed_in_the_dtype_that_is_asked_for():
    x = lw.asarray([200, 100], dtype="uint8")
    assert [lw.sum(x, dtype=dtype).item() for dtype in ("uint8", "int8", "float16", "uint64")] == [44, 44, 300.0, 300]
    assert lw.cumulative_sum(x, dtype=lw.int64).dtype is lw.int64 and lw.mean(x, dtype=lw.float64).item() == 150.0
    for call in (lambda: lw.sum(x, dtype=bool), lambda: lw.mean(x, dtype=lw.int32)):
        with pytest.raises(lw.DTypeError, match="expected a dtype in which"):
            call()


def test_products_are_summed_in_the_dtype_that_is_asked_for():
    x, y = lw.asarray([[100, -100]], dtype="int8"), lw.asarray([200, 100], dtype="uint8")
    for product in (lw.matmul, lw.vecdot):
        results = [product(x, y, dtype=dtype) for dtype in ("int8", "uint8", "int32", "float16", "int64")]
        assert [each.item() for each in results] == [16, 16, 10_000, 10_000.0, 10_000]
        assert [each.dtype.name for each in results] == ["int8", "uint8", "int32", "float16", "int64"]
        with pytest.raises(lw.DTypeError, match=r"expected a dtype in which .*, got bool; use int32"):
            product(x, y, dtype=bool)
        wide = lw.asarray([2**63, 3], dtype="uint64")  # promotes to nothing with int8
        assert product(wide, x[0], dtype=lw.int32).item() == -300
    assert x.matmul(y, dtype=lw.int32).tolist() == [10_000] and x.matmul(y, dtype=None).dtype is lw.int16
    assert (x @ x.T).dtype is lw.int8 and lw.matmul([[1, 2]], [3, 4], dtype="float64").dtype is lw.float64
    out = lw.zeros(1, dtype="int32")
    assert lw.matmul(x, y, dtype="int32", out=out) is out and out.item() == 10_000
    with pytest.raises(lw.DTypeError, match="matmul: expected a tensor of dtype int64 for out, got int32"):
        lw.matmul(x, y, dtype="int64", out=out)


def test_a_step_may_be_outside_the_dtype():
    assert lw.arange(5, 0, -2, dtype="uint8").tolist() == [5, 3, 1]
    assert lw.arange(-128, 127, 200, dtype="int8").tolist() == [-128, 72]
