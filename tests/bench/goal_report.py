"""Reports measured goals: as tables on the terminal and in documents, as JSON, and as figures."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanewise.errors import ArgumentError
from tests.bench import goals, machine, report
from tests.bench.goals import Goal, Measured
from tests.bench.runner import NO_SUCH_OPERATION
from tests.bench.settings import Settings


@dataclass(frozen=True)
class Row:
    """The outcome of one goal."""

    goal: Goal
    measured: Measured | None
    notes: tuple[str, ...]  # remarks, such as which contestants were not timed and why
    details: Any = None  # further results for --json


@dataclass(frozen=True)
class Table:
    """All rows of a run, and the facts that they share."""

    rows: Sequence[Row]
    columns: Sequence[str]  # the names of the peers
    heading: Sequence[str]  # machine, versions, limits
    about: Mapping[str, Any]  # the facts of `heading`, for JSON
    place: str = ""  # the machine or browser in a few words, for --figure


def from_case(
    goal: Goal, case: Mapping[str, Any], ours: str, absent: frozenset[str] = frozenset(), *, judged: bool = True
) -> Row:
    """Makes the row of a goal from its figures, which report.case_as_json made; those of Lanewise are named `ours`."""
    notes = [f"{name} is WRONG and was not timed ({how})" for name, how in case["wrong"].items()]
    failed = {name: why for name, why in case["not_timed"].items() if why != NO_SUCH_OPERATION}
    notes += [f"{name} was not timed ({why})" for name, why in failed.items()]
    entries = {entry["name"]: entry for entry in case["contestants"]}
    mine = entries.get(ours)
    if mine is None:
        return Row(goal, None, tuple(notes), case)
    measured = Measured(
        mine["minimum_ns"],
        mine["median_ns"],
        {name: entry["minimum_ns"] for name, entry in entries.items() if entry["peer"]},
        case["limit"] and case["limit"]["minimum_ns"],
        case["flops"],
        absent.union(failed, case["wrong"]),
        judged,
    )
    return Row(goal, measured, tuple(notes), case)


def publish(table: Table, settings: Settings, marked: Sequence[Marked]) -> int:
    """Prints the table or JSON, writes documents and SVG files, and returns the exit status.

    The status is 1 if a result was wrong, if a row was not measured, or, with --firm, if a firm goal is missed.
    """
    if settings.as_json:
        json.dump(as_json(table), sys.stdout, indent=1)
        print()
    else:
        print(text(table))
    for place in marked:
        place.write(table)
    if settings.figures:
        from tests.bench import figure

        for path in settings.figures:
            figure.draw(table.rows, path, table.place)
            print(f"wrote {path}", file=sys.stderr)
    missed = settings.firm and any(_met(row, row.goal.firm) is False for row in table.rows)
    return 0 if complete(table.rows) and not missed else 1


def complete(rows: Sequence[Row]) -> bool:
    """Returns whether every row was measured and no result was wrong."""
    return all(row.measured and not (row.details or {}).get("wrong") for row in rows)


def text(table: Table) -> str:
    """Returns the table for the terminal, followed by the notes on its rows and the numbers of goals met."""
    rows, columns = table.rows, table.columns
    lines = [report.table([goals.headings(columns), *(goals.row(row.goal, row.measured, columns) for row in rows)])]
    for note in dict.fromkeys(note for row in rows for note in row.notes):
        names = ", ".join(row.goal.name for row in rows if note in row.notes)
        lines.append(f"  {note}: {names}")
    firm = sum(_met(row, row.goal.firm) is True for row in rows)
    aim = sum(_met(row, row.goal.aim) is True for row in rows)
    return "\n".join([*lines, f"firm: {firm} of {len(rows)} rows; aim: {aim}"])


def _met(row: Row, bars: goals.Bars) -> bool | None:
    return None if row.measured is None else row.goal.met(bars, row.measured)


def as_json(table: Table) -> dict[str, Any]:
    """Returns everything measured: first the facts that rows share, then the rows."""
    return {"machine": machine.facts(), **table.about, "goals": [_row_as_json(row) for row in table.rows]}


def _row_as_json(row: Row) -> dict[str, Any]:
    goal, measured = row.goal, row.measured
    return {
        "goal": goal.name,
        "unit": goal.unit,
        "firm": goal.text(goal.firm),
        "firm_met": _met(row, goal.firm),
        "aim": goal.text(goal.aim),
        "aim_met": _met(row, goal.aim),
        "figure": measured and goals.in_unit(measured.value, goal.unit, measured.flops),
        "of_limit": measured and measured.of_limit(),
        "notes": row.notes,
        "details": row.details,
    }


def markdown(rows: Sequence[Row], columns: Sequence[str], heading: Sequence[str]) -> str:
    """Returns the table for documents, narrower than on a terminal: no medians, and no peers that were not measured."""
    shown = [name for name in columns if any(row.measured and name in row.measured.peers for row in rows)]
    head = goals.headings(shown)
    left_out = head.index("median")
    cells = [head, ["---", *["---:"] * (len(head) - 1)]]
    cells += [goals.row(row.goal, row.measured, shown) for row in rows]
    lines = [f"| {' | '.join(line[:left_out] + line[left_out + 1 :])} |" for line in cells]
    return "\n".join([*(f"{line}  " for line in heading), "", *lines])


BEGIN, END = "<!-- python -m tests.bench ", "<!-- end -->"


@dataclass(frozen=True)
class Marked:
    """A place in a document for a table: the text between two comments. The first may name the goals to show:

    <!-- python -m tests.bench --goals 'matmul 1024' exp -->
    <!-- end -->
    """

    document: Path
    line: str
    goals: Sequence[Goal]

    def write(self, table: Table) -> None:
        """Writes the rows of `goals` into the document, with the date."""
        rows = [row for row in table.rows if row.goal in self.goals]
        heading = [f"{machine.today()}; {table.heading[0]}", *table.heading[1:]] if table.heading else [machine.today()]
        replacement = f"{self.line}\n\n{markdown(rows, table.columns, heading)}\n\n{END}"
        old = re.compile(f"{re.escape(self.line)}\n.*?{re.escape(END)}", re.DOTALL)
        whole = self.document.read_text(encoding="utf-8")
        self.document.write_text(old.sub(lambda _: replacement, whole, count=1), encoding="utf-8")
        print(f"wrote {self.document}", file=sys.stderr)


def places(documents: Sequence[Path], options: Sequence[str], chosen: Sequence[Goal]) -> list[Marked]:
    """Finds the places for tables in documents: comments that begin with the command and these options.

    Raises ArgumentError if a document cannot be read or has no such place, or if such a comment names a goal that was
    not chosen.
    """
    marked: list[Marked] = []
    for path in documents:
        whole = _read(path)
        before = len(marked)
        for line in whole.splitlines():
            words = shlex.split(line.removeprefix(BEGIN).removesuffix("-->")) if line.startswith(BEGIN) else []
            names = words[len(options) :]
            if words[: len(options)] == list(options) and not any(name.startswith("--") for name in names):
                marked.append(Marked(path, line, goals.find(chosen, names)))
        if len(marked) == before or END not in whole:
            begin = f"{BEGIN}{' '.join(options)} -->"
            raise ArgumentError(f"bench: {path} has no place for a table; put the lines {begin!r} and {END!r} into it")
    return marked


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ArgumentError(f"bench: {path} cannot be read: {error.strerror}") from None
