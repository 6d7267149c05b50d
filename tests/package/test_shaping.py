"""Compares operations that move elements (pad, roll, concat and so on) with NumPy's on generated shapes, and tests
their errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import lanewise as lw
from lanewise.functions import shaping

SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4)


def numbered(shape):
    """Returns an array whose elements all differ."""
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


def check(result, expected):
    assert result.dtype.name == expected.dtype.name
    np.testing.assert_array_equal(np.asarray(result), expected, strict=True)


@given(SHAPES, st.data())
def test_views_are_numpys_and_share_memory(shape, data):
    array = numbered(shape)[::-1]
    tensor = lw.asarray(array)
    axes = data.draw(st.none() | hnp.valid_tuple_axes(len(shape)))
    check(lw.flip(tensor, axis=axes), np.flip(array, axes))
    assert lw.flip(tensor, axis=axes)._shares_storage(tensor)
    sources = data.draw(hnp.valid_tuple_axes(len(shape)))
    destinations = data.draw(hnp.valid_tuple_axes(len(shape), min_size=len(sources), max_size=len(sources)))
    check(lw.moveaxis(tensor, sources, destinations), np.moveaxis(array, sources, destinations))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    cuts = data.draw(st.lists(st.integers(-6, 6), max_size=3))
    for part, expected in zip(lw.split(tensor, cuts, axis=axis), np.split(array, cuts, axis), strict=True):
        check(part, expected)
        assert part._shares_storage(tensor)
    check(lw.flatten(tensor), array.ravel())


@given(SHAPES, st.data())
def test_copies_are_numpys(shape, data):
    array = numbered(shape).T
    tensor = lw.asarray(array)
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    shift, count = data.draw(st.integers(-7, 7)), data.draw(st.integers(0, 3))
    check(lw.roll(tensor, shift, axis=axis), np.roll(array, shift, axis))
    check(lw.repeat(tensor, count, axis=axis), np.repeat(array, count, axis))
    extent = array.size if axis is None else array.shape[axis]
    counts = data.draw(hnp.arrays("int32", extent, elements=st.integers(0, 3)))
    check(lw.repeat(tensor, counts, axis=axis), np.repeat(array, counts, axis))
    times = data.draw(st.lists(st.integers(0, 3), max_size=5))
    check(lw.tile(tensor, times), np.tile(array, times))
    new = data.draw(st.integers(-len(shape) - 1, len(shape)))
    check(lw.stack([tensor, tensor], axis=new), np.stack([array, array], axis=new))


@given(SHAPES.filter(lambda shape: 0 not in shape), st.data())
def test_pad_is_numpys(shape, data):
    array = numbered(shape)
    widths = [data.draw(st.tuples(st.integers(0, 9), st.integers(0, 9))) for _ in shape]
    for mode in ("constant", "edge", "reflect", "symmetric", "wrap"):
        check(lw.pad(array, widths, mode), np.pad(array, widths, mode))


@pytest.mark.parametrize("widths", [2, (2,), (1, 2), ((1, 2),), ((1,), (2,)), [[1, 2], [3, 4]], np.array([[1, 2]])])
def test_pad_widths_are_written_as_in_numpy(widths):
    check(lw.pad(numbered((2, 3)), widths), np.pad(numbered((2, 3)), widths))


@given(SHAPES, st.data())
def test_take_along_axis_is_numpys(shape, data):
    array = numbered(shape).T
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    extent = array.shape[axis]
    expected = [1 if data.draw(st.booleans()) else each for each in array.shape]
    expected[axis] = data.draw(st.integers(0, 5)) if extent else 0
    places = data.draw(hnp.arrays("int32", expected, elements=st.integers(-extent, max(extent - 1, 0))))
    check(lw.take_along_axis(array, places, axis=axis), np.take_along_axis(array, places.astype(int), axis))


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
    assert lw.stack(part for part in ([1], [2])).tolist() == [[1], [2]]


def test_dtypes_are_promoted():
    assert lw.concat([[True], [2]]).dtype is lw.int32
    assert lw.stack([[1], [2.5]]).tolist() == [[1.0], [2.5]]
    assert lw.concat([np.ones(1), np.ones(1, np.float32)]).dtype is lw.float64


def test_the_result_stays_where_the_parts_are():
    a, b = lw.ones(2).to("scalar"), lw.ones(2)
    assert lw.concat([a, b]).backend is lw.Backend.SCALAR
    assert lw.concat([a, b]).is_committed and not lw.concat([b, b]).is_committed
    x = lw.ones((2, 2)).to("scalar")
    calls = [lw.flip(x), lw.roll(x, 1), lw.tile(x, 2), lw.repeat(x, 2), lw.pad(x, 1), lw.pad(x, 1, "edge"), lw.tril(x)]
    assert {each.backend for each in calls} == {lw.Backend.SCALAR}


def test_a_copy_is_a_copy():
    x = lw.ones((2, 2))
    calls = [lw.roll(x, 0), lw.roll(x, 2, axis=0), lw.tile(x, 1), lw.tile(x, ()), lw.tile(x, (1, 1, 1)), lw.pad(x, 0),
             lw.pad(x, 0, "edge"), lw.repeat(x, 1), lw.concat([x]), lw.tril(x, k=5)]  # fmt: skip
    assert not any(each._shares_storage(x) for each in calls)


@pytest.mark.parametrize(("count", "after"), [(16, 16), (17, 1), (17, 17), (1, 17), (0, 3)])
def test_repeat_copies_only_short_rows_column_by_column(monkeypatch, count, after):
    class Recorded:
        def __init__(self, result):
            self.result, self.shape, self.copies = result, result.shape, []

        def reshape(self, shape):
            self.result, self.shape = self.result.reshape(shape), shape
            return self

        def __setitem__(self, key, value):
            self.copies.append(key)
            self.result[key] = value

    allocate = shaping._ext.allocate
    monkeypatch.setattr(shaping._ext, "allocate", lambda *arguments: Recorded(allocate(*arguments)))
    array = numbered((2, 3, after))
    repeated = shaping._repeated(lw.asarray(array), 1, count)
    is_short = max(count, after) <= shaping._SHORT_ROW and not repeated.result.backend.is_gpu
    assert len(repeated.copies) == (count if is_short else 1)
    check(repeated.result.reshape((2, 3 * count, after)), np.repeat(array, count, 1))


def test_embedding_accepts_indices_of_both_widths_and_lists():
    weight = lw.arange(6).reshape(3, 2)
    for indices in ([2, 0], np.array([2, 0]), lw.asarray([2, 0]), (2, 0)):
        assert lw.embedding(indices, weight).tolist() == [[4, 5], [0, 1]]
    assert lw.embedding(1, weight).tolist() == [2, 3]
    assert lw.embedding([], weight).shape == (0, 2)
    with pytest.raises(lw.DTypeError, match=r"^embedding: expected indices of an integer dtype, got float32"):
        lw.embedding([1.0], weight)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: lw.concat([]), lw.ArgumentError, "^concat: "),
        (lambda: lw.concat(3), lw.ArgumentTypeError, "^concat: "),
        (lambda: lw.concat([[1], {2}]), lw.ArgumentTypeError, r"^concat: arrays\[1\]: expected numbers, got a set"),
        (lambda: lw.concat([[1], [[2]]]), lw.ShapeError, "^concat: "),
        (lambda: lw.concat([[[1, 2]], [[1]]]), lw.ShapeError, "^concat: "),
        (lambda: lw.concat([[1], [2]], axis=1), lw.AxisError, "^concat: "),
        (lambda: lw.concat([[1], [2]], axis=-2), lw.AxisError, "^concat: "),
        (lambda: lw.concat([[1], [2]], axis=0.5), lw.ArgumentTypeError, "^concat: expected an int for axis, got 0.5"),
        (lambda: lw.concat([1, 2], axis=0), lw.AxisError, "^concat: "),
        (lambda: lw.concat(lw.ones((2, 2))), lw.ArgumentTypeError, "list of tensors"),
        (lambda: lw.stack([]), lw.ArgumentError, "^stack: "),
        (
            lambda: lw.stack([[1], [2, 3]]),
            lw.ShapeError,
            r"^stack: expected tensors of equal shape, got \(1,\) and \(2,\)",
        ),
        (lambda: lw.stack([[1], [2]], axis=2), lw.AxisError, "^stack: expected an axis within 2 dimensions, got 2"),
        (lambda: lw.flip({1}), lw.ArgumentTypeError, "^flip: x: expected numbers, got a set"),
        (lambda: lw.flip([1], axis="0"), lw.ArgumentTypeError, "^flip: expected an int for axis, got '0'"),
        (lambda: lw.flip([1], 0, 0), lw.ArgumentTypeError, "^flip: expected the axis as one argument, got 0, 0"),
        (lambda: lw.moveaxis([1], 0), lw.ArgumentTypeError, "^moveaxis: expected an argument for destination"),
        (
            lambda: lw.split([1, 2, 3], 2),
            lw.ShapeError,
            "^split: expected sections that divide the extent 3 of axis 0, got 2",
        ),
        (lambda: lw.repeat([1], [0.5]), lw.DTypeError, "^repeat: expected integers for repeats, got float32"),
        (lambda: lw.pad([1.0], 1, constant_values="x"), lw.ArgumentTypeError, "^pad: "),
        (lambda: lw.pad([1], 1, constant_values=2**40), OverflowError, "^pad: "),
        (lambda: lw.tril([[1.0]], k=None), lw.ArgumentTypeError, "^tril: expected an int for k, got None"),
    ],
)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(("call", "extent"), [(lw.tile, 2**60), (lw.repeat, 3 * 2**60)])
def test_results_that_are_too_large(call, extent):
    with pytest.raises(lw.ShapeError, match=f"^{call.__name__}: .* fewer than 2.63 bytes, .*{extent}"):
        call([1.0, 2.0, 3.0], 2**60)


@pytest.mark.parametrize("wrong", ["0", b"\0", {0: 1}, {0}])
def test_text_dicts_and_sets_are_not_lists(wrong):
    with pytest.raises(lw.ArgumentTypeError, match=r"^flip: expected an int for axis, got "):
        lw.flip([1], axis=wrong)
    with pytest.raises(lw.ArgumentTypeError, match=r"^concat: expected a list or tuple of tensors, got a"):
        lw.concat(wrong)


def test_an_empty_tile_needs_no_memory():
    assert lw.tile([[1.0, 2.0]], (10**10, 0)).shape == (10**10, 0)
    assert lw.tile([1, 2], 0).shape == (0,)


def test_broadcast_to_no_dimensions():
    x = lw.broadcast_to(5.0, ())
    assert (x.shape, x.tolist()) == ((), 5.0)
    with pytest.raises(lw.ShapeError, match=r"^broadcast_to: "):
        lw.broadcast_to([5.0], ())
