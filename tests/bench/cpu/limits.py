"""Loops that measure the limits of this processor, timed in turn with the operations that are compared with them.

The loops are in limits.c and use core/simd/, as the kernels do. Without a compiler, goals are still measured, but
bars (thresholds) that depend on a limit are not judged.
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

# The bytes that a loop touches, in all of its arrays together, to measure each level of memory.
LEVELS: Mapping[str, int] = {"L1": 16 << 10, "L2": 384 << 10, "L3": 6 << 20, "DRAM": 192 << 20}
HUGE_PAGE = 2 << 20
APART = 341 << 6  # a third of 64 KB: arrays a multiple of 64 KB apart would compete for the same cache sets
FLOAT = ITEM_BYTES["float32"]
MADD_ITERATIONS = 1 << 16  # takes about 200 microseconds
WARM_ITERATIONS = 1 << 14  # enough for a processor to reach full speed with wide instructions

ARITHMETIC = 4  # at this many operations per byte or more, arithmetic takes at least as long as DRAM traffic
MOSTLY_READ = 8  # if a case reads at least this many bytes per byte written, its limit is a loop that only reads


def compiled(names: Sequence[str]) -> dict[str, Limits]:
    """Compiles and opens the loops for these instruction sets. Raises ArgumentError if that fails."""
    try:
        made = compile_limits.build(names)
        return {name: Limits(ctypes.CDLL(str(made[name]))) for name in names}
    except (BuildError, OSError) as error:
        raise ArgumentError(str(error)) from None


@dataclass(frozen=True)
class _Streams:
    """Arrays of the same length, in huge pages if the system has them."""

    memory: tuple[mmap.mmap, ...]
    addresses: tuple[int, ...]
    count: int  # floats in each array

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
    """The loops of limits.c, compiled for one instruction set."""

    def __init__(self, library: Any) -> None:
        self._library = library
        for name in ("madd", "read", "read_apart"):
            getattr(library, name).restype = ctypes.c_float
        library.madd_flops.restype = ctypes.c_int64
        self.madd_flops: int = library.madd_flops()

    def limit(self, case: Case) -> Contestant | None:
        """Returns a contestant with only the case's arithmetic or memory traffic.

        Returns None if the case reads no arrays or writes none.
        """
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
        """Returns a loop that measures how many nanoseconds `flops` floating-point operations take.

        It times MADD_ITERATIONS iterations, so few that most measurements are not interrupted, and scales the time.
        """
        iterations = MADD_ITERATIONS

        def loop(times: int) -> int:
            self._library.madd(ctypes.c_int64(WARM_ITERATIONS))
            start = perf_counter_ns()
            self._library.madd(ctypes.c_int64(iterations))
            taken = perf_counter_ns() - start
            return round(taken * times * flops / (iterations * self.madd_flops))

        return loop

    def read(self, size: int) -> Loop:
        """Returns a loop that reads `size` bytes."""
        return self._fastest(size, 1, "read", "read_apart")

    def write(self, size: int, number: int) -> Loop:
        """Returns a loop over 3 arrays (triad) or 2 (scale), of `size` bytes in total. It writes one of them."""
        name = "triad" if number == 3 else "scale"
        return self._fastest(size, number, name, f"{name}_past")

    def _fastest(self, size: int, number: int, *names: str) -> Loop:
        """Returns the fastest of the named loops over `number` arrays of `size` bytes in total."""
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
        """Returns a loop that calls a kernel and returns 0 or the status of a failed call. Arguments are addresses."""
        addresses = [ctypes.c_void_p(address) for address in (kernel, layout, inputs, outputs, parameters)]
        return lambda times: int(self._library.repeat(*addresses, ctypes.c_int64(times)))

    def figures(self, name: str, repeats: int, seconds: float, *, bandwidth: bool) -> dict[str, float]:
        """Measures the limits: GFLOP/s, and if `bandwidth`, also GB/s by cache level."""
        peak = f"{name} multiply and add, GFLOP/s"
        amounts = {peak: self.madd_flops * MADD_ITERATIONS}
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
        """Returns `number` arrays of `size` bytes in total, rounded to whole iterations of the loops."""
        step = 256  # floats: a multiple of what one iteration of any loop processes
        count = max(step, round(size / number / FLOAT / step) * step)
        return _Streams.of(number, count, self._fill)

    def _fill(self, address: int, count: int) -> None:
        self._library.fill(ctypes.c_void_p(address), ctypes.c_int64(count))
