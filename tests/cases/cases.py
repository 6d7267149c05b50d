"""Builds benchmark cases: an operation at a size, with its arguments, the bytes it moves and its FLOPs.

A size is what the user writes after --sizes: one number, or a shape such as 512x64. What it means follows from the
operation's kind (KINDS) and the `bench:` field of its contract, which contracts/README.md describes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from lanewise.dtypes import as_dtype
from lanewise.errors import ArgumentError
from tests.cases.inputs import ITEM_BYTES, HostArray, Shape, ascending, draw
from tests.cases.operations import Input, Operation, Range

Size = tuple[int, ...]
Literal = bool | int | float | str | tuple[int, ...]


@dataclass(frozen=True)
class Several:
    """A sequence of arrays as one argument."""

    items: tuple[HostArray, ...]


@dataclass(frozen=True)
class Viewed:
    """A view of an array as one argument: its axes in this order, then this subscript; an empty one changes nothing."""

    array: HostArray
    axes: tuple[int, ...] = ()
    index: tuple[Any, ...] = ()

    @property
    def shape(self) -> Shape:
        """The shape of the view."""
        shape = [self.array.shape[axis] for axis in self.axes] or list(self.array.shape)
        inner = self.index[1:] if self.index[:1] == (...,) else self.index
        first = len(shape) - len(inner) if self.index[:1] == (...,) else 0
        for axis, part in enumerate(inner, first):
            shape[axis] = len(range(*part.indices(shape[axis])))
        return tuple(shape)

    def of(self, array: Any, permuted: Callable[[Any, tuple[int, ...]], Any]) -> Any:
        """Returns the view of a library's array, whose axes `permuted` puts in another order."""
        if self.axes:
            array = permuted(array, self.axes)
        return array[self.index] if self.index else array


Argument = HostArray | Several | Viewed | Literal

ELEMENTS = (1 << 10, 1 << 16, 1 << 20)  # arrays that fit into L1, into L2, and into neither
LARGEST = 1 << 28  # at most this many elements in a tensor

_PER_ELEMENT: Mapping[str, Any] = {"result": ["size"]}
_SEQUENCES = {"heads": 8, "length": "number", "depth": 64}

# How cases are made, by the kind of the operation. Strings are Python expressions, in which `number` is the number
# after --sizes, or the first of a shape. A field of the same name in a contract's `bench:` replaces the default.
KINDS: Mapping[str, Mapping[str, Any]] = {
    "reduction": {"result": []},
    "index_reduction": {"result": []},
    "rows": {"size": ["isqrt(number)", "number // isqrt(number)"], "result": ["size"]},
    "matrix": {
        "size": {"m": "number", "k": "number", "n": "number"},
        "sizes": [64, 256],
        "inputs": {"x1": ["m", "k"], "x2": ["k", "n"]},
        "result": ["m", "n"],
        "flops": "2 * m * k * n",
    },
    "window": {"size": {"n": 1, "c": 64, "h": "number", "w": "number"}, "sizes": [56]},
    "attention": {
        "size": _SEQUENCES,
        "sizes": [512],
        "inputs": {name: [1, "heads", "length", "depth"] for name in ("query", "key", "value")},
        "keywords": {"is_causal": True},
        "result": ["heads", "length", "depth"],
        "flops": "2 * heads * length * (length + 1) * depth",
    },
    "rotation": {"size": {**_SEQUENCES, "length": "max(number // 512, 1)"}, "result": ["size"]},
    "eigen": {"size": {"n": "number"}, "sizes": [64, 256], "inputs": {"x": ["n", "n"]}},
    "view": {"result": None},
}


@dataclass(frozen=True)
class Case:
    """One case of the benchmark: a call of an operation, which all contestants make."""

    operation: Operation
    dtype: str
    size: Size
    arguments: tuple[Argument, ...]
    keywords: Mapping[str, Literal] = field(default_factory=dict)
    result: int = 0  # elements written
    result_dtype: str = ""  # empty: the result dtype that the contract's `dtypes` states
    flops: int | None = None  # None where arithmetic is not counted
    call: str = ""  # what is timed in place of function(argument0, ...): an expression with these names

    @property
    def label(self) -> str:
        """The size as text, as in `1,024 x 64`."""
        return " x ".join(f"{extent:,}" for extent in self.size)

    @property
    def inputs(self) -> tuple[HostArray, ...]:
        """Every array among the arguments."""
        arrays: list[HostArray] = []
        for argument in self.arguments:
            if isinstance(argument, HostArray):
                arrays.append(argument)
            elif isinstance(argument, Viewed):
                arrays.append(argument.array)
            elif isinstance(argument, Several):
                arrays.extend(argument.items)
        return tuple(arrays)

    def names(self) -> list[tuple[str, str]]:
        """Returns the names of the operation's inputs, and those of the arguments in `call`."""
        return [(item.name, f"argument{i}") for i, item in enumerate(self.operation.inputs)]

    @property
    def bytes(self) -> int | None:
        """The bytes of all inputs and of the result; None if nothing is written, as by views."""
        if not self.result:
            return None
        written = self.result * ITEM_BYTES[self.result_dtype or self.operation.result(self.dtype)]
        return sum(item.nbytes for item in self.inputs) + written


def parse_size(text: str) -> Size:
    """Parses a size as written on the command line.

    >>> parse_size("64K"), parse_size("512x64")
    ((65536,), (512, 64))
    """
    try:
        size = tuple(_parse_extent(part) for part in text.lower().split("x"))
    except ValueError:
        raise ArgumentError(f"bench: expected a size such as 1024, 64K, 1M or 512x64, got {text!r}") from None
    if min(size) < 1:
        raise ArgumentError(f"bench: expected a size with extents of at least 1, got {text!r}")
    return size


