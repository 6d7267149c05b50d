"""The layout that a kernel is handed for given shapes and strides: lanewise.h's structs as bytes.

Written from the header and the contracts alone, so that the tests do not take the extension's word for it. Nothing is
collapsed: kernels must take every layout, and most of what the extension sends them is simpler.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .schema import Contract

MAX_NDIM, MAX_OPERANDS = 8, 5


@dataclass(frozen=True)
class Place:
    """An operand's shape and its strides in bytes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def moved(self, order: Sequence[int]) -> Place:
        return Place(tuple(self.shape[i] for i in order), tuple(self.strides[i] for i in order))


def contiguous(shape: Sequence[int], item: int) -> Place:
    """Row-major, without gaps."""
    strides = [item] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * max(shape[i + 1], 1)
    return Place(tuple(shape), tuple(strides))


@dataclass(frozen=True)
class Call:
    """What a kernel finds in its `layout`, and scalars that the layout's kind puts before the contract's own."""

    layout: bytes
    scalars: tuple[int, ...] = ()


def call(contract: Contract, parameters: dict[str, Any], inputs: Sequence[Place | None], out: Place) -> Call:
    """`inputs` in the contract's order, None where absent; `out` as the operation returns it."""
    kind = contract.kind.name
    if kind in ("elementwise", "cast", "creation"):
        return Call(_elementwise(inputs, out))
    if kind in ("reduction", "index_reduction"):
        return Call(_reduction(inputs, out, parameters.get("axis"), parameters.get("keepdims", False)))
    if kind == "rows":
        return Call(_rows(inputs, out, -1 if parameters["axis"] is None else parameters["axis"]))
    if kind == "sort":  # all of the result
        return Call(_rows(inputs, out, parameters["axis"]), (out.shape[parameters["axis"]],))
    if kind == "search":
        row = _there(inputs[0])
        still = Place((1,), (0,))
        return Call(_elementwise([still, *inputs[1:]], out), (row.shape[0], row.strides[0]))
    if kind == "matrix":
        return Call(_matrix(inputs, out, transposed=contract.inputs[1].name == "weight"))
    if kind == "eigen":
        return Call(_eigen(_there(inputs[0]), out))
    if kind == "rotation":
        return Call(_rotation(_there(inputs[0]), out, parameters["axis"]))
    if kind == "attention":
        return Call(_attention(inputs, out, parameters))
    if kind == "window":
        return Call(_window(inputs, out, parameters))
    if kind == "gather":
        return _gather(contract, _there(inputs[0]), _there(inputs[1]), out, parameters["axis"])
    raise ValueError(f"{contract.operation}: kind {kind} has no layout")


def _there(place: Place | None) -> Place:
    assert place is not None
    return place


def _pack(shape: Sequence[int], strides: Sequence[Sequence[int]], inner: int) -> bytes:
    """lw_layout."""
    words = [*_filled(shape, MAX_NDIM)]
    for operand in range(MAX_OPERANDS):
        words += _filled(strides[operand] if operand < len(strides) else (), MAX_NDIM)
    return struct.pack(f"<ii{len(words)}q", len(shape), inner, *words)


def _filled(values: Sequence[int], count: int) -> list[int]:
    return [*values, *[0] * (count - len(values))]


def _broadcast(place: Place | None, shape: Sequence[int]) -> list[int]:
    """Strides of an operand walked over a shape that it broadcasts to."""
    if place is None:
        return [0] * len(shape)
    pairs = zip(place.shape, place.strides, strict=True)
    return [0] * (len(shape) - place.ndim) + [0 if extent == 1 else stride for extent, stride in pairs]


def _elementwise(inputs: Sequence[Place | None], out: Place) -> bytes:
    return _pack(out.shape, [*(_broadcast(each, out.shape) for each in inputs), out.strides], 0)


def _axes(axis: Any, ndim: int) -> list[int]:
    if axis is None:
        return list(range(ndim))
    return sorted(each % ndim for each in ([axis] if isinstance(axis, int) else axis))


