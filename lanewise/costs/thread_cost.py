"""Measures the least work, in ns, for which one more thread makes a call faster, for lw.calibrate().

Two threads ideally take half as long as one. What a call on two threads takes beyond that is the cost of the second:
they are faster than one if each has more work than that. The cost is lower if the thread still spins after an earlier
call than if it sleeps. native/extension/plan/cost.c compares the costs with the times that calls are expected to take
on this machine.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from functools import partial
from typing import Final

from lanewise import _ext
from lanewise.backends import placement
from lanewise.backends.backend import Backend
from lanewise.costs.calibration import using_costs

__all__ = ["measured"]

# Nanoseconds; whatever noise says, no cost is lower: a spinning thread needs two transfers of a cache line, and waking
# one that sleeps takes a system call here and an interrupt there.
LEAST_SPINNING: Final = 500.0
LEAST_SLEEPING: Final = 5000.0
BRIEF: Final = 1 << 14  # elements of pow, which take some 30 us: much longer than a spinning thread needs to begin
LONG: Final = 1 << 18  # some 500 us: much longer than waking a thread takes
SPIN: Final = 50  # the default, in microseconds: stored costs must not depend on this process's LANEWISE_SPIN_US
PAUSE_SECONDS: Final = 0.002  # after which threads sleep
SAMPLE_SECONDS: Final = 0.003
REPEATS: Final = 11


def measured(backend: Backend) -> dict[str, float]:
    """Returns the costs "spinning" and "sleeping" for kernels of a CPU backend, {} if only one thread can run."""
    if _ext.get_running_threads() == 1:
        return {}
    from lanewise.costs.timing import Contestant, measure, ratio

    brief, long = (placement.move(_ext.rand((size,), seed=0), backend) for size in (BRIEF, LONG))
    of_brief, of_long = (_ext.expected_times("pow", each, each)[1] for each in (brief, long))
    contestants = []
    for number in (1, 2):
        context = partial(_using_threads, number, of_brief)
        contestants.append(Contestant.calling(f"spinning {number}", _ext.pow, brief, brief, context=context))
        context, batch = partial(_using_threads, number, of_long), partial(_after_pauses, long)
        contestants.append(Contestant(f"sleeping {number}", "", {}, context, batch=batch, timed=True))
    spin = _ext.set_spin(SPIN)
    try:
        timings = measure(contestants, repeats=REPEATS, sample_seconds=SAMPLE_SECONDS)
    finally:
        _ext.set_spin(spin)
    found = {timing.name: timing for timing in timings}

    def cost(state: str) -> float:
        one, two = found[f"{state} 1"], found[f"{state} 2"]
        beyond_half = ratio(two, one).median - 0.5  # by the minimum of `two`, luck would set the cost
        return one.minimum * beyond_half

    spinning = max(cost("spinning"), LEAST_SPINNING)
    return {"spinning": spinning, "sleeping": max(cost("sleeping"), LEAST_SLEEPING, spinning)}


def _using_threads(number: int, expected: float) -> AbstractContextManager[None]:
    """Lets `number` threads share calls that are expected to take this time, whether they spin or sleep."""
    cost = max(expected / (number + 0.5), 1.0)
    return using_costs(spinning=cost, sleeping=cost)


def _after_pauses(x: _ext.Tensor, calls: int) -> int:
    """Returns how many nanoseconds these calls take if threads sleep before each."""
    total = 0
    for _ in range(calls):
        time.sleep(PAUSE_SECONDS)
        start = time.perf_counter_ns()
        _ext.pow(x, x)
        total += time.perf_counter_ns() - start
    return total
