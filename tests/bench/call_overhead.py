"""What a whole Python call costs: `x + y` on 1024 float32 elements, against NumPy.

    python tests/bench/call_overhead.py [--repeats N] [--json]

Two rows: from two tensors, and from two NumPy arrays with a new tensor as the result. Both are timed in turn
with NumPy's own `x + y` on arrays of the same values; the ratio of the minima is the figure to reach.
test_call_overhead.py holds it to the firm goals.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np

import lanewise as lw
from lanewise.bench import machine
from lanewise.bench.engine import REPEATS, Contestant, Ratio, measure, ratio
from lanewise.bench.report import duration, table

ELEMENTS = 1024
FROM_TENSORS, FROM_ARRAYS, NUMPY = "two tensors", "two NumPy arrays", "numpy"
FIRM = {FROM_TENSORS: 0.25, FROM_ARRAYS: 0.6}  # of NumPy's time


def contestants() -> list[Contestant]:
    """NumPy's sum of two arrays, and ours of the same values as tensors and as arrays."""
    generator = np.random.default_rng(0)
    a, b = (generator.random(ELEMENTS, dtype=np.float32) for _ in range(2))
    x, y = lw.asarray(a), lw.asarray(b)
    np.testing.assert_array_equal(np.asarray(x + y), a + b)
    np.testing.assert_array_equal(np.asarray(lw.add(a, b)), a + b)
    return [
        Contestant(FROM_TENSORS, "x + y", {"x": x, "y": y}),
        Contestant(FROM_ARRAYS, "add(a, b)", {"add": lw.add, "a": a, "b": b}),
        Contestant(NUMPY, "a + b", {"a": a, "b": b}),
    ]


def compare(repeats: int = REPEATS) -> tuple[dict[str, float], dict[str, Ratio]]:
    """Minimum nanoseconds of each contestant, and the ratios of ours to NumPy's."""
    timings = {timing.name: timing for timing in measure(contestants(), repeats=repeats)}
    minima = {name: timing.minimum for name, timing in timings.items()}
    return minima, {name: ratio(timings[name], timings[NUMPY]) for name in FIRM}


def main() -> None:
    parser = argparse.ArgumentParser(description="Time x + y on 1024 elements against NumPy.")
    parser.add_argument("--repeats", type=int, default=4 * REPEATS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    minima, ratios = compare(options.repeats)
    if options.json:
        rows = {name: {"minimum_ratio": r.minimum, "median_ratio": r.median} for name, r in ratios.items()}
        json.dump({"machine": machine.facts(), "minimum_ns": minima, "against_numpy": rows}, sys.stdout, indent=1)
        print()
        return
    facts = machine.facts()
    print(f"{facts['cpu']}, load {facts['load']}; Python {facts['python']}, NumPy {np.__version__}")
    heading = ("x + y, 1024 elements", "minimum", "of numpy's", "median", "firm")
    rows_ = [
        (name, duration(minima[name]), f"{r.minimum:.3f}", f"{r.median:.3f}", f"{FIRM[name]}")
        for name, r in ratios.items()
    ]
    print(table([heading, *rows_, (NUMPY, duration(minima[NUMPY]), "1", "1", "")]))


if __name__ == "__main__":
    main()
