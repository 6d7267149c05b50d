"""NumPy models of operations that compute a row of results from each row, such as layer_norm. They give the bits of the
kernels and follow the comments of core/ops, core/reduce/rows.h and core/reduce/moments.h."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.models import moments, reductions
from tests.models.tree import Array

TILE = 64  # elements per tile of cumulative_sum


def _along_axis(of_rows: Callable[..., Array]) -> Callable[..., Array]:
    """Returns the model of an operation with `axis` from its model of rows."""

    @functools.wraps(of_rows)
    def model(x: Array, *others: Array | None, axis: int | None = -1, **parameters: Any) -> Array:
        axis = 0 if axis is None else axis
        moved = np.moveaxis(x, axis, -1)
        if not x.size:
            return x.copy()
        result = of_rows(moved.reshape(-1, moved.shape[-1]), *others, **parameters)
        return np.moveaxis(result.reshape(moved.shape), -1, axis)

    return model


def _minmax(rows: Array) -> Array:
    """core/ops/minmax.h: the elements of a row, `low` and `high` are halved if `high - low` overflows."""
    low, high = reductions.smallest(rows)[:, None], reductions.largest(rows)[:, None]
    scale = np.where(high - low < np.inf, rows.dtype.type(1), rows.dtype.type(0.5))
    return (rows * scale - low * scale) / (high * scale - low * scale)


def _layer_norm(
    rows: Array, weight: Array | None = None, bias: Array | None = None, eps: float = 1e-5, is_rescaled: bool = False
) -> Array:
    """core/ops/layer_norm.h: the mean is subtracted in two parts. A row is rescaled and computed again if its
    sum of squared deviations overflows, or is tiny while eps is 0."""
    found = moments.of_rows(rows, moments.once_read)
    count = np.float64(found.count)
    high = found.mean.astype(rows.dtype)
    low = (found.mean - high).astype(rows.dtype)
    factor = np.sqrt(count / (found.squares + count * eps)).astype(rows.dtype)
    scaled = ((rows - high[:, None]) - low[:, None]) * factor[:, None]
    scaled = scaled * (rows.dtype.type(1) if weight is None else weight)
    result = scaled + (rows.dtype.type(-0.0) if bias is None else bias)
    if is_rescaled:
        return result
    limits = moments.LIMITS[rows.dtype.name]
    small = (found.squares < limits.small) & (eps == 0)
    for wrong, scale in ((~(found.squares < np.inf), 1 / limits.up), (small, limits.up)):
        again = _layer_norm(rows * rows.dtype.type(scale), weight, bias, eps * scale * scale, True)
        result = np.where(wrong[:, None], again, result)
    return result


def _rms_norm(rows: Array, weight: Array | None = None, eps: float = 1e-5) -> Array:
    """core/ops/rms_norm.h: squares are summed as in norm_l2."""
    count = np.float64(rows.shape[1])
    squares, factor = reductions.squares_in_range(rows)
    is_plain = (factor > 1) & (eps > 0)
    squares, factor = np.where(is_plain, squares / factor / factor, squares), np.where(is_plain, 1, factor)
    scale = (factor * np.sqrt(count / (squares + count * eps * factor * factor))).astype(rows.dtype)
    return rows * scale[:, None] * (rows.dtype.type(1) if weight is None else weight)


def _cumulative_sum(rows: Array) -> Array:
    """core/ops/cumulative_sum.h: Sklansky's prefix sums in tiles, plus the float64 or int64 sum of earlier tiles. With
    float64, what each of its additions lost is summed, too."""
    rows = rows.astype("i4") if rows.dtype == bool else rows
    is_float = rows.dtype.kind == "f"
    zero, wide = (-0.0, "f8") if is_float else (0, "i8")
    length = rows.shape[1]
    tiles = np.full((len(rows), -(-length // TILE), TILE), zero, rows.dtype)
    tiles.reshape(len(rows), -1)[:, :length] = rows
    half = 1
    while half < TILE:
        groups = tiles.reshape(*tiles.shape[:2], -1, 2, half)
        groups[:, :, :, 1] += groups[:, :, :, :1, -1]  # adds the lower half's total to each sum of the upper
        half *= 2
    before, lost = np.full(len(rows), zero, wide), np.zeros(len(rows), wide)
    for tile in range(tiles.shape[1]):
        total = tiles[:, tile, -1].copy()
        precise = np.where((lost != 0) & (lost == lost), before + lost, before)
        tiles[:, tile] += precise.astype(rows.dtype)[:, None]
        after = before + total
        if rows.dtype == "f8":
            virtual = after - before
            lost = lost + ((before - (after - virtual)) + (total - virtual))
        before = after
    return tiles.reshape(len(rows), -1)[:, :length]


minmax, layer_norm, rms_norm, cumulative_sum = map(_along_axis, (_minmax, _layer_norm, _rms_norm, _cumulative_sum))


MODELS = {"minmax": minmax, "layer_norm": layer_norm, "rms_norm": rms_norm, "cumulative_sum": cumulative_sum}
