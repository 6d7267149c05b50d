"""From an operation and a size to one benchmark case: its arguments, the bytes it moves and its arithmetic.

A size is what the user writes after --sizes. One number is the count of elements; for matrices it is their
edge and for windows the edge of an image with 64 channels. A shape such as 512x64 is the shape of the inputs,
of matrices M x K x N, of windows N x C x H x W.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import isqrt, prod

from lanewise.errors import ArgumentError
from tests.bench.inputs import ITEM_BYTES, HostArray, Shape, ascending, draw, draw_indices
from tests.bench.operations import Input, Operation

Size = tuple[int, ...]
Literal = bool | int | float | str | tuple[int, ...]


@dataclass(frozen=True)
class Several:
    """A sequence of arrays as one argument."""

    items: tuple[HostArray, ...]


Argument = HostArray | Several | Literal

CHANNELS = 64
KERNEL = 3
DEPTH = 64  # of attention heads
VARIABLES = 16  # of statistics

ELEMENTS: tuple[Size, ...] = ((1 << 10,), (1 << 16,), (1 << 20,))  # in the caches, and beyond the second
EDGES: tuple[Size, ...] = tuple((isqrt(count),) for (count,) in ELEMENTS)  # of one matrix with so many
ROWS: tuple[Size, ...] = tuple((count // DEPTH,) for (count,) in ELEMENTS)
DEFAULT_SIZES_BY_KIND: Mapping[str, tuple[Size, ...]] = {
    "matrix": ((64,), (256,)),
    "window": ((56,),),
    "attention": ((512,),),
    "eigen": ((64,), (256,)),
}
DEFAULT_SIZES_BY_NAME: Mapping[str, tuple[Size, ...]] = {
    "matvec": EDGES,
    "vecmat": EDGES,
    "outer": EDGES,
    "attention_scores": ROWS,
    "weighted_sum": ROWS,
}
LARGEST_EDGE = 1 << 14

# Operations an element, where the count is plain; matrices and windows count two a product.
ARITHMETIC: Mapping[str, int] = {"add": 1, "subtract": 1, "multiply": 1, "divide": 1, "fma": 2, "sum": 1, "dot": 2}


@dataclass(frozen=True)
class Case:
    """One row of the benchmark, before anybody runs it."""

    operation: Operation
    dtype: str
    size: Size
    arguments: tuple[Argument, ...]
    keywords: Mapping[str, Literal] = field(default_factory=dict)
    result: int = 0  # elements written
    result_dtype: str = ""  # where it is not what the contract's `dtypes` say
    flops: int | None = None  # where the count is plain

    @property
    def label(self) -> str:
        """The size for people."""
        return " x ".join(f"{extent:,}" for extent in self.size)

    @property
    def inputs(self) -> tuple[HostArray, ...]:
        """Every array among the arguments."""
        found: list[HostArray] = []
        for argument in self.arguments:
            if isinstance(argument, HostArray):
                found.append(argument)
            elif isinstance(argument, Several):
                found.extend(argument.items)
        return tuple(found)

    @property
    def bytes(self) -> int | None:
        """Read once and written once; None where nothing is written."""
        if not self.result:
            return None
        written = self.result * ITEM_BYTES[self.result_dtype or self.operation.result(self.dtype)]
        return sum(item.nbytes for item in self.inputs) + written


Builder = Callable[[Operation, Size, str], Case]


def parse_size(text: str) -> Size:
    """A size as written on the command line.

    >>> parse_size("64K"), parse_size("512x64")
    ((65536,), (512, 64))
    """
    try:
        size = tuple(_parse_extent(part) for part in text.lower().split("x"))
    except ValueError:
        raise ArgumentError(f"bench: {text!r} is not a size; write 1024, 64K, 1M or a shape such as 512x64") from None
    if min(size) < 1:
        raise ArgumentError(f"bench: the size {text!r} holds nothing; every extent must be at least 1")
    return size


def _parse_extent(text: str) -> int:
    suffixes = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
    if text[-1:] in suffixes:
        return int(text[:-1]) * suffixes[text[-1]]
    return int(text)


def default_sizes(operation: Operation) -> tuple[Size, ...]:
    """The sizes to measure where the user names none."""
    return DEFAULT_SIZES_BY_NAME.get(operation.name) or DEFAULT_SIZES_BY_KIND.get(operation.kind, ELEMENTS)


def build(operation: Operation, size: Size, dtype: str | None = None) -> Case:
    """The case of an operation at a size. ArgumentError where the operation has no such dtype or size."""
    dtype = dtype or operation.dtype
    if dtype not in ITEM_BYTES or not operation.computes(dtype):
        has = ", ".join(operation.dtypes)
        raise ArgumentError(f"bench: {operation.name} does not compute in {dtype}; it does in {has}")
    if operation.name in _BY_NAME:
        return _BY_NAME[operation.name](operation, size, dtype)
    if operation.kind in _BY_KIND:
        return _BY_KIND[operation.kind](operation, size, dtype)
    raise ArgumentError(f"bench: {operation.name} has no case; add one to the tables of tests/bench/cases.py")


def _draw(operation: Operation, item: Input, shape: Shape, dtype: str) -> HostArray:
    seed = [other.name for other in operation.inputs].index(item.name)
    return draw(item.dtype or dtype, shape, operation.range(item.name, dtype), seed)


def _required(operation: Operation, shape: Shape, dtype: str) -> tuple[HostArray, ...]:
    return tuple(_draw(operation, item, shape, dtype) for item in operation.inputs if not item.optional)


def _flops(operation: Operation, dtype: str, elements: int) -> int | None:
    each = ARITHMETIC.get(operation.name) if dtype.startswith("float") else None
    return None if each is None else each * elements


def _elementwise(operation: Operation, size: Size, dtype: str) -> Case:
    count = prod(size)
    arguments = _required(operation, size, dtype)
    return Case(operation, dtype, size, arguments, result=count, flops=_flops(operation, dtype, count))


def _pow(operation: Operation, size: Size, dtype: str) -> Case:
    """Of positive numbers: the powers of others are NaN, which NumPy warns of."""
    case = _elementwise(operation, size, dtype)
    within = operation.range(operation.inputs[0].name, dtype)
    bases = draw(dtype, size, within and replace(within, low=0, exclude_zero=True), seed=0)
    return replace(case, arguments=(bases, *case.arguments[1:]))


def _reduction(operation: Operation, size: Size, dtype: str) -> Case:
    arguments = _required(operation, size, dtype)
    return Case(operation, dtype, size, arguments, result=1, flops=_flops(operation, dtype, prod(size)))


def _rows(operation: Operation, size: Size, dtype: str) -> Case:
    if len(size) == 1:
        rows = isqrt(size[0])
        size = (rows, size[0] // rows)
    first, *others = operation.inputs
    arguments = [_draw(operation, first, size, dtype)]
    arguments += [_draw(operation, item, size[-1:], dtype) for item in others]
    return Case(operation, dtype, size, tuple(arguments), result=prod(size))


def _cumulative_sum(operation: Operation, size: Size, dtype: str) -> Case:
    return replace(_rows(operation, size, dtype), keywords={"axis": -1})


def _add_rms_norm(operation: Operation, size: Size, dtype: str) -> Case:
    """Rows with as many of a residual, and one weight for all."""
    case = _rows(operation, size, dtype)
    x, _, weight = case.arguments
    residual = _draw(operation, operation.inputs[1], case.size, dtype)
    return replace(case, arguments=(x, residual, weight), result=2 * case.result)


def _variables(operation: Operation, size: Size, dtype: str) -> Case:
    """Of 16 variables."""
    shape = size if len(size) == 2 else (VARIABLES, max(prod(size) // VARIABLES, 2))
    x = _draw(operation, operation.inputs[0], shape, dtype)
    return Case(operation, dtype, shape, (x,), result=shape[0] ** 2)


def _edges(operation: Operation, size: Size, count: int, names: str) -> Size:
    """The extents of a matrix or window case, from one edge or all of them."""
    if len(size) not in (1, count):
        raise ArgumentError(f"bench: {operation.name} takes one edge or {names}; got {'x'.join(map(str, size))}")
    if max(size) > LARGEST_EDGE:
        raise ArgumentError(f"bench: {operation.name} takes sizes as edges, at most {LARGEST_EDGE}; got {max(size)}")
    return size


def _matrix(operation: Operation, size: Size, dtype: str) -> Case:
    edges = _edges(operation, size, 3, "MxKxN")
    m, k, n = edges if len(edges) == 3 else edges * 3
    shapes: list[Shape] = [(m, k), (k, n)] if operation.name == "matmul" else [(m, k), (n, k), (n,)]
    arguments = [_draw(operation, item, shape, dtype) for item, shape in zip(operation.inputs, shapes, strict=True)]
    return Case(operation, dtype, (m, k, n), tuple(arguments), result=m * n, flops=2 * m * k * n)


def _matvec(operation: Operation, size: Size, dtype: str) -> Case:
    """A square matrix, or MxN, and a vector."""
    edges = _edges(operation, size, 2, "MxN")
    m, n = edges if len(edges) == 2 else edges * 2
    shapes: list[Shape] = [(m, n), (n,)] if operation.name == "matvec" else [(m,), (m, n)]
    arguments = [_draw(operation, item, shape, dtype) for item, shape in zip(operation.inputs, shapes, strict=True)]
    result = m if operation.name == "matvec" else n
    return Case(operation, dtype, (m, n), tuple(arguments), result=result, flops=2 * m * n)


def _outer(operation: Operation, size: Size, dtype: str) -> Case:
    """Of two vectors that are as long as the size's edge."""
    edges = _edges(operation, size, 2, "MxN")
    m, n = edges if len(edges) == 2 else edges * 2
    arguments = [_draw(operation, item, (e,), dtype) for item, e in zip(operation.inputs, (m, n), strict=True)]
    return Case(operation, dtype, (m, n), tuple(arguments), result=m * n)


