"""One benchmark case from arguments to figures: make the contestants, check them, time them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

import lanewise as lw
from lanewise.bench import check
from lanewise.bench.cases import Case
from lanewise.bench.engine import REPEATS, SAMPLE_SECONDS, Contestant, Progress, Timing, measure
from lanewise.bench.inputs import HostArray
from lanewise.bench.peers import Peer, convert


@dataclass(frozen=True)
class Entry:
    """One contestant's figures in one case."""

    name: str
    is_peer: bool
    timing: Timing


@dataclass(frozen=True)
class Result:
    """All figures of one case."""

    case: Case
    entries: tuple[Entry, ...]
    skipped: Mapping[str, str]  # contestant -> why it was not timed
    wrong: Mapping[str, str]  # contestant -> how its result differs
    checked_against: str

    def best_peer(self) -> Entry | None:
        """The fastest of the other libraries."""
        peers = [entry for entry in self.entries if entry.is_peer]
        return min(peers, key=lambda entry: entry.timing.minimum, default=None)


def run(
    case: Case,
    backends: Sequence[str],
    peers: Sequence[Peer],
    *,
    repeats: int = REPEATS,
    sample_seconds: float = SAMPLE_SECONDS,
    progress: Progress | None = None,
) -> Result:
    """Time a case on these backends and peers. Contestants with wrong results are named and not timed."""
    contestants: list[Contestant] = []
    readers: list[tuple[str, Callable[[Sequence[int]], list[float]]]] = []
    skipped: dict[str, str] = {}
    for backend in backends:
        try:
            contestant = on_backend(case, backend)
            result = contestant.run()
        except lw.LanewiseError as error:
            skipped[backend] = str(error)
            continue
        where = str(getattr(result, "backend", backend))
        if where != backend:
            skipped[backend] = f"it ran on {where} instead"
            continue
        contestants.append(contestant)
        readers.append((backend, partial(_elements, result)))
    for peer in peers:
        call = peer.call(case)
        if call is None:
            skipped[peer.name] = "no such operation"
            continue
        contestant = Contestant.calling(peer.name, call.function, *call.arguments, keywords=call.keywords)
        contestants.append(contestant)
        readers.append((peer.name, partial(peer.numbers, contestant.run())))
    wrong, against = check.wrong(case, readers)
    readers.clear()  # and the results with them
    right = [contestant for contestant in contestants if contestant.name not in wrong]
    timings = measure(right, repeats=repeats, sample_seconds=sample_seconds, progress=progress)
    names = {peer.name for peer in peers}
    entries = tuple(Entry(timing.name, timing.name in names, timing) for timing in timings)
    return Result(case, entries, skipped, wrong, against)


def on_backend(case: Case, backend: str) -> Contestant:
    """Lanewise's function on one backend, with its inputs already there."""

    def use() -> AbstractContextManager[Any]:
        return lw.use_backend(backend)

    on_device = lw.Backend(backend).is_gpu
    with use():
        arguments = convert(case.arguments, partial(_tensor, place=backend if on_device else None))
    function = getattr(lw, case.operation.name)
    finish = _wait if on_device else None
    return Contestant.calling(backend, function, *arguments, keywords=case.keywords, context=use, finish=finish)


def _tensor(value: HostArray, place: str | None) -> lw.Tensor:
    """A tensor with storage of its own, moved to a device where one is named."""
    flat = lw.asarray(value.view, copy=True)
    tensor = lw.reshape(flat, value.shape)
    return tensor if place is None else tensor.to(place)


def _wait(result: lw.Tensor) -> None:
    """A device has done everything before it once one element can be read."""
    _elements(lw.reshape(result, (-1,))[:1], (0,))


def _elements(result: lw.Tensor, positions: Sequence[int]) -> list[float]:
    """Elements by position in row-major order, read on the host."""
    flat = lw.reshape(result, (-1,))
    host = flat.to("scalar") if lw.Backend(str(flat.backend)).is_gpu else flat
    values = memoryview(host)
    return [float(values[position]) for position in positions]
