"""--plot: one panel an operation, the rate of every contestant against the size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, prod
from typing import Any

from lanewise.demo.plot import figure_class
from tests.bench.report import rate
from tests.bench.runner import Result

COLUMNS = 3
PEER_STYLE: Mapping[str, Any] = {"linestyle": "--", "marker": "x"}
STYLE: Mapping[str, Any] = {"linestyle": "-", "marker": "o"}


def draw(results: Sequence[Result], path: str) -> None:
    """Write the figure; the format follows the file's suffix."""
    Figure = figure_class()
    operations = list(dict.fromkeys(result.case.operation.name for result in results))
    columns = min(COLUMNS, len(operations))
    rows = ceil(len(operations) / columns)
    figure = Figure(figsize=(4.6 * columns, 3.4 * rows), layout="constrained")
    for position, operation in enumerate(operations, start=1):
        mine = [result for result in results if result.case.operation.name == operation]
        axes = figure.add_subplot(rows, columns, position)
        axes.set_title(f"{operation} ({mine[0].case.dtype})")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("elements" if len(mine[0].case.size) == 1 else "product of the extents")
        axes.set_ylabel(_unit(mine))
        for name, is_peer in dict.fromkeys((entry.name, entry.is_peer) for r in mine for entry in r.entries):
            points = sorted(_points(mine, name))
            axes.plot(*zip(*points, strict=True), label=name, **(PEER_STYLE if is_peer else STYLE))
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    figure.savefig(path, dpi=120)


def _amount(result: Result) -> int | None:
    """What the rate counts: arithmetic where there is much of it, else bytes."""
    return result.case.flops if _is_arithmetic(result) else result.case.bytes


def _is_arithmetic(result: Result) -> bool:
    return result.case.operation.kind in ("matrix", "window") and result.case.flops is not None


def _unit(results: Sequence[Result]) -> str:
    if _amount(results[0]) is None:
        return "calls a second"
    return "GFLOP/s" if _is_arithmetic(results[0]) else "GB/s"


def _points(results: Sequence[Result], name: str) -> list[tuple[int, float]]:
    points = []
    for result in results:
        for entry in result.entries:
            if entry.name == name:
                amount = _amount(result)
                speed = 1e9 / entry.timing.minimum if amount is None else (rate(amount, entry.timing) or 0.0) / 1e9
                points.append((prod(result.case.size), speed))
    return points
