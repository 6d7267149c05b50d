"""NumPy models of reductions, which give the bits of the kernels. The header in core/ops that has the operation's name
says how a block of elements is reduced; tree.py says in which order elements and blocks are joined.

Functions of rows return one result per row; `_along_axes` makes models of arrays from them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.models import moments
from tests.models.tree import PARTIALS, Array, blocks, join_blocks, reduce, reduce_block


def _along_axes(of_rows: Callable[..., Array], finds_index: bool = False) -> Callable[..., Array]:
    """Returns a model with `axis` and `keepdims`, from a model of rows. Elements are joined by increasing index, and
    those along several axes in their order in memory, unless the result is an index."""

    @functools.wraps(of_rows)
    def model(*arrays: Array, axis: Any = None, keepdims: bool = False, **parameters: Any) -> Array:
        together = np.broadcast_arrays(*arrays)
        ndim = together[0].ndim
        axes = sorted(each % ndim for each in (range(ndim) if axis is None else np.atleast_1d(axis)))
        kept = [each for each in range(ndim) if each not in axes]
        if not finds_index:
            axes.sort(key=lambda axis: -abs(together[0].strides[axis]))
        shape = [together[0].shape[each] for each in kept]
        count = int(np.prod([together[0].shape[each] for each in axes]))
        rows = [x.transpose(*kept, *axes).reshape(int(np.prod(shape)), count) for x in together]
        result = of_rows(*rows, **parameters).reshape(shape)
        return np.expand_dims(result, tuple(axes)) if keepdims else result

    return model


def total(rows: Array) -> Array:
    """core/ops/sum.h: the identity is -0, but the sum of no elements is 0. bool is summed as int32."""
    rows = rows.astype("i4") if rows.dtype == bool else rows
    return reduce(rows, -0.0 if rows.dtype.kind == "f" and rows.shape[1] else 0, np.add)


def dot_product(rows: Array, others: Array) -> Array:
    """core/ops/vecdot.h: each product is rounded before it is added."""
    return total(rows * others)


def squares_in_range(rows: Array) -> tuple[Array, Array]:
    """core/reduce/squares.h: blocks are scaled if their sum of squares overflows or is too small to be accurate. Sums
    of blocks are joined in float64. Returns the sums, and the factors of the elements whose squares they have."""

    def scaled(block: Array, factor: float) -> Array:
        return reduce_block((block * block.dtype.type(factor)) ** 2, 0, np.add).astype("f8")

    def of_block(block: Array) -> moments.Moments:
        limits = moments.LIMITS[block.dtype.name]
        plain = reduce_block(block * block, 0, np.add)
        again = np.where(plain < 1, scaled(block, limits.up), scaled(block, limits.down))
        in_range = (plain >= limits.small) & (plain < limits.large)
        factor = np.where(in_range, 1, np.where(plain < limits.small, limits.up, limits.down))
        return moments.Moments(0, plain, np.where(in_range, plain, again), factor)

    def join(left: moments.Moments, right: moments.Moments) -> moments.Moments:
        left, right = moments.aligned(left, right)
        return left._replace(squares=left.squares + right.squares)

    found = join_blocks([of_block(block) for block in blocks(rows)], join)
    return found.squares, found.factor


def _root(squares: Array, factor: Array, by: float, dtype: Any) -> Array:
    return (np.sqrt(squares / by) / factor).astype(dtype)


def sum_compensated(rows: Array) -> Array:
    """core/ops/sum_compensated.h: floats are added in the order of sum, float32 in float64, and float64 with the sum of
    what the additions lost."""
    if rows.dtype.kind != "f":
        return total(rows)
    if rows.dtype == "f4":
        return total(rows.astype("f8")).astype("f4")
    found = join_blocks([_compensated(block) for block in blocks(rows)], _add_compensated)
    is_exact = (found[1] == 0) | np.isnan(found[1])
    return np.where(is_exact, found[0], found.sum(axis=0)) if rows.shape[1] else np.zeros(len(rows))


def _add_compensated(left: Array, right: Array) -> Array:
    """Adds sums with what they lost, each an array [sum, lost], by Knuth's TwoSum."""
    high = left[0] + right[0]
    part = high - left[0]
    return np.stack([high, left[1] + ((left[0] - (high - part)) + (right[0] - part)) + right[1]])


