"""Tests methods and attributes of Tensor for copying, pickling, NumPy (such as __array__), the array API (such as
__array_namespace__), and the choice of a backend."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import lanewise as lw

DTYPES = ["bool", "int32", "int64", "float16", "float32", "float64"]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", DTYPES)
def test_pickles(dtype, protocol):
    array = np.arange(12).astype(dtype).reshape(3, 4)
    for view in (array, array.T, array[::-1, ::2], array[:0], array[1, 2]):
        tensor = lw.asarray(view)
        back = pickle.loads(pickle.dumps(tensor, protocol))
        assert back.dtype is tensor.dtype and back.shape == view.shape
        np.testing.assert_array_equal(np.asarray(back), view)
        assert not back.readonly and not back.is_committed


@pytest.mark.parametrize("function", [copy.copy, copy.deepcopy])
def test_copies_share_no_memory(function):
    tensor = lw.ones((2, 2))
    other = function({"weights": tensor})["weights"] if function is copy.deepcopy else function(tensor)
    tensor[0, 0] = 5
    assert other.tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.host
def test_numpy_shares_memory(dtype):
    tensor = lw.ones((2, 3), dtype=dtype)
    for array in (tensor.numpy(), np.asarray(tensor), tensor.__array__()):
        assert array.dtype == dtype and array.ctypes.data == tensor._data_pointer()


def test_array_converts_when_asked():
    tensor = lw.asarray([1.5, 2.5])
    assert tensor.__array__(np.float64).dtype == np.float64
    assert np.asarray(tensor, dtype=np.int32).tolist() == [1, 2]
    copied = tensor.__array__(copy=True)
    copied[0] = 9
    assert tensor.tolist() == [1.5, 2.5]
    with pytest.raises(lw.ArgumentError, match="copy=False"):
        tensor.__array__(np.float64, copy=False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.host
def test_array_interface(dtype):
    array = np.arange(6).astype(dtype).reshape(2, 3)
    tensor = lw.asarray(array)[:, ::-1]

    class Holder:
        __array_interface__ = tensor.__array_interface__

    theirs = array[:, ::-1].__array_interface__
    assert all(
        Holder.__array_interface__[field] == theirs[field] for field in ("version", "shape", "typestr", "strides")
    )
    np.testing.assert_array_equal(np.asarray(Holder()), array[:, ::-1])
    assert np.asarray(Holder()).dtype == array.dtype


def test_array_namespace():
    tensor = lw.ones(2)
    assert tensor.__array_namespace__() is lw
    assert tensor.__array_namespace__(api_version="2024.12") is lw
    with pytest.raises(lw.ArgumentError, match="1999"):
        tensor.__array_namespace__(api_version="1999.01")


def test_a_tensor_on_a_gpu_has_no_array_interface():
    """Its memory is not the CPU's, so that NumPy must not follow its address."""
    tensor = lw.ones(2)
    assert hasattr(tensor, "__array_interface__") is not tensor.backend.is_gpu


@pytest.mark.host
def test_devices():
    tensor = lw.ones(2)
    assert tensor.device == "cpu"
    placed = tensor.to_device("cpu")
    assert placed.is_committed and placed._shares_storage(tensor) and placed.backend is tensor.backend
    assert not tensor.is_committed and tensor.to_device(None) is tensor
    assert placed.to_device("cpu") is placed and placed.to(placed.backend) is placed
    assert tensor.to("scalar").to_device("cpu").backend is lw.Backend.SCALAR
    assert tensor.to_device("scalar").backend is lw.Backend.SCALAR
    with pytest.raises(lw.ArgumentError, match="stream"):
        tensor.to_device("cpu", stream=3)


def test_backend_and_its_aliases():
    tensor = lw.ones(2).to("scalar")
    assert tensor.backend is lw.Backend.SCALAR and tensor.backend == "scalar"
    assert tensor.backend_type() is lw.Backend.SCALAR
    assert tensor.to_backend(lw.Backend.SCALAR).backend is lw.Backend.SCALAR
    assert lw.ones(2).to("scalar")._shares_storage(tensor) is False
    assert tensor.to("cpu")._shares_storage(tensor)
