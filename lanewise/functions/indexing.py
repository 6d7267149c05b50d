"""Indexing with arrays: integers, masks and lists, alone or mixed with slices, by NumPy's rules.

The extension handles keys of ints, slices, Ellipsis and None, and calls getitem and setitem here for other keys. First,
the basic part of the key (ints, slices and None) makes a view. Then arrays index the view, with one `take` or `put`
along one axis: several indexed axes are flattened into one, and their indices are combined into positions along it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from lanewise import _ext, dtypes
from lanewise._ext import Tensor
from lanewise.errors import (
    ArgumentTypeError,
    IndexOutOfRangeError,
    LanewiseError,
    RangeError,
    ShapeError,
    describe,
    named,
)
from lanewise.functions.creation import asarray, indices_of, mask_positions, tensor_of

__all__ = ["getitem", "setitem"]

_ALL = slice(None)


class _Group(NamedTuple):
    """Adjacent axes of the view, indexed by one array of the key: for a mask, as many axes as it has dimensions."""

    axis: int  # the first of these axes
    dimension: int  # index of this axis in the tensor, which differs from `axis` if the key has ints or None
    span: int  # number of axes
    indices: Tensor  # integers; for a mask, the row-major positions of its true elements


class _Plan(NamedTuple):
    """A key in two parts: `basic`, without arrays, makes a view; the arrays in `groups` index axes of that view."""

    basic: tuple[Any, ...]
    groups: list[_Group]
    position: int  # axis of the result at which the dimensions of the index arrays begin

    def index_shape(self) -> tuple[int, ...]:
        """Returns the shape to which the index arrays broadcast."""
        shapes = [group.indices.shape for group in self.groups]
        shape: list[int] = [1] * max(map(len, shapes))
        for one in shapes:
            for axis, extent in enumerate(one, start=len(shape) - len(one)):
                if extent != 1 and shape[axis] not in (1, extent):
                    raise ShapeError(f"expected index arrays that broadcast together, got shapes {shapes}")
                shape[axis] = extent if shape[axis] == 1 else shape[axis]
        return tuple(shape)


def getitem(tensor: Tensor, key: Any) -> Tensor:
    """Returns tensor[key] for a key with arrays: a copy, or a view if these are all 0-dimensional integers.

    >>> import lanewise as lw
    >>> x = lw.arange(6).reshape(2, 3)
    >>> x[:, [2, 0]]
    Tensor([[2, 0],
            [5, 3]])
    >>> x[x > 3]
    Tensor([4, 5])
    """
    if isinstance(key, Tensor) and tensor.ndim and (found := _selected(tensor, key)) is not None:
        return found
    plan = _resolve(tensor, key)
    view = tensor[plan.basic]
    if not plan.groups:  # every array was 0-dimensional and became an int
        return view
    if len(plan.groups) == 1 and plan.groups[0].span == 1:
        group = plan.groups[0]
        with _naming_tensor_axis(group, view):
            taken = _ext.take(view, group.indices, axis=group.axis)
        return _move(taken, group.axis, plan.position, group.indices.ndim)
    order, extents, others = _indexed_axes_first(view, plan)
    flat = view.permute_dims(order).reshape((math.prod(extents), *others))
    positions = _positions(plan, extents)
    return _move(_ext.take(flat, positions, axis=0), 0, plan.position, positions.ndim)


@named("setitem", "getitem", "put")  # setitem itself calls tensor[key] and put()
def setitem(tensor: Tensor, key: Any, value: Any) -> None:
    """Assigns tensor[key] = value for a key with arrays. If an index repeats, the last of its values is kept.

    >>> import lanewise as lw
    >>> x = lw.zeros(4)
    >>> x[[0, 2]] = [1.0, 2.0]
    >>> x[x == 0] = -1
    >>> x
    Tensor([ 1., -1.,  2., -1.])
    """
    plan = _resolve(tensor, key)
    if not plan.groups:
        tensor[plan.basic] = value
        return
    view = tensor[plan.basic]
    order, extents, others = _indexed_axes_first(view, plan)
    index_shape = plan.index_shape()
    group = plan.groups[0]
    is_single = len(plan.groups) == 1 and group.span == 1
    if not isinstance(value, int | float):  # put() broadcasts a number, and refuses one that does not fit the dtype
        shape = (*others[: plan.position], *index_shape, *others[plan.position :])
        values = _broadcast(_values(value, tensor.dtype), shape)
        value = _move(values, plan.position, group.axis if is_single else 0, len(index_shape))
    if is_single:
        with _naming_tensor_axis(group, view):
            _ext.put(view, group.indices, value, group.axis)
        return
    ordered = view.permute_dims(order)
    flat_shape = (math.prod(extents), *others)
    positions = _positions(plan, extents)
    if ordered.is_contiguous:
        _ext.put(ordered.reshape(flat_shape), positions, value, 0)
    else:  # no view can flatten the indexed axes: write to a copy, then copy it back
        copy = ordered.copy()
        _ext.put(copy.reshape(flat_shape), positions, value, 0)
        ordered[...] = copy


def _selected(tensor: Tensor, key: Tensor) -> Tensor | None:
    """Returns what a tensor of indices of the first axis, or a mask of all elements, selects: most keys are one of
    them, and a plan takes ten microseconds in a browser. Returns None for others, and if an index is out of range."""
    if key.dtype is dtypes.bool:
        if key.shape != tensor.shape:
            return None
        return _ext.take(tensor.reshape(-1), mask_positions(key), axis=0)
    if not key.ndim or key.dtype.kind == "f":
        return None
    try:
        return _ext.take(tensor, key, axis=0)
    except IndexOutOfRangeError:  # whose text names another axis than the error for a key does
        return None


def _values(value: Any, dtype: dtypes.DType) -> Tensor:
    """Returns what is assigned to a tensor of a dtype, which is that of numbers in lists, too."""
    if isinstance(value, list | tuple):
        try:
            return asarray(value, dtype)
        except RangeError as error:
            error.operation = "setitem"
            raise
        except LanewiseError:  # floats for an integer tensor are truncated, as in NumPy; others are refused below
            pass
    return _ext.astype(tensor_of("value", value), dtype)


def _resolve(tensor: Tensor, key: Any) -> _Plan:
    entries = [_entry(one) for one in (key if isinstance(key, tuple) else (key,))]
    _expand_ellipsis(tensor, entries)
    basic: list[Any] = []
    groups: list[_Group] = []
    arrays_at: list[int] = []  # where in the key the arrays are, and the ints, which count as arrays here
    axis = dimension = position = 0  # next axis of the view, next axis of the tensor, and _Plan.position
    for place, entry in enumerate(entries):
        if entry is Ellipsis:  # this Ellipsis covers no dimension, but separates the arrays around it
            continue
        if entry is None or isinstance(entry, slice):
            basic.append(entry)
            axis += 1
            dimension += entry is not None
            continue
        position = position if arrays_at else axis
        arrays_at.append(place)
        if isinstance(entry, int) and not isinstance(entry, bool):
            basic.append(entry)
            dimension += 1
            continue
        group, consumed = _group(tensor, entry, axis, dimension)
        basic.extend([_ALL] * consumed if consumed else [None])
        groups.append(group)
        axis += group.span
        dimension += consumed
    together = arrays_at[-1] - arrays_at[0] == len(arrays_at) - 1
    # NumPy's rule: if anything separates the arrays, the dimensions of the indices come first in the result
    return _Plan(tuple(basic), groups, position if together else 0)


def _entry(one: Any) -> Any:
    """Returns one part of a key as None, Ellipsis, a slice, an int, a bool, or a tensor of ints or bools."""
    if one is None or one is Ellipsis or isinstance(one, slice | bool | int):
        return one
    if not hasattr(one, "shape") and hasattr(type(one), "__index__"):
        return operator.index(one)
    if isinstance(one, str | bytes) or not (hasattr(one, "__len__") or hasattr(one, "shape")):
        raise ArgumentTypeError(
            f"expected ints, slices, Ellipsis, None, or arrays of ints or bools, got {describe(one)}"
        )
    array = indices_of("index", one)
    if array.dtype.kind == "f":
        raise ArgumentTypeError(f"expected arrays of ints or bools, got {array.dtype}; use astype")
    if array.ndim == 0:
        return bool(array) if array.dtype is dtypes.bool else int(array)
    return array


def _expand_ellipsis(tensor: Tensor, entries: list[Any]) -> None:
    """Adds a full slice for each dimension that the key leaves out: in place of the Ellipsis, or else at the end."""
    used = 0
    for entry in entries:
        if entry is None or entry is Ellipsis or isinstance(entry, bool):
            continue
        used += entry.ndim if _is_mask(entry) else 1
    if used > tensor.ndim:
        raise IndexOutOfRangeError(
            f"expected at most {tensor.ndim} indices for a tensor of shape {tensor.shape}, got {used}"
        )
    places = [place for place, entry in enumerate(entries) if entry is Ellipsis]
    if len(places) > 1:
        raise IndexOutOfRangeError(f"expected at most one Ellipsis (...), got {len(places)}")
    place = places[0] if places else len(entries)
    entries[place : place + (1 if used < tensor.ndim else 0)] = [_ALL] * (tensor.ndim - used)


def _is_mask(entry: Any) -> bool:
    return getattr(entry, "dtype", None) is dtypes.bool


def _group(tensor: Tensor, entry: Any, axis: int, dimension: int) -> tuple[_Group, int]:
    """Returns the group of an array or bool, and how many of the tensor's dimensions it indexes: none for a bool."""
    if isinstance(entry, bool):  # True adds an axis of extent 1, False one of extent 0
        chosen = [0] if entry else []
        return _Group(axis, dimension, 1, asarray(chosen, dtype=dtypes.int32)), 0
    if not _is_mask(entry):
        return _Group(axis, dimension, 1, entry), 1
    covered = tensor.shape[dimension : dimension + entry.ndim]
    # A mask without elements selects nothing, so an extent of 0 fits every dimension, as in the array API and NumPy.
    if any(extent not in (0, size) for extent, size in zip(entry.shape, covered, strict=True)):
        message = f"expected a mask of shape {covered}, to match the dimensions it indexes, got {entry.shape}"
        raise IndexOutOfRangeError(message)
    return _Group(axis, dimension, entry.ndim, mask_positions(entry)), entry.ndim


