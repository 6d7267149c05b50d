"""Tests indexing against NumPy, and assignment."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import lanewise as lw

DTYPES = ["bool", "int32", "int64", "float16", "float32", "float64"]


@st.composite
def arrays_and_keys(draw):
    """Draws an array of any dtype and layout, and a key that mixes ints, slices, None, Ellipsis, index arrays, lists
    and masks."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))
    dtype, numbers = draw(st.sampled_from(DTYPES)), np.arange(math.prod(shape) * 2 ** len(shape))
    array = (numbers % 3 if dtype == "bool" else numbers).astype(dtype).reshape([2 * extent for extent in shape])
    array = array.transpose(draw(st.permutations(range(len(shape)))))
    array = array[tuple(slice(None, None, draw(st.sampled_from([2, -2]))) for _ in shape)]
    shape = draw(st.sampled_from([(2,), (3,), (1,), (2, 1), (2, 3), (0,)]))
    key: list = []
    dimension = 0
    has_ellipsis = False
    while dimension < array.ndim:
        extent = array.shape[dimension]
        kind = draw(st.sampled_from(["slice", "int", "array", "list", "mask", "none", "ellipsis", "stop"]))
        if kind == "stop":
            break
        if kind == "none":
            # index arrays apply to a view of at most 8 dimensions, and each None adds one
            if array.ndim + sum(one is None for one in key) < 8:
                key.append(None)
        elif kind == "ellipsis" and not has_ellipsis:
            key.append(Ellipsis)
            has_ellipsis = True
        elif kind == "mask":
            covered = array.shape[dimension : dimension + draw(st.integers(1, array.ndim - dimension))]
            key.append(draw(hnp.arrays(bool, covered)))
            dimension += len(covered)
        elif kind != "ellipsis":
            key.append(draw(_entry(kind, extent, shape)))
            dimension += 1
    return array, tuple(key)


def _entry(kind, extent, shape):
    index = st.integers(-extent, extent - 1)
    if kind == "slice":
        return st.slices(extent)
    if kind == "int":
        return index
    if kind == "list":
        return st.lists(index, min_size=shape[-1], max_size=shape[-1])
    return hnp.arrays(st.sampled_from([np.int32, np.int64]), shape, elements=index)


def of_tensors(key):
    """Returns a key with tensors in place of NumPy's arrays."""
    return tuple(lw.asarray(each) if isinstance(each, np.ndarray) else each for each in key)


def outcome(function):
    """Returns the result of a call, or the type of its error."""
    try:
        return function()
    except (IndexError, ValueError) as error:
        return type(error)


@given(arrays_and_keys())
def test_reading_as_in_numpy(case):
    array, key = case
    expected = outcome(lambda: array[key])
    found = outcome(lambda: np.asarray(lw.asarray(array)[of_tensors(key)]))
    if isinstance(expected, type) or isinstance(found, type):
        assert isinstance(found, type) == isinstance(expected, type)
    else:
        np.testing.assert_array_equal(found, expected)


@given(arrays_and_keys(), st.booleans())
def test_writing_as_in_numpy(case, scalar):
    array, key = case
    positions = outcome(lambda: np.arange(array.size).reshape(array.shape)[key])
    if isinstance(positions, type) or np.unique(positions).size != positions.size:
        return  # NumPy refuses the key, or the key repeats an index; another test covers repeated indices
    values = 7 if scalar else np.arange(positions.size, dtype=np.int32).reshape(positions.shape) + 100
    expected = array.copy(order="K")
    expected[key] = values
    tensor = lw.asarray(array.copy(order="K"))
    tensor[of_tensors(key)] = values
    np.testing.assert_array_equal(np.asarray(tensor), expected)


@pytest.mark.parametrize("key", [([[False]], ..., [1]), ([], ..., [[1]]), (False, [1])], ids=str)
def test_indices_that_combine_to_none_are_not_checked(key):
    array = np.zeros((1, 1, 2, 1), np.int32)
    tensor = lw.asarray(array.copy())
    assert tensor[key].shape == array[key].shape
    assert tensor[key].dtype is lw.int32
    tensor[key] = 7
    assert np.array_equal(np.asarray(tensor), array)


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


