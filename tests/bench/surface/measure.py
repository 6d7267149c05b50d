"""Measures one cell of a surface, in this process or in Pyodide in a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import lanewise as lw
from lanewise.backends.backend import backend_of
from tests.bench import runner
from tests.bench.peers import Peer
from tests.bench.runner import Clock
from tests.bench.surface.cells import Cell
from tests.bench.surface.judge import BEHIND, UNCOUNTED, Outcome
from tests.bench.surface.products import HALVES
from tests.cases.cases import Case

ROUNDS, AGAIN = 3, 7  # rounds of a cell, and of one that is behind, which is measured twice more
SECONDS = 0.005  # the least duration of a sample
SHORT_NS = 20_000  # on GPUs, calls that take the peer less are not counted
PRODUCTS = ("product", "window", "attention")


@dataclass(frozen=True)
class Place:
    """Where cells are measured."""

    name: str  # in judge.FIRM
    options: str  # of the command, with which it repeats a cell there
    heading: Sequence[str]
    measure: Callable[[int], Outcome]  # measures the cell with this number


def measured(cell: Cell, backend: str, peers: Sequence[Peer], clock: Callable[[int], Clock]) -> Outcome:
    """Measures a cell, again if it is behind: it counts as behind if its median is behind in three runs."""
    try:
        outcome = _once(cell, backend, peers, clock(ROUNDS))
        for _ in range(2):
            if outcome.counts and (outcome.ratio or 0) < BEHIND:
                again = _once(cell, backend, peers, clock(AGAIN))
                outcome = max(outcome, again, key=lambda each: each.ratio or 0)
    except Exception as error:  # one cell does not end the run
        return failed(cell, error)
    return outcome


def failed(cell: Cell, error: Exception) -> Outcome:
    """Returns the outcome of a cell that raised an error."""
    return Outcome(cell.number, cell.kind, cell.text, None, {}, None, f"{type(error).__name__}: {error}")


def _once(cell: Cell, backend: str, peers: Sequence[Peer], clock: Clock) -> Outcome:
    sized = replace(cell.case, result=_elements(cell.case, backend))
    result = runner.run_case(sized, runner.entrants(sized, [backend], peers), clock)
    medians = {each["name"]: float(each["median_ns"]) for each in result["contestants"]}
    ours = medians.pop(backend, None)
    note = result["wrong"].get(backend, "") or result["not_timed"].get(backend, "")
    if not note:
        note = _uncounted(cell, min(medians.values(), default=0), backend)
    ratio = min(medians.values()) / ours if medians and ours else None
    return Outcome(cell.number, cell.kind, cell.text, ours, medians, ratio, note)


def _elements(case: Case, backend: str) -> int:
    """Returns how many elements of the result are compared: of several results all of the first, because others differ
    where elements are equal, and in signs of vectors."""
    result: Any = runner.on_backend(case, backend).run()
    first = result[0] if isinstance(result, list | tuple) else result
    return first.size if isinstance(first, lw.Tensor) else 1


def _uncounted(cell: Cell, best: float, backend: str) -> str:
    """Returns why a cell does not count, or an empty string."""
    if cell.case.operation.kind == "eigen":
        return UNCOUNTED + "eigenvalues"
    if cell.kind in PRODUCTS and cell.case.dtype in HALVES:
        return UNCOUNTED + f"a product of {cell.case.dtype}"
    if backend_of(backend).is_gpu and best < SHORT_NS:
        return UNCOUNTED + "a short call"
    return ""
