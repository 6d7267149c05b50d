"""What this processor can do at most, measured beside the work that is compared with it.

The loops are C on the kernels' vocabulary of vectors (native/bench/limits.c). No wheel holds them: they are compiled
from a source checkout, as those of the browser are, so that nobody downloads what only goals need. Without a checkout
the rows are measured all the same, and what is judged by a limit is left open.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from time import perf_counter_ns
from typing import Any

from lanewise.errors import ArgumentError
from lanewise.timing import Contestant, Loop, measure
from native.errors import BuildError
from tests.bench.cases import Case
from tests.bench.cpu import compile_limits
from tests.bench.inputs import ITEM_BYTES

__all__ = ["LEVELS", "Limits", "compiled"]

LEVELS: Mapping[str, int] = {"L1": 16 << 10, "L2": 384 << 10, "L3": 6 << 20, "DRAM": 192 << 20}  # bytes in all streams
HUGE_PAGE = 2 << 20
APART = 341 << 6  # a third of 64 KB: streams at equal distances would compete for the same sets of a cache
FLOAT = ITEM_BYTES["float32"]
MADD_TURNS = 1 << 16  # some 200 microseconds
WARM_TURNS = 1 << 14  # until a processor runs wide instructions at full speed

ARITHMETIC = 4  # operations a byte, about as many as are done while one comes from memory: beyond, they are the limit
MOSTLY_READ = 8  # times as many bytes as are written


def compiled(names: Sequence[str]) -> dict[str, Limits]:
    """The limits of these instruction sets. ArgumentError, which says why, where they cannot be had."""
    try:
        made = compile_limits.build(names)
        return {name: Limits(ctypes.CDLL(str(made[name]))) for name in names}
    except (BuildError, OSError) as error:
        raise ArgumentError(str(error)) from None


@dataclass(frozen=True)
class _Streams:
    """Arrays of the same length, in large pages where the system has them."""

    memory: tuple[mmap.mmap, ...]
    addresses: tuple[int, ...]
    count: int  # floats in each

    @classmethod
    def of(cls, number: int, count: int, fill: Callable[[int, int], None]) -> _Streams:
        size = count * FLOAT + HUGE_PAGE + number * APART
        memory = tuple(mmap.mmap(-1, size) for _ in range(number))
        addresses = []
        for i, block in enumerate(memory):
            if hasattr(mmap, "MADV_HUGEPAGE"):
                block.madvise(mmap.MADV_HUGEPAGE)
            start = ctypes.addressof(ctypes.c_char.from_buffer(block))
            addresses.append(-(-start // HUGE_PAGE) * HUGE_PAGE + i * APART)
            fill(addresses[-1], count)
        return cls(memory, tuple(addresses), count)


class Limits:
    """The loops of one instruction set."""

    def __init__(self, library: Any) -> None:
        self._library = library
        for name in ("madd", "read", "read_apart"):
            getattr(library, name).restype = ctypes.c_float
        library.madd_flops.restype = ctypes.c_int64
        self.madd_flops: int = library.madd_flops()

    def limit(self, case: Case) -> Contestant | None:
        """The same arithmetic without memory, or the same memory without arithmetic; None for what does neither."""
        if not case.bytes or not case.inputs:
            return None
        if case.flops and case.flops >= ARITHMETIC * case.bytes:
            return Contestant.batched("limit", self.arithmetic(case.flops), timed=True)
        read = sum(item.nbytes for item in case.inputs)
        if read >= MOSTLY_READ * (case.bytes - read):
            return Contestant.batched("limit", self.read(read))
        as_large = sum(prod(item.shape) >= case.result for item in case.inputs)
        return Contestant.batched("limit", self.write(case.bytes, 3 if as_large > 1 else 2))

    def arithmetic(self, flops: int) -> Loop:
        """The nanoseconds of so many floating-point operations, by those of a few: what needs no memory takes as long
        each time, and a short time passes without another process."""
        turns = MADD_TURNS

        def loop(times: int) -> int:
            self._library.madd(ctypes.c_int64(WARM_TURNS))
            start = perf_counter_ns()
            self._library.madd(ctypes.c_int64(turns))
            taken = perf_counter_ns() - start
            return round(taken * times * flops / (turns * self.madd_flops))

        return loop

    def read(self, size: int) -> Loop:
        """Reads so many bytes."""
        return self._fastest(size, 1, "read", "read_apart")

    def write(self, size: int, number: int) -> Loop:
        """Moves so many bytes through three arrays (a triad) or two, one of which is written."""
        name = "triad" if number == 3 else "scale"
        return self._fastest(size, number, name, f"{name}_past")

    def _fastest(self, size: int, number: int, *names: str) -> Loop:
        """Of several ways through so many arrays, so large together."""
        streams = self._streams(number, size)

        def loop_of(name: str) -> Loop:
            function = getattr(self._library, name)

            def loop(times: int) -> None:
                addresses = map(ctypes.c_void_p, reversed(streams.addresses))
                function(*addresses, ctypes.c_int64(streams.count), ctypes.c_int64(times))

            return loop

        ways = {name: loop_of(name) for name in names}
        tried = measure([Contestant.batched(*way) for way in ways.items()], repeats=11, sample_seconds=0.002)
        return ways[min(tried, key=lambda timing: timing.minimum).name]

    def repeat(self, kernel: int, layout: int, inputs: int, outputs: int, parameters: int) -> Callable[[int], int]:
        """Calls a kernel so often, and returns the status of a call that failed, or 0; all arguments are addresses."""
        addresses = [ctypes.c_void_p(address) for address in (kernel, layout, inputs, outputs, parameters)]
        return lambda times: int(self._library.repeat(*addresses, ctypes.c_int64(times)))

    def figures(self, name: str, repeats: int, seconds: float, *, bandwidth: bool) -> dict[str, float]:
        """GFLOP/s and GB/s by what they are of; without `bandwidth` of arithmetic alone."""
        peak = f"{name} multiply and add, GFLOP/s"
        amounts = {peak: self.madd_flops * MADD_TURNS}
        loops = [self.arithmetic(amounts[peak])]
        for level, size in LEVELS.items() if bandwidth else ():
            ways = {"read": self.read(size), "copy": self.write(size, 2), "triad": self.write(size, 3)}
            for way, loop in ways.items():
                amounts[f"{level} {way}, GB/s"] = size
                loops.append(loop)
        contestants = [Contestant.batched(of, loop, timed=of == peak) for of, loop in zip(amounts, loops, strict=True)]
        timings = measure(contestants, repeats=repeats, sample_seconds=seconds)
        return {timing.name: amounts[timing.name] / timing.minimum for timing in timings}

    def _streams(self, number: int, size: int) -> _Streams:
        """As many arrays, so large together; whole turns of the loops."""
        turn = 256  # floats: more than any loop takes at a time
        count = max(turn, round(size / number / FLOAT / turn) * turn)
        return _Streams.of(number, count, self._fill)

    def _fill(self, address: int, count: int) -> None:
        self._library.fill(ctypes.c_void_p(address), ctypes.c_int64(count))
