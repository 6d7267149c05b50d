"""--plot: draws held-out digits with their predictions, the wrong ones first."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lanewise.demo.digits import BRIGHTEST, SIZE, Digits
from lanewise.errors import ArgumentError

COLUMNS, ROWS = 12, 8


def figure_class() -> Any:
    """Returns matplotlib's Figure. Raises ArgumentError if matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ArgumentError(
            "demo: --plot needs matplotlib; pip install 'lanewise[plot]', or leave --plot out"
        ) from None
    return Figure


def check_picture_path(path: str) -> None:
    """Raises ArgumentError unless a picture can be written to `path`. Does not change an existing file."""
    try:
        figure_class()().savefig(io.BytesIO(), format=Path(path).suffix[1:] or None)
    except ValueError:
        raise ArgumentError(f"demo: expected --plot FILE ending in .png, .svg or .pdf, got {path}") from None
    try:
        existed = os.path.lexists(path)
        with open(path, "ab"):
            pass
        if not existed:
            os.unlink(path)
    except OSError as error:
        raise ArgumentError(f"demo: expected --plot FILE to be writable, got {path}: {error.strerror}") from None


def draw(digits: Digits, predictions: Sequence[int], path: str) -> None:
    """Writes a picture of the misread digits and some others, with predictions; the path's suffix sets the format."""
    Figure = figure_class()
    indexed = list(enumerate(predictions))
    wrong = [(index, digit) for index, digit in indexed if digits.labels[index] != digit]
    right = [(index, digit) for index, digit in indexed if digits.labels[index] == digit]
    step = max(1, len(right) // (COLUMNS * ROWS))
    shown = (wrong + right[::step])[: COLUMNS * ROWS]

    figure = Figure(figsize=(0.8 * COLUMNS, 0.95 * ROWS + 0.6), layout="constrained")
    figure.suptitle(f"{len(indexed)} held-out digits; {len(wrong)} misread ones first")
    for position, (index, digit) in enumerate(shown, start=1):
        axes = figure.add_subplot(ROWS, COLUMNS, position)
        pixels = digits.image(index)
        rows = [list(pixels[row * SIZE : (row + 1) * SIZE]) for row in range(SIZE)]
        axes.imshow(rows, cmap="gray_r", vmin=0, vmax=BRIGHTEST)
        axes.set_axis_off()
        label = digits.labels[index]
        if digit == label:
            axes.set_title(str(digit), fontsize=10)
        else:
            axes.set_title(f"{digit}, is {label}", fontsize=10, color="tab:red")
    figure.savefig(path, dpi=120)
