"""Models of the mean and the sum of squared deviations, from the comments of core/reduce/squares.h and
core/reduce/moments.h.

The functions compute Moments of every row. The center of a block, the deviations from it, their squares, and the sums
of all these have the dtype of the elements. The rest is float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tests.models.tree import Array, blocks, join_blocks, reduce_block


class Limits(NamedTuple):
    """When sums of squares are computed again, from scaled elements."""

    small: float  # if they are smaller
    large: float  # or at least this large
    up: float  # the factor of elements whose squares are small
    down: float  # and that of those whose squares are large
    mean: float  # deviations are not scaled up if the mean is at least this large


LIMITS = {
    "float32": Limits(2.0**-100, np.inf, 2.0**100, 2.0**-76, 2.0**-20),
    "float64": Limits(2.0**-960, 2.0**960, 2.0**600, 2.0**-600, 2.0**-400),
}


class Moments(NamedTuple):
    """The number of elements of a row, their mean, and the sum of their squared deviations from it, each times
    `factor`."""

    count: int
    mean: Array
    squares: Array
    factor: Array


def aligned(left: Moments, right: Moments) -> tuple[Moments, Moments]:
    """Gives both the smaller of their factors."""
    factor = np.minimum(left.factor, right.factor)
    made = [each._replace(squares=each.squares * (factor / each.factor) ** 2, factor=factor) for each in (left, right)]
    return made[0], made[1]


def sums_around(block: Array, center: Array) -> tuple[Array, Array]:
    """Returns the sums of the deviations from a center, and of their squares, as float64."""
    deviations = block - center[:, None]
    sums = (reduce_block(each, -0.0, np.add) for each in (deviations, deviations * deviations))
    first, second = (each.astype("f8") for each in sums)
    return first, second


def twice_read(block: Array) -> Moments:
    """Reads a block twice: for its mean, then for the deviations from this mean. The sum of the deviations corrects the
    rounding error of the mean."""
    count = block.shape[1]
    mean = (reduce_block(block, -0.0, np.add).astype("f8") / np.float64(count)).astype(block.dtype)
    deviations, squares = sums_around(block, mean)
    lost = deviations / np.float64(count)
    squares = squares - deviations * lost
    return Moments(count, mean.astype("f8") + lost, np.where(squares < 0, 0, squares), np.ones(len(block)))


def once_read(block: Array) -> Moments:
    """Reads a block once, and adds the deviations from a center, the mean of four elements of the block. If this center
    is more than 1.7 standard deviations from the block's mean, uses twice_read instead."""
    count = block.shape[1]
    first, quarter, half, last = (block[:, at] for at in (0, count // 4, count // 2, count - 1))
    center = ((first + quarter) + (half + last)) * block.dtype.type(0.25)
    deviations, squares = sums_around(block, center)
    lost = deviations * (1 / np.float64(count))
    once = Moments(count, center.astype("f8") + lost, squares - deviations * lost, np.ones(len(block)))
    return _choose(squares <= 4 * once.squares, once, twice_read(block))


def rescued(block: Array) -> Moments:
    """Like twice_read, but with scaled elements if squares overflow, or are small enough to lose bits as denormals."""
    plain, limits = twice_read(block), LIMITS[block.dtype.name]
    overflow = ~(plain.squares < limits.large)
    underflow = (plain.squares < limits.small) & (np.abs(plain.mean) < limits.mean)
    return _choose(overflow, _scaled(block, limits.down), _choose(underflow, _scaled(block, limits.up), plain))


def _scaled(block: Array, factor: float) -> Moments:
    scaled = twice_read(block * block.dtype.type(factor))
    return scaled._replace(mean=scaled.mean / factor, factor=np.full(len(block), factor))


def _choose(condition: Array, left: Moments, right: Moments) -> Moments:
    return Moments(left.count, *(np.where(condition, *pair) for pair in zip(left[1:], right[1:], strict=True)))


def join(left: Moments, right: Moments) -> Moments:
    """Joins moments by (2.1) of Chan, Golub and LeVeque, 1983."""
    count = left.count + right.count
    share = right.count / count
    left, right = aligned(left, right)
    apart = right.mean * right.factor - left.mean * left.factor
    squares = left.squares + (right.squares + apart * apart * (left.count * share))
    return Moments(count, left.mean + apart * share / left.factor, squares, left.factor)


def of_rows(rows: Array, of_block: Callable[[Array], Moments] = rescued) -> Moments:
    """Returns the moments of rows, whose blocks are computed by `of_block`."""
    return join_blocks([of_block(block) for block in blocks(rows)], join)