def _indexed_axes_first(view: Tensor, plan: _Plan) -> tuple[list[int], list[int], list[int]]:
    """Returns three lists: all axes of the view, the indexed ones first; for each group, the product of the extents
    of its axes; and the extents of the other axes."""
    indexed = [axis for group in plan.groups for axis in range(group.axis, group.axis + group.span)]
    others = [axis for axis in range(view.ndim) if axis not in indexed]
    extents = [math.prod(view.shape[group.axis : group.axis + group.span]) for group in plan.groups]
    return indexed + others, extents, [view.shape[axis] for axis in others]


def _positions(plan: _Plan, extents: Sequence[int]) -> Tensor:
    """Returns the indices of all groups combined: row-major positions in the indexed axes."""
    if len(plan.groups) == 1:
        return plan.groups[0].indices
    if math.prod(extents) >= 2**31:
        raise IndexOutOfRangeError(
            f"expected fewer than 2^31 elements in the indexed axes, got extents {tuple(extents)}"
        )
    shape = plan.index_shape()
    if 0 in shape:  # as in NumPy, the indices are not checked, because none is used
        return asarray([], dtype=dtypes.int32).reshape(shape)
    total = _nonnegative_indices(plan.groups[0], extents[0])
    for group, extent in zip(plan.groups[1:], extents[1:], strict=True):
        total = _ext.add(_ext.multiply(total, extent), _nonnegative_indices(group, extent))
    return _ext.broadcast_to(total, shape)


