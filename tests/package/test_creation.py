"""Tests creation functions: results, dtypes, and the errors about wrong arguments."""

from __future__ import annotations

import math
import multiprocessing
import os
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

import lanewise as lw


@pytest.mark.parametrize("function", [lw.zeros, lw.ones, lw.empty])
@pytest.mark.parametrize("shape", [3, (2, 3), [2, 0], ()])
def test_constants(function, shape):
    made = function(shape)
    assert made.shape == np.zeros(shape).shape and made.dtype is lw.float32
    assert made.tolist() == (np.ones(shape) if function is lw.ones else np.zeros(shape)).tolist()
    assert function(shape, lw.int64).dtype is lw.int64
    assert function(shape, dtype="bool").dtype is lw.bool


def test_full_has_the_dtype_of_its_value():
    assert lw.full(2, True).dtype is lw.bool
    assert lw.full(2, 7).dtype is lw.int32
    assert lw.full(2, 2**40).tolist() == [2**40, 2**40]
    assert lw.full(2, 2.5).dtype is lw.float32
    assert lw.full(2, np.float64(2.5), dtype=float).tolist() == [2.5, 2.5]
    assert lw.full((1, 2), 0.1, dtype=lw.float64).tolist() == [[0.1, 0.1]]
    assert np.isnan(lw.full(1, float("nan")).tolist()[0])


@pytest.mark.parametrize("number", [True, False, 0, 1, -2, 2**70, 0.0, -0.0, 1.0, 0.5, 1e300, math.nan, math.inf])
@pytest.mark.parametrize("dtype", [lw.bool, lw.float16, lw.float32, lw.float64])
def test_numbers_become_elements_as_in_numpy(number, dtype):
    with np.errstate(over="ignore"):
        expected = np.array(float(number) if number == 2**70 else number).astype(np.dtype(str(dtype)))
    target = lw.ones(1, dtype=dtype)
    target[0] = number
    for x in (lw.full(1, number, dtype=dtype), target):
        assert np.asarray(x).tobytes() == expected.tobytes()


def test_full_refuses_values_that_do_not_fit():
    with pytest.raises(lw.DTypeError, match=r"full: .*int32, got 2\.5"):
        lw.full(2, 2.5, dtype=lw.int32)
    with pytest.raises(OverflowError, match="fits int32, got 2147483648"):
        lw.full(2, 2**31, dtype=lw.int32)
    with pytest.raises(OverflowError, match="fits int64"):
        lw.full(2, 2**64)
    for value in ("three", "3", b"3", bytearray(b"3"), 1j, None, [1, 2], np.ones(2)):
        with pytest.raises(lw.ArgumentTypeError, match=r"full: expected a number, got "):
            lw.full(2, value)


def test_full_accepts_numbers_of_numpy_and_tensors():
    assert lw.full(2, np.float32(2.5)).tolist() == [2.5, 2.5]
    assert lw.full(2, lw.asarray(3)).dtype is lw.int32
    assert lw.full(1, np.bool_(True)).tolist() == [True]
    assert lw.full(1, np.int64(5), dtype=lw.float32).tolist() == [5.0]


@pytest.mark.parametrize("shape", [-1, (2, -3)])
def test_negative_extents(shape):
    with pytest.raises(lw.ShapeError, match="expected extents of at least 0"):
        lw.zeros(shape)


def test_like_functions_copy_shape_dtype_and_backend():
    x = np.zeros((2, 3), np.int32)
    assert lw.zeros_like(x).dtype is lw.int32 and lw.zeros_like(x).shape == (2, 3)
    assert lw.ones_like([1.5, 2]).tolist() == [1.0, 1.0]
    assert lw.full_like(x, 4, dtype=lw.float32).tolist() == [[4.0] * 3] * 2
    assert lw.empty_like(lw.ones(3, dtype=lw.float16)).dtype is lw.float16
    placed = lw.ones(2).to("scalar")
    assert lw.zeros_like(placed).backend is lw.Backend.SCALAR and lw.zeros_like(placed).is_committed


