"""Times one benchmark case, which is a call of an operation with its arguments, here and in a browser alike.

Makes the contestants (Lanewise on a backend, and other libraries), compares their results, and times them in turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import lanewise as lw
from lanewise import _ext
from lanewise.backends import selection
from lanewise.backends.backend import backend_of
from lanewise.costs.timing import NEVER, Contestant, Timing, chains
from lanewise.dtypes import as_dtype, is_half
from tests.bench import check
from tests.bench.peers import Batch, Peer, convert
from tests.cases.cases import Case, Viewed
from tests.cases.inputs import HostArray

NO_SUCH_OPERATION = "no such operation"  # a reason in `not_timed` that does not count as a failure
OUT, HELD, CHAIN, VIEWED = "out", "held", "chain", "viewed"  # ways to call an operation; backend_ready describes them
HELD_RESULTS = 16  # with more, freed buffers exceed what a device keeps, and allocating takes most of the time

Clock = Callable[[Sequence[Contestant]], Sequence[Timing]]  # times contestants in turn


@dataclass(frozen=True)
class Ready:
    """A contestant, and a function that reads elements of its first result by position."""

    contestant: Contestant
    read: Callable[[Sequence[int]], list[float]] | None  # None if its result is that of another case
    is_peer: bool = False

    def named(self, name: str, **changed: Any) -> Ready:
        """Returns the contestant under another name, and with other changes."""
        return replace(self, contestant=replace(self.contestant, name=name, **changed))


class NotTimedError(Exception):
    """A contestant cannot take part; the message says why."""


Entrants = Sequence[tuple[str, Callable[[], Ready]]]  # names, and functions that make the contestants


def entrants(case: Case, backends: Sequence[str], peers: Sequence[Peer], how: str = "") -> Entrants:
    """Returns the contestants of a case: Lanewise on these backends, and other libraries. backend_ready has `how`."""
    ours = [(name, partial(backend_ready, case, name, how)) for name in backends]
    return [*ours, *((peer.name, partial(peer_ready, case, peer)) for peer in peers)]


def run_case(case: Case, contestants: Entrants, clock: Clock, limit: Contestant | None = None) -> dict[str, Any]:
    """Times the contestants of a case, except those whose results are wrong. Returns figures with units in the keys.

    `limit` is a loop that does only the case's arithmetic, or only its memory traffic. It is timed in the same rounds
    as the contestants.
    """
    ready: list[Ready] = []
    skipped: dict[str, str] = {}
    for name, get_ready in contestants:
        try:
            ready.append(get_ready())
        except NotTimedError as reason:
            skipped[name] = str(reason)
    wrong, against = check.wrong(case, [(each.contestant.name, each.read) for each in ready if each.read])
    right = [each.contestant for each in ready if each.contestant.name not in wrong]
    peers = {each.contestant.name for each in ready if each.is_peer}
    ready.clear()  # frees the results
    limits = [] if limit is None else [limit]
    timings = [_figures(case, timing) for timing in clock([*right, *limits])]
    at_best = timings.pop() if limits else None
    names = [each.name for each in right]
    return {
        "operation": case.operation.name,
        "dtype": case.dtype,
        "size": list(case.size),
        "bytes": case.bytes,
        "flops": case.flops,
        "checked_against": against,
        "contestants": [
            {"name": name, "peer": name in peers, **each} for name, each in zip(names, timings, strict=True)
        ],
        "limit": at_best,
        "not_timed": skipped,
        "wrong": wrong,
    }


def _figures(case: Case, timing: Timing) -> dict[str, object]:
    def rate(amount: int | None) -> float | None:
        return None if amount is None else amount / timing.minimum * 1e9

    return {
        "calls_a_sample": timing.calls,
        "samples_ns": [round(sample, 3) for sample in timing.samples],
        "minimum_ns": round(timing.minimum, 3),
        "median_ns": round(timing.median, 3),
        "bytes_per_second": rate(case.bytes),
        "flops_per_second": rate(case.flops),
    }


def backend_ready(case: Case, backend: str, how: str = "") -> Ready:
    """Makes a contestant of Lanewise on one backend.

    `how` says what happens to results: by default, each is freed before the next call. OUT writes all into the first.
    HELD keeps the last HELD_RESULTS, so that what a GPU computes may overlap. VIEWED takes a view of each result, which
    ends a chain of elementwise operations: a result that is freed before would not be computed. CHAIN does so on the
    CPU, where chains are off otherwise, and on a GPU ends the chain with a launch that is not part of it.
    """
    try:
        contestant = on_backend(case, backend)
        result = _one(contestant.run())
        if how == OUT:
            names, out = contestant.names, contestant.run()
            call = contestant.expression.removesuffix(")") + ", out=out_)"
            contestant = replace(contestant, expression=call, names={**names, "out_": out})
        elif how == HELD:
            contestant = _holding(contestant)
        elif how == VIEWED or (how == CHAIN and not backend_of(backend).is_gpu):
            contestant = replace(contestant, expression=f"({contestant.expression})[...]")
            contestant = _chained(contestant) if how == CHAIN else contestant
        elif how == CHAIN:
            one, out = (lw.ones(1).to(backend) for _ in range(2))
            ends = {"end_": lw.add, "one_": one, "out_": out}
            call = f"{contestant.expression}; end_(one_, one_, out=out_)"
            contestant = replace(contestant, expression=call, names={**contestant.names, **ends})
    except lw.LanewiseError as error:
        raise NotTimedError(str(error)) from None
    if isinstance(result, lw.Tensor) and result._backend_name != backend:
        raise NotTimedError(f"it ran on {result._backend_name} instead")
    return Ready(contestant, partial(elements, result))


def peer_ready(case: Case, peer: Peer) -> Ready:
    """Makes a contestant of another library."""
    try:
        call = peer.call(case)
        if isinstance(call, Batch):
            call.run(1)
            return Ready(Contestant.batched(peer.name, call.run, timed=call.timed), call.read, is_peer=True)
        if call is not None:
            contestant = Contestant.calling(
                peer.name, call.function, *call.arguments, keywords=call.keywords, finish=peer.finish
            )
            if case.call and peer.operators:
                contestant = replace(contestant, expression=case.call)
            return Ready(contestant, partial(peer.numbers, contestant.run()), is_peer=True)
    except NotImplementedError:  # PyTorch has many functions that lack a dtype
        raise NotTimedError(NO_SUCH_OPERATION) from None
    except Exception as error:  # a failing peer does not stop the run
        raise NotTimedError(f"{type(error).__name__}: {str(error).partition(chr(10))[0]}") from None
    raise NotTimedError(NO_SUCH_OPERATION)


def on_backend(case: Case, backend: str) -> Contestant:
    """Returns a call of Lanewise's function on one backend, with inputs that are already on its device."""

    def use() -> AbstractContextManager[Any]:
        return lw.use_backend(backend)

    on_device = backend_of(backend).is_gpu
    with use():
        arguments = convert(case.arguments, partial(tensor, place=backend if on_device else None))
    function = getattr(lw, case.operation.name)
    finish = partial(_wait, backend) if on_device else None
    contestant = Contestant.calling(backend, function, *arguments, keywords=case.keywords, context=use, finish=finish)
    if not case.call:
        return contestant
    plain = backend == selection.default_backend()  # the expression as users write it, in no `with` block
    return replace(contestant, expression=case.call, context=nullcontext if plain else use)


