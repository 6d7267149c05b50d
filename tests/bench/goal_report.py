"""What becomes of measured goals, wherever that was: a table for the terminal, one for documents, and JSON."""

from __future__ import annotations

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

__all__ = ["Row", "as_json", "complete", "document", "from_case", "places", "table"]


@dataclass(frozen=True)
class Row:
    """What came of one goal."""

    goal: Goal
    measured: Measured | None
    notes: tuple[str, ...]  # who was not timed, and why
    details: Any = None  # as `bench --json` has it


def from_case(
    goal: Goal, found: Mapping[str, Any], ours: str, absent: frozenset[str] = frozenset(), *, judged: bool = True
) -> Row:
    """The row of a case that was measured, as report.case_as_json describes it; `ours` names our contestant."""
    notes = [f"{name} is WRONG and was not timed ({how})" for name, how in found["wrong"].items()]
    failed = {name: why for name, why in found["not_timed"].items() if why != NO_SUCH_OPERATION}
    notes += [f"{name} was not timed ({why})" for name, why in failed.items()]
    entries = {entry["name"]: entry for entry in found["contestants"]}
    mine = entries.get(ours)
    if mine is None:
        return Row(goal, None, tuple(notes), found)
    measured = Measured(
        mine["minimum_ns"],
        mine["median_ns"],
        {name: entry["minimum_ns"] for name, entry in entries.items() if entry["peer"]},
        found["limit"] and found["limit"]["minimum_ns"],
        found["flops"],
        absent.union(failed, found["wrong"]),
        judged,
    )
    return Row(goal, measured, tuple(notes), found)


def complete(rows: Sequence[Row]) -> bool:
    """Whether every row has a figure and nobody computed anything wrong."""
    return all(row.measured and not (row.details or {}).get("wrong") for row in rows)


def table(rows: Sequence[Row], peers: Sequence[str]) -> str:
    """For the terminal, with the reasons for what is not there."""
    lines = [report.table([goals.headings(peers), *(goals.row(row.goal, row.measured, peers) for row in rows)])]
    for note in dict.fromkeys(note for row in rows for note in row.notes):
        names = ", ".join(row.goal.name for row in rows if note in row.notes)
        lines.append(f"  {note}: {names}")
    firm, aim = (_met(rows, bars) for bars in ("firm", "aim"))
    return "\n".join([*lines, f"firm: {firm} of {len(rows)} rows; aim: {aim}"])


def _met(rows: Sequence[Row], bars: str) -> int:
    return sum(row.measured is not None and row.goal.met(getattr(row.goal, bars), row.measured) is True for row in rows)


def as_json(about: Mapping[str, Any], rows: Sequence[Row]) -> dict[str, Any]:
    """Everything, after what is true of all rows."""
    return {"machine": machine.facts(), **about, "goals": [_row_as_json(row) for row in rows]}


def _row_as_json(row: Row) -> dict[str, Any]:
    goal, measured = row.goal, row.measured
    return {
        "goal": goal.name,
        "unit": goal.unit,
        "firm": goal.text(goal.firm),
        "firm_met": None if measured is None else goal.met(goal.firm, measured),
        "aim": goal.text(goal.aim),
        "aim_met": None if measured is None else goal.met(goal.aim, measured),
        "figure": measured and goals.in_unit(measured.value, goal.unit, measured.flops),
        "of_limit": measured and measured.of_limit(),
        "notes": row.notes,
        "details": row.details,
    }


def document(rows: Sequence[Row], peers: Sequence[str], heading: Sequence[str]) -> str:
    """As Markdown, narrower than on a terminal: without medians and without peers that have no figure."""
    shown = [name for name in peers if any(row.measured and name in row.measured.peers for row in rows)]
    head = goals.headings(shown)
    left_out = head.index("median")
    cells = [head, ["---", *["---:"] * (len(head) - 1)]]
    cells += [goals.row(row.goal, row.measured, shown) for row in rows]
    lines = [f"| {' | '.join(line[:left_out] + line[left_out + 1 :])} |" for line in cells]
    return "\n".join([*(f"{line}  " for line in heading), "", *lines])


BEGIN, END = "<!-- python -m lanewise bench ", "<!-- end -->"


@dataclass(frozen=True)
class Marked:
    """A place in a document for a table: what is between the line that begins it, and the end mark.

    <!-- python -m lanewise bench --goals 'matmul 1024' exp -->
    <!-- end -->
    """

    document: Path
    line: str
    goals: Sequence[Goal]

    def write(self, rows: Sequence[Row], peers: Sequence[str], heading: Sequence[str]) -> None:
        """Puts the rows of its goals there."""
        text = document([row for row in rows if row.goal in self.goals], peers, heading)
        old = re.compile(f"{re.escape(self.line)}\n.*?{re.escape(END)}", re.DOTALL)
        whole = self.document.read_text(encoding="utf-8")
        new = old.sub(lambda _: f"{self.line}\n\n{text}\n\n{END}", whole, count=1)
        self.document.write_text(new, encoding="utf-8")
        print(f"wrote {self.document}", file=sys.stderr)


def places(documents: Sequence[Path], options: Sequence[str], chosen: Sequence[Goal]) -> list[Marked]:
    """The places in documents for tables of the command with these options. ArgumentError where one has none, or wants
    goals that are not among the chosen."""
    found = []
    for path in documents:
        lines = [line for line in _text(path).splitlines() if line.startswith(BEGIN)]
        words = {line: shlex.split(line.removeprefix(BEGIN).removesuffix("-->")) for line in lines}
        names = {line: [word for word in words[line] if not word.startswith("--")] for line in lines}
        mine = [line for line in lines if sorted({*words[line]} - {*names[line]}) == sorted(options)]
        if not mine or END not in _text(path):
            begin = f"{BEGIN}{' '.join(options)} -->"
            raise ArgumentError(f"bench: {path} has no place for a table; put the lines {begin!r} and {END!r} into it")
        found += [Marked(path, line, goals.find(chosen, names[line])) for line in mine]
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ArgumentError(f"bench: {path} cannot be read: {error.strerror}") from None
