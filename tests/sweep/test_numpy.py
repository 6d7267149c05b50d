"""Tests shapes, strides, broadcasting and indexing against NumPy, with inputs drawn by hypothesis.

Values are small integers, on which float32 arithmetic is exact, so results must be equal.
"""

import numpy as np
from generator.schema import DTYPES, FLOATS
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from judge import bits
from strategies import broadcast_views, views

import lanewise as lw

COMPUTING = ["int32", "float32"]
SHAPES = hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=5)


def check(result, expected):
    result = np.asarray(result)
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    assert np.array_equal(bits(result), bits(expected))


@given(broadcast_views(2, COMPUTING))
def test_arithmetic_broadcasts(arrays):
    x, y = arrays
    for operation, expected in (
        (lw.add, x + y),
        (lw.subtract, x - y),
        (lw.multiply, x * y),
        (lw.maximum, np.maximum(x, y)),
    ):
        check(operation(x, y), expected)


@given(broadcast_views(2, DTYPES))
def test_comparisons_broadcast(arrays):
    x, y = arrays
    check(lw.less(x, y), x < y)
    check(lw.equal(x, y), x == y)


@given(broadcast_views(3, DTYPES))
def test_where_broadcasts(arrays):
    condition, x, y = arrays
    check(lw.where(lw.asarray(condition) != 0, x, y), np.where(condition != 0, x, y))


@given(hnp.mutually_broadcastable_shapes(signature="(m?,k),(k,n?)->(m?,n?)", max_dims=3, max_side=4), st.data())
def test_matmul(shapes, data):
    x, y = (data.draw(views(shape, "float32")) for shape in shapes.input_shapes)
    check(lw.matmul(x, y), np.matmul(x, y))


@given(SHAPES, st.sampled_from(COMPUTING), st.booleans(), st.data())
def test_reductions(shape, dtype, keepdims, data):
    x = data.draw(views(shape, dtype))
    axes = data.draw(st.none() | hnp.valid_tuple_axes(len(shape)))
    check(lw.sum(x, axis=axes, keepdims=keepdims), np.sum(x, axis=axes, keepdims=keepdims, dtype=dtype))
    check(lw.any(x, axis=axes, keepdims=keepdims), np.any(x, axis=axes, keepdims=keepdims))
    assume(x.size)
    check(lw.max(x, axis=axes, keepdims=keepdims), np.max(x, axis=axes, keepdims=keepdims))
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1)) if shape else None
    check(lw.argmin(x, axis=axis, keepdims=keepdims), np.argmin(x, axis=axis, keepdims=keepdims).astype("int32"))


@given(SHAPES, st.data())
def test_memory_order_does_not_change_results(shape, data):
    x = data.draw(views(shape, "float32")) * np.float32(0.1)
    again = np.asfortranarray(x)
    assume(x.size and x.ndim)
    axis = data.draw(st.integers(0, x.ndim - 1))
    for operation in (lw.sum, lw.var, lw.mean, lw.softmax, lw.layer_norm):
        check(operation(again, axis=axis), np.asarray(operation(np.ascontiguousarray(x), axis=axis)))


@given(SHAPES, st.sampled_from(DTYPES), st.data())
def test_views(shape, dtype, data):
    array = data.draw(views(shape, dtype))
    tensor = lw.asarray(array)
    check(tensor, array)
    axes = data.draw(st.permutations(range(len(shape))))
    check(tensor.permute_dims(tuple(axes)), array.transpose(axes))
    check(tensor.reshape(-1), array.reshape(-1))
    flat = lw.asarray(np.ascontiguousarray(array)).reshape(-1)
    check(flat.reshape(shape), array.reshape(shape))
    parted = (*shape[:-1], -1, 1) if 0 not in shape else shape
    check(tensor.reshape(parted), array.reshape(parted))
    check(tensor.reshape(shape[::-1]), array.reshape(shape[::-1]))
    place = data.draw(st.integers(-len(shape) - 1, len(shape)))
    check(lw.expand_dims(tensor, place), np.expand_dims(array, place))
    check(lw.squeeze(tensor), np.squeeze(array))
    check(lw.broadcast_to(tensor, (2, *shape)), np.broadcast_to(array, (2, *shape)))
    if len(shape) >= 2:
        check(tensor.mT, array.swapaxes(-1, -2))


@given(SHAPES, st.sampled_from(DTYPES), st.sampled_from(DTYPES), st.data())
def test_casts(shape, source, target, data):
    array = data.draw(views(shape, source))
    if source in FLOATS and target.startswith("uint"):  # negative floats become 0; in NumPy, any number
        array = np.abs(array)
    check(lw.astype(array, target), array.astype(target))


@given(SHAPES, st.sampled_from(DTYPES), st.data())
def test_basic_indexing(shape, dtype, data):
    array = data.draw(views(shape, dtype)).copy()
    tensor = lw.asarray(array).copy()
    index = data.draw(hnp.basic_indices(shape, max_dims=7, allow_ellipsis=True, allow_newaxis=True))
    check(tensor[index], np.asarray(array[index]))
    tensor[index] = 3
    array[index] = 3
    check(tensor, array)


@given(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5), st.sampled_from(DTYPES), st.data())
def test_take_and_concat(shape, dtype, data):
    array = data.draw(views(shape, dtype))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    extent = shape[axis]
    places = data.draw(hnp.arrays("int32", hnp.array_shapes(min_dims=0, max_dims=2, min_side=0),
                                  elements=st.integers(-extent, extent - 1)))  # fmt: skip
    check(lw.take(array, places, axis=axis), np.take(array, places, axis=axis))
    parts = data.draw(st.lists(st.just(array), min_size=1, max_size=4))
    check(lw.concat(parts, axis=axis), np.concatenate(parts, axis=axis))
