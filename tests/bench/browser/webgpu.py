"""Measures the goals for WebGPU in a page: `python -m tests.bench --browser --goals webgpu`.

Each measurement is a program in page/ that runs in a new page: one for Lanewise, one for pyborch. On a machine without
a GPU, the adapter is SwiftShader, on the CPU; calls are recorded there as elsewhere, and so are the counts.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench.browser import chromium_page
from tests.bench.browser.table import DISPATCHES, FIRST, READS, RECORDED, SUBMISSIONS
from tests.bench.goal_report import Row
from tests.bench.goals import Goal, Measured

__all__ = ["PEERS", "answers", "rows"]

OURS, PYBORCH = "lanewise", "pyborch"
PEERS = (PYBORCH,)
RESULTS = (30.0, 17546.875)  # of the first number, and of the 15 operations and a sum
COUNTS: Mapping[Goal, str] = {DISPATCHES: "dispatches", SUBMISSIONS: "submissions", READS: "readbacks"}
COMPILED = 2  # the chain is compiled in the background once it is seen again; counts are those of the runs after that
LONGEST = 60e9  # nanoseconds; a program that takes longer to its first number is not run again

Answers = Mapping[str, Sequence[Mapping[str, Any]]]


def answers(page: chromium_page.Page, packages: Mapping[str, Sequence[str]], repeats: int) -> Answers:
    """Runs each program in `repeats` new pages, in turn. `packages` are what each one needs, by its name."""
    found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in packages}
    for _ in range(repeats):
        for name, needed in packages.items():
            if sum(answer["first"] for answer in found[name]) < LONGEST:
                page.load()
                found[name].append(json.loads(page.call("program", list(needed), f"/page/gpu_{name}.py")))
    return found


def rows(chosen: Sequence[Goal], found: Answers, absent: frozenset[str]) -> list[Row]:
    """Returns the rows of these goals. A peer with wrong results gets no figure."""
    wrong = {name: why for name, each in found.items() if (why := _wrong(each))}
    notes = tuple(f"{name} is WRONG and was not timed ({why})" for name, why in wrong.items())
    details = {"answers": found, "wrong": wrong}
    if OURS in wrong:
        return [Row(goal, None, notes, details) for goal in chosen]
    absent = absent.union(wrong)
    made = []
    for goal in chosen:
        peers = {
            name: min(figures) for name in PEERS if name not in absent and (figures := _figures(goal, found[name]))
        }
        ours = _figures(goal, found[OURS])
        if goal in COUNTS:  # a count that differs between runs is as bad as the worst
            runs = [run[COUNTS[goal]] for run in found[OURS][0]["runs"]]
            by_run = f"{COUNTS[goal]} of each run of the first page: {', '.join(map(str, runs))}"
            made.append(Row(goal, Measured(max(ours), statistics.median(ours), peers), (*notes, by_run), details))
        else:
            measured = Measured(min(ours), statistics.median(ours), peers, absent=absent)
            made.append(Row(goal, measured, notes, details))
    return made


def _figures(goal: Goal, found: Sequence[Mapping[str, Any]]) -> list[float]:
    """Returns all figures of one library: nanoseconds, or counts."""
    if goal is FIRST:
        return [answer["first"] for answer in found]
    if goal is RECORDED:
        return [sample for answer in found for sample in answer["recorded"]]
    name = COUNTS[goal]
    return [run[name] for answer in found for run in answer["runs"][COMPILED:] if name in run]


def _wrong(found: Sequence[Mapping[str, Any]]) -> str:
    for answer in found:
        for got, expected in zip(answer["results"], (RESULTS[0], *(RESULTS[1] for _ in answer["runs"])), strict=True):
            if abs(got - expected) > 1e-4 * expected:
                return f"expected {expected}, got {got}"
    return ""


def programs(wheel: Path, pyborch: Path | None) -> dict[str, list[str]]:
    """Returns the packages of each program, as the page loads them."""
    found = {OURS: [f"/dist/{wheel.name}"]}
    return found if pyborch is None else {**found, PYBORCH: ["numpy", f"/pypi/{pyborch.name}"]}
