"""Measures in this process: the tables of goals for the CPU, for several threads, and for WebGPU on the desktop, and
without goals any operations at several sizes, on backends and numbers of threads, and in other libraries.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from typing import Any

import lanewise as lw
from lanewise.backends import selection
from lanewise.backends.devices import DeviceInfo
from lanewise.costs import timing
from lanewise.costs.timing import Contestant, Timing
from lanewise.errors import ArgumentError, named
from tests.bench import auto, contestants, machine, report, runner
from tests.bench.goals import Goal
from tests.bench.limits import compiled
from tests.bench.limits.loops import Limits
from tests.bench.peers import PEERS, Peer, foreign, installed, missing, on_threads, open_peer
from tests.bench.report import OURS, Row, Table
from tests.bench.runner import Clock
from tests.bench.settings import Settings
from tests.cases import operations
from tests.cases.cases import Case, build, default_sizes, parse_size

GPU = "wgpu"
MINIMA = "figures are minima"
PAUSE_SECONDS = 0.03
ROW_SECONDS = 6  # at least
TIMED, TIMED_NS = 20, 100e6  # calls of a round at most, and their total time; a quarter as many are not timed
# After a second without work, a GPU runs at a quarter of its clock for so long.
WAKING_SECONDS, WARM_SECONDS, GPU_ROUNDS, GPU_SECONDS = 0.5, 0.1, 7, 0.02


@dataclass(frozen=True)
class Place:
    """What measurements depend on: the options, the peers and the machine."""

    settings: Settings
    clock: Clock
    peers: Mapping[str, Peer | None]  # if None, a peer is opened for each row, with as many threads as the row has
    absent: Mapping[str, str]  # peers that do not take part, and why
    limits: Mapping[str, Limits]  # by backend; empty if limits.c was not compiled
    backends: Sequence[str]  # the available backends
    medians: bool = False

    def table(self, chosen: Sequence[Goal], heading: Sequence[str], about: Mapping[str, Any], where: str) -> Table:
        """Measures goals, below a heading."""
        report.announce(heading, self.settings)
        return Table([self.row(goal) for goal in chosen], heading, about, where)

    def row(self, goal: Goal) -> Row:
        """Measures a goal. If its backend is not available, measures the default one and does not judge the result."""
        print(goal.name, file=sys.stderr, flush=True)
        with timing.threads(goal.threads) if goal.threads else nullcontext():
            return self._row(goal)

    def _row(self, goal: Goal) -> Row:
        if goal.how == "auto":
            gpu = GPU if GPU in self.backends else None
            return auto.row(goal, self.settings.repeats, self.settings.seconds, gpu)
        judged = not goal.backend or goal.backend in self.backends
        backend = goal.backend if goal.backend and judged else str(selection.default_backend())
        case, limits = goal.case(), self.limits.get(backend)
        peers = [self.peers[name] or open_peer(name, goal.threads) for name in goal.peers if name in self.peers]
        limit = limits.limit(case) if limits and goal.limit and goal.threads == 1 else None
        result = runner.run_case(case, contestants.of(goal, case, backend, peers, limits), self.clock, limit)
        absent = frozenset(name for name in self.absent if not foreign(name))
        row = report.from_case(goal, result, OURS, absent, judged=judged, medians=self.medians)
        if judged:
            return row
        return replace(row, notes=(*row.notes, f"measured on {backend}, judged only with {goal.backend}"))


def cpu(chosen: Sequence[Goal], settings: Settings) -> Table:
    """Measures goals for a CPU, with the limits of the processor in the same run."""
    names, absent = _peers(chosen, settings.peers)
    peers: Mapping[str, Peer | None] = {name: open_peer(name, 1) for name in names}
    backends = [str(info.name) for info in lw.backends() if info.available and not info.name.is_gpu]
    needed = dict.fromkeys([*(goal.backend for goal in chosen if goal.limit), str(selection.default_backend())])
    why_not = ""
    limits: Mapping[str, Limits] = {}
    try:
        limits = compiled.opened([name for name in needed if name in backends])
    except ArgumentError as error:
        why_not = f"limits are not measured: {error}"
    figures: dict[str, float] = {}
    for name, loops in limits.items():
        figures |= loops.figures(name, settings.repeats, settings.seconds, bandwidth=name == next(iter(limits)))
    shown = "limits: " + "; ".join(f"{name} {value:.3g}" for name, value in figures.items())
    versions = [peer.settings for peer in peers.values() if peer]
    about = {"peers": versions, "absent": absent, "limits": figures}
    heading = machine.heading(
        versions,
        *_absent(absent),
        why_not or shown,
        f"{MINIMA}; peers are in the unit of the row, - if they have no such operation; one thread",
    )
    clock = partial(timing.measure, repeats=settings.repeats, sample_seconds=settings.seconds)
    place = Place(settings, clock, peers, absent, limits, backends)
    return place.table(chosen, heading, about, machine.short_cpu_name())


def threads(chosen: Sequence[Goal], settings: Settings) -> Table:
    """Measures goals on several threads.

    Rows show medians, because minima would hide what a caller notices on many threads: calls that wait for a thread.
    """
    names, absent = _peers(chosen, settings.peers)
    peers = [open_peer(name, 1).settings.replace("1 thread", "as many threads") for name in names]
    heading = machine.heading(
        peers,
        *_absent(absent),
        "figures are medians (90th percentiles)",
        "steady: our 90th percentile is at most twice our median, or 1.2 times PyTorch's 90th percentile",
    )
    place = Place(
        settings,
        partial(with_pauses, settings.repeats, ROW_SECONDS),
        dict.fromkeys(names),
        absent,
        {},
        [],
        medians=True,
    )
    return place.table(chosen, heading, {"peers": peers, "absent": absent}, machine.short_cpu_name())


def wgpu(chosen: Sequence[Goal], settings: Settings) -> Table:
    """Measures goals for WebGPU on the desktop, next to PyTorch if that has CUDA."""
    adapter = _adapter()
    on_gpu = gpu_peers() if settings.peers in (None, ["torch"]) else []
    peers: dict[str, Peer | None] = {peer.name: peer for peer in on_gpu}
    packages = [f"wgpu {version('wgpu')}", *(peer.settings for peer in on_gpu)]
    first, *others = machine.heading(packages, f"{MINIMA}; results were checked against float64 before they were timed")
    heading = [f"{adapter}; {first}", *others]
    clock = partial(one_after_the_other, max(GPU_ROUNDS, settings.repeats), max(GPU_SECONDS, settings.seconds))
    absent = {} if peers else {"torch": "it has no CUDA here, or was left out"}
    place = Place(settings, clock, peers, absent, {}, [GPU])
    return place.table(chosen, heading, {"adapter": adapter}, adapter)


def gpu_peers() -> list[Peer]:
    """Returns PyTorch if it has CUDA here."""
    if missing("torch"):
        return []
    import torch

    from tests.bench.peers.torch_peer import TorchPeer

    return [TorchPeer(torch.get_num_threads(), cuda=True)] if torch.cuda.is_available() else []


def suite(names: Sequence[str], settings: Settings) -> int:
    """Measures the named operations, or all of them, and reports a table whose columns are all contestants.

    Returns 1 if a result was wrong.
    """
    number, *others = settings.threads or [1]
    cases = _cases(names, settings)
    backends = _backends(settings.backends)
    theirs = installed() if settings.peers is None else settings.peers
    peers = [open_peer(name, number) for name in dict.fromkeys(theirs)]
    versions = list(dict.fromkeys(peer.settings for peer in peers))
    heading = machine.heading(versions, f"{MINIMA}, on {on_threads(number)}")
    report.announce(heading, settings)
    clock = partial(timing.measure, repeats=settings.repeats, sample_seconds=settings.seconds)
    rows = []
    with timing.threads(number):
        for case in cases:
            name = f"{case.operation.name} {case.dtype} {case.label}"
            print(name, file=sys.stderr, flush=True)
            again = [
                (f"{backend}, {on_threads(other)}", partial(contestants.on_threads, case, backend, other))
                for backend in backends
                for other in others
            ]
            result = runner.run_case(case, [*runner.entrants(case, backends, peers), *again], clock)
            timed = result["contestants"]
            row = report.from_case(
                Goal(name, "us", peers=[each["name"] for each in timed]),
                {**result, "contestants": [{**each, "peer": True} for each in timed]},
                timed[0]["name"] if timed else "",
            )
            rows.append(replace(row, details=result))
    about = {"repeats": settings.repeats, "sample_seconds": settings.seconds, "threads": [number, *others]}
    report.publish(Table(rows, heading, {"settings": about, "peers": versions}, ours=""), settings)
    return 1 if any(row.details["wrong"] for row in rows) else 0


def _cases(names: Sequence[str], settings: Settings) -> list[Case]:
    """Returns the cases of these operations, or of all operations that compute in the dtype."""
    dtype = settings.dtype
    chosen = [operations.find(name) for name in names]
    if not chosen:
        chosen = [operation for operation in operations.load().values() if not dtype or operation.accepts(dtype)]
    sizes = [parse_size(text) for text in settings.sizes or ()]
    return [build(operation, size, dtype) for operation in chosen for size in sizes or default_sizes(operation)]


@named("bench")
def _backends(names: Sequence[str] | None) -> list[str]:
    """Returns the named backends and GPUs ("wgpu:1"), or all available backends."""
    if names is None:
        return [str(info.name) for info in lw.backends() if info.available]
    return list(dict.fromkeys(str(selection.open_place(name)) for name in names))


def on_this_machine(chosen: Sequence[Goal]) -> list[Goal]:
    """Leaves out goals for other backends, those on more threads than there are processors, and those for more if there
    are enough."""
    cores, backends = machine.cores(), ["", *(info.name for info in lw.backends() if info.available)]
    here = [goal for goal in chosen if goal.backend in backends]
    return [goal for goal in here if (goal.threads <= cores) != (contestants.FEWER in goal.against())]


def _peers(chosen: Sequence[Goal], names: Sequence[str] | None) -> tuple[list[str], dict[str, str]]:
    """Returns the peers that take part, and why the others of these goals do not."""
    if unknown := sorted(set(names or ()) - set(PEERS)):
        raise ArgumentError(f"bench: expected peers from {', '.join(PEERS)}, got {unknown[0]!r}")
    of_goals = dict.fromkeys(name for goal in chosen for name in goal.peers)
    absent = {name: missing(name) for name in of_goals if missing(name)}
    if names is not None:
        absent |= {name: "left out" for name in of_goals if name not in names}
        for name in names:
            open_peer(name, 1)  # raises if the peer is missing
    return [name for name in of_goals if name not in absent], absent


def _absent(absent: Mapping[str, str]) -> list[str]:
    return [f"absent: {name} ({why})" for name, why in absent.items()]


def one_after_the_other(rounds: int, seconds: float, contestants: Sequence[Contestant]) -> list[Timing]:
    """Times each contestant on a GPU by itself, after waking the GPU: in turn with PyTorch, matmul of 1024 x 1024 takes
    1.2 times as long on an H200 (2026-11), because the GPU changes between CUDA and Vulkan. It is awake for all but the
    first."""
    times = partial(timing.measure, repeats=rounds, sample_seconds=seconds)
    return [
        taken
        for i, each in enumerate(contestants)
        for taken in times([each], warm_seconds=WARM_SECONDS if i else WAKING_SECONDS)
    ]


@timing.chains(timing.NEVER)
def with_pauses(rounds: int, seconds: float, contestants: Sequence[Contestant]) -> list[Timing]:
    """Times single calls of the contestants in turn, in at least so many rounds, for at least so many seconds.

    A round begins with a pause, because the threads of PyTorch's pool spin for some milliseconds after a call and would
    take processors away from ours, and with a few calls that are not timed. Each row takes some seconds: on a virtual
    machine, the speed of processors varies within a second, so medians of one second depend on chance.
    """
    loops = [partial(each.loop(keep=False), 1) for each in contestants]
    times: list[list[int]] = [[] for _ in contestants]
    counts: list[int] = []
    for contestant, loop in zip(contestants, loops, strict=True):
        with contestant.context():
            counts.append(max(1, min(TIMED, int(TIMED_NS / _taken(loop)))))
    end, done = time.perf_counter() + seconds, 0
    while contestants and (done < rounds or time.perf_counter() < end):
        done += 1
        for contestant, loop, count, taken in zip(contestants, loops, counts, times, strict=True):
            time.sleep(PAUSE_SECONDS)
            with contestant.context():
                for _ in range(count // 4):
                    loop()
                taken.extend(_taken(loop) for _ in range(count))
    return [Timing(each.name, 1, tuple(taken)) for each, taken in zip(contestants, times, strict=True)]


def _taken(loop: Callable[[], object]) -> int:
    """Calls a function, and returns the nanoseconds that it took."""
    start = time.perf_counter_ns()
    loop()
    return time.perf_counter_ns() - start


def gpu() -> DeviceInfo:
    """Returns the adapter. Raises ArgumentError if there is none."""
    (info,) = [info for info in lw.backends() if info.name == GPU]
    if not info.available:
        raise ArgumentError(f"bench: {info.reason}")
    return info.devices[0]


def _adapter() -> str:
    adapter = gpu()
    if adapter.software:
        raise ArgumentError(
            f"bench: {adapter.name} computes on the CPU, where times of WebGPU say nothing; run this with a GPU"
        )
    lw.init_backend(GPU)
    return str(adapter.name)
