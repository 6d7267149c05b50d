"""Measures how long operations take on one thread, divided by the times in their contracts, for lw.calibrate().

A rate holds for all operations of a kind and complexity (contracts/kinds.yaml): the extension multiplies the times of
their steps by it (native/extension/cost.c). One rate for the whole machine would not do: the contracts' times are those
of AVX-512; with SSE2 on a Zen 4 (2026-11), matmul takes 4.6 times as long, tanh 2.6 times and add 0.9 times. Operations
of one kind and complexity differ, too: exp, which has the rate of add, takes 5.9 times as long. So several operations
are measured for those with many, and the rate is their geometric mean.
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
    """Returns, for each name in calibration.RATED, the rate of its kind and complexity on a CPU backend."""
    from lanewise.timing import Contestant, measure

    works, contestants, nominal = workloads(), [], {}
    for name, inputs in chain.from_iterable(each.items() for each in works.values()):
        moved = [placement.move(each, backend) for each in inputs]
        nominal[name], expected, *_ = _ext.expected_times(name, *moved)
        context = partial(waking.using_threads, 1, expected)
        contestants.append(Contestant.calling(name, getattr(_ext, name), *moved, context=context))
    timings = measure(contestants, repeats=REPEATS, sample_seconds=SAMPLE_SECONDS)
    rates = {timing.name: timing.minimum / nominal[timing.name] for timing in timings}
    return {name: math.prod(rates[each] for each in alike) ** (1 / len(alike)) for name, alike in works.items()}


def workloads() -> dict[str, dict[str, Inputs]]:
    """Returns, for each name in calibration.RATED, the operations to time, with their inputs."""
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