def _chained(contestant: Contestant) -> Contestant:
    """Returns a contestant during whose calls chains are as they are now, outside of measurements."""
    least = _ext.set_chain_bytes(NEVER)
    _ext.set_chain_bytes(least)
    use = contestant.context

    @contextmanager
    def context() -> Iterator[None]:
        with chains(least), use():
            yield

    return replace(contestant, context=context)


def _holding(contestant: Contestant) -> Contestant:
    """Returns a contestant that keeps its last results."""
    once = eval(f"lambda: {contestant.expression}", dict(contestant.names))  # the benchmark's own code, as in timeit
    held: deque[object] = deque(maxlen=HELD_RESULTS)

    def batch(count: int) -> None:
        held.extend(once() for _ in range(count))
        if contestant.finish is not None:
            contestant.finish(None)

    return replace(Contestant.batched(contestant.name, batch), context=contestant.context)


def tensor(value: HostArray | Viewed, place: str | None = None) -> lw.Tensor:
    """Copies the data into a new tensor, on a device if one is named."""
    if isinstance(value, Viewed):
        view: lw.Tensor = value.of(tensor(value.array, place), lw.permute_dims)
        return view
    made = _ext.from_bytes(value.data, as_dtype(value.dtype), value.shape)
    return made if place is None else made.to(place)


def _wait(backend: str, _result: Any) -> None:
    """Waits until a device has computed a result, and all before it."""
    lw.synchronize(backend)


def _one(result: Any) -> Any:
    """Concatenates several results into one 1-dimensional tensor, so that they are compared together."""
    return lw.concat([each.reshape(-1) for each in result]) if isinstance(result, list | tuple) else result


def elements(result: lw.Tensor | float, positions: Sequence[int]) -> list[float]:
    """Reads elements by position in row-major order."""
    if not isinstance(result, lw.Tensor):
        return [float(result) for _ in positions]
    flat = lw.reshape(result, (-1,))
    host = flat.to("cpu") if flat.backend.is_gpu else flat
    if is_half(host.dtype):  # which memoryview cannot read before Python 3.14, or at all
        host = host.astype(lw.float32)
    values = memoryview(host)
    return [float(values[position]) for position in positions]
