"""Runs one benchmark case, which is an operation with its arguments.

Makes the contestants (Lanewise on each backend, and other libraries), compares their results, and times them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

import lanewise as lw
from lanewise import placement, selection
from lanewise.backend import backend_of
from lanewise.timing import REPEATS, SAMPLE_SECONDS, Contestant, Progress, Timing, measure
from tests.bench import check
from tests.bench.cases import Case
from tests.bench.inputs import HostArray
from tests.bench.peers import Batch, Peer, convert

NO_SUCH_OPERATION = "no such operation"  # a reason in Result.skipped that does not count as a failure


@dataclass(frozen=True)
class Entry:
    """One contestant's times in one case."""

    name: str
    is_peer: bool
    timing: Timing


@dataclass(frozen=True)
class Result:
    """The outcome of one case."""

    case: Case
    entries: tuple[Entry, ...]
    skipped: Mapping[str, str]  # contestant -> why it was not timed
    wrong: Mapping[str, str]  # contestant -> how its result differs
    checked_against: str
    limit: Timing | None = None  # the time of a loop that runs at the limit of the machine, if known

    def best_peer(self) -> Entry | None:
        """Returns the fastest of the other libraries."""
        peers = [entry for entry in self.entries if entry.is_peer]
        return min(peers, key=lambda entry: entry.timing.minimum, default=None)


@dataclass(frozen=True)
class Ready:
    """A contestant, and a function that reads elements of its first result by position."""

    contestant: Contestant
    read: Callable[[Sequence[int]], list[float]]
    is_peer: bool = False


class NotTimedError(Exception):
    """A contestant cannot take part; the message says why."""


Entrants = Sequence[tuple[str, Callable[[], Ready]]]  # names, and functions that make the contestants


def entrants(case: Case, backends: Sequence[str], peers: Sequence[Peer]) -> Entrants:
    """Returns the contestants of a case: Lanewise on these backends, and other libraries."""
    ours = [(name, partial(backend_ready, case, name)) for name in backends]
    return [*ours, *((peer.name, partial(peer_ready, case, peer)) for peer in peers)]


def run_case(
    case: Case,
    contestants: Entrants,
    *,
    repeats: int = REPEATS,
    sample_seconds: float = SAMPLE_SECONDS,
    warm_seconds: float = 0.0,
    progress: Progress | None = None,
    limit: Contestant | None = None,
) -> Result:
    """Times the contestants of a case, except those whose results are wrong: Result.wrong names them.

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
    wrong, against = check.wrong(case, [(each.contestant.name, each.read) for each in ready])
    right = [each.contestant for each in ready if each.contestant.name not in wrong]
    peers = {each.contestant.name for each in ready if each.is_peer}
    ready.clear()  # frees the results
    limits = [] if limit is None else [limit]
    timings = measure(
        [*right, *limits],
        repeats=repeats,
        sample_seconds=sample_seconds,
        warm_seconds=warm_seconds,
        progress=progress,
    )
    at_best = timings.pop() if limits else None
    entries = tuple(Entry(timing.name, timing.name in peers, timing) for timing in timings)
    return Result(case, entries, skipped, wrong, against, at_best)


def backend_ready(case: Case, backend: str) -> Ready:
    """Makes a contestant of Lanewise on one backend."""
    try:
        contestant = on_backend(case, backend)
        result = _one(contestant.run())
    except lw.LanewiseError as error:
        raise NotTimedError(str(error)) from None
    if result._backend_name != backend:
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
            contestant = Contestant.calling(peer.name, call.function, *call.arguments, keywords=call.keywords)
            return Ready(contestant, partial(peer.numbers, contestant.run()), is_peer=True)
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
    return Contestant.calling(backend, function, *arguments, keywords=case.keywords, context=use, finish=finish)


def through(case: Case, backend: str) -> Contestant:
    """Returns a call on a device with inputs on the CPU, and the result there too."""
    function, place = getattr(lw, case.operation.name), lw.Backend(backend)

    def call(*arguments: Any, **keywords: Any) -> lw.Tensor:
        copies = [placement.move(each, place) if isinstance(each, lw.Tensor) else each for each in arguments]
        return placement.move(function(*copies, **keywords), selection.default_backend())

    arguments = convert(case.arguments, partial(tensor, place=None))
    return Contestant.calling(backend, call, *arguments, keywords=case.keywords)


def tensor(value: HostArray, place: str | None = None) -> lw.Tensor:
    """Copies the data into a new tensor, on a device if one is named."""
    flat = lw.asarray(value.view, copy=True)
    tensor = lw.reshape(flat, value.shape)
    return tensor if place is None else tensor.to(place)


def _wait(backend: str, _result: Any) -> None:
    """Waits until a device has computed a result, and all before it."""
    lw.synchronize(backend)


def _one(result: Any) -> Any:
    """Concatenates several results into one 1-dimensional tensor, so that they are compared together."""
    return lw.concat([each.reshape(-1) for each in result]) if isinstance(result, list | tuple) else result


def elements(result: lw.Tensor, positions: Sequence[int]) -> list[float]:
    """Reads elements by position in row-major order."""
    flat = lw.reshape(result, (-1,))
    host = flat.to("scalar") if flat.backend.is_gpu else flat
    values = memoryview(host)
    return [float(values[position]) for position in positions]
