"""The contestants of a goal that is measured in this process: Lanewise in the way that the goal names, the peers (other
libraries), and the baselines that the goal's bars name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from time import perf_counter_ns
from typing import Any

import lanewise as lw
from lanewise.backends import selection
from lanewise.costs import timing
from lanewise.costs.timing import Contestant
from lanewise.errors import LibraryError
from tests.bench import machine, runner
from tests.bench.goals import Goal
from tests.bench.limits.loops import Limits
from tests.bench.peers import Peer, convert, to_numpy
from tests.bench.peers import on_threads as threads
from tests.bench.report import OURS
from tests.bench.runner import Entrants, NotTimedError, Ready
from tests.cases.cases import Case, build
from tests.cases.inputs import ITEM_BYTES
from tests.cases.operations import find

KERNEL, FROM_NUMPY = "kernel", "from numpy"
FEWER = "as many threads as cores"
EDGE = 4096  # of the matrix product that others are compared with


def of(goal: Goal, case: Case, backend: str, peers: Sequence[Peer], limits: Limits | None) -> Entrants:
    """Returns the contestants of a goal, with Lanewise on this backend."""
    ours: Callable[[], Ready] = partial(runner.backend_ready, case, backend, goal.how)
    if goal.how == KERNEL:
        ours = partial(_kernel, case, backend, limits)
    elif goal.how == FROM_NUMPY:
        ours = partial(_from_numpy, case, backend)
    baselines = [name for name in BASELINES if name in goal.against()]
    return [
        (OURS, lambda: ours().named(OURS)),
        *((peer.name, partial(runner.peer_ready, case, peer)) for peer in peers),
        *((name, partial(_baseline, name, goal, case, backend)) for name in baselines),
    ]


def _baseline(name: str, goal: Goal, case: Case, backend: str) -> Ready:
    return replace(BASELINES[name](goal, case, backend).named(name), is_peer=True)


def _from_numpy(case: Case, backend: str) -> Ready:
    """Makes a contestant that calls Lanewise's function on NumPy arrays."""
    try:
        arrays = convert(case.arguments, to_numpy)
    except ImportError:
        raise NotTimedError("NumPy is not installed; pip install numpy") from None
    plain = backend == selection.default_backend()
    context = nullcontext if plain else partial(lw.use_backend, backend)
    contestant = Contestant.calling(OURS, getattr(lw, case.operation.name), *arrays, context=context)
    result: Any = contestant.run()
    return Ready(contestant, partial(runner.elements, result))


def _kernel(case: Case, backend: str, limits: Limits | None) -> Ready:
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


def on_threads(case: Case, backend: str, number: int) -> Ready:
    """Makes a contestant of Lanewise on another number of threads than the other contestants have."""
    if machine.cores() < 2:
        raise NotTimedError(f"this process has {machine.cores()} core")
    ready = runner.backend_ready(case, backend)
    use = ready.contestant.context

    @contextmanager
    def context() -> Iterator[None]:
        with timing.threads(number), use():
            yield

    return ready.named(f"{backend}, {threads(number)}", context=context)


def _unfused(goal: Goal, case: Case, backend: str) -> Ready:
    """Makes a contestant of the same call in a process where elementwise operations run one by one."""
    from tests.bench.peers.elsewhere import Elsewhere

    return runner.peer_ready(case, Elsewhere("unfused", backend, 1, {"LANEWISE_FUSE": "0"}, how=goal.how))


def _as_fast_as_matmul(goal: Goal, case: Case, backend: str) -> Ready:
    """Makes a contestant that takes the time of the matrix product for as many operations as the case has."""
    product = build(find("matmul"), (EDGE,))
    contestant = runner.backend_ready(product, backend, goal.how).contestant
    loop, share = contestant.loop(keep=True), (case.flops or 0) / (product.flops or 1)

    def batch(times: int) -> int:
        runs = max(1, round(times * share))
        start = perf_counter_ns()
        loop(runs)
        return round((perf_counter_ns() - start) * times * share / runs)

    return Ready(Contestant.batched("", batch, timed=True), None)


def _own_float32(goal: Goal, case: Case, backend: str) -> Ready:
    """Makes a contestant of the same call with float32 inputs, and a result in float32."""
    same = replace(goal, dtype="float32").case()
    keywords = {name: value for name, value in same.keywords.items() if name != "dtype"}
    return replace(runner.backend_ready(replace(same, keywords=keywords), backend, goal.how), read=None)


BASELINES: Mapping[str, Callable[[Goal, Case, str], Ready]] = {
    "one thread": lambda goal, case, backend: on_threads(case, backend, 1),
    FEWER: lambda goal, case, backend: on_threads(case, backend, machine.cores()),
    "unfused": _unfused,
    "own float32": _own_float32,
    f"our matmul {EDGE}": _as_fast_as_matmul,
}
