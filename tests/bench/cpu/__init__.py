"""The goals for one thread of a CPU: `python -m lanewise bench --goals`.

    table.py     the goals
    limits.py    which limit of the processor a piece of work has; the loops that find it are native/bench/limits.c
    measure.py   rows that the benchmark engine measures as they are, and those that need more
    auto.py      the row of what AUTO chooses
    command.py   the command

Wheels for browsers leave this folder out.
"""

from __future__ import annotations

from tests.bench.cpu.command import Settings, run

__all__ = ["Settings", "run"]