def _parse_extent(text: str) -> int:
    suffixes = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
    if text[-1:] in suffixes:
        return int(text[:-1]) * suffixes[text[-1]]
    return int(text)


def default_sizes(operation: Operation) -> tuple[Size, ...]:
    """Returns the sizes that are measured if the user names none."""
    return tuple((number,) for number in _fields(operation).get("sizes", ELEMENTS))


def build(operation: Operation, size: Size, dtype: str | None = None, *, spread: bool = False) -> Case:
    """Builds the case of an operation at a size; draw() describes `spread`. Raises ArgumentError if the dtype or the
    size does not fit."""
    fields = _fields(operation)
    dtype = dtype or fields.get("dtype") or operation.dtype
    if not operation.accepts(dtype):
        raise ArgumentError(f"bench: {operation.name}: expected a dtype of {', '.join(operation.dtypes)}, got {dtype}")
    names = _extents(operation, fields, size)
    shape = tuple(names.values()) if isinstance(fields.get("size"), Mapping) else names.pop("size")
    context: dict[str, Any] = {**vars(math), **names, "size": shape, "count": prod(shape), "dtype": dtype}
    arguments = []
    for name, described in fields.get("inputs", _default_inputs(operation)).items():
        context[name] = _argument(operation, name, described, dtype, context, spread)
        arguments.append(context[name])
    arguments += [_evaluate(text, context) for text in fields.get("arguments", ())]
    keywords = {name: _evaluate(text, context) for name, text in fields.get("keywords", {}).items()}
    result, flops = fields.get("result"), fields.get("flops")
    return Case(
        operation,
        dtype,
        shape,
        tuple(arguments),
        keywords,
        result=0 if result is None else prod(_shape(operation, result, context)),
        result_dtype=_evaluate(fields.get("result_dtype", "''"), context),
        flops=_evaluate(flops, context) if flops and as_dtype(dtype).kind == "f" else None,
    )


def _fields(operation: Operation) -> Mapping[str, Any]:
    return {**KINDS.get(operation.kind, _PER_ELEMENT), **operation.bench}


def _default_inputs(operation: Operation) -> dict[str, Any]:
    """Returns the shapes of the inputs, as lists of expressions, if neither contract nor kind states them.

    For operations of kind `rows`, the first input has the shape of the size and all others that of one row. For other
    operations, every required input has the shape of the size, and optional inputs are left out.
    """
    if operation.kind == "rows":
        first, *others = (item.name for item in operation.inputs)
        return {first: ["size"], **{name: ["size[-1]"] for name in others}}
    return {item.name: ["size"] for item in operation.inputs if not item.optional}


def _extents(operation: Operation, fields: Mapping[str, Any], size: Size) -> dict[str, Any]:
    """Returns the extents by name, such as m, k and n; for operations on any shape, only `size`, the shape."""
    described = fields.get("size", ["number"])
    context = {**vars(math), "number": size[0]}
    if not isinstance(described, Mapping):
        shape = size if len(size) > 1 else tuple(_evaluate(text, context) for text in described)
        return {"size": shape}
    if len(size) not in (1, len(described)):
        expected, got = "x".join(described), "x".join(map(str, size))
        raise ArgumentError(f"bench: {operation.name}: expected one number or {expected} as its size, got {got}")
    if len(size) == len(described) > 1:
        return dict(zip(described, size, strict=True))
    return {name: _evaluate(text, context) for name, text in described.items()}


def _evaluate(text: Any, context: Mapping[str, Any]) -> Any:
    """Evaluates a string as a Python expression; other values stay as they are. Contracts are trusted code."""
    return eval(text, {}, dict(context)) if isinstance(text, str) else text


def _shape(operation: Operation, described: Any, context: Mapping[str, Any]) -> Shape:
    """Returns the shape that a list of expressions describes; each gives an extent, or a tuple of several extents."""
    extents: list[int] = []
    for text in described if isinstance(described, Sequence) and not isinstance(described, str) else [described]:
        value = _evaluate(text, context)
        extents.extend(value if isinstance(value, tuple) else [value])
    if prod(extents) > LARGEST:
        raise ArgumentError(
            f"bench: {operation.name}: expected at most {LARGEST:,} elements per tensor, got {prod(extents):,}; "
            "choose a smaller size (for matrices and images, a single number is the edge length)"
        )
    return tuple(extents)


def _argument(
    operation: Operation, name: str, described: Any, dtype: str, context: Mapping[str, Any], spread: bool
) -> HostArray | Several:
    names = [item.name for item in operation.inputs]
    seed = names.index(name) if name in names else 0
    item = operation.inputs[seed] if name in names else Input(name, None, False, False)
    if item.sequence:
        shapes = [_shape(operation, each, context) for each in described]
        return Several(tuple(draw(dtype, shape, None, seed) for seed, shape in enumerate(shapes)))
    options = described if isinstance(described, Mapping) else {"shape": described}
    shape = _shape(operation, options["shape"], context)
    within = operation.range(name, dtype)
    if "below" in options:
        within = Range(0, _evaluate(options["below"], context) - 1)
    if options.get("positive") and within:
        within = replace(within, low=0, exclude_zero=True)
    array = draw(item.dtype or dtype, shape, within, seed, spread=spread)
    return ascending(array) if options.get("sorted") else array
