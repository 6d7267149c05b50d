"""Draws the arguments of products: of matrices, of images with windows, and of attention."""

from __future__ import annotations

import math
from math import prod

from tests.bench.surface.draw import Draw, Drawn
from tests.cases.cases import Argument, Literal, Viewed
from tests.cases.inputs import Shape
from tests.cases.operations import Operation

FLOPS = 1e5, 4e9  # of a product
OF_INTEGERS = 2e8  # at most of one of integers, for which peers have triple loops
OF_ATTENTION = 3e10  # at most of one batch
OPERAND = 3e7  # elements at most in an operand or result
FLOATS = ("float32", "float64")
HALVES = ("float16", "bfloat16", "int8")  # whose products are not counted


def product(draw: Draw, operation: Operation) -> Drawn:
    """Products with sides of every proportion: a small side, a long k, batches, few columns, a vector."""
    dtype = draw.dtype(operation)
    flops = draw.extent(FLOPS[0], _most(draw, FLOPS[1] if dtype in FLOATS else OF_INTEGERS))
    m, k, n, batch = _sides(draw, flops // 2)
    while prod(batch) * max(m * k, k * n, m * n) > max(OPERAND * draw.scale, FLOPS[0]):
        m, k, n, batch = _sides(draw, flops // 2)
    name = operation.name
    if name == "outer":
        shapes: dict[str, Shape] = {"x1": (m,), "x2": (n,)}
        count = m * n
    elif name == "matvec":
        shapes, count = {"x1": (m, k), "x2": (k,)}, 2 * m * k
    elif name == "vecmat":
        shapes, count = {"x1": (k,), "x2": (k, n)}, 2 * k * n
    elif name == "linear":
        shapes, count = {"x": (m, k), "weight": (n, k), "bias": (n,)}, 2 * m * k * n
    else:
        shapes, count = {"x1": (*batch, m, k), "x2": (*batch, k, n)}, 2 * prod(batch) * m * k * n
    arguments = [
        draw.array(operation, name, dtype, shape, layout=draw.choice(("contiguous", "contiguous", "transposed")))
        if len(shape) > 1
        else draw.array(operation, name, dtype, shape, layout="contiguous")
        for name, shape in shapes.items()
    ]
    return Drawn(dtype, arguments, flops=count)


def _most(draw: Draw, flops: float) -> float:
    """Scales a limit of FLOPs. Where memory is small, in browsers, peers are slow, too, because they lack BLAS."""
    return max(flops * math.pow(draw.scale, 1.5), 10 * FLOPS[0])


def _sides(draw: Draw, count: int) -> tuple[int, int, int, Shape]:
    """Draws m, k, n and the extents of a batch, whose product is about `count`."""

    def root(rest: int, power: int) -> int:
        return max(round(math.pow(rest, 1 / power)), 1)

    name = draw.choice(("square", "few rows", "few columns", "long k", "short k", "batch", "any"))
    small = draw.extent(1, 128)
    edge = root(count // small, 2)
    if name == "few rows":
        return min(small, count), edge, edge, ()
    if name == "few columns":
        return edge, edge, min(small, count), ()
    if name == "long k":
        return small, max(count // small**2, 1), small, ()
    if name == "short k":
        return edge, small, edge, ()
    if name == "batch":
        side = draw.extent(4, 256)
        return side, side, side, (max(count // side**3, 1),)
    edge = root(count, 3)
    if name == "any":
        m, k = draw.extent(max(edge / 8, 1), edge * 8), draw.extent(max(edge / 4, 1), edge * 4)
        return m, k, max(count // (m * k), 1), ()
    return edge, edge, edge, ()


def window(draw: Draw, operation: Operation) -> Drawn:
    """Convolutions (plain, 1x1, grouped, depthwise, strided, dilated) and pooling."""
    dtype = draw.dtype(operation, FLOATS)
    height = draw.extent(7, 224)
    width = height if draw.chance(0.7) else draw.extent(7, 224)
    keywords: dict[str, Literal] = {}
    if operation.name != "conv2d":
        channels = draw.extent(1, 256)
        count = max(round(draw.extent(1e4, max(1e7 * draw.scale, 1e5)) / (channels * height * width)), 1)
        kernel = draw.choice((2, 2, 3))
        x = draw.array(operation, "x", dtype, (count, channels, height, width), layout="contiguous")
        if draw.chance(0.3):
            keywords["stride"] = draw.choice((1, 2))
        return Drawn(dtype, [x], {"kernel_size": kernel, **keywords})
    size, groups = draw.choice((1, 3, 3, 3, 5, 7)), 1
    channels, filters = draw.extent(1, 256), draw.extent(1, 256)
    form = draw.choice(("plain", "plain", "grouped", "depthwise"))
    if form == "grouped":
        groups = draw.choice((2, 4, 8))
        channels, filters = -(-channels // groups) * groups, -(-filters // groups) * groups
    elif form == "depthwise":
        groups, filters = channels, channels * draw.choice((1, 1, 2))
    if draw.chance(0.7):
        keywords["padding"] = size // 2
    if draw.chance(0.25):
        keywords["stride"] = 2
    if size > 1 and draw.chance(0.15):
        keywords["dilation"] = 2
        height, width = max(height, 2 * size), max(width, 2 * size)
    if groups > 1:
        keywords["groups"] = groups
    height, width = max(height, size), max(width, size)
    each = 2 * filters * (channels // groups) * size * size * height * width
    most = _most(draw, FLOPS[1])
    count = max(min(round(draw.extent(FLOPS[0], most) / each), 64), 1)
    if each > most:
        channels, filters, groups = 8, 8, min(groups, 8)
    shapes = ((count, channels, height, width), (filters, channels // groups, size, size))
    arguments: list[Argument] = [
        draw.array(operation, name, dtype, shape, layout="contiguous")
        for name, shape in zip(("x", "weight"), shapes, strict=True)
    ]
    if draw.chance(0.5):
        arguments.append(draw.array(operation, "bias", dtype, (filters,), layout="contiguous"))
    return Drawn(dtype, arguments, keywords)


def _heads(draw: Draw) -> tuple[int, int, int, int]:
    """Draws the numbers of heads, queries and keys, and the length of each."""
    heads, depth = draw.extent(1, 32), draw.choice((32, 64, 64, 80, 128))
    keys = draw.extent(16, 2048)
    return heads, draw.choice((1, draw.extent(1, 32), keys, keys)), keys, depth


def attention(draw: Draw, operation: Operation) -> Drawn:
    """Many and few queries, grouped heads, causal or with a mask; heads that lie between the others in memory."""
    dtype = draw.dtype(operation, FLOATS)
    heads, queries, keys, depth = _heads(draw)
    while (flops := 4 * heads * queries * keys * depth) > _most(draw, OF_ATTENTION):
        heads, queries, keys, depth = _heads(draw)
    group = draw.choice((1, 1, 1, 4)) if heads % 4 == 0 else 1
    batch = draw.extent(1, min(max(int(_most(draw, FLOPS[1]) / flops), 1), 8))
    keywords: dict[str, Literal] = {"enable_gqa": True} if group > 1 else {}
    shapes = [(batch, heads, queries, depth), *[(batch, heads // group, keys, depth)] * 2]
    apart = draw.chance(0.3)  # heads as a layer of a model has them: batch, length, heads, depth
    arguments: list[Argument] = []
    for name, (*outer, head, length, last) in zip(("query", "key", "value"), shapes, strict=True):
        x = draw.array(operation, name, dtype, (*outer, length, head, last) if apart else (*outer, head, length, last),
                       layout="contiguous")  # fmt: skip
        arguments.append(Viewed(x, (0, 2, 1, 3)) if apart else x)  # type: ignore[arg-type]
    mask = draw.choice(("", "", "causal", "mask"))
    if mask == "causal" and queries == keys:
        keywords["is_causal"] = True
    elif mask == "mask":
        arguments.append(draw.array(operation, "attn_mask", dtype, (queries, keys), layout="contiguous"))
    return Drawn(dtype, arguments, keywords)
