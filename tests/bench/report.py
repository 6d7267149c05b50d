"""Formats what was measured in each benchmark case: as a table for people, and as JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lanewise.timing import Timing, duration, ratio, three_digits
from tests.bench.cases import Case
from tests.bench.runner import Entry, Result

HEADINGS = ("", "minimum", "median", "GB/s", "GFLOP/s")


def table(rows: Sequence[Sequence[str]], indent: str = "  ") -> str:
    """Aligns columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append((indent + "  ".join([first.ljust(widths[0]), *cells])).rstrip())
    return "\n".join(lines)


def text(result: Result) -> str:
    """Formats one case: a heading, and a line for each contestant, the fastest first."""
    case, base = result.case, _base(result)
    compared = f"{base.name} = 1" if base else ""
    entries = sorted(result.entries, key=lambda entry: entry.timing.minimum)
    rows = [(*HEADINGS, compared), *(_row(entry, result, base) for entry in entries)]
    filled = [i for i in range(len(rows[0])) if i == 0 or any(row[i] for row in rows[1:])]
    lines = [f"{case.operation.name}  {case.dtype}  {case.label}"]
    if entries:
        lines.append(table([[row[i] for i in filled] for row in rows]))
    lines += [f"  {name} is WRONG and was not timed: {how}" for name, how in result.wrong.items()]
    for why in dict.fromkeys(result.skipped.values()):
        names = ", ".join(name for name, reason in result.skipped.items() if reason == why)
        lines.append(f"  not timed: {names} ({why})")
    return "\n".join(lines)


def as_json(machine: Mapping[str, object], settings: Mapping[str, object], results: Sequence[Result]) -> Any:
    """Returns everything measured, with units in the keys."""
    return {
        "machine": dict(machine),
        "settings": dict(settings),
        "results": [case_as_json(result) for result in results],
    }


def rate(amount: int | None, timing: Timing) -> float | None:
    """Returns the amount per second, from the shortest time."""
    return None if amount is None else amount / timing.minimum * 1e9


def case_as_json(result: Result) -> dict[str, Any]:
    """Returns one case, with units in the keys."""
    case = result.case
    return {
        "operation": case.operation.name,
        "dtype": case.dtype,
        "size": list(case.size),
        "bytes": case.bytes,
        "flops": case.flops,
        "checked_against": result.checked_against,
        "contestants": [
            {"name": entry.name, "peer": entry.is_peer, **_timing(case, entry.timing)} for entry in result.entries
        ],
        "limit": None if result.limit is None else _timing(case, result.limit),
        "not_timed": dict(result.skipped),
        "wrong": dict(result.wrong),
    }


def _timing(case: Case, timing: Timing) -> dict[str, object]:
    return {
        "calls_a_sample": timing.calls,
        "samples_ns": [round(sample, 3) for sample in timing.samples],
        "minimum_ns": round(timing.minimum, 3),
        "median_ns": round(timing.median, 3),
        "bytes_per_second": rate(case.bytes, timing),
        "flops_per_second": rate(case.flops, timing),
    }


def _base(result: Result) -> Entry | None:
    """Returns the contestant that the others are compared with: the fastest peer, or else Lanewise's scalar code."""
    scalar = next((entry for entry in result.entries if entry.name == "scalar"), None)
    return result.best_peer() or scalar


def _row(entry: Entry, result: Result, base: Entry | None) -> tuple[str, ...]:
    timing, case = entry.timing, result.case
    faster = "" if base is None else f"{three_digits(1 / ratio(timing, base.timing).minimum)}x"
    moved, computed = rate(case.bytes, timing), rate(case.flops, timing)
    return (
        entry.name,
        duration(timing.minimum),
        duration(timing.median),
        "" if moved is None else three_digits(moved / 1e9),
        "" if computed is None else three_digits(computed / 1e9),
        faster,
    )
