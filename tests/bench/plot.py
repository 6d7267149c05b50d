"""Draws the plot of the option --plot, with a panel for each operation.

A panel shows the rate of every contestant (a backend of Lanewise or another library) against the size.
"""

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
SUFFIXES = ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K"))
TICKS = (1, 2, 5)  # ticks of rates: these multiples of each power of ten


def draw(results: Sequence[Result], path: str) -> None:
    """Writes the plot; the format follows from the suffix of the file."""
    figure = figure_of(results)
    figure.savefig(path, dpi=120)


def figure_of(results: Sequence[Result]) -> Any:
    """Draws the panels, and below them one legend for all."""
    operations = list(dict.fromkeys(result.case.operation.name for result in results))
    columns = min(COLUMNS, len(operations))
    rows = ceil(len(operations) / columns)
    figure = figure_class()(figsize=(4.6 * columns, 3.2 * rows + 0.6), layout="constrained")
    names = list(dict.fromkeys((entry.name, entry.is_peer) for result in results for entry in result.entries))
    lines = {}
    for position, operation in enumerate(operations, start=1):
        mine = [result for result in results if result.case.operation.name == operation]
        axes = figure.add_subplot(rows, columns, position)
        for index, (name, is_peer) in enumerate(names):
            if points := sorted(_points(mine, name)):
                style = PEER_STYLE if is_peer else STYLE
                (lines[name],) = axes.plot(*zip(*points, strict=True), color=f"C{index}", label=name, **style)
        _label(axes, mine)
    figure.legend(handles=lines.values(), loc="outside lower center", ncols=min(len(lines), 3 * columns), frameon=False)
    return figure


def plain_size(number: float) -> str:
    """Formats a tick of the axis of sizes.

    >>> plain_size(40), plain_size(65536), plain_size(1 << 20)
    ('40', '64K', '1M')
    """
    for size, suffix in SUFFIXES:
        if number >= size and number % (size // 4) == 0:
            return f"{number / size:g}{suffix}"
    return f"{number:g}"


def _label(axes: Any, results: Sequence[Result]) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

    sizes = sorted({_extent(result) for result in results})
    axes.set_title(f"{results[0].case.operation.name} ({results[0].case.dtype})")
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [plain_size(size) for size in sizes])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("edge" if all(_is_square(result) for result in results) else "elements")
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=TICKS))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}" if value < 1e6 else f"{value / 1e6:g}M")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel(_unit(results))
    axes.grid(alpha=0.3)


def _is_square(result: Result) -> bool:
    """Returns whether all extents of the size are the same, as for square matrices."""
    return len(result.case.size) > 1 and len(set(result.case.size)) == 1


def _extent(result: Result) -> int:
    """Returns the position on the axis of sizes: the extent of a square size, else the product of the extents."""
    return result.case.size[0] if _is_square(result) else prod(result.case.size)


def _amount(result: Result) -> int | None:
    """Returns what the rate counts: flops of a matrix product or convolution, else bytes; None if it counts calls."""
    return result.case.flops if _is_arithmetic(result) else result.case.bytes


def _is_arithmetic(result: Result) -> bool:
    return result.case.operation.kind in ("matrix", "window") and result.case.flops is not None


def _unit(results: Sequence[Result]) -> str:
    if _amount(results[0]) is None:
        return "calls per second"
    return "GFLOP/s" if _is_arithmetic(results[0]) else "GB/s"


def _points(results: Sequence[Result], name: str) -> list[tuple[int, float]]:
    points = []
    for result in results:
        for entry in result.entries:
            if entry.name == name:
                amount = _amount(result)
                speed = 1e9 / entry.timing.minimum if amount is None else (rate(amount, entry.timing) or 0.0) / 1e9
                points.append((_extent(result), speed))
    return points
