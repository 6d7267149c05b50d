"""Products composed of other operations: matrix-vector products, outer products, and the steps of attention.

Their contracts say `kind: composed`. dispatch.py imports this module at the first call of one of them.
"""

from __future__ import annotations

import math
from typing import Any

from lanewise import _ext
from lanewise._ext import Tensor
from lanewise.errors import ArgumentError, ShapeError
from lanewise.functions.creation import tensor_of

__all__ = ["attention_scores", "matvec", "outer", "vecmat", "weighted_sum"]


def matvec(x1: Any, x2: Any, *, out: Tensor | None = None) -> Tensor:
    """Multiplies matrices by vectors: x1 (..., m, n), x2 (..., n)."""
    matrix, vector = tensor_of("x1", x1), tensor_of("x2", x2)
    _check_shapes(matrix, vector, matrix.shape[-1:], "(..., m, n) and (..., n)")
    if vector.ndim == 1:
        return _ext.matmul(matrix, vector, out=out)
    return _product(matrix, _ext.expand_dims(vector, -1), -1, out)


def vecmat(x1: Any, x2: Any, *, out: Tensor | None = None) -> Tensor:
    """Multiplies vectors by matrices: x1 (..., n), x2 (..., n, m)."""
    vector, matrix = tensor_of("x1", x1), tensor_of("x2", x2)
    _check_shapes(matrix, vector, matrix.shape[-2:-1], "(..., n) and (..., n, m)")
    if vector.ndim == 1:
        return _ext.matmul(vector, matrix, out=out)
    return _product(_ext.expand_dims(vector, -2), matrix, -2, out)


def _check_shapes(matrix: Tensor, vector: Tensor, extent: tuple[int, ...], shapes: str) -> None:
    """Raises ShapeError unless the vector's last extent equals `extent`, the extent of the matrix axis to sum over."""
    if matrix.ndim < 2 or vector.ndim < 1 or vector.shape[-1:] != extent:
        raise ShapeError(
            f"expected shapes {shapes}, got a matrix of shape {matrix.shape} and a vector of shape {vector.shape}"
        )


def _product(left: Tensor, right: Tensor, axis: int, out: Tensor | None) -> Tensor:
    """Multiplies a matrix and a vector, to which the caller has added `axis`, and removes this axis from the result."""
    if out is None:
        return _ext.squeeze(_ext.matmul(left, right), axis)
    try:
        _ext.matmul(left, right, out=_ext.expand_dims(out, axis) if isinstance(out, Tensor) else out)
    except ShapeError:
        shape = _ext.squeeze(_ext.matmul(left, right), axis).shape
        raise ShapeError(f"expected out of shape {shape}, got {out.shape}") from None
    return out


def outer(x1: Any, x2: Any, *, out: Tensor | None = None) -> Tensor:
    """Multiplies every element of one vector by every element of another."""
    rows, columns = tensor_of("x1", x1), tensor_of("x2", x2)
    if rows.ndim != 1 or columns.ndim != 1:
        raise ShapeError(f"expected two vectors, got shapes {rows.shape} and {columns.shape}; use reshape(-1)")
    return _ext.multiply(_ext.expand_dims(rows, 1), columns, out=out)


def attention_scores(query: Any, keys: Any, *, scale: float | None = None) -> Tensor:
    """Returns the scaled dot product of each query (..., d) or (..., m, d) with each key (..., n, d)."""
    rows, columns = tensor_of("query", query), tensor_of("keys", keys)
    if rows.ndim < 1 or columns.ndim < 2 or rows.shape[-1] != columns.shape[-1]:
        raise ShapeError(
            f"expected shapes (..., m, d) and (..., n, d), got query {rows.shape} and keys {columns.shape}"
        )
    if scale is None and rows.shape[-1] == 0:
        raise ArgumentError("expected a scale for vectors of extent 0, got None; 1 / sqrt(0) is infinite")
    factor = 1 / math.sqrt(rows.shape[-1]) if scale is None else _ext.number_of("attention_scores", "scale", scale)
    return _ext.multiply(_ext.matmul(rows, columns.mT), factor)


def weighted_sum(weights: Any, rows: Any) -> Tensor:
    """Sums rows (..., n, d) multiplied by weights: one sum for weights (n,), m sums for (..., m, n)."""
    factors, values = tensor_of("weights", weights), tensor_of("rows", rows)
    if factors.ndim < 1 or values.ndim < 2 or factors.shape[-1] != values.shape[-2]:
        raise ShapeError(
            "expected shapes (n,) or (..., m, n) and (..., n, d), got weights of shape "
            f"{factors.shape} and rows of shape {values.shape}"
        )
    return _ext.matmul(factors, values)
