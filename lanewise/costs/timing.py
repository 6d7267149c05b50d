"""Times Python expressions fairly: the engine of lw.calibrate(), the commands demo and bench, and tests/bench.

A Contestant is an expression with the names it uses, as in timeit, or a loop in another language. `measure` samples
several contestants in turn, round by round, so that other load on the machine affects all of them alike, and returns
the time of each in each round.
"""

from __future__ import annotations

import gc
import os
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import repeat
from time import perf_counter_ns
from typing import Any, cast

from lanewise import _ext
from lanewise.backends.threads import get_num_threads, set_num_threads

NEVER = (1 << 63) - 1  # bytes, for chains()
REPEATS = 7
SAMPLE_SECONDS = 0.02  # one sample makes enough calls to last at least this long

BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

Loop = Callable[[int], object]  # its argument is the number of evaluations
Progress = Callable[[str], object]


@dataclass(frozen=True)
class Contestant:
    """What is timed: `expression`, evaluated over and over with `names` as local variables.

    `context` surrounds the calls and is not timed (lw.use_backend, for example). `finish` receives the last result and
    is timed: it waits for work that runs on a device. `batch`, in place of an expression, is a function that takes
    the number of evaluations and returns when all are done. If `timed`, `batch` returns their total time in
    nanoseconds, so that the cost of calling into a browser or another process does not count.
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
        """Returns a contestant that runs its own loop, in JavaScript or C for example."""
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
        """Returns a contestant that calls `function`. The expression names each argument, as `*arguments` is slower."""
        positional = {f"argument{i}": value for i, value in enumerate(arguments)}
        named = dict(keywords or {})
        arguments_text = ", ".join([*positional, *(f"{keyword}={keyword}_" for keyword in named)])
        return cls(
            name,
            f"function({arguments_text})",
            {
                "function": function,
                **positional,
                **{f"{keyword}_": value for keyword, value in named.items()},
            },
            context,
            finish,
        )

    def run(self) -> object:
        """Evaluates once and returns the result."""
        with self.context():
            return self.loop(keep=True)(1)

    def loop(self, *, keep: bool) -> Loop:
        """Returns a function that evaluates the expression a given number of times.

        With `keep`, the returned function returns the last result. Otherwise, each result is freed before the next
        evaluation, so that allocators can reuse its memory.
        """
        if self.batch is not None:
            return self.batch
        names = ", ".join(f"{name}={name}" for name in self.names)
        source = (
            f"def loop(_calls, {names}):\n"
            "    _result = None\n"
            "    for _iteration in _repeat(None, _calls):\n"
            f"        {'_result = ' if keep else ''}{self.expression}\n"
            "    return _result\n"
        )
        scope = {**self.names, "_repeat": repeat}
        exec(compile(source, f"<benchmark of {self.name}>", "exec"), scope)  # the caller's own code, as in timeit
        loop: Loop = scope["loop"]
        return loop


@dataclass(frozen=True)
class Timing:
    """A contestant's times: for each round, the mean nanoseconds of one evaluation."""

    name: str
    calls: int  # number of evaluations in each round
    samples: tuple[float, ...] = field(repr=False)

    @property
    def minimum(self) -> float:
        """The least time, which is the best estimate: noise only adds time."""
        return min(self.samples)

    @property
    def median(self) -> float:
        """The median, which is close to the minimum on a quiet machine."""
        return statistics.median(self.samples)


@dataclass(frozen=True)
class Ratio:
    """The time of one contestant divided by that of another."""

    minimum: float  # the ratio of the two minima over all rounds
    median: float  # the median of the rounds' ratios: within a round, both contestants run under the same conditions


