"""Measures the goals for WebGPU in a page: `python -m tests.bench --browser --goals webgpu`.

Each library is measured in new pages by page/gpu.mjs, which calls a module for the library. page/counters.mjs counts
what all of them ask of WebGPU. On a machine without a GPU, the adapter is SwiftShader, on the CPU; calls are recorded
there as elsewhere, and so are the counts.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from tests.bench.browser import chromium_page
from tests.bench.goals import Goal, Measured
from tests.bench.report import OURS, Row

PYBORCH = "pyborch"
RESULTS = (30.0, 10.0, 17546.875)  # of the first number, of additions, and of the 15 operations and a sum
COUNTS = ("dispatches", "submissions", "reads")
COMPILED = 2  # the chain is compiled in the background once it is seen again; counts are those of the runs after that
LONGEST = 60e9  # nanoseconds; a library that takes longer to its first number is not measured again

Answers = Mapping[str, Sequence[Mapping[str, Any]]]


def answers(page: chromium_page.Page, packages: Mapping[str, Sequence[str]], repeats: int) -> Answers:
    """Measures each library in `repeats` new pages, in turn. The answer of one that fails is {"failure": why}.

    `packages` are what each library needs in Pyodide; those without any are in JavaScript.
    """
    found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in packages}
    for _ in range(repeats):
        for name, needed in packages.items():
            before = found[name]
            if any("failure" in answer for answer in before) or sum(answer["first"] for answer in before) > LONGEST:
                continue
            try:
                page.load()
                before.append(json.loads(page.call("measureGpu", name, list(needed))))
            except chromium_page.PageError as error:
                before.append({"failure": str(error).splitlines()[0]})
    return found


def versions(found: Answers) -> str:
    """Returns the version of each library, or why it has no figures."""
    failed = _failures(found)
    return "; ".join(
        f"{name}: no figures ({failed[name]})" if name in failed else found[name][0]["settings"] for name in found
    )


def rows(chosen: Sequence[Goal], found: Answers) -> list[Row]:
    """Returns the rows of these goals. A peer with wrong results gets no figure, and neither does one that failed."""
    failed = _failures(found)
    wrong = {name: why for name, each in found.items() if name not in failed and (why := _wrong(each))}
    notes = [f"{name} is WRONG and was not timed ({why})" for name, why in wrong.items()]
    notes += [f"{name} was not timed ({why})" for name, why in failed.items()]
    details = {"answers": found, "wrong": wrong}
    if OURS in wrong or OURS in failed:
        return [Row(goal, None, tuple(notes), details) for goal in chosen]
    timed = [name for name in found if name not in wrong and name not in failed]
    made = []
    for goal in chosen:
        ours, *theirs = (_figures(goal, found[name]) for name in timed)
        peers = {name: min(figures) for name, figures in zip(timed[1:], theirs, strict=True)}
        about, absent, value = notes, frozenset(goal.peers).difference(timed), min(ours)
        if goal.how in COUNTS:  # a count that differs between runs is as bad as the worst
            runs = ", ".join(str(run[goal.how]) for run in found[OURS][0]["runs"])
            about, absent, value = [*notes, f"{goal.how} of each run of the first page: {runs}"], frozenset(), max(ours)
        measured = Measured(value, statistics.median(ours), peers, absent=absent)
        made.append(Row(goal, measured, tuple(about), details))
    return made


def _figures(goal: Goal, found: Sequence[Mapping[str, Any]]) -> list[float]:
    """Returns all figures of one library: nanoseconds, or counts."""
    if goal.how in COUNTS:
        return [run[goal.how] for answer in found for run in answer["runs"][COMPILED:]]
    if goal.how == "first":
        return [answer["first"] for answer in found]
    return [sample for answer in found for sample in answer[goal.how]]


def _failures(found: Answers) -> dict[str, str]:
    return {name: answer["failure"] for name, each in found.items() for answer in each if "failure" in answer}


def _wrong(found: Sequence[Mapping[str, Any]]) -> str:
    for answer in found:
        of_additions, of_chains = len(answer["recorded"]), len(answer["runs"])
        expected = (RESULTS[0], *(RESULTS[1],) * of_additions, *(RESULTS[2],) * of_chains)
        for got, value in zip(answer["results"], expected, strict=True):
            if not abs(got - value) <= 1e-4 * value:
                return f"expected {value}, got {got}"
    return ""
