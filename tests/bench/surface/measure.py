"""Measures one cell of a surface, in this process or in Pyodide in a page."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import lanewise as lw
from lanewise.backends.backend import backend_of
from tests.bench import runner
from tests.bench.peers import Peer
from tests.bench.runner import Clock
from tests.bench.surface.cells import Cell
from tests.bench.surface.judge import BEHIND, UNCOUNTED, Outcome
from tests.bench.surface.products import HALVES
from tests.cases.inputs import ITEM_BYTES

ROUNDS, AGAIN = 3, 7  # rounds of a cell, and of one that is behind, which is measured twice more
SECONDS = 0.005  # the least duration of a sample
SHORT_NS = 20_000  # on GPUs, calls that take the peer less are not counted
DEFERRED = 1 << 14  # elements of zeros, for more of which NumPy asks Linux for memory that is zeroed when it is written
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
    elements, how, why_not = _tried(cell, backend)
    sized = replace(cell.case, result=elements)
    result = runner.run_case(sized, runner.entrants(sized, [backend], peers, how), clock)
    medians = {each["name"]: float(each["median_ns"]) for each in result["contestants"]}
    ours = medians.pop(backend, None)
    note = result["wrong"].get(backend, "") or result["not_timed"].get(backend, "") or why_not
    if not note and backend_of(backend).is_gpu and min(medians.values(), default=inf) < SHORT_NS:
        note = UNCOUNTED + "a short call"
    ratio = min(medians.values()) / ours if medians and ours else None
    return Outcome(cell.number, cell.kind, cell.text, ours, medians, ratio, note)


def _tried(cell: Cell, backend: str) -> tuple[int, str, str]:
    """Runs a cell once. Returns how many elements of the result are compared (of several results all of the first,
    because others differ where elements are equal, and in signs of vectors), how the cell is called so that its result
    is computed, and why the cell does not count, if so."""
    contestant = runner.on_backend(cell.case, backend)
    before = _copies()
    result: Any = contestant.run()
    first = result[0] if isinstance(result, list | tuple) else result
    why_not = _uncounted(cell, _copies() > before)
    is_here = sys.platform != "emscripten" and not backend_of(backend).is_gpu
    if cell.case.operation.name == "zeros" and is_here and first.size > DEFERRED:
        why_not = "a peer leaves zeros to the first write"
    how = runner.VIEWED if backend_of(backend).is_gpu and isinstance(result, lw.Tensor) else ""
    return first.size if isinstance(first, lw.Tensor) else 1, how, UNCOUNTED + why_not if why_not else ""


def _copies() -> int:
    """Returns how often tensors were copied between the CPU and GPUs."""
    stats = lw.memory_stats()
    return stats["uploads"] + stats["readbacks"]


def _uncounted(cell: Cell, copied: bool) -> str:
    """Returns why a cell does not count, or an empty string. `copied` says whether it copied tensors from or to a
    GPU, which leaves dtypes of 8 bytes to the CPU."""
    case = cell.case
    if case.operation.kind == "eigen":
        return "eigenvalues"
    if cell.kind in PRODUCTS and case.dtype in HALVES:
        return f"a product of {case.dtype}"
    texts = [given for given in case.arguments if isinstance(given, str)]
    dtypes = [case.dtype, case.operation.result(case.dtype), *texts, *(each.dtype for each in case.inputs)]
    if copied and any(ITEM_BYTES.get(dtype) == 8 for dtype in dtypes):
        return "computed on the CPU, as declared"
    return ""
