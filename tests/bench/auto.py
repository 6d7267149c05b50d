"""The goals for AUTO: how much slower AUTO is, after lw.calibrate(), than the best backend for each case.

AUTO chooses the backend of each call. For the goal on the CPU, every operation of OPERATIONS, on 10 elements to 10
million (matmul: 1 million), is timed in turn with AUTO and each CPU backend but the slowest. For the goal with a GPU,
CASES is timed with AUTO, on the CPU, and on the GPU with copies of the inputs to it and of the result back. To both,
cells of a surface (surface/) are added. Times that differ by less than 2 microseconds count as equal. The row shows the
median of the ratios of all cases.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from functools import partial
from math import isqrt
from typing import Any

import lanewise as lw
from lanewise.backends import placement, selection
from lanewise.costs import offload
from lanewise.costs.timing import Contestant, measure
from tests.bench import runner
from tests.bench.goals import Goal, Measured
from tests.bench.peers import convert
from tests.bench.report import Row
from tests.bench.surface import cells
from tests.bench.surface.measure import PRODUCTS
from tests.cases import operations
from tests.cases.cases import Case, Size, build

SIZES = (10, 1_000, 100_000, 10_000_000)
OPERATIONS = ("add", "where", "relu", "exp", "tanh", "sum", "max", "argmax", "dot", "softmax", "layer_norm", "matmul")
LARGEST_PRODUCT = 1_000_000  # elements of a matrix; products of larger ones take more than a second
SAME_NANOSECONDS = 2_000.0
# With a GPU: products around the size from which the GPU is faster, and what stays on the CPU.
CASES: Sequence[tuple[str, Size]] = (
    *(("matmul", (rows,)) for rows in (10, 100, 300, 600, 1000, 2000, 4000)),
    *(("linear", (rows, 1024, 1024)) for rows in (1, 64, 1024)),
    *(("conv2d", (batch, 64, 56, 56)) for batch in (1, 8)),
    *(("scaled_dot_product_attention", (8, queries, 64)) for queries in (128, 2048)),
    *((name, (size,)) for name in ("add", "exp", "sum") for size in (1_000, 10_000_000)),
)
SEED, DRAWN = 4242, 24  # the cells of a surface
DRAWN_BYTES = 1e7  # of an operand at most: scalar code takes a second for some cells of this size
AUTO = "auto"
SHOWN = 3  # number of cases that the note names: those in which AUTO is furthest behind


def row(goal: Goal, repeats: int, seconds: float, gpu: str | None = None) -> Row:
    """Calibrates without saving the result, times every case, and returns the row of the goal."""
    before = selection.calibration_in_use()
    calibration = lw.calibrate(save=False)
    # The backends to compare with. The slowest, which would take minutes, is left out unless it is the only one.
    fixed = calibration.order[:-1] or calibration.order

    def others(case: Case) -> list[Contestant]:
        if gpu is None:
            return [runner.on_backend(case, str(backend)) for backend in fixed]
        return [runner.on_backend(case, str(calibration.backend)), _through(case, gpu)]

    offloaded = offload.summary()
    try:
        grid = (*_grid(), *_drawn(())) if gpu is None else (*_products(), *_drawn(PRODUCTS))
        ratios = [_compared(case, others(case), repeats, seconds) for case in grid]
    finally:
        selection.follow(before)
    measured = Measured(*(statistics.median(each[kind] for each in ratios) for kind in ("minimum", "median")))
    behind = sorted(ratios, key=lambda each: -each["minimum"])[:SHOWN]
    notes = (
        f"calibrated: {calibration.reason()}" if gpu is None else f"calibrated: {offloaded}",
        "furthest behind: " + ", ".join(f"{each['case']} {each['minimum']:.2f} of {each['best']}" for each in behind),
    )
    return Row(goal, measured, notes, {"cases": ratios})


def _grid() -> Iterator[Case]:
    for name in OPERATIONS:
        for size in SIZES:
            elements = min(size, LARGEST_PRODUCT) if name == "matmul" else size
            yield build(operations.find(name), (isqrt(elements) if name == "matmul" else elements,))


def _products() -> Iterator[Case]:
    for name, size in CASES:
        yield build(operations.find(name), size)


def _drawn(kinds: Sequence[str]) -> Iterator[Case]:
    """Yields cells of a surface that are calls of functions, of these kinds, or of all if there are none."""
    for number in range(DRAWN):
        case = cells.cell(SEED, number, kinds, DRAWN_BYTES).case
        if not case.call:
            yield case


def _compared(case: Case, others: Sequence[Contestant], repeats: int, seconds: float) -> dict[str, Any]:
    """Returns the times of AUTO divided by those of the best backend, for one case."""
    arguments = convert(case.arguments, partial(runner.tensor, place=None))
    function = getattr(lw, case.operation.name)
    auto = Contestant.calling(AUTO, function, *arguments, keywords=case.keywords)
    mine, *theirs = measure([auto, *others], repeats=repeats, sample_seconds=seconds)
    best = min(theirs, key=lambda timing: timing.minimum)
    minimum = _times(mine.minimum, best.minimum)
    median = _times(mine.median, min(timing.median for timing in theirs))
    name = f"{case.operation.name} {case.label}"
    return {"case": name, "best": best.name, "minimum": minimum, "median": median}


def _through(case: Case, backend: str) -> Contestant:
    """Returns a call on a device with inputs on the CPU, and the result there too."""
    function, place = getattr(lw, case.operation.name), lw.Backend(backend)

    def call(*arguments: Any, **keywords: Any) -> lw.Tensor:
        copies = [placement.move(each, place) if isinstance(each, lw.Tensor) else each for each in arguments]
        return placement.move(function(*copies, **keywords), selection.default_backend())

    arguments = convert(case.arguments, partial(runner.tensor, place=None))
    return Contestant.calling(backend, call, *arguments, keywords=case.keywords)


def _times(mine: float, best: float) -> float:
    return 1.0 if abs(mine - best) < SAME_NANOSECONDS else mine / best