def ratio(timing: Timing, base: Timing) -> Ratio:
    """Compares two timings of the same call of `measure`."""
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
    """Times the contestants in turn, in `repeats` rounds. Each round starts one contestant later than the previous one.

    Before the first round each contestant runs for `warm_seconds`, which just-in-time compilers need, and then until
    it is known how many evaluations fill `sample_seconds`. Garbage collection is off, and so are chains on the CPU: a
    result that is freed before it is read would never be computed. `progress` is called with a contestant's name after
    each of its samples. Raises ValueError unless `repeats` is at least 1.
    """
    if repeats < 1:
        raise ValueError(f"measure: expected repeats of at least 1, got {repeats}")
    if not contestants:
        return []
    loops = [contestant.loop(keep=contestant.finish is not None) for contestant in contestants]
    samples: list[list[float]] = [[] for _ in contestants]
    with _without_garbage_collection(), chains(NEVER):
        for loop, contestant in zip(loops, contestants, strict=True):
            _warm_up(loop, contestant, int(warm_seconds * 1e9))
        calls = [
            _calls_to_fill(loop, contestant, int(sample_seconds * 1e9))
            for loop, contestant in zip(loops, contestants, strict=True)
        ]
        for round_ in range(repeats):
            for position in range(len(contestants)):
                i = (round_ + position) % len(contestants)
                samples[i].append(_sample(loops[i], contestants[i], calls[i]) / calls[i])
                if progress is not None:
                    progress(contestants[i].name)
    return [
        Timing(contestant.name, count, tuple(times))
        for contestant, count, times in zip(contestants, calls, samples, strict=True)
    ]


def _sample(loop: Loop, contestant: Contestant, calls: int) -> int:
    """Returns the nanoseconds that `calls` calls take, at least 1: a browser's coarse clock may measure 0."""
    with contestant.context():
        start = perf_counter_ns()
        result = loop(calls)
        if contestant.finish is not None:
            contestant.finish(result)
        return max(1, int(cast(int, result)) if contestant.timed else perf_counter_ns() - start)


def _warm_up(loop: Loop, contestant: Contestant, nanoseconds: int) -> None:
    """Runs a contestant until `nanoseconds` have passed."""
    calls = 1
    while nanoseconds > 0:
        nanoseconds -= _sample(loop, contestant, calls)
        calls *= 2


def _calls_to_fill(loop: Loop, contestant: Contestant, nanoseconds: int) -> int:
    """Returns a number of calls that takes at least `nanoseconds`, even on an idle machine.

    A sample that is long enough is repeated twice, and the shortest counts: one sample may be long only because it
    waited for a compiler or another process, and then all later samples would be too short for the clock.
    """
    calls = 1
    _sample(loop, contestant, calls)  # the first call compiles and allocates
    while True:
        elapsed = _sample(loop, contestant, calls)
        for _ in range(2):
            if elapsed >= nanoseconds:
                elapsed = min(elapsed, _sample(loop, contestant, calls))
        if elapsed >= nanoseconds:
            return calls
        # Aim 10 % higher than needed, but grow at most tenfold: short samples are imprecise.
        calls = min(calls * 10, max(calls + 1, int(calls * 1.1 * nanoseconds / elapsed) + 1))


@contextmanager
def chains(least: int) -> Iterator[None]:
    """Lets elementwise operations on the CPU wait, so that several run as one, if a result has at least these bytes."""
    before = _ext.set_chain_bytes(least)
    try:
        yield
    finally:
        _ext.set_chain_bytes(before)


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


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Sets how many threads share the work of Lanewise's calls, inside a `with` block."""
    before = get_num_threads()
    set_num_threads(number)
    try:
        yield
    finally:
        set_num_threads(before)


def limit_blas_threads(number: int) -> None:
    """Sets how many threads NumPy's BLAS uses. Has no effect once NumPy is imported."""
    if "numpy" not in sys.modules:
        os.environ.update(dict.fromkeys(BLAS_THREADS, str(number)))


def duration(nanoseconds: float) -> str:
    """Formats a time with three digits and a unit.

    >>> duration(35.94), duration(1_234_567)
    ('35.9 ns', '1.23 ms')
    """
    for unit, size in (("ns", 1.0), ("us", 1e3), ("ms", 1e6)):
        if nanoseconds < 999.5 * size:
            return f"{three_digits(nanoseconds / size)} {unit}"
    return f"{three_digits(nanoseconds / 1e9)} s"


def three_digits(value: float) -> str:
    """Formats a number with three digits, or with all digits before the point if there are more."""
    return f"{value:.{max(0, 3 - len(str(int(value))))}f}" if value < 100 else f"{value:,.0f}"