def _reduction(inputs: Sequence[Place | None], out: Place, axis: Any, keepdims: bool) -> bytes:
    shape = _common([_there(each).shape for each in inputs])
    reduced = _axes(axis, len(shape))
    kept = [i for i in range(len(shape)) if i not in reduced]
    order = [*kept, *reduced]
    moved = [Place(shape, tuple(_broadcast(each, shape))).moved(order) for each in inputs]
    strides = [out.strides[i] for i in kept] if keepdims else list(out.strides)
    strides = [*strides, *[0] * len(reduced)]
    return _pack(moved[0].shape, [*(each.strides for each in moved), strides], len(reduced))


def _common(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """What shapes broadcast to."""
    ndim = max(map(len, shapes))
    padded = [(1,) * (ndim - len(shape)) + shape for shape in shapes]
    return tuple(next((extent for extent in extents if extent != 1), 1) for extents in zip(*padded, strict=True))


def _rows(inputs: Sequence[Place | None], out: Place, axis: int) -> bytes:
    if not out.ndim:  # a number is a row of one
        inputs, out = [Place((1,), (0,))] * len(inputs), Place((1,), (0,))
    row = axis % out.ndim
    order = [*(i for i in range(out.ndim) if i != row), row]
    strides: list[Sequence[int]] = [_there(inputs[0]).moved(order).strides]
    strides += [[0] * (out.ndim - 1) + [each.strides[0] if each else 0] for each in inputs[1:]]
    return _pack(out.moved(order).shape, [*strides, out.moved(order).strides], 1)


def _rotation(x: Place, out: Place, axis: int) -> bytes:
    axis %= x.ndim
    order = [*(i for i in range(x.ndim - 1) if i != axis), axis, x.ndim - 1]
    return _pack(x.moved(order).shape, [x.moved(order).strides, out.moved(order).strides], 2)


def _matrix(inputs: Sequence[Place | None], out: Place, transposed: bool) -> bytes:
    """lw_matrix_layout. A vector on the left is a row, on the right a column; a weight is seen transposed."""
    a, b = _there(inputs[0]), _there(inputs[1])
    bias = inputs[2] if len(inputs) > 2 else None
    one_row, one_column = a.ndim == 1, b.ndim == 1
    left = Place((1, *a.shape), (0, *a.strides)) if one_row else a
    right = Place((*b.shape, 1), (*b.strides, 0)) if one_column else b
    right = right.moved([*range(right.ndim - 2), right.ndim - 1, right.ndim - 2]) if transposed else right
    shape, strides = list(out.shape), list(out.strides)
    if one_column:
        shape, strides = [*shape, 1], [*strides, 0]
    if one_row:
        shape, strides = [*shape[:-1], 1, shape[-1]], [*strides[:-1], 0, strides[-1]]
    batch = shape[:-2]
    places = [left, right, *([bias] if len(inputs) > 2 else []), Place(tuple(shape), tuple(strides))]
    rows, columns, words = [], [], _filled(batch, MAX_NDIM)
    for place in places:
        matrix = place is not None and place.ndim >= 2
        outer = Place(place.shape[:-2], place.strides[:-2]) if place and matrix else None
        words += _filled(_broadcast(outer, batch), MAX_NDIM)
        rows.append(place.strides[-2] if place and matrix else 0)
        columns.append(place.strides[-1] if place else 0)
    words += [0] * MAX_NDIM * (MAX_OPERANDS - len(places))
    words += [shape[-2], shape[-1], left.shape[-1], *_filled(rows, MAX_OPERANDS), *_filled(columns, MAX_OPERANDS)]
    return struct.pack(f"<ii{len(words)}q", len(batch), 0, *words)


def _eigen(x: Place, values: Place) -> bytes:
    """lw_matrix_layout, of eigenvalues alone."""
    words = [*_filled(x.shape[:-2], MAX_NDIM), *_filled(x.strides[:-2], MAX_NDIM)]
    words += [*_filled(values.strides[:-1], MAX_NDIM), *[0] * MAX_NDIM * (MAX_OPERANDS - 2)]
    words += [x.shape[-1], x.shape[-1], 0, *_filled([x.strides[-2], 0], MAX_OPERANDS)]
    words += _filled([x.strides[-1], values.strides[-1]], MAX_OPERANDS)
    return struct.pack(f"<ii{len(words)}q", x.ndim - 2, 0, *words)


def _attention(inputs: Sequence[Place | None], out: Place, parameters: dict[str, Any]) -> bytes:
    """lw_attention_layout. Grouped queries: the heads of the query become (heads of the keys, group)."""
    query, key, value, mask = inputs
    places = [_there(query), _there(key), _there(value), mask, out]
    batch = list(out.shape[:-2])
    outer = [_broadcast(Place(each.shape[:-2], each.strides[:-2]) if each else None, batch) for each in places]
    heads = _there(key).shape[-3] if parameters["enable_gqa"] else 1
    if parameters["enable_gqa"]:
        group = batch[-1] // heads
        for i, (each, strides) in enumerate(zip(places, outer, strict=True)):
            if i in (1, 2):
                outer[i] = [*strides[:-1], _there(each).strides[-3] if heads > 1 else 0, 0]
            else:
                outer[i] = [*strides[:-1], strides[-1] * group, strides[-1]]
        batch = [*batch[:-1], heads, group]
    queries, depth = places[0].shape[-2:]  # type: ignore[union-attr]
    keys, window, offset = _there(key).shape[-2], parameters["window"], parameters["offset"]
    first = -queries if window is None else offset - window + 1
    last = offset if parameters["is_causal"] else keys if window is None else offset + window - 1
    scale = depth**-0.5 if parameters["scale"] is None else parameters["scale"]
    words = [len(batch), *_filled(batch, MAX_NDIM)]
    for strides in outer:
        words += _filled(strides, MAX_NDIM)
    words += [queries, keys, depth, out.shape[-1], first, last]
    rows = [_broadcast(each, [*out.shape[:-2], queries, keys])[-2:] if i == 3 else each.strides[-2:] if each else [0, 0]
            for i, each in enumerate(places)]  # fmt: skip
    after = [*(row for row, _ in rows), *(column for _, column in rows)]
    return struct.pack(f"<{len(words)}qd{len(after)}q", *words, scale, *after)


def _window(inputs: Sequence[Place | None], out: Place, parameters: dict[str, Any]) -> bytes:
    """lw_window_layout."""

    def pair(name: str, default: int = 1) -> list[int]:
        value = parameters.get(name, default)
        return [value, value] if isinstance(value, int) else list(value)

    x = _there(inputs[0])
    weight = inputs[1] if len(inputs) > 1 else None
    kernel = list(weight.shape[2:]) if weight else pair("kernel_size")
    stride = kernel if parameters.get("stride") is None else pair("stride")
    words = [x.shape[0], x.shape[1], out.shape[1], parameters.get("groups", 1)]
    words += [*x.shape[2:], *kernel, *out.shape[2:], *stride, *pair("padding", 0), *pair("dilation")]
    for place in _operands(inputs, out):
        words += _filled(place.strides if place else (), 4)
    return struct.pack(f"<{len(words)}q", *words)


def _operands(inputs: Sequence[Place | None], out: Place) -> list[Place | None]:
    places = [*inputs, out]
    return [*places, *[None] * (MAX_OPERANDS - len(places))]


def _gather(contract: Contract, x: Place, indices: Place, out: Place, axis: int | None) -> Call:
    """take and its kin; or put, where x holds the values and `out` is what the indices address."""
    addressed = out if contract.internal else x
    if axis is None:  # of the flattened tensor, which is contiguous here
        item = addressed.strides[-1] if addressed.ndim else 0
        addressed, axis = Place((math.prod(addressed.shape),), (item,)), 0
    axis %= addressed.ndim
    scalars = (addressed.shape[axis], addressed.strides[axis])
    if contract.operation == "take_along_axis":
        still = Place(tuple(1 if i == axis else n for i, n in enumerate(x.shape)), x.strides)
        return Call(_elementwise([still, indices], out), scalars)
    before, after = slice(axis), slice(axis + 1, None)
    shape = [*addressed.shape[before], *indices.shape, *addressed.shape[after]]
    of_addressed = [*addressed.strides[before], *[0] * indices.ndim, *addressed.strides[after]]
    of_indices = [*[0] * axis, *_broadcast(indices, indices.shape), *[0] * (addressed.ndim - axis - 1)]
    ends = [x.strides, of_addressed] if contract.internal else [of_addressed, out.strides]
    return Call(_pack(shape, [ends[0], of_indices, ends[1]], 0), scalars)
