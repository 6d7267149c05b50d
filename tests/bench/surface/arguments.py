"""Draws the arguments of operations, by kind, except those of products.py."""

from __future__ import annotations

from math import prod

from tests.bench.surface.draw import Draw, Drawn
from tests.cases import operations
from tests.cases.cases import Argument, Literal, Several, Viewed, build
from tests.cases.inputs import HostArray, Shape
from tests.cases.operations import Operation, Range

SORTED = 3e7  # bytes at most of what is sorted, because a peer takes seconds for more
RESULT = 5e7  # elements at most in a result that is larger than the operands
WHOLE = 0.1  # the share of reductions that reduce all axes
EDGES = 200  # the largest edge of matrices of which eigenvalues are computed
EXPONENTS = Range(0, 10)  # of integers, which have no negative powers


def elementwise(draw: Draw, operation: Operation) -> Drawn:
    """Operands have the same shape, or one that is broadcast: a row, a column, a number."""
    dtype = draw.dtype(operation)
    shape = draw.shape(dtype)
    template = build(operation, (2,), dtype)
    arguments: list[Argument] = []
    for name, given in zip(_inputs(operation), template.arguments, strict=False):
        of = shape
        if arguments and isinstance(given, HostArray) and draw.chance(0.3):
            of = draw.choice([shape[-1:], (*shape[:-1], 1), ()])
        within = EXPONENTS if (operation.name, name) == ("pow", "x2") and "float" not in dtype else None
        arguments.append(
            draw.array(operation, name, dtype, of, within=within) if isinstance(given, HostArray) else given
        )
    return Drawn(dtype, [*arguments, *template.arguments[len(arguments) :]], template.keywords)


def _inputs(operation: Operation) -> list[str]:
    return [each.name for each in operation.inputs]


def cast(draw: Draw, operation: Operation) -> Drawn:
    dtype = draw.dtype(operation)
    target = draw.dtype(operation, [name for name in operation.dtypes if name != dtype] or ("float32", "int32"))
    held = Range(0, 100)  # by every dtype: out of range, libraries differ
    return Drawn(dtype, [draw.array(operation, "x", dtype, draw.shape(dtype), within=held), target])


def reduction(draw: Draw, operation: Operation) -> Drawn:
    dtype = draw.dtype(operation)
    if operation.name in ("dot", "vecdot"):
        shape = draw.shape(dtype) if operation.name == "vecdot" else (draw.count(dtype),)
        return Drawn(dtype, [draw.array(operation, name, dtype, shape) for name in ("x1", "x2")])
    shape = draw.shape(dtype)
    keywords: dict[str, Literal] = {} if draw.chance(WHOLE) else {"axis": draw.axis(shape)}
    return Drawn(dtype, [draw.array(operation, "x", dtype, shape)], keywords)


def rows(draw: Draw, operation: Operation) -> Drawn:
    dtype = draw.dtype(operation)
    shape = draw.shape(dtype, rows=True)
    axis = -1 if len(operation.inputs) > 1 else draw.axis(shape)
    others = [draw.array(operation, each.name, dtype, shape[-1:], layout="contiguous") for each in operation.inputs[1:]]
    return Drawn(dtype, [draw.array(operation, "x", dtype, shape), *others], {} if others else {"axis": axis})


def sort(draw: Draw, operation: Operation) -> Drawn:
    dtype, most = draw.dtype(operation), SORTED * draw.scale
    if operation.name == "searchsorted":
        haystack, needles = build(operation, (draw.count(dtype, most),), dtype), draw.count(dtype, most)
        return Drawn(dtype, [haystack.arguments[0], draw.array(operation, "x2", dtype, (needles,))])
    shape = draw.shape(dtype, most)
    axis = draw.axis(shape)
    x = draw.array(operation, "x", dtype, shape, spread=prod(shape) < 1 << 20)
    if operation.name == "topk":
        return Drawn(dtype, [x, draw.extent(1, min(shape[axis], 100))], {"axis": axis})
    return Drawn(dtype, [x], {"axis": axis})