def test_arange_in_other_dtypes():
    assert lw.arange(3, dtype=lw.float32).dtype is lw.float32
    assert lw.arange(0, 1, 0.1, dtype=lw.float64).tolist() == np.arange(0, 1, 0.1).tolist()
    assert lw.arange(2**31 - 1, 2**31 + 1).tolist() == [2**31 - 1, 2**31]
    assert lw.arange(np.int64(3)).tolist() == [0, 1, 2]
    assert lw.arange(lw.asarray(3)).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((0, 1, 0), lw.ArgumentError, "step other than 0"),
        ((float("nan"),), lw.ArgumentError, "finite"),
        ((0, float("inf")), lw.ArgumentError, "finite"),
        (("a",), lw.ArgumentTypeError, "expected a number"),
        ((0, 1, 0.5, lw.int32), lw.DTypeError, "got int32"),
        ((3, None, 1, lw.bool), lw.DTypeError, "got bool"),
        ((2**31, 2**31 + 5, 1, lw.int32), OverflowError, "fits int32, got 2147483648"),
        ((2**63, 2**63 + 5), OverflowError, "fits int64"),
        ((10**16,), lw.OutOfMemoryError, "cannot allocate"),
    ],
)
def test_arange_with_wrong_arguments(arguments, error, words):
    with pytest.raises(error, match=f"^arange: .*{words}"):
        lw.arange(*arguments)


def _draw(pipe) -> None:
    pipe.send(lw.rand(10).tolist())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.host
def test_rand_differs_in_a_forked_process():
    here = lw.rand(10).tolist()  # creates the random stream before the fork
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=_draw, args=(theirs,))
    child.start()
    there = ours.recv()
    child.join()
    assert there != here and there != lw.rand(10).tolist()


def only_dlpack(array: np.ndarray, **changed) -> SimpleNamespace:
    """Returns an object with DLPack and no other interface, such as arrays of jax, and with some methods changed."""
    methods = {"__dlpack__": array.__dlpack__, "__dlpack_device__": array.__dlpack_device__}
    return SimpleNamespace(**methods | changed)


def old_dlpack(array: np.ndarray) -> SimpleNamespace:
    """The same with DLPack before version 1, whose __dlpack__ takes only `stream`."""
    return only_dlpack(array, __dlpack__=lambda stream=None: array.__dlpack__(stream=stream))


class OnlyArray:
    """An object with __array__ and no other interface."""

    def __array__(self, dtype=None, copy=None):
        return np.asarray([1.0, 2.0], np.float32)


@pytest.mark.parametrize("kind", [only_dlpack, old_dlpack])
def test_dlpack_shares_memory(kind):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    for made in (lw.from_dlpack(kind(array)), lw.asarray(kind(array))):
        array[0, 0] += 1
        assert made.tolist() == array.tolist()
    copied = lw.from_dlpack(kind(array), copy=True)
    array[0, 0] += 1
    assert copied.tolist()[0][0] == array[0, 0] - 1


def test_dlpack_of_another_device():
    with pytest.raises(lw.BackendError, match="move it to the CPU"):
        lw.from_dlpack(only_dlpack(np.ones(2, np.float32), __dlpack_device__=lambda: (2, 0)))
    with pytest.raises(lw.ArgumentTypeError, match="expected an object with __dlpack__"):
        lw.from_dlpack([1, 2])


def test_asarray_reads_anything_with_numbers():
    assert lw.asarray(OnlyArray()).tolist() == [1.0, 2.0]
    assert lw.asarray(range(4)).tolist() == [0, 1, 2, 3]
    assert lw.asarray(deque([1.5, 2.5])).tolist() == [1.5, 2.5]
    assert lw.asarray([np.float32(1.5), np.int64(2)]).tolist() == [1.5, 2.0]
    assert lw.asarray([np.arange(2), np.arange(2, 4)]).tolist() == [[0, 1], [2, 3]]
    assert lw.asarray([lw.ones(2), [3, 4]]).tolist() == [[1.0, 1.0], [3.0, 4.0]]
    assert lw.asarray(np.float32(2.5)).tolist() == 2.5
    assert lw.asarray([1, 2], lw.float64).dtype is lw.float64


@pytest.mark.parametrize("wrong", ["12", object(), None, {1: 2}, {1, 2}, 1j])
def test_asarray_refuses_anything_else(wrong):
    with pytest.raises(TypeError, match=r"^asarray: "):
        lw.asarray(wrong)


@pytest.mark.parametrize(
    ("number", "dtype", "error"),
    [
        (2**40, "int32", lw.RangeError),
        (2**70, "int64", lw.RangeError),
        (2.5, "int32", lw.DTypeError),
        (2.0, "int64", lw.DTypeError),
        (lw.nan, "int32", lw.DTypeError),
    ],
)
def test_numbers_that_do_not_fit_a_dtype(number, dtype, error):
    """asarray refuses the number, alone and in a list; full refuses it as a fill value."""
    for call in (lambda: lw.asarray(number, dtype), lambda: lw.asarray([number], dtype)):
        with pytest.raises(error, match=rf"^asarray: expected an? (number within|int for dtype) {dtype}, .*got "):
            call()
    with pytest.raises(error, match=r"^full: "):
        lw.full(1, number, dtype)


