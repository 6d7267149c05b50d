"""Builds the layout structs of lanewise.h, as bytes, for given shapes and strides.

The code follows the header and the contracts only, independently of the extension. No dimensions are collapsed:
kernels must handle every layout, including ones that the extension would simplify.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .schema import Contract

MAX_NDIM, MAX_OPERANDS = 8, 5
UNCONVERTED = [0, 0]  # the words after the strides of an lw_layout: no operand is converted


@dataclass(frozen=True)
class Operand:
    """An operand's shape and its strides in bytes."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def permuted(self, order: Sequence[int]) -> Operand:
        return Operand(tuple(self.shape[i] for i in order), tuple(self.strides[i] for i in order))


def contiguous(shape: Sequence[int], item: int) -> Operand:
    """Returns an operand in row-major order without gaps."""
    strides = [item] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * max(shape[i + 1], 1)
    return Operand(tuple(shape), tuple(strides))


def gapped(shape: Sequence[int], item: int) -> Operand:
    """Returns an operand whose axes are reversed in memory, with gaps between items and some negative strides."""
    strides, step = [], item
    for axis, extent in enumerate(shape):  # the first axis is the innermost in memory
        strides.append(2 * step if (len(shape) - 1 - axis) % 2 else -2 * step)
        step *= 2 * extent + 1
    return Operand(tuple(shape), tuple(strides))


def reversed_axes(shape: Sequence[int], item: int) -> Operand:
    """Returns an operand in column-major order without gaps."""
    order = range(len(shape) - 1, -1, -1)
    return contiguous([shape[axis] for axis in order], item).permuted(order)


def rows_of_larger(shape: Sequence[int], item: int) -> Operand:
    """Returns an operand whose rows are contiguous, with gaps between them."""
    if not shape:
        return contiguous(shape, item)
    larger = contiguous([*shape[:-1], shape[-1] + 3], item)
    return Operand(tuple(shape), larger.strides)


def reversed_rows(shape: Sequence[int], item: int) -> Operand:
    """Returns an operand whose rows are contiguous, and reversed in memory."""
    plain = contiguous(shape, item)
    return Operand(plain.shape, (*plain.strides[:-1], -item) if shape else ())


@dataclass(frozen=True)
class Call:
    """The layout that a kernel receives, and the scalars that its kind passes before the contract's parameters."""

    layout: bytes
    scalars: tuple[int, ...] = ()


def call(contract: Contract, parameters: dict[str, Any], inputs: Sequence[Operand | None], out: Operand) -> Call:
    """Returns what a kernel receives for `inputs` in the contract's order (None if absent) and the result `out`."""
    kind = contract.kind.name
    if kind in ("elementwise", "cast", "creation"):
        return Call(_elementwise(inputs, out))
    if kind in ("reduction", "index_reduction"):
        return Call(_reduction(inputs, out, parameters.get("axis"), parameters.get("keepdims", False)))
    if kind == "rows":
        return Call(_rows(inputs, out, -1 if parameters["axis"] is None else parameters["axis"]))
    if kind == "sort":  # the scalar is the number of elements along the axis
        return Call(_rows(inputs, out, parameters["axis"]), (out.shape[parameters["axis"]],))
    if kind == "search":
        row = _required(inputs[0])
        base = Operand((1,), (0,))
        return Call(_elementwise([base, *inputs[1:]], out), (row.shape[0], row.strides[0]))
    if kind == "matrix":
        return Call(_matrix(inputs, out, transposed=contract.inputs[1].name == "weight"))
    if kind == "eigen":
        return Call(_eigen(_required(inputs[0]), out))
    if kind == "rotation":
        return Call(_rotation(_required(inputs[0]), out, parameters["axis"]))
    if kind == "attention":
        return Call(_attention(inputs, out, parameters))
    if kind == "window":
        return Call(_window(inputs, out, parameters))
    if kind == "gather":
        return _gather(contract, _required(inputs[0]), _required(inputs[1]), out, parameters["axis"])
    raise ValueError(f"{contract.operation}: expected a kind with a layout, got kind {kind}")


def _required(operand: Operand | None) -> Operand:
    assert operand is not None
    return operand


def _pack(shape: Sequence[int], strides: Sequence[Sequence[int]], inner: int) -> bytes:
    """Packs an lw_layout into bytes. `strides` has one list per operand; `inner` is the field of that name."""
    words = [*zero_padded(shape, MAX_NDIM)]
    for operand in range(MAX_OPERANDS):
        words += zero_padded(strides[operand] if operand < len(strides) else (), MAX_NDIM)
    return struct.pack(f"<ii{len(words)}q", len(shape), inner, *words) + bytes(8 * len(UNCONVERTED))


def zero_padded(values: Sequence[int], count: int) -> list[int]:
    """Returns `count` numbers: the given ones, then zeros."""
    return [*values, *[0] * (count - len(values))]


