"""Products made of others: matrices with vectors, vectors with vectors, attention step by step.

Their contracts say `kind: composed`; the extension hands the calls here through dispatch.py, which imports this module
with the first of them.
"""

from __future__ import annotations

import math
from typing import Any

from lanewise import _ext
from lanewise._ext import Tensor
from lanewise.creation import tensor_of
from lanewise.errors import ArgumentError, ShapeError

__all__ = ["attention_scores", "matvec", "outer", "vecmat", "weighted_sum"]


def matvec(x1: Any, x2: Any, *, out: Tensor | None = None) -> Tensor:
    """Matrices times vectors: x1 (..., m, n), x2 (..., n)."""
    matrix, vector = tensor_of("matvec", "x1", x1), tensor_of("matvec", "x2", x2)
    _check("matvec", matrix, vector, matrix.shape[-1:], "(..., m, n) and (..., n)")
    if vector.ndim == 1:
        return _ext.matmul(matrix, vector, out=out)
    return _product("matvec", matrix, _ext.expand_dims(vector, -1), -1, out)


def vecmat(x1: Any, x2: Any, *, out: Tensor | None = None) -> Tensor:
    """Vectors times matrices: x1 (..., n), x2 (..., n, m)."""
    vector, matrix = tensor_of("vecmat", "x1", x1), tensor_of("vecmat", "x2", x2)
    _check("vecmat", matrix, vector, matrix.shape[-2:-1], "(..., n) and (..., n, m)")
    if vector.ndim == 1:
        return _ext.matmul(vector, matrix, out=out)
    return _product("vecmat", _ext.expand_dims(vector, -2), matrix, -2, out)


def _check(operation: str, matrix: Tensor, vector: Tensor, wanted: tuple[int, ...], shapes: str) -> None:
    """`wanted` is the matrix's extent that meets the vector."""
    if matrix.ndim < 2 or vector.ndim < 1 or vector.shape[-1:] != wanted:
        raise ShapeError(
            f"{operation}: a matrix of shape {matrix.shape} and a vector of shape {vector.shape} do not align; "
            f"{shapes} are wanted"
        )


def _product(operation: str, left: Tensor, right: Tensor, axis: int, out: Tensor | None) -> Tensor:
    """Of matrices, without the axis that vectors were given."""
    if out is None:
        return _ext.squeeze(_ext.matmul(left, right), axis)
    try:
        _ext.matmul(left, right, out=_ext.expand_dims(out, axis) if isinstance(out, Tensor) else out)
    except ShapeError:
        wanted = _ext.squeeze(_ext.matmul(left, right), axis).shape
        raise ShapeError(
            f"{operation}: out has shape {out.shape}, the result {wanted}; give an out of that shape"
        ) from None
    return out


def outer(x1: Any, x2: Any, *, out: Tensor | None = None) -> Tensor:
    """Every element of one vector times every element of another."""
    rows, columns = tensor_of("outer", "x1", x1), tensor_of("outer", "x2", x2)
    if rows.ndim != 1 or columns.ndim != 1:
        raise ShapeError(
            f"outer: shapes {rows.shape} and {columns.shape} were given; two vectors are wanted, use reshape(-1)"
        )
    return _ext.multiply(_ext.expand_dims(rows, 1), columns, out=out)


def attention_scores(query: Any, keys: Any, *, scale: float | None = None) -> Tensor:
    """The scaled dot product of each query with each key: (..., d) or (..., m, d) with (..., n, d)."""
    rows, columns = tensor_of("attention_scores", "query", query), tensor_of("attention_scores", "keys", keys)
    if rows.ndim < 1 or columns.ndim < 2 or rows.shape[-1] != columns.shape[-1]:
        raise ShapeError(
            f"attention_scores: a query of shape {rows.shape} and keys of shape {columns.shape} do not align; (..., m, "
            "d) and (..., n, d) are wanted"
        )
    if scale is None and rows.shape[-1] == 0:
        raise ArgumentError("attention_scores: the query has no elements, so 1 / sqrt(d) is no number; give a scale")
    factor = 1 / math.sqrt(rows.shape[-1]) if scale is None else _ext.number_of("attention_scores", "scale", scale)
    return _ext.multiply(_ext.matmul(rows, columns.mT), factor)


def weighted_sum(weights: Any, rows: Any) -> Tensor:
    """The sum of rows, each times its weight: (..., n) or (..., m, n) with (..., n, d)."""
    factors, values = tensor_of("weighted_sum", "weights", weights), tensor_of("weighted_sum", "rows", rows)
    if factors.ndim < 1 or values.ndim < 2 or factors.shape[-1] != values.shape[-2]:
        raise ShapeError(
            f"weighted_sum: weights of shape {factors.shape} and rows of shape {values.shape} do not align; (..., m, "
            "n) and (..., n, d) are wanted"
        )
    return _ext.matmul(factors, values)
