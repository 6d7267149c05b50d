"""Operations on order and on what is not zero, composed of the extension's.

Their contracts say `kind: composed`; dispatch.py imports this module with the first call.
"""

from __future__ import annotations

from typing import Any

from lanewise import _ext
from lanewise._ext import Tensor
from lanewise.creation import tensor_of
from lanewise.errors import ArgumentError, ShapeError
from lanewise.shaping import axis_of, int_of

__all__ = ["topk"]


def topk(x: Any, k: int, *, axis: int = -1, largest: bool = True) -> tuple[Tensor, Tensor]:
    """The k largest, or smallest, elements along an axis in order, and their indices."""
    tensor = tensor_of("topk", "x", x)
    count, axis = int_of("topk", "k", k), axis_of("topk", axis, tensor.ndim)
    if count < 0:
        raise ArgumentError(f"topk: k is {count}; it must not be negative")
    if count > tensor.shape[axis]:
        raise ShapeError(f"topk: k is {count}, but axis {axis} has {tensor.shape[axis]} elements; give at most as many")
    indices = _ext.argsort_first(tensor, count, axis, largest)
    return _ext.take_along_axis(tensor, indices, axis=axis), indices