def _broadcast(operand: Operand | None, shape: Sequence[int]) -> list[int]:
    """Returns the strides of an operand when broadcast to a shape; all are 0 if it is absent."""
    if operand is None:
        return [0] * len(shape)
    pairs = zip(operand.shape, operand.strides, strict=True)
    return [0] * (len(shape) - operand.ndim) + [0 if extent == 1 else stride for extent, stride in pairs]


def _elementwise(inputs: Sequence[Operand | None], out: Operand) -> bytes:
    return _pack(out.shape, [*(_broadcast(each, out.shape) for each in inputs), out.strides], 0)


def _axes(axis: Any, ndim: int) -> list[int]:
    if axis is None:
        return list(range(ndim))
    return sorted(each % ndim for each in ([axis] if isinstance(axis, int) else axis))


def _reduction(inputs: Sequence[Operand | None], out: Operand, axis: Any, keepdims: bool) -> bytes:
    shape = _common([_required(each).shape for each in inputs])
    reduced = _axes(axis, len(shape))
    kept = [i for i in range(len(shape)) if i not in reduced]
    order = [*kept, *reduced]
    permuted = [Operand(shape, tuple(_broadcast(each, shape))).permuted(order) for each in inputs]
    strides = [out.strides[i] for i in kept] if keepdims else list(out.strides)
    strides = [*strides, *[0] * len(reduced)]
    return _pack(permuted[0].shape, [*(each.strides for each in permuted), strides], len(reduced))