def gather(draw: Draw, operation: Operation) -> Drawn:
    dtype = draw.dtype(operation)
    shape = draw.shape(dtype, rows=operation.name == "embedding")
    is_table = operation.name == "embedding"
    x = draw.array(operation, "x", dtype, shape, layout="contiguous" if is_table else "")
    if operation.name == "nonzero":
        return Drawn(dtype, [x])
    if is_table:
        return Drawn(
            dtype, [draw.positions((draw.extent(1, max(RESULT * draw.scale / prod(shape[1:]), 1)),), shape[0]), x]
        )
    axis = draw.axis(shape)
    of = list(shape)
    of[axis] = draw.extent(1, shape[axis])
    if operation.name == "take_along_axis":
        return Drawn(dtype, [x, draw.positions(tuple(of), shape[axis])], {"axis": axis})
    if draw.chance(0.3):
        mask = draw.array(operations.find("logical_not"), "x", "bool", shape, layout="contiguous")
        return Drawn(dtype, [x, mask], call="argument0[argument1]")
    return Drawn(dtype, [x, draw.positions((of[axis],), shape[axis])], {"axis": axis})


def _below_view(x: Argument) -> Argument:
    """Returns the array below a view."""
    return x.array if isinstance(x, Viewed) else x


def copy(draw: Draw, operation: Operation) -> Drawn:
    dtype = draw.dtype(operation)
    shape = draw.shape(dtype, rows=True)
    x, name = draw.array(operation, "x", dtype, shape), operation.name
    if name == "asarray":
        inner = _below_view(x)
        assert isinstance(inner, HostArray)
        if len(shape) > 2 and draw.chance(0.7):
            x = Viewed(inner, tuple(draw.random.sample(range(len(inner.shape)), len(inner.shape))))
        return Drawn(dtype, [x], {"copy": True})
    if name in ("concat", "stack"):
        axis = draw.axis(shape)
        number = draw.choice((2, 3, 8)) if 8 * prod(shape) < RESULT * draw.scale else 2
        arrays = Several(tuple(_plain(draw, operation, dtype, shape) for _ in range(number)))
        return Drawn(dtype, [arrays], {"axis": axis})
    if name == "roll":
        axis = draw.axis(shape)
        return Drawn(dtype, [x, draw.extent(1, shape[axis])], {"axis": axis})
    if name == "tile":
        return Drawn(dtype, [x, draw.choice((2, 3))])
    if name == "repeat":
        return Drawn(dtype, [x, draw.choice((2, 3))], {"axis": draw.axis(shape)})
    if name == "pad":
        return Drawn(dtype, [x, draw.choice((1, 3))])
    return Drawn(dtype, [x])


def _plain(draw: Draw, operation: Operation, dtype: str, shape: Shape) -> HostArray:
    array = draw.array(operation, "arrays", dtype, shape, layout="contiguous")
    assert isinstance(array, HostArray)
    return array


def creation(draw: Draw, operation: Operation) -> Drawn:
    name = operation.name
    floats, integers = ("float32", "float64"), ("int32", "int64")
    dtype = draw.dtype(operation, floats if name in ("rand", "randn", "linspace") else floats + integers)
    count, kept = draw.count(dtype), {"dtype": dtype}
    if name == "eye":
        return Drawn(dtype, [max(round(count**0.5), 1)], kept)
    if name == "linspace":
        return Drawn(dtype, [0, 1, count], kept)
    return Drawn(dtype, [count if name == "arange" else draw.shape(dtype), *[3] * (name == "full")], kept)


def other(draw: Draw, operation: Operation) -> Drawn:
    """Composed operations, from the sizes that the benchmark knows for them."""
    dtype = draw.dtype(operation, ("float32", "float64"))
    size = draw.extent(8, EDGES) if operation.kind == "eigen" else draw.extent(1e3, max(1e6 * draw.scale, 1e4))
    case = build(operation, (size,), dtype)
    return Drawn(dtype, case.arguments, case.keywords, case.call, case.flops)
