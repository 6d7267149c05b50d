"""Measures how long operations take on one thread, divided by the times in their contracts, for lw.calibrate().

A rate holds for all operations of a kind and complexity (contracts/kinds.yaml): the extension multiplies their times
by it (native/extension/cost.c). One factor for all would not do. The contracts' times are those of AVX-512; with SSE2,
an addition takes as long, but tanh three times and exp six times as long (Zen 4, 2026-11).
"""

from __future__ import annotations

import math
from functools import partial
from itertools import chain
from typing import Final

from lanewise import _ext, placement, waking
from lanewise.backend import Backend

__all__ = ["measured"]

REPEATS: Final = 11
SAMPLE_SECONDS: Final = 0.002
Inputs = tuple[_ext.Tensor, ...]


def measured(backend: Backend) -> dict[str, float]:
    """Returns the rates on a CPU backend by calibration.RATED. If several operations stand for a kind and complexity,
    theirs is the geometric mean."""
    from lanewise.timing import Contestant, measure

    works, contestants, nominal = typical(), [], {}
    for name, inputs in chain.from_iterable(each.items() for each in works.values()):
        moved = [placement.move(each, backend) for each in inputs]
        nominal[name], expected, *_ = _ext.expected_times(name, *moved)
        context = partial(waking.shared, 1, expected)
        contestants.append(Contestant.calling(name, getattr(_ext, name), *moved, context=context))
    timings = measure(contestants, repeats=REPEATS, sample_seconds=SAMPLE_SECONDS)
    rates = {timing.name: timing.minimum / nominal[timing.name] for timing in timings}
    return {name: math.prod(rates[each] for each in alike) ** (1 / len(alike)) for name, alike in works.items()}


def typical() -> dict[str, dict[str, Inputs]]:
    """Returns the operations to time, with their inputs, by the name in calibration.RATED."""
    x, y, rows, square = (_ext.rand(shape, seed=0) for shape in ((1 << 15,), (1 << 15,), (128, 256), (128, 128)))
    image, filters, heads = (_ext.rand(shape, seed=1) for shape in ((1, 64, 28, 28), (64, 64, 3, 3), (4, 64, 64)))
    few = _ext.rand((1 << 12,), seed=2)
    indices = _ext.astype(x * x.size, "int32")
    return {
        "add": {"add": (x, y), "exp": (x,)},
        "tanh": {"tanh": (x,), "sin": (x,)},
        "pow": {"pow": (x, y)},
        "sum": {"sum": (rows,), "max": (rows,)},
        "argmax": {"argmax": (rows,)},
        "cumulative_sum": {"cumulative_sum": (x,)},
        "softmax": {"softmax": (rows,), "layer_norm": (rows, rows[0], rows[1])},
        "matmul": {"matmul": (square, square)},
        "conv2d": {"conv2d": (image, filters)},
        "scaled_dot_product_attention": {"scaled_dot_product_attention": (heads, heads, heads)},
        "rope": {"rope": (rows,)},
        "eigvalsh": {"eigvalsh": (square,)},
        "eigh": {"eigh": (square,)},
        "take": {"take": (x, indices)},
        "sort": {"sort": (rows,)},
        "searchsorted": {"searchsorted": (_ext.sort(few), few)},
    }
