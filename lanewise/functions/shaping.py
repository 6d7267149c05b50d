"""Operations that move elements without computing; some return views, others copies.

Their contracts say `kind: view` or `kind: composed`. dispatch.py imports this module at the first call of one of them.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from itertools import repeat as times
from typing import Any, Final

from lanewise import _ext
from lanewise._ext import Tensor
from lanewise.errors import ArgumentError, ArgumentTypeError, AxisError, DTypeError, ShapeError, describe, describe_type
from lanewise.functions import creation
from lanewise.functions.arguments import is_ordered, normalize_axes, normalize_axis, to_int
from lanewise.functions.creation import indices_of, tensor_of
from lanewise.typeinfo import result_type

__all__ = [
    "concat", "embedding", "flatten", "flip", "moveaxis", "pad", "repeat", "roll", "split", "stack", "tile", "tril",
    "triu",
]  # fmt: skip

_ALL: Final = slice(None)
_BACKWARDS: Final = slice(None, None, -1)
_SHORT_ROW: Final = 16  # in elements: a CPU copies a shorter row in less time than it steps to the next row


# operations that return views where possible


def flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Joins the dimensions from start_dim to end_dim into one."""
    tensor = tensor_of("x", x)
    ndim = max(tensor.ndim, 1)
    first, last = normalize_axis(start_dim, ndim), normalize_axis(end_dim, ndim)
    if first > last:
        raise AxisError(f"expected start_dim not after end_dim, got {start_dim} and {end_dim}")
    middle = math.prod(tensor.shape[first : last + 1])
    return tensor.reshape((*tensor.shape[:first], middle, *tensor.shape[last + 1 :]))


def flip(x: Any, axis: Any = None) -> Tensor:
    """Reverses the order of the elements along the given axes, or all axes. The result is a view."""
    tensor = tensor_of("x", x)
    axes = range(tensor.ndim) if axis is None else normalize_axes(axis, tensor.ndim)
    return tensor[tuple(_BACKWARDS if place in axes else _ALL for place in range(tensor.ndim))]


def moveaxis(x: Any, source: Any, destination: Any) -> Tensor:
    """Moves axes to new positions; the other axes keep their order."""
    tensor = tensor_of("x", x)
    sources, destinations = normalize_axes(source, tensor.ndim), normalize_axes(destination, tensor.ndim)
    if len(sources) != len(destinations):
        raise AxisError(f"expected source and destination of equal length, got {source} and {destination}")
    order = [place for place in range(tensor.ndim) if place not in sources]
    for to, which in sorted(zip(destinations, sources, strict=True)):
        order.insert(to, which)
    return tensor.permute_dims(order)


