"""The one engine behind everything that times: the command line, the demo and tests/bench.

It knows nothing of tensors. A Contestant is a Python expression with the names it uses, as in timeit, or a
loop in another language; `measure` times several of them in turn, so that whatever else the machine does falls
on all alike, and gives the time of each in each round. What the figures mean is for report.py and the callers
to say.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import repeat
from time import perf_counter_ns
from typing import Any, cast

REPEATS = 7
SAMPLE_SECONDS = 0.02  # one sample lasts at least this long, in as many calls as that takes

Loop = Callable[[int], object]  # so many evaluations
Progress = Callable[[str], object]


@dataclass(frozen=True)
class Contestant:
    """What is timed: `expression`, evaluated over and over with `names` as local variables.

    `context` surrounds the calls and is not timed (lw.use_backend, say). `finish` receives the last result
    and is timed: it waits for work that runs elsewhere. With `batch` there is no expression: it evaluates so
    many times by itself and returns when all is done; with `timed` it returns the nanoseconds that this took, which
    leaves out the way to where it runs.
    """

    name: str
    expression: str
    names: Mapping[str, Any]
    context: Callable[[], AbstractContextManager[Any]] = nullcontext
    finish: Callable[[Any], object] | None = None
    batch: Loop | None = None
    timed: bool = False

    @classmethod
    def batched(cls, name: str, batch: Loop, *, timed: bool = False) -> Contestant:
        """Work whose loop is not Python's: JavaScript's, for what would be called from there."""
        return cls(name, "", {}, batch=batch, timed=timed)

    @classmethod
    def calling(
        cls,
        name: str,
        function: Callable[..., object],
        *arguments: object,
        keywords: Mapping[str, object] | None = None,
        context: Callable[[], AbstractContextManager[Any]] = nullcontext,
        finish: Callable[[Any], object] | None = None,
    ) -> Contestant:
        """A call of `function`, spelled out so that the loop adds nothing to it."""
        positional = {f"argument{i}": value for i, value in enumerate(arguments)}
        named = dict(keywords or {})
        given = [*positional, *(f"{keyword}={keyword}_" for keyword in named)]
        return cls(
            name,
            f"function({', '.join(given)})",
            {
                "function": function,
                **positional,
                **{f"{keyword}_": value for keyword, value in named.items()},
            },
            context,
            finish,
        )

    def run(self) -> object:
        """Evaluate once and give the result."""
        with self.context():
            return self.loop(keep=True)(1)

    def loop(self, *, keep: bool) -> Loop:
        """A function that evaluates the expression as often as it is told.

        With `keep` it returns the last result; without, each result is dropped before the next, so that
        allocators can hand the same memory out again.
        """
        if self.batch is not None:
            return self.batch
        names = ", ".join(f"{name}={name}" for name in self.names)
        source = (
            f"def loop(_calls, {names}):\n"
            "    _result = None\n"
            "    for _turn in _repeat(None, _calls):\n"
            f"        {'_result = ' if keep else ''}{self.expression}\n"
            "    return _result\n"
        )
        scope = {**self.names, "_repeat": repeat}
        exec(compile(source, f"<benchmark of {self.name}>", "exec"), scope)  # the caller's code, as in timeit
        loop: Loop = scope["loop"]
        return loop


@dataclass(frozen=True)
class Timing:
    """How long one evaluation took, in nanoseconds, in each round."""

    name: str
    calls: int  # in a sample
    samples: tuple[float, ...] = field(repr=False)

    @property
    def minimum(self) -> float:
        """The time to trust: noise only ever adds."""
        return min(self.samples)

    @property
    def median(self) -> float:
        """Near the minimum on a quiet machine."""
        return statistics.median(self.samples)


@dataclass(frozen=True)
class Ratio:
    """The time of one contestant over that of another."""

    minimum: float  # of their minima
    median: float  # over the rounds, each of which timed both under the same conditions


def ratio(timing: Timing, base: Timing) -> Ratio:
    """How `timing` compares with `base`; both come from one call of `measure`."""
    rounds = [mine / other for mine, other in zip(timing.samples, base.samples, strict=True)]
    return Ratio(timing.minimum / base.minimum, statistics.median(rounds))


def measure(
    contestants: Sequence[Contestant],
    *,
    repeats: int = REPEATS,
    sample_seconds: float = SAMPLE_SECONDS,
    warm_seconds: float = 0.0,
    progress: Progress | None = None,
) -> list[Timing]:
    """Time the contestants in turn, `repeats` rounds, each round beginning with another one.

    Before the first round each is called for `warm_seconds`, which a just-in-time compiler needs to do its best,
    and then often enough to fill `sample_seconds`. Garbage is not collected meanwhile. `progress` is called with
    a contestant's name after each of its samples, len(contestants) * repeats times.
    """
    if repeats < 1:
        raise ValueError(f"repeats is {repeats}; it must be at least 1")
    if not contestants:
        return []
    loops = [contestant.loop(keep=contestant.finish is not None) for contestant in contestants]
    samples: list[list[float]] = [[] for _ in contestants]
    with _without_garbage_collection():
        for loop, contestant in zip(loops, contestants, strict=True):
            _warm_up(loop, contestant, int(warm_seconds * 1e9))
        calls = [
            _calls_to_fill(loop, contestant, int(sample_seconds * 1e9))
            for loop, contestant in zip(loops, contestants, strict=True)
        ]
        for turn in range(repeats):
            for position in range(len(contestants)):
                i = (turn + position) % len(contestants)
                samples[i].append(_sample(loops[i], contestants[i], calls[i]) / calls[i])
                if progress is not None:
                    progress(contestants[i].name)
    return [
        Timing(contestant.name, count, tuple(taken))
        for contestant, count, taken in zip(contestants, calls, samples, strict=True)
    ]


def _sample(loop: Loop, contestant: Contestant, calls: int) -> int:
    """Nanoseconds for so many calls; never 0, which is what a browser's coarse clock reads for few of them."""
    with contestant.context():
        start = perf_counter_ns()
        result = loop(calls)
        if contestant.finish is not None:
            contestant.finish(result)
        return max(1, int(cast(int, result)) if contestant.timed else perf_counter_ns() - start)


def _warm_up(loop: Loop, contestant: Contestant, nanoseconds: int) -> None:
    """Calls for so long, at most."""
    calls = 1
    while nanoseconds > 0:
        nanoseconds -= _sample(loop, contestant, calls)
        calls *= 2


def _calls_to_fill(loop: Loop, contestant: Contestant, nanoseconds: int) -> int:
    """How many calls last at least so long, also when nothing interrupts them.

    A sample that is long enough has to be so twice again: one that only waited, for a compiler or for another
    process, would leave every later sample too short for the clock.
    """
    calls = 1
    _sample(loop, contestant, calls)  # first calls compile and allocate: they say nothing of the next
    while True:
        taken = _sample(loop, contestant, calls)
        for _ in range(2):
            if taken >= nanoseconds:
                taken = min(taken, _sample(loop, contestant, calls))
        if taken >= nanoseconds:
            return calls
        # Aim a tenth beyond, but trust a short sample no further than tenfold.
        calls = min(calls * 10, max(calls + 1, int(calls * 1.1 * nanoseconds / taken) + 1))


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
