"""Measures how much work another thread has to be given to pay for itself, for lw.calibrate().

Two threads ideally take half as long as one. What a call on two threads takes beyond that is the price of the second:
they are faster than one if each has more work than the price. The price is lower if the thread is ready, because it
still spins after an earlier call, than if it sleeps. native/extension/run.c compares the prices with the times that
calls are expected to take on this machine (rates.py).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from lanewise import _ext, placement
from lanewise.backend import Backend
from lanewise.calibration import WakingTimes

__all__ = ["measured", "using_threads"]

CALLS_PER_WAKING: Final = 5  # in a series, each of the first calls pays for a part of waking a thread
# Nanoseconds; whatever noise says, no price is lower: a ready thread needs two transfers of a cache line, and waking
# one that sleeps takes a system call here and an interrupt there.
LEAST_READY: Final = 500.0
LEAST_SLEEPING: Final = 5000.0
BRIEF: Final = 1 << 14  # elements of pow, which take some 30 us: much longer than a ready thread needs to begin
LONG: Final = 1 << 18  # some 500 us: much longer than waking a thread takes
SPIN: Final = 50  # the default, in microseconds: stored prices must not depend on this process's LANEWISE_SPIN_US
PAUSE_SECONDS: Final = 0.002  # after which threads sleep
SAMPLE_SECONDS: Final = 0.003
REPEATS: Final = 11


def measured(backend: Backend) -> WakingTimes | None:
    """Returns the prices of threads that run kernels of a CPU backend, None if only one thread can run at once."""
    if _ext.get_running_threads() == 1:
        return None
    from lanewise.timing import Contestant, measure, ratio

    brief, long = (placement.move(_ext.rand((size,), seed=0), backend) for size in (BRIEF, LONG))
    of_brief, of_long = (_ext.expected_times("pow", each, each)[1] for each in (brief, long))
    contestants = []
    for number in (1, 2):
        context = partial(using_threads, number, of_brief)
        contestants.append(Contestant.calling(f"ready {number}", _ext.pow, brief, brief, context=context))
        context, batch = partial(using_threads, number, of_long), partial(_after_pauses, long)
        contestants.append(Contestant(f"sleeping {number}", "", {}, context, batch=batch, timed=True))
    spin = _ext.set_spin(SPIN)
    try:
        timings = measure(contestants, repeats=REPEATS, sample_seconds=SAMPLE_SECONDS)
    finally:
        _ext.set_spin(spin)
    found = {timing.name: timing for timing in timings}

    def price(state: str) -> float:
        one, two = found[f"{state} 1"], found[f"{state} 2"]
        beyond_half = ratio(two, one).median - 0.5  # by the minimum of `two`, luck would set the price
        return one.minimum * beyond_half

    ready = max(price("ready"), LEAST_READY)
    sleeping = max(price("sleeping"), LEAST_SLEEPING, ready)
    return WakingTimes(ready, max(sleeping / CALLS_PER_WAKING, ready), sleeping)


@contextmanager
def using_threads(number: int, expected: float) -> Iterator[None]:
    """Lets `number` threads share calls that are expected to take this time, whether they are ready or asleep."""
    price = max(expected / (number + 0.5), 1.0)
    before = _ext.set_waking(price, price, price)
    try:
        yield
    finally:
        _ext.set_waking(*before)


def _after_pauses(x: _ext.Tensor, calls: int) -> int:
    """Returns how many nanoseconds these calls take if threads sleep before each."""
    total = 0
    for _ in range(calls):
        time.sleep(PAUSE_SECONDS)
        start = time.perf_counter_ns()
        _ext.pow(x, x)
        total += time.perf_counter_ns() - start
    return total
