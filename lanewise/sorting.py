"""Operations on order and on what is not zero, composed of the extension's.

Their contracts say `kind: composed`; dispatch.py imports this module with the first call.
"""

from __future__ import annotations

from typing import Any

from lanewise import _ext, dtypes
from lanewise._ext import Tensor
from lanewise.arguments import normalize_axis, to_bool, to_int
from lanewise.creation import tensor_of
from lanewise.errors import ShapeError
from lanewise.results import TopkResult

__all__ = ["nonzero", "topk"]


def topk(x: Any, k: int, axis: int = -1, *, largest: bool = True) -> TopkResult:
    """The k largest, or smallest, elements along an axis in order, and their indices."""
    tensor = tensor_of("topk", "x", x)
    count, axis = to_int("topk", "k", k, minimum=0), normalize_axis("topk", axis, tensor.ndim)
    if count > tensor.shape[axis]:
        raise ShapeError(f"topk: k is {count}, but axis {axis} has {tensor.shape[axis]} elements; give at most as many")
    indices = _ext.argsort_first(tensor, count, axis, to_bool("topk", "largest", largest))
    return TopkResult(_ext.take_along_axis(tensor, indices, axis=axis), indices)


def nonzero(x: Any) -> tuple[Tensor, ...]:
    """Where elements are not zero: for each axis the indices of all of them."""
    tensor = tensor_of("nonzero", "x", x)
    if tensor.ndim == 0 or tensor.size >= 2**31:
        raise ShapeError(
            f"nonzero: x has shape {tensor.shape}; at least one dimension is wanted, and fewer than 2^31 elements"
        )
    mask = tensor if tensor.dtype is dtypes.bool else _ext.not_equal(tensor, 0)
    rest = _ext.mask_indices(mask)
    found = []
    for extent in reversed(tensor.shape[1:]):  # positions, taken apart from the last axis on
        found.append(_ext.remainder(rest, max(extent, 1)))
        rest = _ext.floor_divide(rest, max(extent, 1))
    return (rest, *reversed(found))
