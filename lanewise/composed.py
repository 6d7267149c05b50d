"""Operations made of others, without kernels of their own.

Their contracts say `kind: composed`; the extension hands the calls here through dispatch.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lanewise import creation, placement
from lanewise._ext import Tensor
from lanewise.errors import ArgumentError, ArgumentTypeError, AxisError, ShapeError
from lanewise.typeinfo import result_type

__all__ = ["concat"]


def concat(arrays: Iterable[Any], *, axis: int | None = 0) -> Tensor:
    """Tensors joined along an existing axis, or, with None, their elements joined."""
    if isinstance(arrays, Tensor) or not isinstance(arrays, Iterable):
        raise ArgumentTypeError(f"concat: a {type(arrays).__name__} was given; give a list or tuple of tensors")
    parts = [creation.asarray(array) for array in arrays]
    if not parts:
        raise ArgumentError("concat: there is nothing to join; give at least one tensor")
    backend = placement.common(parts, "concat")
    dtype = result_type(*parts)
    if axis is None:
        parts = [part.reshape(-1) for part in parts]
        axis = 0
    axis = _axis(axis, parts[0].ndim)
    shape = list(parts[0].shape)
    for part in parts[1:]:
        if part.ndim != len(shape) or any(
            extent != shape[place] for place, extent in enumerate(part.shape) if place != axis
        ):
            raise ShapeError(
                f"concat: shapes {parts[0].shape} and {part.shape} do not fit; they must be equal but for axis {axis}"
            )
    shape[axis] = sum(part.shape[axis] for part in parts)
    joined = creation.empty(shape, dtype)
    before = (slice(None),) * axis
    start = 0
    for part in parts:
        stop = start + part.shape[axis]
        joined[(*before, slice(start, stop))] = part
        start = stop
    return joined if backend is None else placement.move(joined, backend)


def _axis(axis: Any, ndim: int) -> int:
    if not isinstance(axis, int):
        raise ArgumentTypeError(f"concat: axis is {axis!r}; give an int or None")
    if not -ndim <= axis < ndim:
        raise AxisError(f"concat: axis {axis} is out of range for tensors of {ndim} dimensions")
    return axis % ndim
