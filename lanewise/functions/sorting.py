"""topk and nonzero, composed of other operations.

Their contracts say `kind: composed`. dispatch.py imports this module at the first call of one of them.
"""

from __future__ import annotations

from typing import Any

from lanewise import _ext, dtypes
from lanewise._ext import Tensor
from lanewise.errors import ShapeError
from lanewise.functions.arguments import normalize_axis, to_bool, to_int
from lanewise.functions.creation import asarray, mask_positions, tensor_of
from lanewise.functions.results import TopkResult

__all__ = ["nonzero", "topk"]

_LARGE_MASK = 1 << 14  # elements of what a GPU searches itself, as in mask_indices() of gather.c


def topk(x: Any, k: int, axis: int = -1, *, largest: bool = True) -> TopkResult:
    """Returns the k largest, or smallest, elements along an axis, sorted, and their indices."""
    tensor = tensor_of("x", x)
    count, axis = to_int("k", k, minimum=0), normalize_axis(axis, tensor.ndim)
    if count > tensor.shape[axis]:
        raise ShapeError(f"expected k of at most {tensor.shape[axis]}, the extent of axis {axis}, got {count}")
    indices = _ext.argsort_first(tensor, count, axis, to_bool("largest", largest))
    return TopkResult(_ext.take_along_axis(tensor, indices, axis=axis), indices)


def nonzero(x: Any) -> tuple[Tensor, ...]:
    """Returns the indices of the elements that are not zero, as one tensor for each axis."""
    tensor = tensor_of("x", x)
    if tensor.ndim == 0 or tensor.size >= 2**31:
        raise ShapeError(f"expected at least 1 dimension and fewer than 2^31 elements, got shape {tensor.shape}")
    is_on_gpu, is_large = tensor.backend.is_gpu, tensor.size >= _LARGE_MASK
    is_mask = tensor.dtype is dtypes.bool or (is_on_gpu and not is_large)
    # row-major; the loop splits them into indices, last axis first
    positions = mask_positions(tensor if is_mask else _ext.not_equal(tensor, 0))
    if tensor.ndim == 1:  # may be a view of the positions of all elements, whose memory is not kept
        return (asarray(positions, copy=True) if is_on_gpu and is_large else positions,)
    indices = []
    for extent in reversed(tensor.shape[1:]):
        indices.append(_ext.remainder(positions, extent))
        positions = _ext.floor_divide(positions, extent)
    return (positions, *reversed(indices))
