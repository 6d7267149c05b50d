"""Statistics and normalizations composed of other operations.

Their contracts say `kind: composed`. dispatch.py imports this module at the first call of one of them.
"""

from __future__ import annotations

import math
from typing import Any

from lanewise import _ext
from lanewise._ext import Tensor
from lanewise.errors import ShapeError
from lanewise.functions.arguments import normalize_axis, to_bool
from lanewise.functions.creation import eye, tensor_of

__all__ = ["add_rms_norm", "corrcoef", "correlation", "cov", "covariance", "normalize", "zscore"]


def normalize(x: Any, *, axis: int = -1, eps: float = 1e-12) -> Tensor:
    """Divides the vectors along an axis by their length, or by eps if eps is larger."""
    tensor = tensor_of("x", x)
    length = _ext.norm_l2(tensor, axis=_one_axis(axis, tensor), keepdims=True)
    return _ext.divide(tensor, _ext.maximum(length, _ext.number_of("normalize", "eps", eps)))


def zscore(x: Any, axis: int = -1, *, correction: float = 0.0) -> Tensor:
    """Returns each element's difference from the mean along an axis, in standard deviations."""
    tensor = tensor_of("x", x)
    scaled = _ext.layer_norm(tensor, axis=axis, eps=0.0)
    degrees = max(tensor.shape[axis] - _ext.number_of("zscore", "correction", correction), 0.0)  # as in var
    if degrees == tensor.shape[axis]:
        return scaled
    return _ext.multiply(scaled, math.sqrt(degrees / tensor.shape[axis]))


def add_rms_norm(
    x: Any, residual: Any, weight: Any = None, *, axis: int = -1, eps: float = 1e-5
) -> tuple[Tensor, Tensor]:
    """Returns rms_norm(x + residual) and the sum x + residual, the residual for the next layer."""
    total = _ext.add(tensor_of("x", x), tensor_of("residual", residual))
    scale = None if weight is None else tensor_of("weight", weight)
    return _ext.rms_norm(total, scale, axis=axis, eps=eps), total


def covariance(x1: Any, x2: Any, *, axis: int = -1, correction: float = 0.0) -> Tensor:
    """Returns the covariance of the vectors of x1 and x2 along an axis."""
    first, second = _pair(x1, x2, axis)
    degrees = max(first.shape[axis] - _ext.number_of("covariance", "correction", correction), 0.0)
    return _ext.divide(_ext.vecdot(first, second, axis=axis), degrees)


def correlation(x1: Any, x2: Any, *, axis: int = -1) -> Tensor:
    """Returns Pearson's correlation of the vectors of x1 and x2 along an axis."""
    first, second = (_unit(each, axis) for each in _pair(x1, x2, axis))
    result = _ext.clip(_ext.vecdot(first, second, axis=axis), -1.0, 1.0)
    return result if first.shape[axis] else _ext.divide(result, 0.0)  # 0 / 0 = NaN for empty vectors


def cov(x: Any, y: Any = None, *, rowvar: bool = True, correction: float = 1.0) -> Tensor:
    """Returns the covariance matrix of the variables in the rows of x and y, or in their columns."""
    rows = _variables(x, y, rowvar)
    degrees = max(rows.shape[-1] - _ext.number_of("cov", "correction", correction), 0.0)
    return _ext.squeeze(_ext.divide(_ext.matmul(rows, rows.mT), degrees))


def corrcoef(x: Any, y: Any = None, *, rowvar: bool = True) -> Tensor:
    """Returns the correlation matrix of the variables in the rows of x and y, or in their columns."""
    rows = _unit(_variables(x, y, rowvar), -1)
    products = _ext.clip(_ext.matmul(rows, rows.mT), -1.0, 1.0)
    diagonal = eye(products.shape[0], dtype=bool)
    return _ext.squeeze(_ext.where(diagonal, _ext.divide(products, products), products))  # the diagonal is 1 or NaN


def _centered(x: Tensor, axis: int) -> Tensor:
    """Subtracts the mean twice: a large mean has a rounding error, so the first difference still has a small mean."""
    x = _ext.shifted(x, axis)
    x = _ext.subtract(x, _ext.mean(x, axis=axis, keepdims=True))
    return _ext.subtract(x, _ext.mean(x, axis=axis, keepdims=True))


def _unit(x: Tensor, axis: int) -> Tensor:
    """Divides the vectors along an axis by their length; vectors of length 0 become NaN."""
    return _ext.divide(x, _ext.norm_l2(x, axis=axis, keepdims=True))


def _pair(x1: Any, x2: Any, axis: int) -> tuple[Tensor, Tensor]:
    first, second = tensor_of("x1", x1), tensor_of("x2", x2)
    _one_axis(axis, first)
    return _centered(first, axis), _centered(second, axis)


def _one_axis(axis: int, x: Tensor) -> int:
    """Returns an axis from 0 to ndim - 1. Raises an error for None and tuples, which mean and norm_l2 accept."""
    if x.ndim == 0:
        raise ShapeError("expected a tensor with at least 1 dimension, got shape ()")
    return normalize_axis(axis, x.ndim)


def _variables(x: Any, y: Any, rowvar: bool) -> Tensor:
    """Returns one matrix with a centered variable per row: the rows of x and y or, unless `rowvar`, their columns."""
    in_rows = to_bool("rowvar", rowvar)
    parts = []
    for name, value in {"x": x, "y": y}.items() if y is not None else [("x", x)]:
        part = tensor_of(name, value)
        if part.ndim not in (1, 2):
            raise ShapeError(f"expected {name} of shape (n,), or (m, n) for several variables, got {part.shape}")
        parts.append(_ext.expand_dims(part, 0) if part.ndim == 1 else part if in_rows else part.mT)
    if len(parts) == 2 and parts[0].shape[1] != parts[1].shape[1]:
        raise ShapeError(f"expected as many observations in x as in y, got {parts[0].shape[1]} and {parts[1].shape[1]}")
    parts = [_centered(part, -1) for part in parts]
    return _ext.concat(parts, axis=0) if len(parts) == 2 else parts[0]
