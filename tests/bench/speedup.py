"""How much faster than plain C each operation on one array is, by instruction set: half the lanes are wanted.

    python tests/bench/lanes.py                 every elementwise operation of one float32 argument, 16K elements
    python tests/bench/lanes.py exp log --size 1024

All backends take turns in one process, and the least of many rounds counts. What has few instructions an element is
bound by the second cache and not by the lanes: there the table says how near it is to the speed of negating a copy.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial

import lanewise as lw
from lanewise.timing import Contestant, measure
from tests.bench import operations

LANES = {"sse2": 4, "neon": 4, "simd128": 4, "relaxed_simd": 4, "avx": 8, "avx2": 8, "avx512": 16, "scalar": 1}
BOUND = 0.6  # of a copy's bytes a second, from which on memory is what limits


def unary() -> Iterator[str]:
    """The elementwise operations of one float32 argument."""
    for operation in operations.load().values():
        if operation.kind == "elementwise" and len(operation.inputs) == 1 and operation.computes("float32"):
            yield operation.name


def nanoseconds(name: str, size: int, backends: list[str], rounds: int) -> dict[str, float]:
    """Of one call on each backend, into a result that is there."""
    operation = operations.find(name)
    within = operation.range(operation.inputs[0].name, "float32")
    low, high = (max(within.low, -60.0), min(within.high, 60.0)) if within else (-10.0, 10.0)
    x = lw.rand((size,), seed=1) * (high - low) + low
    result = lw.empty((size,), dtype=getattr(lw, operation.result("float32")))
    function = getattr(lw, name)
    contestants = [
        Contestant.calling(backend, function, x, keywords={"out": result}, context=partial(lw.use_backend, backend))
        for backend in backends
    ]
    return {each.name: each.minimum for each in measure(contestants, repeats=rounds, sample_seconds=0.003)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operations", nargs="*", help="default: every one")
    parser.add_argument("--size", type=int, default=1 << 14)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    backends = [info.name.value for info in lw.backends() if info.available and not info.name.is_gpu]
    faster = [name for name in backends if name != "scalar"]
    copies = nanoseconds("negative", options.size, backends, 5 * options.rounds)  # one instruction an element
    print(f"| operation | {' | '.join(f'{name} ({LANES[name] / 2:g} wanted)' for name in faster)} | scalar, ns |")
    print(f"|---|{'---|' * len(backends)}")
    for name in options.operations or unary():
        found = nanoseconds(name, options.size, backends, options.rounds)
        cells = [cell(each, found, copies) for each in faster]
        print(f"| {name} | {' | '.join(cells)} | {found['scalar'] / options.size:.2f} |", flush=True)


def cell(backend: str, found: dict[str, float], copies: dict[str, float]) -> str:
    """How many times as fast as plain C, and what is to be said of too few."""
    times = found["scalar"] / found[backend]
    if times >= LANES[backend] / 2:
        return f"{times:.1f}"
    speed = copies[backend] / found[backend]
    return f"{times:.1f}, {speed:.0%} of a copy's speed" if speed > BOUND else f"{times:.1f} TOO FEW"


if __name__ == "__main__":
    main()
