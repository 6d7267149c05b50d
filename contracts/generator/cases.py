"""Lists the test cases of a contract: sizes around multiples of the vector width, broadcasts, axes, special values.

Cases that every operation of a kind needs are listed here; the field `cases` of a contract adds shapes. paths.py lists
larger cases, at the sizes where an algorithm switches to another code path.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from .draw import Array, draw, everywhere, indices
from .schema import DTYPES, FLOATS, Contract, Input, Shapes, Special

SIZES = (*range(34), 1000, 4097)  # 33: two vectors of 16 lanes, plus 1; 4097: one block of a reduction, plus 1
CAST_SIZES = (0, 1, 7, 33, 1000)
ALONE = 17  # position of the only case of a dtype that the kernel of another dtype serves; the last of fewer cases
COPIES = 37  # copies of each special value, so that both full vectors and tails process it

BROADCASTS = (  # an operation with n inputs uses the first n shapes of each row
    ((5, 1, 7), (3, 1), (7,)),
    ((4, 17), (17,), (4, 1)),
    ((4, 1), (1, 9), ()),
    ((), (33,), (33,)),
    ((33,), (), (1,)),
    ((2, 3, 4, 5), (3, 1, 5), (4, 1)),
    ((2, 1, 2, 1, 2, 1, 2, 3), (1, 2, 1, 2, 1, 2, 1, 3), (3,)),
    ((0, 3), (1, 3), (3,)),
)
REDUCTIONS: tuple[tuple[tuple[int, ...], Any], ...] = (
    ((), None),
    ((3, 1000), 0),
    ((3, 1000), 1),
    ((5, 7, 11), 0),
    ((5, 7, 11), 1),
    ((5, 7, 11), -1),
    ((9, 4097), 0),
    ((20000,), None),
    ((0, 3), 1),
)
SEVERAL_AXES: tuple[tuple[tuple[int, ...], Any], ...] = (
    ((5, 7, 11), (0, 1)),
    ((5, 7, 11), (2, 0)),
    ((5, 7, 11), (1, 2)),
    ((5, 7, 11), None),
    ((2, 3, 4, 5), (1, 3)),
    ((3, 4), ()),
    ((0, 3), 0),
)
ROWS = (((3, 1000), 0), ((3, 1000), 1), ((2, 3, 5), 1), ((0, 3), 1), ((3, 0), 1))


@dataclass(frozen=True)
class Case:
    """The inputs and parameters of one call."""

    name: str
    dtype: str  # the dtype that the operation computes in
    inputs: Mapping[str, Any]  # name -> array, list of arrays for a sequence, or None if absent
    parameters: Mapping[str, Any]  # every parameter, with its value
    special: Special | None = None
    is_converted: bool = False  # the inputs are of another dtype, and converted to `dtype` first


def cases(contract: Contract) -> Iterator[Case]:
    """Yields every case of a contract: random inputs, then special values."""
    for dtype in contract.computed:
        every = _drawn(contract, dtype)
        yield from list(islice(every, ALONE + 1))[-1:] if contract.is_served(dtype) else every
    for row in contract.cases:
        for source in row.dtypes:
            yield _converted(contract, source, row)
    for number, special in enumerate(contract.special, 1):
        if not special.raises:
            for dtype in special.dtypes:
                yield from _special(contract, dtype, special, f"special {number}")


def _drawn(contract: Contract, dtype: str) -> Iterator[Case]:
    for settings in settings_of(contract, dtype):
        yield from _of_kind(contract, dtype, settings)
        for row in contract.cases:
            if not row.dtypes:
                yield drawn(contract, dtype, row.inputs, {**settings, **row.parameters})


def _converted(contract: Contract, source: str, row: Shapes) -> Case:
    """Returns a case whose inputs, of dtype `source`, are converted to what the parameter `dtype` names."""
    parameters = {each.name: each.default for each in contract.parameters} | dict(row.parameters)
    case = drawn(contract, source, row.inputs, parameters)
    computed = parameters["dtype"]
    return replace(case, name=f"{computed} of {case.name}", dtype=computed, is_converted=True)


def settings_of(contract: Contract, dtype: str) -> Iterator[dict[str, Any]]:
    """Yields the parameters to test: the defaults, then the defaults with one choice or float changed.

    If the contract has the field `cases`, yields only the defaults, because the rows of `cases` set the parameters.
    For a cast, yields the defaults with each target dtype.
    """
    defaults = {each.name: each.default for each in contract.parameters}
    if contract.kind.name == "cast":
        for target in DTYPES:
            yield {**defaults, "dtype": target}
        return
    if not contract.inputs and "dtype" in defaults:
        defaults["dtype"] = dtype
    yield defaults
    if contract.cases:
        return
    for each in contract.parameters:
        if each.type == "choice":
            yield from ({**defaults, each.name: choice} for choice in each.choices if choice != each.default)
        elif each.type == "float":
            yield {**defaults, each.name: float(each.default or 0) * 2 + 1}


def _of_kind(contract: Contract, dtype: str, settings: dict[str, Any]) -> Iterator[Case]:
    kind = contract.kind.name
    if kind in ("elementwise", "cast"):
        yield from _elementwise(contract, dtype, settings)
    elif kind in ("reduction", "index_reduction"):
        yield from _reduction(contract, dtype, settings)
    elif kind in ("rows", "sort"):
        yield from _rows(contract, dtype, settings)


def _elementwise(contract: Contract, dtype: str, settings: dict[str, Any]) -> Iterator[Case]:
    names = [each.name for each in contract.inputs]
    casts = contract.kind.name == "cast"  # there are many, and their loops are all alike
    for size in CAST_SIZES if casts else SIZES:
        yield drawn(contract, dtype, {name: [size] for name in names}, settings)
    for shapes in BROADCASTS[:2] if casts else BROADCASTS:
        yield drawn(contract, dtype, dict(zip(names, shapes, strict=False)), settings)
    if len(names) == 1 and dtype in FLOATS and contract.range(names[0], dtype).whole:
        inputs = {names[0]: everywhere(dtype, 4097, contract.operation)}
        yield Case(_name(dtype, "everywhere", settings), dtype, inputs, settings)


def _reduction(contract: Contract, dtype: str, settings: dict[str, Any]) -> Iterator[Case]:
    names = [each.name for each in contract.inputs]
    own = {each.name for each in contract.parameters}
    shapes: list[tuple[tuple[int, ...], Any]] = [((size,), None) for size in SIZES]
    shapes += [*REDUCTIONS, *(SEVERAL_AXES if contract.kind.name == "reduction" else [((5, 7, 11), None)])]
    for shape, axis in shapes:
        if (_extent(shape, axis) or not contract.refuses_empty) and (len(shape) == 1 or "axis" in own):
            small = len(shape) > 1 and math.prod(shape) < 500
            for keepdims in (False, True) if small and "keepdims" in own else (False,):
                chosen = {"axis": axis, "keepdims": keepdims}
                parameters = {**settings, **{name: value for name, value in chosen.items() if name in own}}
                yield drawn(contract, dtype, dict.fromkeys(names, shape), parameters)


def _rows(contract: Contract, dtype: str, settings: dict[str, Any]) -> Iterator[Case]:
    first, *others = contract.inputs
    for shape, axis in (*(((size,), -1) for size in SIZES), *ROWS):
        row = [shape[axis]]
        for count in range(len(others) + 1):  # for layer_norm: neither weight nor bias, weight only, both
            inputs: dict[str, Any] = {first.name: shape, **{each.name: row for each in others[:count]}}
            yield drawn(contract, dtype, inputs, {**settings, "axis": axis})


def _extent(shape: tuple[int, ...], axis: Any) -> int:
    axes = range(len(shape)) if axis is None else [axis] if isinstance(axis, int) else axis
    return math.prod(shape[each] for each in axes)


def drawn(contract: Contract, dtype: str, shapes: Mapping[str, Any], parameters: dict[str, Any]) -> Case:
    """Returns a case whose inputs have these shapes and random values."""
    name = _name(dtype, " ".join(_text(shape) for shape in shapes.values()), parameters)
    inputs = {each.name: _input(contract, each, dtype, shapes, parameters, name) for each in contract.inputs}
    return Case(name, dtype, inputs, parameters)


def _input(
    contract: Contract, each: Input, dtype: str, shapes: Mapping[str, Any], parameters: Mapping[str, Any], seed: str
) -> Any:
    if each.name not in shapes:
        return None
    shape = shapes[each.name]
    if each.sequence:
        return [draw(contract, each.name, dtype, one, seed, number) for number, one in enumerate(shape)]
    if contract.kind.name == "gather" and each.dtype == "int32":
        x = shapes[contract.inputs[0].name]
        axis = parameters["axis"]
        return indices(math.prod(x) if axis is None else x[axis], shape, contract.operation, seed)
    drawn = draw(contract, each.name, dtype, shape, seed)
    return np.sort(drawn) if contract.kind.name == "search" and each is contract.inputs[0] else drawn


def _special(contract: Contract, dtype: str, special: Special, name: str) -> Iterator[Case]:
    parameters = {each.name: each.default for each in contract.parameters} | dict(special.parameters)
    if not contract.inputs and "dtype" in parameters and parameters["dtype"] is None:
        parameters["dtype"] = dtype
    inputs = {
        each.name: np.array(special.inputs[each.name], each.dtype or dtype) if each.name in special.inputs else None
        for each in contract.inputs
    }
    name = _name(dtype, name, dict(special.parameters))
    if contract.kind.name in ("elementwise", "cast"):
        yield Case(name, dtype, {key: _copies(value, ()) for key, value in inputs.items()}, parameters, special)
        return
    case = Case(name, dtype, inputs, parameters, special)
    if contract.converts and (computed := parameters["dtype"]):
        case = replace(case, name=f"{computed} of {name}", dtype=computed, is_converted=True)
    yield case
    if contract.kind.name in ("reduction", "index_reduction") and "axis" in parameters:
        for side, axis in (("rows", 1), ("columns", 0)):
            tiled = {key: _copies(value, axis) for key, value in inputs.items()}
            yield replace(case, name=f"{case.name}, {side}", inputs=tiled, parameters={**parameters, "axis": axis})


def _copies(value: Array | None, axis: int | Sequence[int]) -> Array | None:
    """Returns COPIES copies of a special value: as rows if `axis` is 1, columns if 0, along a new first axis if ()."""
    if value is None:
        return None
    if axis == ():
        return np.broadcast_to(value, (COPIES, *value.shape)).copy()
    tiled = np.broadcast_to(value, (COPIES, value.size))
    return np.ascontiguousarray(tiled if axis == 1 else tiled.T)


def _name(dtype: str, what: str, parameters: Mapping[str, Any]) -> str:
    settings = " ".join(f"{key}={value}" for key, value in parameters.items() if value is not None)
    return " ".join(part for part in (dtype, what, settings) if part)


def _text(shape: Any) -> str:
    return "x".join(map(str, shape)) if shape and not isinstance(shape[0], (list, tuple)) else str(list(shape))