def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """Splits a tensor along an axis into views: into equal parts if given their number, or at the given indices."""
    tensor = tensor_of("x", x)
    axis = normalize_axis(axis, tensor.ndim)
    extent = tensor.shape[axis]
    if is_ordered(indices_or_sections):
        cuts = [to_int("indices_or_sections", one) for one in indices_or_sections]
    else:
        sections = to_int("indices_or_sections", indices_or_sections)
        if sections < 1:
            raise ArgumentError(f"expected at least 1 section, got {sections}")
        if extent % sections:
            raise ShapeError(
                f"expected sections that divide the extent {extent} of axis {axis}, got {sections}; "
                "for unequal parts, give the indices to split at"
            )
        cuts = [extent // sections * number for number in range(1, sections)]
    before = (_ALL,) * axis
    return [tensor[(*before, slice(start, stop))] for start, stop in zip([0, *cuts], [*cuts, None], strict=True)]


# operations that return copies


def _in_memory_order(x: Tensor) -> tuple[Tensor, list[int], list[int]]:
    """Returns a view with the axes in the order of their strides, this order, and the order that undoes it. What copies
    the view to a new tensor reads and writes memory in one direction."""
    order = sorted(range(x.ndim), key=lambda axis: -abs(x.strides[axis]))
    return _ext.permute_dims(x, order), order, sorted(range(x.ndim), key=order.__getitem__)


def concat(arrays: Iterable[Any], axis: int | None = 0) -> Tensor:
    """Joins tensors along an existing axis; with axis=None, joins their flattened elements."""
    parts = _parts(arrays, "write concat([a, b])")
    if axis is None:
        parts, axis = [part.reshape(-1) for part in parts], 0
    return _join(parts, normalize_axis(axis, parts[0].ndim))


def stack(arrays: Iterable[Any], axis: int = 0) -> Tensor:
    """Joins tensors of equal shape along a new axis."""
    parts = _parts(arrays, "write stack([a, b])")
    for part in parts[1:]:
        if part.shape != parts[0].shape:
            raise ShapeError(f"expected tensors of equal shape, got {parts[0].shape} and {part.shape}")
    axis = normalize_axis(axis, parts[0].ndim + 1)
    before = (_ALL,) * axis
    return _join([part[(*before, None)] for part in parts], axis)


def roll(x: Any, shift: Any, axis: Any = None) -> Tensor:
    """Shifts the elements along axes; elements shifted past one end come back at the other end."""
    tensor = tensor_of("x", x)
    if axis is None:
        if is_ordered(shift):
            raise ArgumentTypeError(
                f"expected an int for shift without an axis, got {describe(shift)}; give an axis for each shift"
            )
        return roll(tensor.reshape(-1), shift, axis=0).reshape(tensor.shape)
    axes = [normalize_axis(one, tensor.ndim) for one in (axis if is_ordered(axis) else (axis,))]
    shifts = [to_int("shift", one) for one in (shift if is_ordered(shift) else times(shift, len(axes)))]
    if len(shifts) != len(axes):
        raise ShapeError(f"expected a shift for each of {len(axes)} axes, got {len(shifts)}")
    totals = dict.fromkeys(axes, 0)
    for place, amount in zip(axes, shifts, strict=True):
        totals[place] += amount
    rolled, order, inverse = _in_memory_order(tensor)
    for rolled_axis, amount in totals.items():
        place = order.index(rolled_axis)
        if first := -amount % max(rolled.shape[place], 1):  # index of the slice that becomes the first along this axis
            before = (_ALL,) * place
            rolled = _ext.concat([rolled[(*before, slice(first, None))], rolled[(*before, slice(first))]], place)
    return tensor.copy() if rolled._shares_storage(tensor) else _ext.permute_dims(rolled, inverse)


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Repeats each element, or each slice along an axis; the copies of one element or slice are adjacent."""
    tensor = tensor_of("x", x)
    tensor = tensor.reshape(-1) if axis is None else tensor
    axis = normalize_axis(0 if axis is None else axis, tensor.ndim)
    extent = tensor.shape[axis]
    each = [repeats] if type(repeats) is int else _repeats_of(tensor_of("repeats", repeats), extent)
    if min(each, default=0) < 0:
        raise ArgumentError(f"expected repeats of at least 0, got {min(each)}")
    if len(each) == 1:
        ordered, order, inverse = _in_memory_order(tensor)
        return _ext.permute_dims(_repeated(ordered, order.index(axis), each[0]), inverse)
    places = array("i", chain.from_iterable(map(times, range(extent), each)))
    return _ext.take(tensor, places, axis=axis)


def _repeats_of(counts: Tensor, extent: int) -> list[int]:
    """Returns one number, or one for each position along an axis. On a GPU, this reads the tensor."""
    if counts.size and counts.dtype.kind not in "iu":
        raise DTypeError(f"expected integers for repeats, got {counts.dtype}; use astype")
    if counts.ndim > 1 or (counts.ndim == 1 and counts.size not in (1, extent)):
        raise ShapeError(f"expected one int for repeats, or {extent} ints, got shape {counts.shape}")
    numbers: list[int] = counts.reshape(-1).tolist()
    return numbers


def tile(x: Any, repetitions: Any) -> Tensor:
    """Repeats the whole tensor along each axis."""
    tensor = tensor_of("x", x)
    counts = [to_int("repetitions", one) for one in (repetitions if is_ordered(repetitions) else [repetitions])]
    if min(counts, default=0) < 0:
        raise ArgumentError(f"expected repetitions of at least 0, got {repetitions}")
    counts[:0] = [1] * (tensor.ndim - len(counts))
    if 0 in counts:  # the result is empty, but intermediate results could be large
        extents = (1,) * (len(counts) - tensor.ndim) + tensor.shape
        return creation.empty([extent * count for extent, count in zip(extents, counts, strict=True)], tensor.dtype)
    tiled = tensor.reshape((1,) * (len(counts) - tensor.ndim) + tensor.shape)
    for axis, count in enumerate(counts):  # copies blocks that span this axis and all axes after it
        if count != 1:
            shape = (*tiled.shape[:axis], tiled.shape[axis] * count, *tiled.shape[axis + 1 :])
            rows = tiled.reshape((math.prod(tiled.shape[:axis]), -1 if tiled.size else 0))
            tiled = _repeated(rows.reshape((rows.shape[0], 1, rows.shape[1])), 1, count).reshape(shape)
    return tiled.copy() if tiled._shares_storage(tensor) else tiled


def pad(x: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Tensor:
    """Adds elements at the start and at the end of each axis."""
    tensor = tensor_of("x", x)
    widths = _pad_widths(pad_width, tensor.ndim)
    if mode == "constant":
        ordered, order, inverse = _in_memory_order(tensor)
        extents = [(extent, *widths[axis]) for extent, axis in zip(ordered.shape, order, strict=True)]
        padded = creation.filled_like(
            tensor, [before + extent + after for extent, before, after in extents], constant_values
        )
        padded[tuple(slice(before, before + extent) for extent, before, _ in extents)] = ordered
        return _ext.permute_dims(padded, inverse)
    if mode not in _SOURCES:
        raise ArgumentError(f"expected one of constant, {', '.join(_SOURCES)} for mode, got {describe(mode)}")
    padded = tensor
    for axis, (before, after) in enumerate(widths):
        extent = tensor.shape[axis]
        if not (before or after):
            continue
        if not extent:
            raise ShapeError(f"expected elements along axis {axis} for mode {mode!r}, got extent 0; use 'constant'")
        source = _SOURCES[mode]
        ends = [[source(place, extent) for place in range(*ends)] for ends in ((-before, 0), (extent, extent + after))]
        first, last = (_ext.take(padded, array("i", end), axis=axis) for end in ends)
        padded = _ext.concat([first, padded, last], axis)
    return tensor.copy() if padded is tensor else padded


# For each mode, a function that maps a position beyond either end of an axis to the index of the element to use.
_SOURCES: Final[dict[str, Callable[[int, int], int]]] = {
    "edge": lambda place, extent: min(max(place, 0), extent - 1),
    "reflect": lambda place, extent: extent - 1 - abs(extent - 1 - place % max(2 * extent - 2, 1)),
    "symmetric": lambda place, extent: min(place % (2 * extent), 2 * extent - 1 - place % (2 * extent)),
    "wrap": lambda place, extent: place % extent,
}


def _pad_widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    """Returns (before, after) for each axis, from one int, one pair, or a pair for each axis."""
    rows = pad_width if is_ordered(pad_width) else (pad_width,)
    rows = [tuple(row) if is_ordered(row) else row for row in rows]
    if not any(isinstance(row, tuple) for row in rows):
        rows = [tuple(rows)]
    pairs = [row * 2 if isinstance(row, tuple) and len(row) == 1 else row for row in rows]
    if len(pairs) not in (1, ndim) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        raise ShapeError(f"expected an int, a pair, or {ndim} pairs for pad_width, got {describe(pad_width)}")
    widths = [(to_int("pad_width", before), to_int("pad_width", after)) for before, after in pairs]
    if min(map(min, widths), default=0) < 0:
        raise ArgumentError(f"expected pad_width of at least 0, got {pad_width}; use slices to remove elements")
    return widths * ndim if len(widths) == 1 else widths


def tril(x: Any, k: int = 0) -> Tensor:
    """Replaces the elements above a diagonal by zeros."""
    return _triangle(_ext.less_equal, x, k)


def triu(x: Any, k: int = 0) -> Tensor:
    """Replaces the elements below a diagonal by zeros."""
    return _triangle(_ext.greater_equal, x, k)


def _triangle(keeps: Callable[[Tensor, Tensor], Tensor], x: Any, k: int) -> Tensor:
    tensor = tensor_of("x", x)
    if tensor.ndim < 2:
        raise ShapeError(f"expected x of shape (..., rows, columns), got {tensor.shape}")
    rows, columns = tensor.shape[-2:]
    k = min(max(to_int("k", k), -rows), columns)  # all diagonals beyond a corner have the same effect
    if abs(tensor.strides[-2]) < abs(tensor.strides[-1]):  # a mask in the order of the axes in memory is faster
        return _triangle(_ext.less_equal if keeps is _ext.greater_equal else _ext.greater_equal, tensor.mT, -k).mT
    device = tensor._backend_name if tensor.is_committed else None
    diagonal = creation.arange(k, k + rows, device=device).reshape((rows, 1))
    return _ext.where(keeps(creation.arange(columns, device=device), diagonal), tensor, False)


def embedding(indices: Any, weight: Any) -> Tensor:
    """Returns the rows of the matrix `weight` at the given indices."""
    return _ext.take(tensor_of("weight", weight), indices_of("indices", indices), axis=0)


# helpers


def _parts(arrays: Iterable[Any], advice: str) -> list[Tensor]:
    if isinstance(arrays, Tensor) or not is_ordered(arrays):
        raise ArgumentTypeError(f"expected a list or tuple of tensors, got {describe_type(arrays)}; {advice}")
    parts = [one if type(one) is Tensor else tensor_of(f"arrays[{n}]", one) for n, one in enumerate(arrays)]
    if not parts:
        raise ArgumentError("expected at least one tensor, got none")
    return parts


def _join(parts: Sequence[Tensor], axis: int) -> Tensor:
    """Joins the parts along an axis in a new tensor of their common dtype."""
    shape, dtype, is_uniform, total = parts[0].shape, parts[0].dtype, True, 0
    for part in parts:
        own = part.shape
        if own != shape and (
            len(own) != len(shape) or own[:axis] != shape[:axis] or own[axis + 1 :] != shape[axis + 1 :]
        ):
            raise ShapeError(f"expected shapes that are equal except along axis {axis}, got {shape} and {own}")
        is_uniform = is_uniform and part.dtype is dtype
        total += own[axis]
    dtype = dtype if is_uniform else result_type(*parts)
    joined = _ext.allocate((*shape[:axis], total, *shape[axis + 1 :]), dtype, parts)
    before = (_ALL,) * axis
    start = 0
    for part in parts:
        stop = start + part.shape[axis]
        joined[(*before, slice(start, stop))] = part
        start = stop
    return joined


def _repeated(x: Tensor, axis: int, count: int) -> Tensor:
    """Repeats each slice along an axis `count` times, with its copies adjacent."""
    before, extent, after = math.prod(x.shape[:axis]), x.shape[axis], math.prod(x.shape[axis + 1 :])
    parts = x.reshape((before * extent, 1, after))
    shape = (*x.shape[:axis], extent * count, *x.shape[axis + 1 :])
    result = _ext.allocate(shape, x.dtype, [x])
    repeated = result.reshape((before * extent, count, after))
    if count > _SHORT_ROW or after > _SHORT_ROW or x.backend.is_gpu:
        repeated[...] = parts
    else:  # few copies of short rows: in each pass, write one copy of every row
        for place in range(count):
            repeated[:, place] = parts[:, 0]
    return result
