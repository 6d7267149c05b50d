"""--plot: a sheet of held-out digits with what the network read, its mistakes first."""

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
    """matplotlib's Figure; ArgumentError where it is not installed. Ask before a long run, not after it."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ArgumentError("--plot needs matplotlib; pip install 'lanewise[plot]', or leave it out") from None
    return Figure


def check_picture_path(path: str) -> None:
    """Raises ArgumentError unless a picture can be written to `path`, whose contents are left as they are."""
    try:
        figure_class()().savefig(io.BytesIO(), format=Path(path).suffix[1:] or None)
        existed = os.path.lexists(path)
        with open(path, "ab"):
            pass
        if not existed:
            os.unlink(path)
    except (OSError, ValueError) as error:
        raise ArgumentError(
            f"demo: expected --plot FILE to be a picture that can be written, got {path}: {error}"
        ) from None


def draw(digits: Digits, predictions: Sequence[int], path: str) -> None:
    """Write the sheet of the held-out digits and their predictions; the format follows the file's suffix."""
    Figure = figure_class()
    read = list(enumerate(predictions))
    wrong = [(index, digit) for index, digit in read if digits.labels[index] != digit]
    right = [(index, digit) for index, digit in read if digits.labels[index] == digit]
    step = max(1, len(right) // (COLUMNS * ROWS))
    shown = (wrong + right[::step])[: COLUMNS * ROWS]

    figure = Figure(figsize=(0.8 * COLUMNS, 0.95 * ROWS + 0.6), layout="constrained")
    figure.suptitle(f"{len(read)} held-out digits, {len(wrong)} of them misread, which come first")
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
