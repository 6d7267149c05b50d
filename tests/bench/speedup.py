"""The group `speedup` of the benchmark command: how much faster each instruction set is than scalar code.

Operations on one array are measured. The expected factor is at least half the number of lanes of a vector. Operations
with few instructions per element may miss it, because the bandwidth of the L2 cache limits them; the table then gives
their speed as a share of that of `negative`, which has one arithmetic instruction per vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import prod

import lanewise as lw
from lanewise.timing import Contestant, measure
from tests.bench import operations
from tests.bench.cases import parse_size
from tests.bench.settings import Settings

LANES = {"sse2": 4, "neon": 4, "simd128": 4, "relaxed_simd": 4, "avx": 8, "avx2": 8, "avx512": 16}
BOUND = 0.6  # an operation above this share of COPY's speed is limited by memory
SIZE = 1 << 14  # elements
COPY = "negative"  # almost a copy: one arithmetic instruction per vector


def run(names: Sequence[str], settings: Settings) -> int:
    """Prints a row for each named operation, or for every elementwise operation of one float32 argument."""
    size = prod(parse_size(settings.sizes[0])) if settings.sizes else SIZE
    backends = [str(info.name) for info in lw.backends() if info.available and not info.name.is_gpu]
    faster = [name for name in backends if name != "scalar"]
    copies = _nanoseconds(COPY, size, backends, 3 * settings.repeats)
    print(f"| operation | {' | '.join(f'{name} ({LANES[name] / 2:g} expected)' for name in faster)} | scalar, ns |")
    print(f"|---|{'---|' * len(backends)}")
    for name in names or _unary():
        times = _nanoseconds(name, size, backends, settings.repeats)
        cells = [_cell(backend, times, copies) for backend in faster]
        print(f"| {name} | {' | '.join(cells)} | {times['scalar'] / size:.2f} |", flush=True)
    return 0


def _unary() -> Iterator[str]:
    for operation in operations.load().values():
        if operation.kind == "elementwise" and len(operation.inputs) == 1 and operation.computes("float32"):
            yield operation.name


def _nanoseconds(name: str, size: int, backends: Sequence[str], rounds: int) -> dict[str, float]:
    """Measures, on each backend, a call that writes into an existing result."""
    operation = operations.find(name)
    within = operation.range(operation.inputs[0].name, "float32")
    low, high = (max(within.low, -60.0), min(within.high, 60.0)) if within else (-10.0, 10.0)
    x = lw.rand((size,), seed=1) * (high - low) + low
    result = lw.empty((size,), dtype=getattr(lw, operation.result("float32")))
    function = getattr(lw, operation.name)
    contestants = [
        Contestant.calling(backend, function, x, keywords={"out": result}, context=partial(lw.use_backend, backend))
        for backend in backends
    ]
    return {timing.name: timing.minimum for timing in measure(contestants, repeats=rounds, sample_seconds=0.003)}


def _cell(backend: str, times: Mapping[str, float], copies: Mapping[str, float]) -> str:
    """Returns the speed-up, with a remark if it is below half the number of lanes."""
    factor = times["scalar"] / times[backend]
    if factor >= LANES[backend] / 2:
        return f"{factor:.1f}"
    speed = copies[backend] / times[backend]
    return f"{factor:.1f}, {speed:.0%} of a copy's speed" if speed > BOUND else f"{factor:.1f} TOO SLOW"