def _nonnegative_indices(group: _Group, extent: int) -> Tensor:
    """Returns a group's indices, negative ones plus `extent`. Raises IndexOutOfRangeError if any is out of range."""
    indices = _ext.astype(group.indices, group.indices.dtype)  # where it is computed: on a GPU, one copy for all calls
    if bool(_ext.any(_outside(indices, extent))):
        raise _out_of_range(group, extent)
    indices = _ext.astype(indices, dtypes.int32, copy=False)
    return _ext.where(_ext.less(indices, 0), _ext.add(indices, extent), indices)


def _outside(indices: Tensor, extent: int) -> Tensor:
    return _ext.logical_or(_ext.less(indices, -extent), _ext.less(extent - 1, indices))


@contextmanager
def _naming_tensor_axis(group: _Group, view: Tensor) -> Iterator[None]:
    """Replaces a kernel's index error, which names the axis of the view, by one that names the axis of the tensor."""
    try:
        yield
    except IndexOutOfRangeError:
        raise _out_of_range(group, view.shape[group.axis]) from None


def _out_of_range(group: _Group, extent: int) -> IndexOutOfRangeError:
    """Returns an error with the first index that is out of range and the axis of the tensor that it indexes."""
    first = int(_ext.mask_indices(_outside(group.indices, extent))[0])
    wrong = int(group.indices.reshape(-1)[first])
    return IndexOutOfRangeError(f"index {wrong} is out of range for axis {group.dimension} of extent {extent}")


def _move(tensor: Tensor, source: int, destination: int, count: int) -> Tensor:
    """Moves `count` dimensions from `source` to `destination`."""
    if source == destination or count == 0:
        return tensor
    moved = list(range(source, source + count))
    order = [axis for axis in range(tensor.ndim) if axis not in moved]
    order[destination:destination] = moved
    return tensor.permute_dims(order)


def _broadcast(values: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Broadcasts values for an assignment, ignoring extra leading dimensions of extent 1, as NumPy does."""
    while values.ndim > len(shape) and values.shape[0] == 1:
        values = values.reshape(values.shape[1:])
    try:
        return _ext.broadcast_to(values, shape)
    except ShapeError:
        raise ShapeError(f"expected values that broadcast to shape {shape}, got shape {values.shape}") from None
