"""Implements --figure: draws rows of a table of goals as a bar chart for a README, in SVG.

Equal measurements give identical files. Text is not converted to outlines, so it appears in the reader's own typeface,
and the background is transparent. A file whose name ends in -dark.svg has colors for dark pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import prod
from pathlib import Path
from typing import NamedTuple

from lanewise.errors import ArgumentError
from tests.bench.goals import GFLOPS, Measured
from tests.bench.report import Row

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

WIDTH, HEIGHT = 800, 232  # pixels
LEFT, GAP, RIGHT = 126, 22, 4
TOP, BOTTOM = 52, 34
VALUE = 46  # pixels for the number next to the longest bar
FONT = "Inter, 'Segoe UI', -apple-system, BlinkMacSystemFont, Helvetica, Arial, sans-serif"


class Palette(NamedTuple):
    """The colors for a light or dark background."""

    accent: str
    peer: str
    text: str
    faint: str


LIGHT = Palette(accent="#0b7a75", peer="#c4cad2", text="#1f2328", faint="#59636e")
DARK = Palette(accent="#2dd4bf", peer="#4a525c", text="#f0f6fc", faint="#9198a1")


def bars(row: Row) -> dict[str, float]:
    """Returns the rates of a goal: that of Lanewise, then those of the measured libraries in the order of PEERS."""
    measured = row.measured
    assert measured is not None
    times = {OURS: measured.value} | {
        name: measured.peers[peer] for peer, name in PEERS.items() if peer in measured.peers
    }
    return {name: _rate(row, measured, time) for name, time in times.items()}


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
    names = list(dict.fromkeys(name for row in shown for name in bars(row)))
    width = (WIDTH - LEFT - RIGHT - GAP * (len(shown) - 1)) / len(shown)
    step = (HEIGHT - TOP - BOTTOM) / len(names)
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} style="font-family: {escape(FONT)}">']
    for at, name in enumerate(names):
        lines.append(_text(name, LEFT - 10, TOP + (at + 0.5) * step, 12, _color(name, palette), name == OURS, end=True))
    for position, row in enumerate(shown):
        lines += _panel(row, names, LEFT + position * (width + GAP), width, step, palette)
    caption = f"float32, one thread, {place}. Longer is faster."
    lines.append(_text(caption, LEFT, HEIGHT - 10, 11, palette.faint))
    path.write_text("\n".join([*lines, "</svg>", ""]), encoding="utf-8")


def _panel(row: Row, names: Sequence[str], left: float, width: float, step: float, palette: Palette) -> list[str]:
    """Returns the bars of a row, with a number next to each, under the title of the row and the unit."""
    rates = bars(row)
    scale = (width - VALUE) / max(rates.values())
    lines = [
        _text(TITLES.get(row.goal.name, row.goal.name), left, TOP - 30, 13, palette.text, bold=True),
        _text(GFLOPS if row.goal.unit == GFLOPS else ELEMENTS, left, TOP - 14, 11, palette.faint),
    ]
    for at, name in enumerate(names):
        if name in rates:
            long, middle = rates[name] * scale, TOP + (at + 0.5) * step
            color = palette.accent if name == OURS else palette.peer
            box = f'x="{left:.2f}" y="{middle - 0.33 * step:.2f}" width="{long:.2f}" height="{0.66 * step:.2f}"'
            lines.append(f'<rect {box} fill="{color}"/>')
            shown = _three_digits(rates[name])
            lines.append(_text(shown, left + long + 6, middle, 12, _color(name, palette), name == OURS))
    return lines


def _text(text: str, x: float, y: float, size: int, color: str, bold: bool = False, *, end: bool = False) -> str:
    """Returns text whose start, or `end`, is at x, and whose middle is at y."""
    style = f'font-size="{size}" font-weight="{"bold" if bold else "normal"}" fill="{color}"'
    place = f'x="{x:.2f}" y="{y:.2f}" dominant-baseline="central" text-anchor="{"end" if end else "start"}"'
    return f"<text {place} {style}>{escape(text)}</text>"


def _color(name: str, palette: Palette) -> str:
    return palette.text if name == OURS else palette.faint


def _rate(row: Row, measured: Measured, nanoseconds: float) -> float:
    """Returns the rate in GFLOP/s if that is the goal's unit, else in billions of elements, or of calls, per second."""
    if row.goal.unit == GFLOPS:
        return (measured.amount or 0) / nanoseconds
    return prod(row.goal.size()) / nanoseconds if row.goal.work else 1 / nanoseconds


def _three_digits(rate: float) -> str:
    return f"{rate:.0f}" if rate >= 100 else f"{rate:.3g}" if rate >= 1 else f"{rate:.2f}"
