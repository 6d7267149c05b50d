"""Models of operations that call other operations, from the formulas of their contracts and the docstrings of
lanewise/functions/statistics.py; and of operations whose contracts have no reference to compare with: asarray, and
those that return several tensors."""

from __future__ import annotations

import math

import numpy as np
from generator.references import order

from tests.models import reductions, rows
from tests.models.tree import Array


def _length(x: Array, axis: int) -> Array:
    return reductions.ALONG_AXES["norm_l2"](x, axis=axis, keepdims=True)


def _centered(x: Array, axis: int) -> Array:
    """Subtracts the mean, then the mean of the differences, to remove the rounding error of the first mean."""
    for _ in range(2):
        x = x - reductions.ALONG_AXES["mean"](x, axis=axis, keepdims=True)
    return x


def normalize(x: Array, axis: int = -1, eps: float = 1e-12) -> Array:
    """x / max(norm_l2(x), eps)."""
    return x / np.maximum(_length(x, axis), np.float32(eps))


def zscore(x: Array, axis: int = -1, correction: float = 0.0) -> Array:
    """layer_norm with eps = 0, times sqrt((n - correction) / n)."""
    scaled = rows.layer_norm(x, axis=axis, eps=0.0)
    count = x.shape[axis]
    degrees = max(count - correction, 0.0)
    return scaled if degrees == count else scaled * np.float32(math.sqrt(degrees / count))


def covariance(x1: Array, x2: Array, axis: int = -1, correction: float = 0.0) -> Array:
    """The dot product of the deviations of x1 and x2, divided by n - correction."""
    products = reductions.vecdot(_centered(x1, axis), _centered(x2, axis), axis)
    return products / np.float32(max(x1.shape[axis] - correction, 0.0))


def correlation(x1: Array, x2: Array, axis: int = -1) -> Array:
    """The dot product of the deviations, each divided by its norm, clipped to [-1, 1]; NaN for empty vectors."""
    units = [each / _length(each, axis) for each in (_centered(x1, axis), _centered(x2, axis))]
    result = np.clip(reductions.vecdot(*units, axis), np.float32(-1), np.float32(1))
    return result if x1.shape[axis] else np.full_like(result, np.nan)


def add_rms_norm(
    x: Array, residual: Array, weight: Array | None = None, axis: int = -1, eps: float = 1e-5
) -> tuple[Array, Array]:
    """(rms_norm(x + residual), x + residual)."""
    total = x + residual
    return rows.rms_norm(total, weight, axis=axis, eps=eps), total


def topk(x: Array, k: int, axis: int = -1, largest: bool = True) -> tuple[Array, Array]:
    """The k largest or smallest elements, sorted, and their indices; equal elements keep their order."""
    chosen = np.take(order(x, axis, largest), range(k), axis)
    return np.take_along_axis(x, chosen, axis), chosen.astype("i4")


MODELS = {
    **{each.__name__: each for each in (normalize, zscore, covariance, correlation, add_rms_norm, topk)},
    "split": np.split,
    "nonzero": lambda x: tuple(each.astype("i4") for each in np.nonzero(x)),  # NaN is nonzero
    "asarray": lambda x: x,
}