def only_dlpack(array):
    """Returns an object with DLPack and no other interface."""
    return SimpleNamespace(__dlpack__=array.__dlpack__, __dlpack_device__=array.__dlpack_device__)


def test_assignment_converts_and_broadcasts():
    t = lw.zeros((2, 3))
    t[...] = [[1, 2, 3]]
    t[0] = np.array([4, 5, 6], np.int64)
    t[:, 2] = True
    assert t.tolist() == [[4, 5, 1], [1, 2, 1]]
    with pytest.raises(lw.ShapeError, match="broadcast"):
        t[0] = [1, 2]
    t[0] = range(3)
    t[1, :2] = only_dlpack(np.array([7, 8], np.float32))
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


def test_iteration_and_length():
    t = lw.asarray([[1, 2], [3, 4]])
    assert [row.tolist() for row in t] == [[1, 2], [3, 4]]
    assert len(t) == 2
    with pytest.raises(TypeError, match="0-dimensional"):
        len(lw.asarray(1))
    with pytest.raises(TypeError, match="0-dimensional"):
        iter(lw.asarray(1))


def test_the_shapes_of_mixed_keys():
    x = lw.zeros((2, 3, 4, 5))
    rows, columns = np.zeros((6, 1), int), np.zeros(7, int)
    assert x[:, rows, columns].shape == (2, 6, 7, 5)
    assert x[rows, :, columns].shape == (6, 7, 3, 5)
    assert x[0, :, columns].shape == (7, 3, 5)
    assert x[0, columns].shape == (7, 4, 5)
    assert x[..., columns].shape == (2, 3, 4, 7)
    assert x[None, columns].shape == (1, 7, 3, 4, 5)


def test_masks():
    x = lw.asarray([[1.0, -2.0], [-3.0, 4.0]])
    x[x < 0] = 0
    assert x.tolist() == [[1.0, 0.0], [0.0, 4.0]]
    assert x[[True, False]].tolist() == [[1.0, 0.0]]
    assert x[lw.asarray([[True, False], [False, True]])].tolist() == [1.0, 4.0]
    assert x[x > 100].shape == (0,)
    x[[[True, True], [False, False]]] = [8, 9]
    assert x.tolist() == [[8.0, 9.0], [0.0, 4.0]]
    assert x[True].shape == (1, 2, 2) and x[False].shape == (0, 2, 2)


@pytest.mark.parametrize(
    ("shape", "mask_shape"),
    [((0, 1), (0, 0)), ((3, 2), (0,)), ((3, 2), (0, 2)), ((3, 2), (3, 0)), ((3, 2), (0, 0)), ((2, 3, 4), (2, 0))],
)
def test_masks_without_elements_fit_every_extent(shape, mask_shape):
    x, mask = lw.ones(shape), np.ones(mask_shape, dtype=bool)
    assert x[mask].shape == np.ones(shape)[mask].shape
    x[mask] = 5
    assert bool(lw.all(x == 1))


class One:
    """A number of another library, which Python accepts as an index."""

    def __index__(self):
        return 1


def test_single_ints_of_every_type():
    x = lw.arange(6).reshape(2, 3)
    for one in (np.int64(1), np.int32(1), lw.asarray(1), np.asarray(1), lw.asarray(1, dtype=lw.int64), One()):
        assert x[one].tolist() == [3, 4, 5]
        assert x[0, one].tolist() == 1
        assert x[one, 1:].tolist() == [4, 5]
        assert x[one, [0, 2]].tolist() == [3, 5]
        x[one, 0] = 3
        x[one] = [3, 4, 5]
    assert x[np.int64(1)]._shares_storage(x)
    with pytest.raises(lw.IndexOutOfRangeError, match="expected indices within axis 0 of extent 2, got 2"):
        x[np.int64(2)]
    with pytest.raises(lw.ArgumentTypeError, match="ints or bools, got float32"):
        x[np.float32(1)]


