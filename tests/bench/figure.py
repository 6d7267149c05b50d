"""Implements --figure: draws rows of a table of goals as a bar chart for a README, in SVG.

Equal measurements give identical files. Text is not converted to outlines, so it appears in the reader's own typeface,
and the background is transparent. A file whose name ends in -dark.svg has colors for dark pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from lanewise.demo.plot import figure_class
from lanewise.errors import ArgumentError
from tests.bench.goal_report import Row
from tests.bench.goals import GFLOPS, Measured

OURS = "Lanewise"
PEERS: Mapping[str, str] = {
    "numpy": "NumPy",
    "torch": "PyTorch",
    "tfjs": "tfjs",
    "onnxruntime": "onnxruntime-web",
    "jax": "jax-js",
}
# The rows to draw, with their titles. If none of them was measured, all measured rows are drawn.
TITLES: Mapping[str, str] = {
    "matmul 512": "Matrix product, 512 \u00d7 512",
    "softmax rows 1024x1024": "Softmax, 1024 \u00d7 1024",
    "exp 1M": "exp, 1M elements",
}
ELEMENTS = "billion elements/s"

DPI = 100
WIDTH, HEIGHT = 800, 232  # pixels
LEFT, GAP, RIGHT = 126, 22, 4
TOP, BOTTOM = 52, 34
VALUE = 46  # pixels for the number next to the longest bar
FONT = "Inter, 'Segoe UI', -apple-system, BlinkMacSystemFont, Helvetica, Arial, sans-serif"
POINTS = 72 / DPI  # points per pixel


class Palette(NamedTuple):
    """The colors for a light or dark background."""

    accent: str
    peer: str
    text: str
    faint: str


LIGHT = Palette(accent="#0b7a75", peer="#c4cad2", text="#1f2328", faint="#59636e")
DARK = Palette(accent="#2dd4bf", peer="#4a525c", text="#f0f6fc", faint="#9198a1")


class Bar(NamedTuple):
    """One bar of the chart: Lanewise or another library, and its rate."""

    name: str
    rate: float


def bars(row: Row) -> list[Bar]:
    """Returns the bars of a goal: that of Lanewise, then those of the measured libraries in the order of PEERS."""
    measured = row.measured
    assert measured is not None
    times = {OURS: measured.value} | {
        name: measured.peers[peer] for peer, name in PEERS.items() if peer in measured.peers
    }
    return [Bar(name, _rate(row, measured, time)) for name, time in times.items()]


def draw(rows: Sequence[Row], path: Path, place: str) -> None:
    """Draws the rows into an SVG file whose caption says in which `place` they were measured.

    Raises ArgumentError if no row was measured, or if the suffix is not .svg.
    """
    if path.suffix != ".svg":
        raise ArgumentError(f"bench: expected a figure with the suffix .svg, got {path}")
    measured = [row for row in rows if row.measured]
    shown = [row for row in measured if row.goal.name in TITLES] or measured
    if not shown:
        raise ArgumentError("bench: no row was measured; nothing to draw")
    shown.sort(key=lambda row: [*TITLES, row.goal.name].index(row.goal.name))
    palette = DARK if path.stem.endswith("-dark") else LIGHT
    figure_class()  # raises if matplotlib is missing
    import matplotlib

    style: Any = {"svg.fonttype": "none", "svg.hashsalt": "lanewise", "font.family": "sans-serif"}
    with matplotlib.rc_context(style):
        figure = _figure(shown, palette, place)
        figure.savefig(path, transparent=True, metadata={"Date": None, "Creator": None})
    path.write_text(_with_font(path.read_text(encoding="utf-8")), encoding="utf-8")


def _rate(row: Row, measured: Measured, nanoseconds: float) -> float:
    """Returns the rate in GFLOP/s if that is the goal's unit, else in billions of elements, or of calls, per second."""
    if row.goal.unit == GFLOPS:
        return (measured.flops or 0) / nanoseconds
    return prod(row.goal.work.size) / nanoseconds if row.goal.work else 1 / nanoseconds


def _figure(rows: Sequence[Row], palette: Palette, place: str) -> Any:
    figure = figure_class()(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI)
    panel = (WIDTH - LEFT - RIGHT - GAP * (len(rows) - 1)) / len(rows)
    names = list(dict.fromkeys(bar.name for row in rows for bar in bars(row)))
    for position, row in enumerate(rows):
        left = LEFT + position * (panel + GAP)
        box = (left / WIDTH, BOTTOM / HEIGHT, panel / WIDTH, (HEIGHT - TOP - BOTTOM) / HEIGHT)
        axes = figure.add_axes(box)
        longest = max(bar.rate for bar in bars(row))
        axes.set_xlim(0, longest * panel / (panel - VALUE))
        _panel(axes, row, names, palette, labeled=position == 0)
    figure.text(
        LEFT / WIDTH,
        5 / HEIGHT,
        f"float32, one thread, {place}. Longer is faster.",
        color=palette.faint,
        fontsize=11 * POINTS,
        va="bottom",
    )
    return figure


def _panel(axes: Any, row: Row, names: Sequence[str], palette: Palette, *, labeled: bool) -> None:
    drawn = {bar.name: bar.rate for bar in bars(row)}
    for place, name in enumerate(names):
        color = palette.accent if name == OURS else palette.peer
        style: dict[str, Any] = {"color": palette.text if name == OURS else palette.faint, "fontsize": 12 * POINTS}
        style |= {"weight": "bold" if name == OURS else "normal", "va": "center_baseline", "annotation_clip": False}
        if labeled:
            axes.annotate(name, (0, place), (-10, 0), textcoords="offset pixels", ha="right", **style)
        if name not in drawn:
            continue
        axes.barh(place, drawn[name], height=0.66, color=color, linewidth=0)
        label = _three_digits(drawn[name])
        axes.annotate(label, (drawn[name], place), (6, 0), textcoords="offset pixels", **style)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_axis_off()
    title = TITLES.get(row.goal.name, row.goal.name)
    unit = GFLOPS if row.goal.unit == GFLOPS else ELEMENTS
    for height, text, options in (
        (25, title, {"color": palette.text, "fontsize": 13 * POINTS, "weight": "bold"}),
        (10, unit, {"color": palette.faint, "fontsize": 11 * POINTS}),
    ):
        axes.annotate(text, (0, 1), (0, height), xycoords="axes fraction", textcoords="offset pixels", **options)


def _three_digits(rate: float) -> str:
    return f"{rate:.0f}" if rate >= 100 else f"{rate:.3g}" if rate >= 1 else f"{rate:.2f}"


def _with_font(svg: str) -> str:
    """Replaces the typefaces that matplotlib names in an SVG file with those of FONT."""
    import re

    return re.sub(r"(font(?:-family)?: (?:[^;\"]*?px )?)[^;\"]*(?=[;\"])", lambda found: found[1] + FONT, svg)
