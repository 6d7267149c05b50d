"""Lists test cases at the sizes where an algorithm of core/ switches paths, computed from the constants of core/.

These cases are larger than those of cases.py. tests/native/programs/runner.c runs them on the kernels of every
instruction set, with contiguous and with strided operands. Where many operations share the code of their kind, a few
stand for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from . import products
from .cases import Case, drawn, settings_of
from .constants import largest, values
from .schema import Contract

Row = tuple[dict[str, Any], dict[str, Any]]  # the inputs' shapes; the parameters that differ from their defaults

# With operands that the kernel converts, or computes as they are.
CONVERTED = ("add", "less", "hypot", "sigmoid", "any", "argmax", "max")
TWO_BYTES = ("uint16", "float16", "bfloat16")
LANES = largest("VF32_LANES")
SPANS = 4 * largest("SPAN_UNIT") + 9  # elements, enough that runner.c divides them into several tasks
CHUNK = largest("BUFFER") // 4  # elements of 4 bytes that elementwise.c copies at a time


def cases(contract: Contract) -> Iterator[Case]:
    """Yields the cases of a contract; most contracts have none."""
    rows = _KINDS.get(contract.kind.name)
    if rows is None:
        return
    for dtype in contract.computed:
        if contract.is_served(dtype) or (contract.kind.name == "cast" and dtype not in ("int8", "float32", "int64")):
            continue
        defaults, *others = settings_of(contract, dtype)
        for chosen in (defaults, *others) if contract.kind.name == "cast" else (defaults,):
            for shapes, parameters in rows(contract, dtype):
                yield drawn(contract, dtype, shapes, {**chosen, **parameters})
    for dtype in ("int8", "uint16", "float16", "bfloat16") if contract.operation in CONVERTED else ():
        is_elementwise = contract.kind.name == "elementwise"  # otherwise the host may convert results to two bytes
        if dtype in contract.dtypes and (is_elementwise or contract.result(dtype) not in TWO_BYTES):
            for shapes, parameters in _conversions(contract):
                yield drawn(contract, dtype, shapes, {**next(settings_of(contract, dtype)), **parameters})


def _for_all(contract: Contract, *shapes: tuple[int, ...]) -> dict[str, Any]:
    """Returns a shape for each input; if there are more inputs than shapes, the rest have the last shape."""
    names = [each.name for each in contract.inputs]
    return {name: shapes[min(i, len(shapes) - 1)] for i, name in enumerate(names)}


def _elementwise(contract: Contract, dtype: str) -> Iterator[Row]:
    if contract.operation not in ("add", "where", "greater", "hypot", "copy", "negative", "sigmoid"):
        return
    for row in (1, 2, 3, 5, 9, 17, 33, 70) if contract.operation == "copy" else ():  # runs of all widths
        yield _for_all(contract, (40, row)), {}
    if contract.operation == "copy":
        yield _for_all(contract, (largest("BAND") + 9, largest("BAND") + 99)), {}  # tasks divide the longer side
        yield _for_all(contract, (5, 4, 70)), {}
    chunk, long, short = CHUNK, largest("LONG_ROW_TO_COMPUTE"), largest("LONG_ROW") - 1
    rows = 2 * chunk // short + 3  # several chunks: the later ones begin within a row
    for count in (chunk, chunk + 1, 2 * chunk + LANES + 1):
        yield _for_all(contract, (count,)), {}
    yield _for_all(contract, (rows, short)), {}
    yield _for_all(contract, (3, chunk + 9)), {}
    yield _for_all(contract, (6, 20)), {}  # one tile, and several
    yield _for_all(contract, (2, 70, 300)), {}
    if len(contract.inputs) == 1:
        return
    for row in (short, short + 1, long - 1, long, long + 1, largest("LONG_REPEATED")):
        whole = (2 * chunk // row + 3, row)
        for other in ((row,), (whole[0], 1), (1, 1), ()):  # a row, a column, a 1 x 1 matrix, a 0-d tensor
            yield _for_all(contract, whole, other), {}
            yield _for_all(contract, other, whole), {}
        yield _for_all(contract, (3, *whole), (3, 1, row), (row,)), {}  # in place by row, and a row that repeats
        yield _for_all(contract, (whole[0], 1), (row,)), {}


def _conversions(contract: Contract) -> Iterator[Row]:
    """Yields operands that are in place, repeated, filled, and copied."""
    chunk, long = CHUNK, largest("LONG_ROW_TO_COMPUTE") + 9
    if contract.kind.name != "elementwise":
        block = largest("REDUCE_BLOCK")
        for shape, axis in (((2 * block + 9,), 0), ((3, 70), 1), ((130, 7), 1), ((9, 70), 0), ((5, block + 9), 1)):
            yield _for_all(contract, shape), {"axis": axis}
        return
    yield _for_all(contract, (1,)), {}
    yield _for_all(contract, (2 * chunk + LANES + 1,)), {}
    for row in (23, long):
        whole = (2 * chunk // row + 3, row)
        for other in ((row,), (whole[0], 1), ()):
            yield _for_all(contract, whole, other), {}


def _cast(contract: Contract, dtype: str) -> Iterator[Row]:
    yield {"x": (2 * CHUNK // 23 + 3, 23)}, {}


def _reduction(contract: Contract, dtype: str) -> Iterator[Row]:
    if contract.operation == "any":  # the first of several chunks decides, then none does
        yield _for_all(contract, (2 * largest("REDUCE_BLOCK") * largest("REDUCTION_CHUNK") + 5,)), {"axis": 0}
    if contract.operation not in ("sum", "max", "var", "norm_l2", "vecdot", "argmax", "sum_compensated"):
        return
    block, columns = largest("REDUCE_BLOCK"), largest("REDUCE_MAX_COLUMNS")
    short, scattered = largest("REDUCTION_SHORT"), largest("REDUCTION_SCATTERED")
    chunk = block * largest("REDUCTION_CHUNK")
    shapes: list[tuple[tuple[int, ...], Any]] = []
    shapes += [((count * block + extra,), 0) for count, extra in ((1, 0), (1, 1), (2, 0), (2, 1), (5, 7))]
    shapes += [((7, line), 0) for line in range(3, columns + LANES + 2)]  # columns are reduced
    # Rows are reduced here. Groups of 4 or more outputs with few elements each are transposed, then reduced as columns.
    shapes += [((line, 7), 1) for line in (3, 4, LANES + 1, columns - 1, columns, columns + 1)]
    shapes += [
        ((9, short), 1),
        ((9, short + 1), 1),
        ((9, scattered + 1), 1),
        ((2 * block + 9, 5), 0),
        ((5, block + 9), 1),
        ((3, 4), 0),
    ]
    if (contract.operation, dtype) == ("sum", "float32"):
        shapes += [((3, 40, 201), 2)]  # the second task begins in the middle of axis 1
        shapes += [((block, 70), 0), ((70, largest("REDUCE_FAR") // 4), 0)]  # by row, by partial
    if (contract.operation, dtype) in (("sum", "float32"), ("argmax", "int32"), ("vecdot", "int32")):
        # Each shape is reduced in 3 chunks: long ones for a single output, shorter ones for nine adjacent outputs.
        shapes += [((2 * chunk + block + 5,), 0), ((2 * block + 9, 9), 0)]
    several: list[tuple[tuple[int, ...], Any]] = [((2, 70, 100), (1, 2)), ((2, 3, block + 9), (1, 2)), ((3, 4), ())]
    several += [((3, 2, block // 2 + 5), (0, 2)), ((5, 6, 7), (0, 2))]
    if contract.operation == "vecdot":
        yield {"x1": (5, 700), "x2": (5, 1)}, {"axis": -1}
        yield {"x1": (1, 700), "x2": (5, 700)}, {"axis": -1}
    elif contract.kind.name == "reduction":
        shapes += several
    for shape, axis in shapes:
        yield _for_all(contract, shape), {"axis": axis}


def _rows(contract: Contract, dtype: str) -> Iterator[Row]:
    block, chunk, step = largest("REDUCE_BLOCK"), largest("ROW_CHUNK"), largest("ROW_STEP")
    shapes: list[tuple[tuple[int, ...], int]] = [((3, length), 1) for length in range(step - 1, step + LANES + 2)]
    shapes += [((2, chunk + 1), 1), ((2, 2 * block + 5), 1), ((chunk + 9, 3), 0)]
    shapes += [((2, largest("ROW_DIVIDED") + block + 9), 1)]  # tasks divide each row
    shapes += [((5, 3), 1), ((70, 5, 3), 1), ((largest("ROW_BESIDE") + LANES + 1, 5), 1), ((2 * block + 5, 5), 0)]
    if contract.operation in ("softmax", "layer_norm"):
        shapes += [((2, 21, 250), 2)]  # the second task begins in the middle of axis 1
    first, *others = contract.inputs
    for shape, axis in shapes:
        for count in (0, len(others)) if others else (0,):
            weights = {each.name: (shape[axis],) for each in others[:count]}
            yield {first.name: shape, **weights}, {"axis": axis}


def _sort(contract: Contract, dtype: str) -> Iterator[Row]:
    lengths = [each + extra for each in values("SORT_SHORT") for extra in (-1, 0, 1)]
    for length in (*lengths, largest("SORT_CHUNK"), largest("SORT_CHUNK") + 1):
        for descending in (False, True):
            yield {"x": (2, length)}, {"axis": 1, "descending": descending}
    yield {"x": (5, 100)}, {"axis": 1, "descending": False}
    for length in values("SORT_BESIDE"):
        yield {"x": (LANES + 1, length)}, {"axis": 1, "descending": False}
    yield {"x": (3, 1, 5)}, {"axis": 1, "descending": False}
    yield {"x": (largest("SORT_BLOCK") + 9,)}, {"axis": 0, "descending": True}


def _search(contract: Contract, dtype: str) -> Iterator[Row]:
    group = largest("SEARCH_ELEMENTS")
    for row in (0, 1, 2, 3, 7, 8, 1000):
        for count in (1, group - 1, group, group + 1):
            yield {"x1": (row,), "x2": (count,)}, {"side": "right" if row % 2 else "left"}
    yield {"x1": (77,), "x2": (3, SPANS)}, {}


def _gather(contract: Contract, dtype: str) -> Iterator[Row]:
    if dtype not in ("bool", "int32"):
        return
    if contract.operation == "take":
        yield {"x": (9, 5), "indices": (SPANS // 5,)}, {"axis": 0}
        yield {"x": (2, 9), "indices": (SPANS // 2,)}, {"axis": 1}
        yield {"x": (50,), "indices": (SPANS,)}, {"axis": 0}
        yield {"x": (40, 9), "indices": (3,)}, {"axis": 1}
    if contract.operation == "take_along_axis":
        yield {"x": (9, 50), "indices": (SPANS // 50, 50)}, {"axis": 0}


def _creation(contract: Contract, dtype: str) -> Iterator[Row]:
    if contract.operation in ("rand", "randn"):
        yield {}, {"shape": (3, SPANS // 2), "seed": 5, "offset": 1}
    if contract.operation == "full" and dtype in ("bool", "int32"):
        yield {}, {"shape": (3, SPANS // 2), "fill_value": 1}
        yield {}, {"shape": (3 * SPANS // 2,), "fill_value": 1}


def _rotation(contract: Contract, dtype: str) -> Iterator[Row]:
    pairs, run = largest("ROTATION_PAIRS"), largest("ROTATION_RUN")
    width = 2 * pairs + 2
    for parameters in ({"pairs": "split", "offset": 1000}, {"offset": 7}):
        yield {"x": (3 * run // width, width)}, parameters
    for each in (2 * pairs, 4 * pairs + 2 * LANES + 2):
        yield {"x": (3, each)}, {}
        yield {"x": (3, each)}, {"pairs": "split"}


def _attention(contract: Contract, dtype: str) -> Iterator[Row]:
    rows, keys, long = largest("ATTENTION_ROWS"), largest("ATTENTION_KEYS"), largest("ATTENTION_UNPACKED_KEYS")
    few = largest("UNPACKED_MR")

    def case(queries: int, count: int, depth: int, width: int, **parameters: Any) -> Row:
        batch = parameters.pop("batch", ())
        shapes = {"query": (*batch, queries, depth), "key": (*batch, count, depth), "value": (*batch, count, width)}
        return shapes, parameters

    for count in (1, few, few + 1):
        yield case(count, 2 * long + 9, 8, 17)
    for queries in (rows - 1, rows, rows + 1, 2 * rows + 5):
        yield case(queries, 2 * keys + 3, 9, 5, is_causal=True, offset=keys - 9)
    yield case(rows, keys, 16, 33)
    yield case(rows + 1, 100, 16, 8, batch=(20,))  # several tasks
    shapes, _ = case(rows + 2, keys + 9, 8, 8)
    yield {**shapes, "attn_mask": (rows + 2, keys + 9)}, {}


def _window(contract: Contract, dtype: str) -> Iterator[Row]:
    if contract.operation != "conv2d":
        span = largest("POOL_SPAN")
        stride = {"stride": 1, "kernel_size": 2}
        yield {"x": (2, 6, 70, 70)}, stride  # several tasks
        yield {"x": (1, 2, 5, 2 * span + 9)}, {"kernel_size": (2, span + 9), "stride": 1}
        for step in (1, 2, 3):
            yield {"x": (2, 3, 9, span + 20)}, {"kernel_size": 3, "stride": step, "padding": 1}
        yield {"x": (40, 2, 6, 6)}, {"kernel_size": 6}
        yield {"x": (1, 2, 3, 40)}, {"kernel_size": (1, 2 * span + 80), "stride": 1, "padding": (0, span + 40)}
        if contract.operation == "max_pool2d":  # a window whose rows are all padding
            yield {"x": (2, 2, 5, 30)}, {"kernel_size": (2, 3), "stride": 1, "padding": 1, "dilation": (6, 1)}
        return
    block, channels, taps = 2 * largest("GEMM_KC") // 9 + 9, largest("CONV_CHANNELS") + 1, largest("CONV_TAPS")
    yield {"x": (1, channels, 30, 30), "weight": (channels, 1, 3, 3), "bias": (channels,)}, {"groups": channels}
    yield {"x": (9, 4, 5, 5), "weight": (8, 4, 3, 3), "bias": (8,)}, {"padding": 1}  # one GEMM for several images
    yield {"x": (2, 3, 20, 20), "weight": (9, 3, taps // 3, 3)}, {"padding": 2}
    yield {"x": (1, block, 7, 7), "weight": (9, block, 3, 3), "bias": (9,)}, {"padding": 1}  # too many taps for planes
    yield {"x": (1, 16, 40, 40), "weight": (16, 16, 3, 3)}, {"padding": 1}
    # Two blocks of output channels: tasks share the packed patches of the image, and several tasks pack them.
    yield {"x": (1, 16, 14, 14), "weight": (largest("GEMM_MC") + 9, 16, 3, 3)}, {"padding": 1}
    yield {"x": (20, 8, 12, 12), "weight": (8, 8, 3, 3)}, {"padding": 1}  # several tasks
    for width in (3, 7, 11, 17, 23, 45, 63):  # planes: every number of vectors; four rows, two and one
        yield {"x": (1, 2, 7, width), "weight": (2, 1, 3, 3), "bias": (2,)}, {"groups": 2, "padding": 1}
    yield (
        {"x": (1, 4, 19, 40), "weight": (6, 2, 3, 5)},
        {"groups": 2, "stride": 2, "padding": (2, 5), "dilation": (1, 3)},
    )
    yield {"x": (1, 1, 2 * largest("PLANES_BYTES") // 256, 60), "weight": (1, 1, 3, 3)}, {}  # bands


def _eigen(contract: Contract, dtype: str) -> Iterator[Row]:
    if contract.operation == "eigvalsh":
        yield {"x": (9, 40, 40)}, {}


_KINDS: dict[str, Callable[[Contract, str], Iterator[Row]]] = {
    "elementwise": _elementwise,
    "cast": _cast,
    "reduction": _reduction,
    "index_reduction": _reduction,
    "rows": _rows,
    "sort": _sort,
    "search": _search,
    "gather": _gather,
    "creation": _creation,
    "rotation": _rotation,
    "attention": _attention,
    "window": _window,
    "eigen": _eigen,
    "matrix": products.rows,
}