def test_the_last_of_several_values_stays():
    x = lw.zeros(3)
    x[[1, 1, 1]] = [5, 6, 7]
    assert x.tolist() == [0, 7, 0]


def test_empty_lists_and_empty_tensors():
    x = lw.arange(6).reshape(2, 3)
    assert x[[]].shape == (0, 3)
    assert x[:, []].shape == (2, 0)
    assert lw.zeros((0, 3))[[]].shape == (0, 3)
    x[[]] = 5
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_values_are_cast_and_broadcast():
    x = lw.zeros((2, 3), dtype=lw.int32)
    x[[0, 1], 1:] = [2.9, -2.9]
    assert x.tolist() == [[0, 2, -2], [0, 2, -2]]
    x[[1]] = lw.asarray([[[4, 5, 6]]])
    assert x.tolist()[1] == [4, 5, 6]


def test_a_result_is_a_copy():
    x = lw.zeros(3)
    x[[0, 1]][0] = 5
    assert x.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("key", "wrong", "axis"),
    [
        *((np.array([2**40]), 2**40, 0), ([3], 3, 0), ([-4], -4, 0), ([0, 5, -9], 5, 0), (([0], [9]), 9, 1)),
        *(((slice(None), [4]), 4, 1), ((1, [4]), 4, 1), ((None, [0], None, [[9]]), 9, 1), (([3], slice(0, 0)), 3, 0)),
        pytest.param(lw.asarray([3]), 3, 0, marks=pytest.mark.host),  # those on a device are not checked
    ],
)
def test_out_of_range(key, wrong, axis):
    x = lw.zeros((3, 4))
    message = f": index {wrong} is out of range for axis {axis} of extent {x.shape[axis]}$"
    with pytest.raises(lw.IndexOutOfRangeError, match=f"^getitem{message}"):
        x[key]
    with pytest.raises(lw.IndexOutOfRangeError, match=f"^setitem{message}"):
        x[key] = 1
    assert x.tolist() == [[0.0] * 4] * 3


@pytest.mark.parametrize(
    ("key", "error", "words"),
    [
        ([1.5], lw.ArgumentTypeError, "ints or bools, got float32"),
        ("name", lw.ArgumentTypeError, "expected ints, slices"),
        (object(), lw.ArgumentTypeError, "expected ints, slices"),
        (([0], [0], [0]), lw.IndexOutOfRangeError, "at most 2 indices .*, got 3"),
        ([True, False], lw.IndexOutOfRangeError, "mask of shape"),
        (np.ones((0, 5), bool), lw.IndexOutOfRangeError, "mask of shape"),
        (([0, 1], [0, 1, 2]), lw.ShapeError, "broadcast together"),
        (([0], ..., ...), lw.IndexOutOfRangeError, "Ellipsis"),
    ],
)
def test_invalid_keys(key, error, words):
    with pytest.raises(error, match=words):
        lw.zeros((3, 4))[key]


@pytest.mark.parametrize(("shape", "fits"), [((2**31 - 1, 1), True), ((2**31, 1), False), ((2**16, 2**15), False)])
def test_positions_in_several_indexed_axes_fit_32_bits(shape, fits):
    x = lw.broadcast_to(lw.asarray([True]), shape)
    if fits:
        assert x[[0, -1], [0, -1]].tolist() == [True, True]
    else:
        words = r"fewer than 2\^31 elements in the indexed axes, got extents " + re.escape(str(shape))
        with pytest.raises(lw.IndexOutOfRangeError, match=words):
            x[[0, -1], [0, -1]]


class Odd:
    """An object whose __index__ fails with an error that is not Lanewise's."""

    def __index__(self):
        raise TypeError("odd")


