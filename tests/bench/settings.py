"""What the user may choose on the command line, as one value that every program of the benchmark receives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lanewise.timing import REPEATS, SAMPLE_SECONDS


@dataclass(frozen=True)
class Settings:
    """The parsed options. None means that the user leaves the choice to the program."""

    repeats: int = REPEATS
    seconds: float = SAMPLE_SECONDS
    sizes: Sequence[str] | None = None
    dtype: str | None = None
    backends: Sequence[str] | None = None
    peers: Sequence[str] | None = None
    threads: int | None = None
    as_json: bool = False
    plot: str | None = None
    firm: bool = False  # exit with status 1 if a firm goal (one that must hold) is missed
    documents: Sequence[Path] = ()  # documents to write the table of goals into
    figures: Sequence[Path] = ()  # SVG files to draw the measured goals into
    wheel: Path | None = None  # the wheel that the browser measures; built if None
