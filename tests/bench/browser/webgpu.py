"""Measures the goals for WebGPU in a page: `python -m tests.bench --browser --goals webgpu`.

Each library is measured in new pages: those in Python by programs in page/ with page/gpu.py, those in JavaScript by
modules there with page/gpu.mjs. page/counters.mjs counts what all of them ask of WebGPU. On a machine without a GPU,
the adapter is SwiftShader, on the CPU; calls are recorded there as elsewhere, and so are the counts.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from tests.bench.browser import chromium_page
from tests.bench.browser.table import CHAIN, DISPATCHES, FIRST, READS, RECORDED, SUBMISSIONS
from tests.bench.goal_report import Row
from tests.bench.goals import Goal, Measured

__all__ = ["JAVASCRIPT", "PEERS", "PYBORCH", "answers", "requests", "rows", "versions"]

OURS, PYBORCH = "lanewise", "pyborch"
JAVASCRIPT = ("jax", "jax_jit", "tfjs", "onnxruntime")
PEERS = (PYBORCH, *JAVASCRIPT)
RESULTS = (30.0, 10.0, 17546.875)  # of the first number, of additions, and of the 15 operations and a sum
COUNTS: Mapping[Goal, str] = {DISPATCHES: "dispatches", SUBMISSIONS: "submissions", READS: "reads"}
TIMES: Mapping[Goal, str] = {RECORDED: "recorded", CHAIN: "chained"}
COMPILED = 2  # the chain is compiled in the background once it is seen again; counts are those of the runs after that
LONGEST = 60e9  # nanoseconds; a library that takes longer to its first number is not measured again

Request = tuple[str, *tuple[object, ...]]  # a function of the page, and its arguments
Answers = Mapping[str, Sequence[Mapping[str, Any]]]


def requests(names: Sequence[str], programs: str, packages: Mapping[str, Sequence[str]]) -> dict[str, Request]:
    """Returns how the page is asked to measure each of these libraries.

    `programs` is the URL of the benchmark's Python files, `packages` are what each Python library needs, by its name.
    """
    python = {name: ("measurePython", list(packages[name]), programs, f"/page/gpu_{name}.py") for name in packages}
    return {name: python.get(name, ("measureJavaScript", name)) for name in names}


def answers(page: chromium_page.Page, asked: Mapping[str, Request], repeats: int) -> Answers:
    """Measures each library in `repeats` new pages, in turn. The answer of one that fails is {"failure": why}."""
    found: dict[str, list[Mapping[str, Any]]] = {name: [] for name in asked}
    for _ in range(repeats):
        for name, request in asked.items():
            before = found[name]
            if any("failure" in answer for answer in before) or sum(answer["first"] for answer in before) > LONGEST:
                continue
            try:
                page.load()
                before.append(json.loads(page.call(*request)))
            except chromium_page.PageError as error:
                before.append({"failure": str(error).splitlines()[0]})
    return found


def versions(found: Answers) -> str:
    """Returns the version of each library, or why it has no figures."""
    failed = _failures(found)
    return "; ".join(
        f"{name}: no figures ({failed[name]})" if name in failed else found[name][0]["settings"] for name in found
    )


def rows(chosen: Sequence[Goal], found: Answers, absent: frozenset[str]) -> list[Row]:
    """Returns the rows of these goals. A peer with wrong results gets no figure, and neither does one that failed."""
    failed = _failures(found)
    wrong = {name: why for name, each in found.items() if name not in failed and (why := _wrong(each))}
    notes = [f"{name} is WRONG and was not timed ({why})" for name, why in wrong.items()]
    notes += [f"{name} was not timed ({why})" for name, why in failed.items()]
    details = {"answers": found, "wrong": wrong}
    if OURS in wrong or OURS in failed:
        return [Row(goal, None, tuple(notes), details) for goal in chosen]
    absent = absent.union(wrong, failed)
    made = []
    for goal in chosen:
        peers = {name: min(_figures(goal, each)) for name, each in found.items() if name not in {OURS, *absent}}
        ours = _figures(goal, found[OURS])
        if goal in COUNTS:  # a count that differs between runs is as bad as the worst
            runs = [run[COUNTS[goal]] for run in found[OURS][0]["runs"]]
            by_run = f"{COUNTS[goal]} of each run of the first page: {', '.join(map(str, runs))}"
            made.append(Row(goal, Measured(max(ours), statistics.median(ours), peers), (*notes, by_run), details))
        else:
            measured = Measured(min(ours), statistics.median(ours), peers, absent=absent)
            made.append(Row(goal, measured, tuple(notes), details))
    return made


def _figures(goal: Goal, found: Sequence[Mapping[str, Any]]) -> list[float]:
    """Returns all figures of one library: nanoseconds, or counts."""
    if goal is FIRST:
        return [answer["first"] for answer in found]
    if goal in TIMES:
        return [sample for answer in found for sample in answer[TIMES[goal]]]
    return [run[COUNTS[goal]] for answer in found for run in answer["runs"][COMPILED:]]


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
