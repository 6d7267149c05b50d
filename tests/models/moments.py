"""Models of the mean and the sum of squared deviations, from the comments of core/reduce/moments.h.

The functions compute Moments of every row. The center of a block, the deviations from it, their squares, and the sums
of all these are float32. The rest is float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tests.models.tree import Array, blocks, join_blocks, reduce_block

SMALL = 2.0**-100  # a sum of squares below this may be inexact, because squares were denormal


class Moments(NamedTuple):
    """The number of elements of a row, their mean, and the sum of their squared deviations from it."""

    count: int
    mean: Array
    squares: Array


def sums_around(block: Array, center: Array) -> tuple[Array, Array]:
    """Returns the sums of the deviations from a float32 center, and of their squares, as float64."""
    deviations = block - center[:, None]
    sums = (reduce_block(each, -0.0, np.add) for each in (deviations, deviations * deviations))
    first, second = (each.astype("f8") for each in sums)
    return first, second


def twice_read(block: Array) -> Moments:
    """Reads a block twice: for its mean, then for the deviations from this mean. The sum of the deviations corrects the
    rounding error of the mean."""
    count = block.shape[1]
    mean = (reduce_block(block, -0.0, np.add).astype("f8") / np.float64(count)).astype("f4")
    deviations, squares = sums_around(block, mean)
    lost = deviations / np.float64(count)
    squares = squares - deviations * lost
    return Moments(count, mean.astype("f8") + lost, np.where(squares < 0, 0, squares))


def once_read(block: Array) -> Moments:
    """Reads a block once, and adds the deviations from a center, the mean of four elements of the block. If this center
    is more than 1.7 standard deviations from the block's mean, uses twice_read instead."""
    count = block.shape[1]
    first, quarter, half, last = (block[:, at] for at in (0, count // 4, count // 2, count - 1))
    center = ((first + quarter) + (half + last)) * np.float32(0.25)
    deviations, squares = sums_around(block, center)
    lost = deviations * (1 / np.float64(count))
    once = Moments(count, center.astype("f8") + lost, squares - deviations * lost)
    return _choose(squares <= 4 * once.squares, once, twice_read(block))


def rescued(block: Array) -> Moments:
    """Like twice_read, but with scaled elements if squares overflow, or are small enough to lose bits as denormals."""
    plain = twice_read(block)
    overflow = ~(plain.squares < np.inf)
    underflow = (plain.squares < SMALL) & (np.abs(plain.mean) < 2.0**-20)
    return _choose(overflow, _scaled(block, 2.0**-76), _choose(underflow, _scaled(block, 2.0**100), plain))


def _scaled(block: Array, factor: float) -> Moments:
    scaled = twice_read(block * np.float32(factor))
    return Moments(scaled.count, scaled.mean / factor, scaled.squares / (factor * factor))


def _choose(condition: Array, left: Moments, right: Moments) -> Moments:
    parts = (np.where(condition, *pair) for pair in ((left.mean, right.mean), (left.squares, right.squares)))
    return Moments(left.count, *parts)


def join(left: Moments, right: Moments) -> Moments:
    """Joins moments by (2.1) of Chan, Golub and LeVeque, 1983."""
    count = left.count + right.count
    share = right.count / count
    apart = right.mean - left.mean
    squares = left.squares + (right.squares + apart * apart * (left.count * share))
    return Moments(count, left.mean + apart * share, squares)


def of_rows(rows: Array, of_block: Callable[[Array], Moments] = rescued) -> Moments:
    """Returns the moments of rows, whose blocks are computed by `of_block`."""
    return join_blocks([of_block(block) for block in blocks(rows)], join)
