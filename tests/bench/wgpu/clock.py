"""Times calls that return before the GPU has computed their results."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Wait = Callable[[], object]

WAKING_SECONDS = 0.5  # after a second without work, a GPU runs at a quarter of its clock for so long


@dataclass(frozen=True)
class Times:
    """The shortest and the median time of a call, in nanoseconds."""

    minimum: float
    median: float


def times(call: Callable[[int], object], wait: Wait, repeats: int, seconds: float) -> Times:
    """Times `call(n)`, which makes n calls, and holds their results until it is called again. Samples last `seconds`,
    and follow the waking of the GPU without a pause."""
    call(3)
    wait()
    count = max(1, round(seconds / _sample(call, wait, 3)))
    end = time.perf_counter() + WAKING_SECONDS
    while time.perf_counter() < end:
        _sample(call, wait, count)
    samples = [_sample(call, wait, count) for _ in range(repeats)]
    return Times(min(samples) * 1e9, statistics.median(samples) * 1e9)


def _sample(call: Callable[[int], object], wait: Wait, count: int) -> float:
    began = time.perf_counter()
    call(count)
    wait()
    return (time.perf_counter() - began) / count
