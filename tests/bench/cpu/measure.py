"""Measures each goal for a CPU, and makes its row of the table. auto.py does so for the goal of AUTO.

The contestants of a goal, Lanewise and its peers (other libraries), are made here and timed by runner.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import lanewise as lw
from lanewise import selection, timing
from lanewise.errors import LibraryError
from lanewise.timing import Contestant
from tests.bench import auto, machine, report, runner
from tests.bench.cases import Case
from tests.bench.cpu.limits import Limits
from tests.bench.cpu.table import AUTO, CALLS, KERNELS, ONE_THREAD, THREADS
from tests.bench.goal_report import Row, from_case
from tests.bench.goals import Goal
from tests.bench.inputs import ITEM_BYTES
from tests.bench.peers import Peer, convert
from tests.bench.runner import Entrants, NotTimedError, Ready

OURS = "lanewise"
OPERATORS = ("numpy", "torch")  # peers whose `+` is faster than their function add
PLUS = "argument0 + argument1"


@dataclass(frozen=True)
class Place:
    """What measurements depend on: the options, the peers and the machine."""

    repeats: int
    seconds: float
    peers: Sequence[Peer]
    absent: frozenset[str]
    limits: Mapping[str, Limits]  # by backend; empty if limits.c was not compiled
    backends: Sequence[str]  # the available backends

    def row(self, goal: Goal) -> Row:
        """Measures a goal. If its backend is not available, measures the default one and does not judge the result."""
        if goal is AUTO:
            return auto.row(goal, self.repeats, self.seconds)
        assert goal.work is not None
        judged = goal.backend in self.backends
        backend = goal.backend if judged else str(selection.default_backend())
        case, limits = goal.work.case(), self.limits.get(backend)
        result = runner.run_case(
            case,
            self._entrants(goal, case, backend),
            repeats=self.repeats,
            sample_seconds=self.seconds,
            limit=limits.limit(case) if limits and goal not in (*CALLS, *THREADS) else None,
        )
        row = from_case(goal, report.case_as_json(result), OURS, self.absent, judged=judged)
        if judged:
            return row
        return replace(row, notes=(*row.notes, f"measured on {backend}, judged only with {goal.backend}"))

    def _entrants(self, goal: Goal, case: Case, backend: str) -> Entrants:
        if goal in KERNELS:
            return [(OURS, partial(_alone, case, backend, self.limits.get(backend)))]
        if goal in THREADS:
            return [(OURS, partial(_threads, case, backend, 2)), (ONE_THREAD, partial(_threads, case, backend, 1))]
        if goal in CALLS:
            ours = _operator if goal == CALLS[0] else _from_numpy
            theirs: Callable[[Case, Peer], Ready] = _peer_operator
        else:
            ours, theirs = _backend, runner.peer_ready
        return [
            (OURS, partial(ours, case, backend)),
            *((peer.name, partial(theirs, case, peer)) for peer in self.peers),
        ]


def _named(ready: Ready, **changed: Any) -> Ready:
    return replace(ready, contestant=replace(ready.contestant, name=OURS, **changed))


def _backend(case: Case, backend: str) -> Ready:
    return _named(runner.backend_ready(case, backend))


def _operator(case: Case, backend: str) -> Ready:
    """Makes a contestant of the expression `x + y`."""
    ready = _named(runner.backend_ready(case, backend), expression=PLUS)
    return _named(ready, context=nullcontext) if backend == selection.default_backend() else ready


def _from_numpy(case: Case, backend: str) -> Ready:
    """Makes a contestant that calls lw.add on NumPy arrays."""
    try:
        import numpy as np
    except ImportError:
        raise NotTimedError("NumPy is not installed; pip install numpy") from None
    arrays = (np.frombuffer(item.data, item.dtype).reshape(item.shape).copy() for item in case.inputs)
    contestant = Contestant.calling(OURS, lw.add, *arrays, context=partial(lw.use_backend, backend))
    result: Any = contestant.run()
    ready = Ready(contestant, partial(runner.elements, result))
    return _named(ready, context=nullcontext) if backend == selection.default_backend() else ready


def _peer_operator(case: Case, peer: Peer) -> Ready:
    ready = runner.peer_ready(case, peer)
    if peer.name not in OPERATORS:
        return ready
    return replace(ready, contestant=replace(ready.contestant, expression=PLUS))


def _alone(case: Case, backend: str, limits: Limits | None) -> Ready:
    """Makes a contestant that calls a kernel from a loop in C, always on the same one-dimensional arrays."""
    if limits is None:
        raise NotTimedError("the loop that calls it is in limits.c, which could not be compiled")
    try:
        from lanewise.cffi import ffi, lib
    except ImportError as error:
        raise NotTimedError(str(error)) from None
    operation, (count,) = case.operation, case.size
    reduces = operation.kind == "reduction"
    kernel = getattr(lib(backend).lanewise_kernels.kernels, operation.kernels[case.dtype])
    given = convert(case.arguments, runner.tensor)
    result = lw.zeros(() if reduces else (count,))
    step = ITEM_BYTES[case.dtype]
    strides = [*([step] for _ in given), [0 if reduces else step]]
    layout = ffi.new("lw_layout *", {"ndim": 1, "inner": int(reduces), "shape": [count], "strides": strides})
    buffers = [ffi.from_buffer(each) for each in (*given, result)]
    inputs, outputs = ffi.new("const void *[]", buffers[:-1]), ffi.new("void *[]", buffers[-1:])
    parameters = ffi.new("lw_scalar[4]")  # all 0; for a parameter that is a choice, 0 selects the first value
    loop = limits.repeat(*(int(ffi.cast("intptr_t", each)) for each in (kernel, layout, inputs, outputs, parameters)))

    def batch(times: int, kept: object = (layout, buffers, inputs, outputs, parameters)) -> None:
        if status := loop(times):
            raise LibraryError(f"bench: the kernel of {operation.name} returned the status {status}")

    batch(1)
    return Ready(Contestant.batched(OURS, batch), partial(runner.elements, result))


def _threads(case: Case, backend: str, number: int) -> Ready:
    if machine.cores() < 2:
        raise NotTimedError(f"this process has {machine.cores()} core")

    @contextmanager
    def several() -> Iterator[None]:
        with timing.threads(number), lw.use_backend(backend):
            yield

    ready = runner.backend_ready(case, backend)
    name = OURS if number > 1 else ONE_THREAD
    contestant = replace(ready.contestant, name=name, context=several)
    return replace(ready, contestant=contestant, is_peer=number == 1)