REFUSED = [
    *(9, -9, 2**70, (0, 9), (0, 0, 0), (0,) * 20, (None,) * 9),
    *((..., ...), slice(None, None, 0), slice("a"), slice(Odd())),
    *("name", b"x", object(), 1.5, 1j, {0: 1}, np.float32(1), Odd(), [1.5], ["a"], [Odd()], ([0], [9])),
    *(([0], [0], [0]), ([0], ..., ...), ([0, 1], [0, 1, 2]), [True, False], np.ones((2, 2), bool), np.array([2**40])),
    *((9, [0]), ([0], 9), ([0], slice("a")), ([0], slice(None, None, 0)), ([0], *[None] * 8), ([0], *[None] * 20)),
    *(([0], "name"), np.zeros(3, "c8"), [[0], [1, 2]], lw.asarray(1.5)),
    *([9], [0, -9], (None, [9]), pytest.param(lw.asarray([9]), marks=pytest.mark.host)),
    *(lw.zeros((3, 4)) > lw.zeros((3, 1, 1)), (lw.asarray([[9]]), lw.asarray([0]))),
]


@pytest.mark.parametrize("key", REFUSED, ids=lambda key: f"{key!r:.40}")
def test_a_refused_key_is_named_by_the_operation(key):
    """Reading and writing refuse the same keys with the same words, except for the name of the operation."""
    x = lw.zeros((3, 4))
    with pytest.raises((lw.LanewiseError, TypeError)) as reading:
        x[key]
    with pytest.raises(type(reading.value)) as writing:
        x[key] = 1
    read, written = str(reading.value), str(writing.value)
    assert written == read.replace("getitem: ", "setitem: ", 1)
    assert read.startswith("getitem: ") or isinstance(key, Odd)
    assert x.tolist() == [[0.0] * 4] * 3


VALUES = ["ab", b"ab", None, object(), 1j, [1, 2, 3, 4, 5, 6, 7], np.ones(7), np.ones(3, "c8"), [[1], [2, 3]], ["a"]]


@pytest.mark.parametrize(
    "key", [..., 0, (slice(None), 1), [0], [True, False, True], ([0], [0]), (0, [1]), ([[1]], ...)]
)
@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{value!r:.40}")
def test_a_refused_value_is_named_by_setitem(key, value):
    x = lw.zeros((3, 4), dtype=lw.int32)
    with pytest.raises(lw.LanewiseError, match=r"^setitem: "):
        x[key] = value
    assert x.tolist() == [[0] * 4] * 3


def test_indices_and_values_of_the_same_memory():
    """Indices and values share memory with the elements to write, and are read completely before any is written."""
    order = np.random.default_rng(0).permutation(5000).astype(np.int32)
    expected, x = order.copy(), lw.asarray(order.copy())
    expected[order] = order[::-1]
    x[x] = x[::-1]
    np.testing.assert_array_equal(np.asarray(x), expected)


def test_values_that_do_not_fit():
    with pytest.raises(lw.ShapeError, match=r"broadcast to shape \(2,\), got shape \(3,\)"):
        lw.zeros(4)[[0, 1]] = [1, 2, 3]
    with pytest.raises(lw.ShapeError, match="broadcast to shape"):
        lw.zeros(4)[[True, False, True, False]] = [1, 2, 3]
    with pytest.raises(TypeError):
        lw.zeros(4)[[0, 1]] = "ab"


@pytest.mark.parametrize("value", [2**40, -(2**40), 1.5, 10**30, float("nan")])
def test_numbers_fit_the_dtype_with_any_key(value):
    for key in (0, slice(None), [0], [[0, 1]], lw.asarray([True, False, True]), (..., [1])):
        x = lw.asarray([1, 2, 3])
        with pytest.raises(lw.LanewiseError) as basic:
            x[0] = value
        with pytest.raises(type(basic.value), match=f"^{re.escape(str(basic.value))}$"):
            x[key] = value
        assert x.tolist() == [1, 2, 3]


def test_read_only_memory_is_not_written():
    array = np.zeros(3, np.float32)
    array.flags.writeable = False
    if not lw.asarray(array).backend.is_gpu:  # there it is a copy
        with pytest.raises(lw.ReadOnlyError):
            lw.asarray(array)[[0]] = 1
    with pytest.raises(lw.ReadOnlyError):
        lw.broadcast_to(lw.zeros(1), (3,))[[0]] = 1
