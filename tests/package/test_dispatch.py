"""Tests operands of every kind: those that Lanewise converts to tensors, and those that it refuses."""

from __future__ import annotations

import array
from types import SimpleNamespace

import numpy as np
import pytest

import lanewise as lw


def dlpack(values) -> SimpleNamespace:
    """Returns an object with DLPack and no other interface."""
    array = np.asarray(values, np.float32)
    return SimpleNamespace(__dlpack__=array.__dlpack__, __dlpack_device__=array.__dlpack_device__)


@pytest.mark.parametrize(
    "other",
    [
        [3.0, 4.0],
        (3.0, 4.0),
        np.array([3.0, 4.0], np.float32),
        array.array("f", [3.0, 4.0]),
        dlpack([3.0, 4.0]),
        lw.asarray([3.0, 4.0]),
        range(3, 5),
        [np.float32(3), np.int64(4)],
    ],
    ids=["list", "tuple", "numpy", "array", "dlpack", "tensor", "range", "scalars"],
)
def test_operands_of_every_kind(other):
    tensor = lw.asarray([1.0, 2.0])
    assert lw.add(tensor, other).tolist() == [4.0, 6.0]
    assert lw.add(other, tensor).tolist() == [4.0, 6.0]
    assert lw.add(other, other).tolist() == [6.0, 8.0]
    assert lw.sum(other).tolist() == 7
    assert lw.where([True, False], tensor, other).tolist() == [1.0, 4.0]
    assert isinstance(lw.relu(other), lw.Tensor)


def test_lists_on_either_side_of_an_operator():
    tensor = lw.asarray([1.0, 2.0])
    assert (tensor + [3, 4]).tolist() == [4.0, 6.0]  # noqa: RUF005
    assert ([3, 4] - tensor).tolist() == [2.0, 2.0]
    assert (tensor * dlpack([2, 3])).tolist() == [2.0, 6.0]
    with pytest.raises(TypeError):
        tensor + "ab"
    with pytest.raises(TypeError):
        None * tensor


def test_lists_as_parameters_are_not_converted():
    assert lw.reshape([1, 2, 3, 4], [2, 2]).tolist() == [[1, 2], [3, 4]]
    assert lw.sum([[1, 2], [3, 4]], axis=(0,), keepdims=True).tolist() == [[4, 6]]
    assert lw.leaky_relu([-1.0, 1.0], slope=0.5).tolist() == [-0.5, 1.0]
    assert lw.clip([1, 5, 9], 2, [6, 6, 6]).tolist() == [2, 5, 6]
    assert lw.take([1.0, 2.0], []).shape == lw.take([1.0, 2.0], ()).shape == (0,)
    assert lw.astype([1, 0], bool).tolist() == [True, False]


def test_numbers_beside_lists_are_weak():
    with pytest.raises(lw.RangeError):
        lw.where([True], [1], 2**40)
    assert lw.where([True], [2**40], 2.5).dtype is lw.float64


@pytest.mark.parametrize("wrong", ["text", object(), {"a": 1}, 1j, None])
def test_errors_name_the_operand(wrong):
    with pytest.raises(TypeError, match=r"^add: .*x2"):
        lw.add(lw.ones(2), wrong)


def test_errors_raised_by_operands_are_passed_on():
    class Broken:
        def __dlpack__(self, **keywords):
            raise RuntimeError("no capsule today")

        def __dlpack_device__(self):
            return (1, 0)

    with pytest.raises(RuntimeError, match="no capsule today"):
        lw.add(lw.ones(2), Broken())
    with pytest.raises(lw.ShapeError, match="ragged"):
        lw.add(lw.ones(2), [[1], [2, 3]])