def _attention_step(operation: Operation, size: Size, dtype: str) -> Case:
    """One query, or its weights, and so many rows of 64."""
    rows = prod(size)
    vector = DEPTH if operation.name == "attention_scores" else rows
    shapes: list[Shape] = [(vector,), (rows, DEPTH)]
    arguments = [_draw(operation, item, shape, dtype) for item, shape in zip(operation.inputs, shapes, strict=True)]
    result = rows if operation.name == "attention_scores" else DEPTH
    return Case(operation, dtype, size, tuple(arguments), result=result, flops=2 * rows * DEPTH)


def _attention(operation: Operation, size: Size, dtype: str) -> Case:
    """Causal, HxLxD; of one edge: 8 heads of 64."""
    edges = _edges(operation, size, 3, "HxLxD")
    heads, length, depth = edges if len(edges) == 3 else (8, edges[0], DEPTH)
    arguments = [_draw(operation, item, (1, heads, length, depth), dtype) for item in operation.inputs[:3]]
    flops = 2 * heads * length * (length + 1) * depth
    count = heads * length * depth
    return Case(operation, dtype, (heads, length, depth), tuple(arguments), {"is_causal": True}, count, flops=flops)


def _rotation(operation: Operation, size: Size, dtype: str) -> Case:
    """HxLxD; of one size: so many elements in heads of 64."""
    shape = size if len(size) == 3 else (8, max(prod(size) // (8 * DEPTH), 1), DEPTH)
    return Case(operation, dtype, shape, (_draw(operation, operation.inputs[0], shape, dtype),), result=prod(shape))


def _eigen(operation: Operation, size: Size, dtype: str) -> Case:
    """A square matrix of this edge."""
    (n,) = _edges(operation, size, 1, "N")
    x = _draw(operation, operation.inputs[0], (n, n), dtype)
    return Case(operation, dtype, (n, n), (x,), result=n if operation.name == "eigvalsh" else n * n + n)


def _image(operation: Operation, size: Size) -> Size:
    edges = _edges(operation, size, 4, "NxCxHxW")
    return edges if len(edges) == 4 else (1, CHANNELS, edges[0], edges[0])


def _conv2d(operation: Operation, size: Size, dtype: str) -> Case:
    """Same padding, as many channels out as in."""
    shape = _image(operation, size)
    channels = shape[1]
    shapes = [shape, (channels, channels, KERNEL, KERNEL), (channels,)]
    arguments = [_draw(operation, item, s, dtype) for item, s in zip(operation.inputs, shapes, strict=True)]
    flops = 2 * prod(shape) * channels * KERNEL * KERNEL
    return Case(operation, dtype, shape, tuple(arguments), {"padding": 1}, result=prod(shape), flops=flops)


def _pool2d(operation: Operation, size: Size, dtype: str) -> Case:
    n, c, h, w = shape = _image(operation, size)
    arguments = _required(operation, shape, dtype)
    return Case(operation, dtype, shape, arguments, {"kernel_size": 2}, result=n * c * (h // 2) * (w // 2))


def _clip(operation: Operation, size: Size, dtype: str) -> Case:
    limits = (-1.0, 1.0) if dtype.startswith("float") else (-1, 1)
    case = _elementwise(operation, size, dtype)
    return Case(operation, dtype, size, (*case.arguments, *limits), result=case.result, flops=case.flops)


def _astype(operation: Operation, size: Size, dtype: str) -> Case:
    """float32 to int32, and anything else to float32."""
    target = "int32" if dtype == "float32" else "float32"
    x = _draw(operation, operation.inputs[0], size, dtype)
    return Case(operation, dtype, size, (x, target), result=prod(size), result_dtype=target)


def _take(operation: Operation, size: Size, dtype: str) -> Case:
    """As many elements as x has, from anywhere in it."""
    count = prod(size)
    x = _draw(operation, operation.inputs[0], (count,), dtype)
    return Case(operation, dtype, size, (x, draw_indices(count, count, seed=1)), result=count)


def _take_along_axis(operation: Operation, size: Size, dtype: str) -> Case:
    """One element of the last axis for each."""
    x = _draw(operation, operation.inputs[0], size, dtype)
    indices = draw_indices(prod(size), size[-1], seed=1)
    return Case(operation, dtype, size, (x, replace(indices, shape=size)), result=prod(size))


def _topk(operation: Operation, size: Size, dtype: str) -> Case:
    """Ten of each row: in rows as short as these hardly any are equal, of which libraries choose differently."""
    case = _rows(operation, size, dtype)
    k = min(case.size[-1], 10)
    return replace(case, arguments=(*case.arguments, k), result=prod(case.size[:-1]) * k * 2)


def _nonzero(operation: Operation, size: Size, dtype: str) -> Case:
    """Of a mask, about half of it."""
    mask = draw("bool", size, None, 0)
    found = sum(mask.data)
    return Case(operation, "bool", size, (mask,), result=found * len(size), result_dtype="int32")


def _searchsorted(operation: Operation, size: Size, dtype: str) -> Case:
    """As many elements as the sorted tensor has."""
    count = prod(size)
    row = ascending(_draw(operation, operation.inputs[0], (count,), dtype))
    return Case(operation, dtype, size, (row, _draw(operation, operation.inputs[1], size, dtype)), result=count)


def _embedding(operation: Operation, size: Size, dtype: str) -> Case:
    """As many rows of 64 as make the size, of a weight with as many."""
    rows = max(prod(size) // CHANNELS, 1)
    weight = draw(dtype, (rows, CHANNELS), None, 0)
    return Case(operation, dtype, size, (draw_indices(rows, rows, seed=1), weight), result=rows * CHANNELS)


def _concat(operation: Operation, size: Size, dtype: str) -> Case:
    """Two halves of the size into one."""
    extent = max(size[0] // 2, 1)
    halves = Several(tuple(draw(dtype, (extent, *size[1:]), None, seed) for seed in (0, 1)))
    return Case(operation, dtype, size, (halves,), result=2 * extent * prod(size[1:]))


def _arange(operation: Operation, size: Size, dtype: str) -> Case:
    return Case(operation, dtype, size, (prod(size),), {"dtype": dtype}, result=prod(size))


def _full(operation: Operation, size: Size, dtype: str) -> Case:
    return Case(operation, dtype, size, (size, 2.0), {"dtype": dtype}, result=prod(size))


def _filled(operation: Operation, size: Size, dtype: str) -> Case:
    return Case(operation, dtype, size, (size,), {"dtype": dtype}, result=prod(size))


def _rand(operation: Operation, size: Size, dtype: str) -> Case:
    return Case(operation, dtype, size, (size,), result=prod(size))


def _linspace(operation: Operation, size: Size, dtype: str) -> Case:
    return Case(operation, dtype, size, (0, 1, prod(size)), {"dtype": dtype}, result=prod(size))


def _eye(operation: Operation, size: Size, dtype: str) -> Case:
    """As nearly square as it goes."""
    rows = isqrt(prod(size))
    columns = prod(size) // rows
    return Case(operation, dtype, (rows, columns), (rows, columns), {"dtype": dtype}, result=rows * columns)


def _asarray(operation: Operation, size: Size, dtype: str) -> Case:
    """Of an array that is one already: the call alone."""
    return Case(operation, dtype, size, (draw(dtype, size, None, 0),))


def _moved(*arguments: Literal, written: int = 1, ndim: int = 1, **keywords: Literal) -> Builder:
    """Of an array x of that many dimensions: `written` times its elements are written, none of a view."""

    def build(operation: Operation, size: Size, dtype: str) -> Case:
        x = draw(dtype, (1,) * (ndim - len(size)) + size, None, 0)
        return Case(operation, dtype, size, (x, *arguments), keywords, result=written * prod(size))

    return build


def _permute_dims(operation: Operation, size: Size, dtype: str) -> Case:
    shape = size if len(size) > 1 else (1, *size)
    return Case(operation, dtype, size, (draw(dtype, shape, None, 0), tuple(reversed(range(len(shape))))))


def _broadcast_to(operation: Operation, size: Size, dtype: str) -> Case:
    return Case(operation, dtype, size, (draw(dtype, size, None, 0), (4, *size)))


def _squeeze(operation: Operation, size: Size, dtype: str) -> Case:
    return Case(operation, dtype, size, (draw(dtype, (1, *size), None, 0),), {"axis": 0})


_BY_KIND: Mapping[str, Builder] = {
    "elementwise": _elementwise,
    "reduction": _reduction,
    "index_reduction": _reduction,
    "rows": _rows,
    "sort": _elementwise,
    "matrix": _matrix,
    "attention": _attention,
    "rotation": _rotation,
    "eigen": _eigen,
}
_BY_NAME: Mapping[str, Builder] = {
    "clip": _clip,
    "cumulative_sum": _cumulative_sum,
    "pow": _pow,
    "astype": _astype,
    "take": _take,
    "concat": _concat,
    "conv2d": _conv2d,
    "max_pool2d": _pool2d,
    "avg_pool2d": _pool2d,
    "matvec": _matvec,
    "vecmat": _matvec,
    "outer": _outer,
    "attention_scores": _attention_step,
    "weighted_sum": _attention_step,
    "arange": _arange,
    "full": _full,
    "zeros": _filled,
    "ones": _filled,
    "rand": _rand,
    "randn": _rand,
    "linspace": _linspace,
    "eye": _eye,
    "asarray": _asarray,
    "reshape": _moved((1, -1), written=0),
    "permute_dims": _permute_dims,
    "matrix_transpose": _moved(written=0, ndim=2),
    "broadcast_to": _broadcast_to,
    "expand_dims": _moved(axis=0, written=0),
    "squeeze": _squeeze,
    "flatten": _moved(written=0),
    "flip": _moved(written=0),
    "moveaxis": _moved(0, -1, written=0),
    "split": _moved(1, written=0),
    "stack": _concat,
    "roll": _moved(1),
    "tile": _moved(2, written=2),
    "repeat": _moved(2, written=2),
    "pad": _moved(0),
    "tril": _rows,
    "triu": _rows,
    "take_along_axis": _take_along_axis,
    "topk": _topk,
    "nonzero": _nonzero,
    "searchsorted": _searchsorted,
    "embedding": _embedding,
    "normalize": _rows,
    "zscore": _rows,
    "add_rms_norm": _add_rms_norm,
    "covariance": _reduction,
    "correlation": _reduction,
    "cov": _variables,
    "corrcoef": _variables,
}
