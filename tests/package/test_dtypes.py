"""Tests dtypes: their names, comparison, limits and promotion."""

from __future__ import annotations

import copy
import functools
import itertools
import pickle

import ml_dtypes
import numpy as np
import pytest

import lanewise as lw
from lanewise.dtypes import ALL, as_dtype

NAMES = [dtype.name for dtype in ALL]


@pytest.mark.parametrize("name", NAMES)
def test_every_spelling_gives_the_same_object(name):
    dtype = getattr(lw, name)
    for spelling in (dtype, name, np.dtype(name), np.dtype(name).type):
        assert as_dtype(spelling) is dtype
    assert lw.zeros(2, dtype=np.dtype(name)).dtype is dtype


@pytest.mark.parametrize("code", ["f4", "<f4", "=f4", ">f4", "|u1", "i8", ">u2", "b1", "f2"])
def test_short_names_are_numpys(code):
    assert as_dtype(code) == np.dtype(code).newbyteorder("=")


def test_python_types_name_the_dtypes_of_their_lists():
    assert as_dtype(bool) is lw.bool
    assert as_dtype(int) is lw.int32
    assert as_dtype(float) is lw.float32


@pytest.mark.parametrize("name", NAMES)
def test_a_dtype_equals_its_name_and_numpys(name):
    dtype = getattr(lw, name)
    assert dtype == name and dtype == np.dtype(name) and np.dtype(name) == dtype
    assert dtype != "complex64" and dtype != np.dtype("complex64") and dtype is not None
    assert {dtype: 1}[name] == 1
    assert dtype.itemsize == np.dtype(name).itemsize
    assert dtype.kind == ("f" if dtype is lw.bfloat16 else np.dtype(name).kind)
    assert np.dtype(dtype) == np.zeros(1, dtype).dtype == np.dtype(name)
    assert str(dtype) == name and repr(dtype) == f"lanewise.{name}"


@pytest.mark.parametrize("dtype", ALL)
def test_copies_are_the_same_object(dtype):
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is dtype


def test_pickles_of_a_dtype_that_does_not_exist():
    pickled = pickle.dumps(lw.float32, 0).replace(b"float32", b"float31")
    with pytest.raises(lw.DTypeError, match=r"^unpickling: there is no dtype 'float31'"):
        pickle.loads(pickled)


def test_a_dtype_never_changes():
    with pytest.raises(AttributeError, match="never changes"):
        lw.float32.itemsize = 8


@pytest.mark.parametrize("wrong", ["float8", "f3", "i16", np.complex64, np.dtype("complex64"), complex, str])
def test_a_dtype_that_does_not_exist_lists_those_that_do(wrong):
    with pytest.raises(lw.DTypeError, match=f"give one of {', '.join(NAMES)}"):
        lw.zeros(3, dtype=wrong)


@pytest.mark.parametrize("wrong", [3, [1], object()])
def test_anything_but_a_dtype_is_a_type_error(wrong):
    with pytest.raises(lw.ArgumentTypeError, match="expected a dtype, got"):
        lw.zeros(3, dtype=wrong)


@pytest.mark.parametrize("name", [dtype.name for dtype in ALL if dtype.kind == "f"])
def test_finfo_is_numpys(name):
    ours, theirs = lw.finfo(name), ml_dtypes.finfo(name)
    for field in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(ours, field) == getattr(theirs, field), field
    assert ours.dtype is getattr(lw, name)
    assert lw.finfo(lw.zeros(1, dtype=name)) == ours


@pytest.mark.parametrize("name", [dtype.name for dtype in ALL if dtype.kind in "iu"])
def test_iinfo_is_numpys(name):
    ours, theirs = lw.iinfo(name), np.iinfo(name)
    assert (ours.bits, ours.max, ours.min) == (theirs.bits, theirs.max, theirs.min)


def test_limits_of_the_wrong_kind():
    with pytest.raises(lw.DTypeError, match="use iinfo"):
        lw.finfo(lw.int32)
    with pytest.raises(lw.DTypeError, match="use finfo"):
        lw.iinfo(lw.float16)
    with pytest.raises(lw.DTypeError, match=r"expected an integer dtype, got bool$"):
        lw.iinfo(lw.bool)


def test_isdtype():
    assert lw.isdtype(lw.bool, "bool")
    assert lw.isdtype(lw.int64, "integral") and lw.isdtype(lw.int64, "signed integer")
    assert not lw.isdtype(lw.int32, "unsigned integer") and not lw.isdtype(lw.float32, "complex floating")
    assert lw.isdtype(lw.float16, ("bool", "real floating"))
    assert lw.isdtype(lw.float32, lw.float32) and not lw.isdtype(lw.bool, "numeric")
    with pytest.raises(lw.ArgumentError, match=r"expected one of 'bool', .*, got 'floaty'"):
        lw.isdtype(lw.float32, "floaty")
    assert lw.isdtype("float32", lw.float32)
    with pytest.raises(lw.DTypeError, match="isdtype: there is no dtype 'floaty'"):
        lw.isdtype("floaty", "bool")


@pytest.mark.parametrize(("a", "b"), list(itertools.product(ALL, ALL)))
def test_result_type_is_what_the_extension_computes(a, b):
    call = functools.partial(lw.where, lw.asarray(True), lw.ones(1, dtype=a), lw.ones(1, dtype=b))
    if lw.uint64 in (a, b) and "i" in (a.kind, b.kind):
        assert not lw.can_cast(a, b)
        for refused in (call, functools.partial(lw.result_type, a, b)):
            with pytest.raises(lw.DTypeError, match="promote to one"):
                refused()
        return
    assert lw.result_type(a, b) is call().dtype
    assert lw.can_cast(a, b) == (lw.result_type(a, b) is b)


@pytest.mark.parametrize(("dtype", "scalar"), list(itertools.product(ALL, [True, 2, 2.5])))
def test_scalars_are_weak_in_result_type_as_in_the_extension(dtype, scalar):
    both = lw.where(lw.asarray(True), lw.ones(1, dtype=dtype), scalar)
    assert lw.result_type(dtype, scalar) is both.dtype
    assert lw.result_type(lw.ones(1, dtype=dtype), scalar) is both.dtype


@pytest.mark.parametrize("number", [np.bool_(1), np.int64(2), np.float32(2), np.float64(2), np.array(2), np.array(2.0)])
@pytest.mark.parametrize("dtype", ALL)
def test_numbers_of_numpy_are_weak_in_result_type_as_in_the_extension(dtype, number):
    both = lw.where(lw.asarray(True), lw.ones(1, dtype=dtype), number)
    assert lw.result_type(dtype, number) is both.dtype
    assert lw.result_type(number, number) is lw.where(lw.asarray(True), number, number).dtype


def test_result_type_of_several_and_of_none():
    assert lw.result_type("bool", np.zeros(2, np.int32), 1, lw.float16) is lw.float16
    assert lw.result_type(True, 3) is lw.int32
    with pytest.raises(lw.ArgumentTypeError, match="got none"):
        lw.result_type()
