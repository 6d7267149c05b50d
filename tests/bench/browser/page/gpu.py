"""Measures a Python library on WebGPU in the page. gpu.mjs measures libraries in JavaScript in the same way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter_ns

import js
from pyodide.ffi import run_sync

__all__ = ["measured"]

SAMPLES = 7
RUNS, SEEN_TWICE = 5, 2
PAUSE = 2.0  # seconds; long enough to compile in the background what was seen twice
TIMED = 10  # chains to a sample, because the clock of the page ticks every 0.1 ms
COUNTERS = ("dispatches", "submissions", "reads")


def measured(
    settings: str,
    first: int,
    number: float,
    additions: Callable[[], tuple[float, float]],
    chain: Callable[[], float],
) -> dict[str, object]:
    """Returns the figures of a library.

    `first` is the nanoseconds from the import to `number`. `additions` returns the nanoseconds that an addition takes
    until it is recorded, and a result of it. `chain` computes 15 elementwise operations and a sum, and returns the sum.
    """
    results = [number]
    additions()
    recorded = []
    for _ in range(SAMPLES):
        taken, result = additions()
        recorded.append(taken)
        results.append(result)
    runs = []
    for i in range(RUNS):
        if i == SEEN_TWICE:
            run_sync(asyncio.sleep(PAUSE))
        before = _counts()
        results.append(chain())
        runs.append({name: count - before[name] for name, count in _counts().items()})
    return {
        "settings": settings,
        "first": first,
        "recorded": recorded,
        "results": results,
        "runs": runs,
        "chained": [_chained(chain) for _ in range(SAMPLES)],
    }


def _counts() -> dict[str, int]:
    return {name: getattr(js.lanewise.counters, name) for name in COUNTERS}


def _chained(chain: Callable[[], float]) -> float:
    start = perf_counter_ns()
    for _ in range(TIMED):
        chain()
    return (perf_counter_ns() - start) / TIMED
