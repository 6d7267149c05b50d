"""Reports what was measured: as a table on the terminal and in documents, as JSON, and as figures."""

from __future__ import annotations

import json
import re
import shlex
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor
from pathlib import Path
from typing import Any

from lanewise.errors import ArgumentError
from tests.bench import goals, machine
from tests.bench.goals import Bar, Goal, Measured
from tests.bench.runner import NO_SUCH_OPERATION
from tests.bench.settings import Settings

OURS = "lanewise"
NOT_JUDGED = 3  # the exit status if no firm goal is missed, but some cannot be judged


@dataclass(frozen=True)
class Row:
    """The outcome of one goal."""

    goal: Goal
    measured: Measured | None
    notes: tuple[str, ...]  # remarks, such as which contestants were not timed and why
    details: Any = None  # further results for --json

    def met(self, bars: Sequence[Bar]) -> bool | None:
        """Returns whether all bars hold; None if that is not known."""
        return None if self.measured is None else self.goal.met(bars, self.measured)


@dataclass(frozen=True)
class Table:
    """All rows of a run, and the facts that they share."""

    rows: Sequence[Row]
    heading: Sequence[str]  # machine, versions, limits
    about: Mapping[str, Any]  # the facts of `heading`, for JSON
    place: str = ""  # the machine or browser in a few words, for --figure
    ours: str = OURS  # the heading of our figures; empty if contestants of Lanewise are columns as peers are

    @property
    def columns(self) -> list[str]:
        """The names of the peers that were measured: in the order of the goals, then baselines."""
        named = [name for row in self.rows for name in row.goal.peers]
        measured = {name: 0 for row in self.rows if row.measured for name in row.measured.peers}
        return [name for name in dict.fromkeys([*named, *measured]) if name in measured]


def from_case(
    goal: Goal,
    case: Mapping[str, Any],
    ours: str,
    absent: frozenset[str] = frozenset(),
    *,
    judged: bool = True,
    medians: bool = False,
) -> Row:
    """Makes the row of a goal from what runner.run_case returned; the figures of Lanewise are named `ours` there.

    Figures are minima, because noise only adds time. With `medians`, they are medians, with 90th percentiles.
    """
    notes = [f"{name} is WRONG and was not timed ({how})" for name, how in case["wrong"].items()]
    failed = {name: why for name, why in case["not_timed"].items() if why != NO_SUCH_OPERATION}
    notes += [f"{name} was not timed ({why})" for name, why in failed.items()]
    entries = {entry["name"]: entry for entry in case["contestants"]}
    mine = entries.get(ours)
    if mine is None:
        return Row(goal, None, tuple(notes), case)
    figure = "median_ns" if medians else "minimum_ns"
    peers = [name for name, entry in entries.items() if entry["peer"]]
    tails = {name: statistics.quantiles(entries[name]["samples_ns"], n=10)[-1] for name in [ours, *peers] if medians}
    measured = Measured(
        mine[figure],
        mine["median_ns"],
        {name: entries[name][figure] for name in peers},
        case["limit"] and case["limit"]["minimum_ns"],
        case["bytes"] if goal.unit == "TB/s" else case["flops"],
        absent.union(failed, case["wrong"]),
        judged,
        tails,
    )
    return Row(goal, measured, tuple(notes), case)


def publish(table: Table, settings: Settings, marked: Sequence[Marked] = ()) -> int:
    """Prints the table or JSON, writes documents and SVG files, and returns the exit status.

    The status is 1 if a result was wrong, or if a row was not measured, or, with --firm, if a firm goal is missed. With
    --firm, it is NOT_JUDGED if none is missed, but some cannot be judged, because a peer or a backend is absent.
    """
    if settings.json:
        json.dump(as_json(table), sys.stdout, indent=1)
        print()
    else:
        print(text(table))
    for place in marked:
        write(place, table)
    if settings.figure:
        from tests.bench import figure

        for path in settings.figure:
            figure.draw(table.rows, path, table.place)
            print(f"wrote {path}", file=sys.stderr)
    found = {row.goal.name: row.met(row.goal.firm) for row in table.rows if row.goal.firm}
    if not complete(table.rows) or (settings.firm and False in found.values()):
        return 1
    unknown = [name for name, met in found.items() if met is None]
    if settings.firm and unknown:
        print(f"bench: firm goals that cannot be judged here: {'; '.join(unknown)}", file=sys.stderr)
        return NOT_JUDGED
    return 0


def announce(heading: Sequence[str], settings: Settings) -> None:
    """Prints the lines above a table before its rows are measured, unless JSON is to follow."""
    if not settings.json:
        print("\n".join([*heading, ""]), flush=True)


def complete(rows: Sequence[Row]) -> bool:
    """Returns whether every row was measured and no result was wrong."""
    return all(row.measured and not (row.details or {}).get("wrong") for row in rows)


def text(table: Table) -> str:
    """Returns the table for the terminal, followed by the notes on its rows and the numbers of goals met."""
    rows = table.rows
    lines = [aligned(cells(table))]
    for note in dict.fromkeys(note for row in rows for note in row.notes):
        names = ", ".join(row.goal.name for row in rows if note in row.notes)
        lines.append(f"  {note}: {names}")
    if any(row.goal.firm for row in rows):
        firm, aim = [row.met(row.goal.firm) for row in rows], [row.met(row.goal.aim) for row in rows]
        unknown = sum(row.met(row.goal.firm) is None for row in rows if row.goal.firm)
        counts = f"firm: {firm.count(True)} of {len(rows)} rows; aim: {aim.count(True)}"
        lines.append(f"{counts}; firm, but not judged: {unknown}" if unknown else counts)
    return "\n".join(lines)


