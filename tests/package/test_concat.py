"""concat: against NumPy, and with what does not fit."""

from __future__ import annotations

import numpy as np
import pytest

import lanewise as lw


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_concat_is_numpys(axis):
    parts = [np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)]
    joined = lw.concat([lw.asarray(part) for part in parts], axis=axis)
    np.testing.assert_array_equal(np.asarray(joined), np.concatenate(parts, axis=axis))


def test_parts_of_different_extents_views_and_lists():
    base = lw.arange(12).reshape(3, 4)
    joined = lw.concat([base.T, base[:, :2].T[:0], [[7, 8, 9]]])
    assert joined.tolist() == [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11], [7, 8, 9]]
    assert lw.concatenate(part for part in ([1], [2])).tolist() == [1, 2]


def test_dtypes_are_promoted():
    assert lw.concat([[True], [2]]).dtype is lw.int32
    assert lw.concat([[1], [2.5]]).tolist() == [1.0, 2.5]
    assert lw.concat([np.ones(1), np.ones(1, np.float32)]).dtype is lw.float64


def test_the_result_stays_where_the_parts_are():
    a, b = lw.ones(2).to("scalar"), lw.ones(2)
    assert lw.concat([a, b]).backend is lw.Backend.SCALAR
    assert lw.concat([a, b]).is_committed and not lw.concat([b, b]).is_committed


@pytest.mark.parametrize(
    ("arrays", "axis", "error"),
    [
        ([], 0, lw.ArgumentError),
        (3, 0, lw.ArgumentTypeError),
        ([[1], [[2]]], 0, lw.ShapeError),
        ([[[1, 2]], [[1]]], 0, lw.ShapeError),
        ([[1], [2]], 1, lw.AxisError),
        ([[1], [2]], -2, lw.AxisError),
        ([[1], [2]], 0.5, lw.ArgumentTypeError),
        ([1, 2], 0, lw.AxisError),
    ],
)
def test_what_does_not_fit(arrays, axis, error):
    with pytest.raises(error, match=r"^concat: "):
        lw.concat(arrays, axis=axis)


def test_a_tensor_is_no_list_of_tensors():
    with pytest.raises(lw.ArgumentTypeError, match="list or tuple"):
        lw.concat(lw.ones((2, 2)))
