"""Timing, in one place: `python -m lanewise bench`, the demo's images per second and tests/bench all use it.

    engine.py      times expressions in turn; knows nothing of tensors
    operations.py  what the contracts say of each operation
    inputs.py      input data without NumPy
    cases.py       an operation at a size: arguments, bytes, arithmetic
    peers/         other libraries, one module each
    check.py       results compared before they are timed
    goals.py       the figures to reach, and whether they are reached
    goal_report.py tables of goals, on the terminal and in documents
    cpu/           the goals for a CPU, and their command
    runner.py      one case: contestants, check, times
    report.py, plot.py, machine.py    what becomes of the figures
    command.py     the command line

`--browser` runs the same engine in Chromium; what starts it there is in wasm/bench of a source checkout.

To add a peer: a module in peers/ and a line in its table. An operation of a known kind needs nothing here. A goal
of the CPU is a row of cpu/table.py.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """The command `python -m lanewise bench`."""
    from tests.bench.command import main as command

    return command(argv)
