"""Tests basic indexing and assignment against NumPy, and views that share memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import lanewise as lw


@given(st.data())
def test_basic_indexing_as_in_numpy(data):
    a = data.draw(hnp.arrays(np.int32, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)))
    key = data.draw(hnp.basic_indices(a.shape, allow_newaxis=True, max_dims=8))
    expected = a[key]
    result = lw.asarray(a)[key]
    assert result.shape == expected.shape
    np.testing.assert_array_equal(np.asarray(result), expected)


@given(st.data())
def test_basic_assignment_as_in_numpy(data):
    a = data.draw(hnp.arrays(np.int32, hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4)))
    key = data.draw(hnp.basic_indices(a.shape, allow_newaxis=False))
    ours, theirs = lw.asarray(a.copy()), a.copy()
    ours[key] = -7
    theirs[key] = -7
    np.testing.assert_array_equal(np.asarray(ours), theirs)


@given(st.data())
def test_reshape_as_in_numpy(data):
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    view = data.draw(st.sampled_from([a, a.T, a[::-1], a[:, :, ::2], a[:, 1:2], a.transpose(1, 0, 2)]))
    shape = data.draw(st.sampled_from([(-1,), (2, -1), (4, -1), (-1, 2), (1, -1, 1), view.shape[::-1]]))
    if view.size % abs(int(np.prod([s for s in shape if s != -1]))) == 0:
        np.testing.assert_array_equal(np.asarray(lw.asarray(view).reshape(shape)), view.reshape(shape))


@given(st.permutations(range(4)))
def test_permute_dims_as_in_numpy(axes):
    a = np.arange(120, dtype=np.float32).reshape(2, 3, 4, 5)
    np.testing.assert_array_equal(np.asarray(lw.permute_dims(lw.asarray(a), tuple(axes))), a.transpose(axes))


def test_views_share_memory():
    t = lw.zeros((4, 6))
    t[1:3, ::2][0] = 1
    t.T[5] = 2
    t.reshape(24)[0] = 3
    lw.expand_dims(t, axis=0)[0, 3, 1] = 4
    expected = np.zeros((4, 6), np.float32)
    expected[1, ::2] = 1
    expected[:, 5] = 2
    expected[0, 0] = 3
    expected[3, 1] = 4
    np.testing.assert_array_equal(np.asarray(t), expected)


class Exporter:
    """An array with DLPack and without a buffer."""

    def __init__(self, array):
        self.__dlpack__ = array.__dlpack__
        self.__dlpack_device__ = array.__dlpack_device__


def test_assignment_converts_and_broadcasts():
    t = lw.zeros((2, 3))
    t[...] = [[1, 2, 3]]
    t[0] = np.array([4, 5, 6], np.int64)
    t[:, 2] = True
    assert t.tolist() == [[4, 5, 1], [1, 2, 1]]
    with pytest.raises(lw.ShapeError, match="broadcast"):
        t[0] = [1, 2]
    t[0] = range(3)
    t[1, :2] = Exporter(np.array([7, 8], np.float32))
    assert t.tolist() == [[0, 1, 2], [7, 8, 1]]
    with pytest.raises(TypeError, match=r"^setitem: value: expected numbers, got a str"):
        t[0] = "abc"
    with pytest.raises(TypeError, match=r"^setitem: value: expected numbers, got a str"):
        t[[0]] = "abc"
    for key in (0, [0]):
        with pytest.raises(
            lw.RangeError, match=r"^setitem: .* int32, the tensor's dtype, got 1099511627776; .*lw\.int64\)"
        ):
            lw.zeros(3, dtype=lw.int32)[key] = 2**40
    with pytest.raises(TypeError):
        del t[0]


def test_overlapping_assignment():
    t = lw.arange(6)
    t[1:] = t[:-1]
    assert t.tolist() == [0, 0, 1, 2, 3, 4]
    t = lw.arange(6)
    t[:] = t[::-1]
    assert t.tolist() == [5, 4, 3, 2, 1, 0]


def test_iteration_and_length():
    t = lw.asarray([[1, 2], [3, 4]])
    assert [row.tolist() for row in t] == [[1, 2], [3, 4]]
    assert len(t) == 2
    with pytest.raises(TypeError, match="0-dimensional"):
        len(lw.asarray(1))
    with pytest.raises(TypeError, match="0-dimensional"):
        iter(lw.asarray(1))


def test_zero_dimensional_results():
    t = lw.asarray([[1, 2], [3, 4]])
    assert t[1, 0].shape == () and t[1, 0].tolist() == 3
    assert t[()].shape == (2, 2)
    assert lw.asarray(5)[...].tolist() == 5


def test_result_of_more_than_eight_dimensions():
    with pytest.raises(lw.ShapeError, match="8 dimensions"):
        lw.ones((1,) * 7)[None, None]