def aligned(rows: Sequence[Sequence[str]], indent: str = "  ") -> str:
    """Aligns columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        padded = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append((indent + "  ".join([first.ljust(widths[0]), *padded])).rstrip())
    return "\n".join(lines)


def cells(table: Table) -> list[list[str]]:
    """Returns the headings and the lines of the table."""
    columns: list[tuple[str, Callable[[Row], str]]] = [
        ("goal" if table.ours else "", lambda row: row.goal.name),
        ("unit", lambda row: row.goal.unit),
    ]
    if table.ours:
        columns += [
            (table.ours, lambda row: _figure(row, row.measured.value, OURS) if row.measured else ""),
            ("median", lambda row: _figure(row, row.measured.median) if row.measured else ""),
            ("of limit", lambda row: _share(row.measured.of_limit() if row.measured else None)),
            ("firm", lambda row: row.goal.text(row.goal.firm)),
            ("met", lambda row: _verdict(row, row.goal.firm)),
            ("aim", lambda row: row.goal.text(row.goal.aim)),
            ("met", lambda row: _verdict(row, row.goal.aim)),
        ]
    columns += [(name, partial(_peer, name)) for name in table.columns]
    return [[name for name, _ in columns], *([cell(row) for _, cell in columns] for row in table.rows)]


def _verdict(row: Row, bars: Sequence[Bar]) -> str:
    """Says whether the bars hold, and if not, how much of the least satisfied one was reached."""
    reached = row.goal.reached(bars, row.measured) if row.measured else None
    if not bars:
        return ""
    return "?" if reached is None else "yes" if reached >= 1 else f"NO {floor(reached * 100)}%"


def _peer(name: str, row: Row) -> str:
    return _figure(row, row.measured.peers.get(name), name) or "-" if row.measured else ""


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def _figure(row: Row, value: float | None, name: str = "") -> str:
    """Returns a figure, with the 90th percentile of the contestant in parentheses if that was measured."""
    if value is None or row.measured is None:
        return ""
    found = goals.in_unit(value, row.goal.unit, row.measured.amount)
    tail = row.measured.tails.get(name)
    shown = f"{found:,.0f}" if found >= 100 else f"{found:.3g}"
    return shown if tail is None else f"{shown} ({_figure(row, tail)})"


def as_json(table: Table) -> dict[str, Any]:
    """Returns everything measured: first the facts that rows share, then the rows."""
    rows = [
        {
            "goal": row.goal.name,
            "unit": row.goal.unit,
            "firm": row.goal.text(row.goal.firm),
            "firm_met": row.met(row.goal.firm),
            "aim": row.goal.text(row.goal.aim),
            "aim_met": row.met(row.goal.aim),
            "figure": row.measured and goals.in_unit(row.measured.value, row.goal.unit, row.measured.amount),
            "of_limit": row.measured and row.measured.of_limit(),
            "notes": row.notes,
            "details": row.details,
        }
        for row in table.rows
    ]
    return {"machine": machine.facts(), **table.about, "goals": rows}


def markdown(table: Table) -> str:
    """Returns the table for documents, narrower than on a terminal: without medians."""
    head, *rows = cells(table)
    left_out = head.index("median")
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    shown = [f"| {' | '.join(line[:left_out] + line[left_out + 1 :])} |" for line in lines]
    return "\n".join([*(f"{line}  " for line in table.heading), "", *shown])


BEGIN, END = "<!-- python -m tests.bench ", "<!-- end -->"
# A place in a document for a table: the text between two comments. The first may name the goals to show:
#     <!-- python -m tests.bench --goals 'matmul 1024' exp -->
#     <!-- end -->
# Here it is the document, the line of the first comment, and the goals.
Marked = tuple[Path, str, Sequence[Goal]]


def write(place: Marked, table: Table) -> None:
    """Writes the rows of a place's goals into its document, with the date."""
    document, line, shown = place
    heading = ["; ".join([machine.today(), *table.heading[:1]]), *table.heading[1:]]
    rows = [row for row in table.rows if row.goal in shown]
    replacement = f"{line}\n\n{markdown(Table(rows, heading, {}))}\n\n{END}"
    old = re.compile(f"{re.escape(line)}\n.*?{re.escape(END)}", re.DOTALL)
    whole = document.read_text(encoding="utf-8")
    document.write_text(old.sub(lambda _: replacement, whole, count=1), encoding="utf-8")
    print(f"wrote {document}", file=sys.stderr)


def places(documents: Sequence[Path], options: Sequence[str], chosen: Sequence[Goal]) -> list[Marked]:
    """Finds the places for tables in documents: comments that begin with the command and these options.

    Raises ArgumentError if a document cannot be read or has no such place, or if such a comment names a goal that was
    not chosen.
    """
    marked: list[Marked] = []
    for path in documents:
        try:
            whole = path.read_text(encoding="utf-8")
        except OSError as error:
            raise ArgumentError(f"bench: {path} cannot be read: {error.strerror}") from None
        before = len(marked)
        for line in whole.splitlines():
            words = shlex.split(line.removeprefix(BEGIN).removesuffix("-->")) if line.startswith(BEGIN) else []
            names = words[len(options) :]
            if words[: len(options)] == list(options) and not any(name.startswith("--") for name in names):
                marked.append((path, line, goals.find(chosen, names)))
        if len(marked) == before or END not in whole:
            begin = f"{BEGIN}{' '.join(options)} -->"
            raise ArgumentError(f"bench: {path} has no place for a table; put the lines {begin!r} and {END!r} into it")
    return marked