def _common(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Returns the shape that the given shapes broadcast to."""
    ndim = max(map(len, shapes))
    padded = [(1,) * (ndim - len(shape)) + shape for shape in shapes]
    return tuple(next((extent for extent in extents if extent != 1), 1) for extents in zip(*padded, strict=True))


def _rows(inputs: Sequence[Operand | None], out: Operand, axis: int) -> bytes:
    if not out.ndim:  # a 0-d tensor is a row of one element
        inputs, out = [Operand((1,), (0,))] * len(inputs), Operand((1,), (0,))
    row = axis % out.ndim
    order = [*(i for i in range(out.ndim) if i != row), row]
    strides: list[Sequence[int]] = [_required(inputs[0]).permuted(order).strides]
    strides += [[0] * (out.ndim - 1) + [each.strides[0] if each else 0] for each in inputs[1:]]
    return _pack(out.permuted(order).shape, [*strides, out.permuted(order).strides], 1)


def _rotation(x: Operand, out: Operand, axis: int) -> bytes:
    axis %= x.ndim
    order = [*(i for i in range(x.ndim - 1) if i != axis), axis, x.ndim - 1]
    return _pack(x.permuted(order).shape, [x.permuted(order).strides, out.permuted(order).strides], 2)


def _matrix(inputs: Sequence[Operand | None], out: Operand, transposed: bool) -> bytes:
    """Returns an lw_matrix_layout. A 1-D left factor becomes a row, a 1-D right factor becomes a column.

    If `transposed`, inputs[1] holds the transpose of the right factor.
    """
    a, b = _required(inputs[0]), _required(inputs[1])
    bias = inputs[2] if len(inputs) > 2 else None
    one_row, one_column = a.ndim == 1, b.ndim == 1
    left = Operand((1, *a.shape), (0, *a.strides)) if one_row else a
    right = Operand((*b.shape, 1), (*b.strides, 0)) if one_column else b
    right = right.permuted([*range(right.ndim - 2), right.ndim - 1, right.ndim - 2]) if transposed else right
    shape, strides = list(out.shape), list(out.strides)
    if one_column:
        shape, strides = [*shape, 1], [*strides, 0]
    if one_row:
        shape, strides = [*shape[:-1], 1, shape[-1]], [*strides[:-1], 0, strides[-1]]
    batch = shape[:-2]
    operands = [left, right, *([bias] if len(inputs) > 2 else []), Operand(tuple(shape), tuple(strides))]
    rows, columns, words = [], [], zero_padded(batch, MAX_NDIM)
    for operand in operands:
        matrix = operand is not None and operand.ndim >= 2
        outer = Operand(operand.shape[:-2], operand.strides[:-2]) if operand and matrix else None
        words += zero_padded(_broadcast(outer, batch), MAX_NDIM)
        rows.append(operand.strides[-2] if operand and matrix else 0)
        columns.append(operand.strides[-1] if operand else 0)
    words += [0] * MAX_NDIM * (MAX_OPERANDS - len(operands)) + UNCONVERTED
    words += [shape[-2], shape[-1], left.shape[-1], *zero_padded(rows, MAX_OPERANDS)]
    words += zero_padded(columns, MAX_OPERANDS)
    return struct.pack(f"<ii{len(words)}q", len(batch), 0, *words)


def _eigen(x: Operand, values: Operand) -> bytes:
    """Returns the lw_matrix_layout of a call that computes eigenvalues only."""
    words = [*zero_padded(x.shape[:-2], MAX_NDIM), *zero_padded(x.strides[:-2], MAX_NDIM)]
    words += [*zero_padded(values.strides[:-1], MAX_NDIM), *[0] * MAX_NDIM * (MAX_OPERANDS - 2)]
    words += UNCONVERTED
    words += [x.shape[-1], x.shape[-1], 0, *zero_padded([x.strides[-2], 0], MAX_OPERANDS)]
    words += zero_padded([x.strides[-1], values.strides[-1]], MAX_OPERANDS)
    return struct.pack(f"<ii{len(words)}q", x.ndim - 2, 0, *words)


def _attention(inputs: Sequence[Operand | None], out: Operand, parameters: dict[str, Any]) -> bytes:
    """Returns an lw_attention_layout. enable_gqa splits the head axis into (key heads, query heads per key head)."""
    query, key, value, mask = inputs
    operands = [_required(query), _required(key), _required(value), mask, out]
    batch = list(out.shape[:-2])
    outer = [_broadcast(Operand(each.shape[:-2], each.strides[:-2]) if each else None, batch) for each in operands]
    heads = _required(key).shape[-3] if parameters["enable_gqa"] else 1
    if parameters["enable_gqa"]:
        group = batch[-1] // heads
        for i, (each, strides) in enumerate(zip(operands, outer, strict=True)):
            if i in (1, 2):
                outer[i] = [*strides[:-1], _required(each).strides[-3] if heads > 1 else 0, 0]
            else:
                outer[i] = [*strides[:-1], strides[-1] * group, strides[-1]]
        batch = [*batch[:-1], heads, group]
    queries, depth = operands[0].shape[-2:]  # type: ignore[union-attr]
    keys, window, offset = _required(key).shape[-2], parameters["window"], parameters["offset"]
    first = -queries if window is None else offset - window + 1
    last = offset if parameters["is_causal"] else keys if window is None else offset + window - 1
    scale = 1 / math.sqrt(depth) if parameters["scale"] is None else parameters["scale"]
    words = [len(batch), *zero_padded(batch, MAX_NDIM)]
    for strides in outer:
        words += zero_padded(strides, MAX_NDIM)
    words += UNCONVERTED
    words += [queries, keys, depth, out.shape[-1], first, last]
    rows = [_broadcast(each, [*out.shape[:-2], queries, keys])[-2:] if i == 3 else each.strides[-2:] if each else [0, 0]
            for i, each in enumerate(operands)]  # fmt: skip
    after = [*(row for row, _ in rows), *(column for _, column in rows)]
    return struct.pack(f"<{len(words)}qd{len(after)}q", *words, scale, *after)


def _window(inputs: Sequence[Operand | None], out: Operand, parameters: dict[str, Any]) -> bytes:
    """Returns an lw_window_layout."""

    def pair(name: str, default: int = 1) -> list[int]:
        value = parameters.get(name, default)
        return [value, value] if isinstance(value, int) else list(value)

    x = _required(inputs[0])
    weight = inputs[1] if len(inputs) > 1 else None
    kernel = list(weight.shape[2:]) if weight else pair("kernel_size")
    stride = kernel if parameters.get("stride") is None else pair("stride")
    words = [x.shape[0], x.shape[1], out.shape[1], parameters.get("groups", 1)]
    words += [*x.shape[2:], *kernel, *out.shape[2:], *stride, *pair("padding", 0), *pair("dilation")]
    for operand in [*inputs, out, *[None] * (MAX_OPERANDS - len(inputs) - 1)]:
        words += zero_padded(operand.strides if operand else (), 4)
    return struct.pack(f"<{len(words)}q", *words)


def _gather(contract: Contract, x: Operand, indices: Operand, out: Operand, axis: int | None) -> Call:
    """Returns the call of take, take_along_axis or put.

    For put, x holds the values to write, and the indices address `out`. Of the three operations, only put is internal.
    """
    addressed = out if contract.internal else x
    if axis is None:  # the flattened tensor; one stride suffices, as these test cases are contiguous
        item = addressed.strides[-1] if addressed.ndim else 0
        addressed, axis = Operand((math.prod(addressed.shape),), (item,)), 0
    axis %= addressed.ndim
    scalars = (addressed.shape[axis], addressed.strides[axis])
    if contract.operation == "take_along_axis":
        base = Operand(tuple(1 if i == axis else n for i, n in enumerate(x.shape)), x.strides)
        return Call(_elementwise([base, indices], out), scalars)
    before, after = slice(axis), slice(axis + 1, None)
    shape = [*addressed.shape[before], *indices.shape, *addressed.shape[after]]
    of_addressed = [*addressed.strides[before], *[0] * indices.ndim, *addressed.strides[after]]
    of_indices = [*[0] * axis, *_broadcast(indices, indices.shape), *[0] * (addressed.ndim - axis - 1)]
    ends = [x.strides, of_addressed] if contract.internal else [of_addressed, out.strides]
    return Call(_pack(shape, [ends[0], of_indices, ends[1]], 0), scalars)