def test_arange_is_int32_if_all_values_fit():
    assert lw.arange(-(2**31), -(2**31) + 2).dtype is lw.int32
    assert lw.arange(2**31 - 1, 2**31).dtype is lw.int32
    assert lw.arange(-(2**31) - 1, -(2**31)).dtype is lw.int64
    assert lw.arange(2**31, 2**31 + 2).tolist() == [2**31, 2**31 + 1]


def test_numbers_in_a_dtype():
    assert lw.asarray(2**40, "float32").tolist() == 2.0**40
    assert lw.asarray(2**40).dtype is lw.int64
    assert lw.asarray(7, "float16").dtype is lw.float16
    assert lw.asarray(2.5, bool).tolist() is True
    assert lw.asarray(2**40, "int64").shape == ()


@pytest.mark.host
def test_asarray_copies_when_asked():
    array = np.ones(3, np.float32)
    shared, copied = lw.asarray(array), lw.asarray(array, copy=True)
    array[0] = 5
    assert shared.tolist()[0] == 5 and copied.tolist()[0] == 1
    tensor = lw.ones(2)
    assert lw.asarray(tensor) is tensor or lw.asarray(tensor)._shares_storage(tensor)
    assert not lw.asarray(tensor, copy=True)._shares_storage(tensor)
    with pytest.raises(lw.ArgumentError, match="copy=False"):
        lw.asarray([1, 2], copy=False)
    with pytest.raises(lw.ArgumentError, match="copy=False"):
        lw.asarray(array, dtype=lw.int32, copy=False)


def test_devices():
    for made in (lw.zeros(2, device="cpu"), lw.eye(2, device="cpu"), lw.asarray([1.0], device="cpu")):
        assert made.device == "cpu" and made.is_committed
    with lw.use_backend("scalar"):
        assert lw.zeros(2, device="cpu").backend is lw.Backend.SCALAR
    assert lw.zeros(2, device="scalar").backend is lw.Backend.SCALAR
    assert lw.arange(3, device="scalar").is_committed and not lw.arange(3).is_committed
    with pytest.raises(lw.BackendError, match=r"^ones: expected a backend, got 'tpu'"):
        lw.ones(2, device="tpu")


def test_arange_in_a_dtype_that_is_given():
    for dtype in ("int64", "float64", "float32"):
        made = lw.arange(2**31, 2**31 + 2, dtype=dtype)
        np.testing.assert_array_equal(made, np.arange(2**31, 2**31 + 2, dtype=dtype), strict=True)
    with pytest.raises(lw.RangeError, match="fits int32, got 2147483648"):
        lw.arange(2**31 - 1, 2**31 + 1, dtype=lw.int32)


def test_seeds_and_offsets_have_64_bits():
    for seed in (-(2**63), 2**63 - 1):
        assert lw.rand(3, seed=seed).tolist() != lw.rand(3, seed=0).tolist()
        with pytest.raises(lw.ArgumentError, match=r"^rand: expected seed from -2\^63 to 2\^63 - 1, got "):
            lw.rand(3, seed=seed + (1 if seed > 0 else -1))
    assert lw.rand(3, seed=0, offset=2**62).shape == (3,)
    for offset in (-1, 2**63):
        with pytest.raises(lw.ArgumentError, match=r"^rand: expected offset from 0 to 2\^63 - 1, got "):
            lw.rand(3, seed=0, offset=offset)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: lw.eye(-1), lw.ArgumentError),
        (lambda: lw.eye(2, -1), lw.ArgumentError),
        (lambda: lw.linspace(-1e308, 1e308, 2), lw.ArgumentError),
        (lambda: lw.linspace(0, 1, 2, dtype=int), lw.DTypeError),
    ],
)
def test_eye_and_linspace_with_wrong_arguments(call, error):
    with pytest.raises(error, match=r"^(eye|linspace): "):
        call()


@pytest.mark.parametrize("shape", [(2**40, 2**40), 10**19, 2**63 - 1, 2**62])
def test_a_refused_shape_does_not_advance_the_stream(shape):
    with pytest.raises(lw.LanewiseError):
        lw.rand(shape)
    assert lw.rand(3).shape == (3,)
    assert lw.randn(3).shape == (3,)
