"""What the user may choose on the command line, as one value that every program of the benchmark receives."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from lanewise.costs.timing import REPEATS, SAMPLE_SECONDS


class Settings(argparse.Namespace):
    """The parsed options. None means that the user leaves the choice to the program."""

    word: Sequence[str] = ()  # operations, or with `goals` how goals begin
    sizes: Sequence[str] | None = None
    dtype: str | None = None
    backends: Sequence[str] | None = None
    peers: Sequence[str] | None = None
    threads: Sequence[int] | None = None
    repeats: int = REPEATS
    seconds: float = SAMPLE_SECONDS
    json: bool = False
    goals: bool = False
    firm: bool = False  # exit with status 1 if a firm goal (one that must hold) is missed
    markdown: Sequence[Path] = ()  # documents to write the table into
    figure: Sequence[Path] = ()  # SVG files to draw the measured goals into
    browser: bool = False
    wheel: Path | None = None  # the wheel that the browser measures; built if None