def _compensated(block: Array) -> Array:
    partials = np.stack([np.full((len(block), PARTIALS), -0.0), np.zeros((len(block), PARTIALS))])
    for start in range(0, block.shape[1], PARTIALS):
        group = block[:, start : start + PARTIALS]
        added = _add_compensated(partials[:, :, : group.shape[1]], np.stack([group, np.zeros_like(group)]))
        partials[:, :, : group.shape[1]] = added
    while partials.shape[2] > 1:
        half = partials.shape[2] // 2
        partials = _add_compensated(partials[:, :, :half], partials[:, :, half:])
    return partials[:, :, 0]


def _degrees(rows: Array, correction: float) -> np.float64:
    """core/ops/var.h: what the sum of squares is divided by."""
    return np.float64(max(rows.shape[1] - correction, 0) if rows.shape[1] else np.nan)


def _variance(rows: Array, correction: float = 0.0) -> Array:
    found = moments.of_rows(rows)
    return (found.squares / _degrees(rows, correction) / found.factor / found.factor).astype(rows.dtype)


def _deviation(rows: Array, correction: float = 0.0) -> Array:
    found = moments.of_rows(rows)
    return _root(found.squares, found.factor, _degrees(rows, correction), rows.dtype)


def largest(rows: Array) -> Array:
    """core/ops/max.h: NaN if any element is NaN; 0 is larger than -0."""
    return -smallest(-rows) if rows.dtype.kind == "f" else np.max(rows, axis=1)


def smallest(rows: Array) -> Array:
    """core/ops/min.h: NaN if any element is NaN; -0 is smaller than 0."""
    result = np.min(rows, axis=1)
    if rows.dtype.kind != "f":
        return result
    negative = np.signbit(rows).any(axis=1)
    return np.where(result == 0, np.where(negative, np.float32(-0.0), np.float32(0)), result)


ALONG_AXES = {
    name: _along_axes(of_rows, name.startswith("arg"))
    for name, of_rows in {
        "sum": total,
        "mean": lambda rows: (reduce(rows, -0.0, np.add).astype("f8") / np.float64(rows.shape[1])).astype(rows.dtype),
        "prod": lambda rows: reduce(rows, 1, np.multiply),
        "min": smallest,
        "max": largest,
        "any": lambda rows: (rows != 0).any(axis=1),  # NaN is nonzero
        "all": lambda rows: (rows != 0).all(axis=1),
        "norm_l1": lambda rows: reduce(np.abs(rows), 0, np.add),
        "norm_l2": lambda rows: _root(*squares_in_range(rows), np.float64(1), rows.dtype),
        "norm_linf": lambda rows: np.max(np.abs(rows), axis=1, initial=0),  # NaN is above all numbers
        "var": _variance,
        "std": _deviation,
        "sum_of_squares": lambda rows: reduce(rows * rows, 0, np.add),  # squares may overflow or underflow
        "sum_compensated": sum_compensated,
        "argmax": lambda rows: np.argmax(rows, axis=1).astype("i4"),  # the first of equal elements; NaN is the largest
        "argmin": lambda rows: np.argmin(rows, axis=1).astype("i4"),  # and here the smallest
    }.items()
}


def vecdot(x1: Array, x2: Array, axis: int = -1) -> Array:
    """Returns the dot products of vectors along one axis."""
    return _along_axes(dot_product)(x1, x2, axis=axis)


MODELS = {**ALONG_AXES, "vecdot": vecdot, "dot": vecdot}
