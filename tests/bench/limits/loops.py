"""Which loop of limits.c is the limit of a case, and what the loops measure by themselves. Runs in this process and in
the page: compiled.py opens the loops for this processor, browser/page/inside.py those of WASM modules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from time import perf_counter_ns

from lanewise.costs.timing import Contestant, Loop, measure
from tests.cases.cases import Case
from tests.cases.inputs import ITEM_BYTES

# The bytes that a loop touches, in all of its arrays together, to measure each level of memory.
LEVELS: Mapping[str, int] = {"L1": 16 << 10, "L2": 384 << 10, "L3": 6 << 20, "DRAM": 192 << 20}
APART = 341 << 6  # a third of 64 KB: arrays a multiple of 64 KB apart would compete for the same cache sets
FLOAT = ITEM_BYTES["float32"]
WARM_ITERATIONS = 1 << 14  # enough for a processor to reach full speed with wide instructions

ARITHMETIC = 4  # at this many operations per byte or more, arithmetic takes at least as long as DRAM traffic
MOSTLY_READ = 8  # if a case reads at least this many bytes per byte written, its limit is a loop that only reads

Call = Callable[..., int]  # calls a function of limits.c: its name and arguments


class Arrays:
    """Arrays of the same length for a loop, of `size` bytes in total, rounded to whole iterations of the loops."""

    def __init__(self, number: int, size: int) -> None:
        step = 256  # floats: a multiple of what one iteration of any loop processes
        self.count = max(step, round(size / number / FLOAT / step) * step)  # floats in each array
        self.addresses: list[int] = []


class Limits:
    """The loops of limits.c, compiled for one instruction set."""

    def __init__(self, call: Call, arrays: Callable[[int, int], Arrays], iterations: int) -> None:
        """`iterations` of the arithmetic loop are timed at once: few, so that most measurements are not interrupted."""
        self._call = call
        self._arrays = arrays
        self._iterations = iterations
        self.madd_flops = call("madd_flops")

    def limit(self, case: Case) -> Contestant | None:
        """Returns a contestant with only the case's arithmetic or memory traffic.

        Returns None if the case reads no arrays or writes none.
        """
        if not case.bytes or not case.inputs:
            return None
        if case.flops and case.flops >= ARITHMETIC * case.bytes:
            # A register has half as many lanes of float64 as of float32.
            lanes = max(ITEM_BYTES[case.dtype] // FLOAT, 1)
            return Contestant.batched("limit", self.arithmetic(case.flops * lanes), timed=True)
        read = sum(item.nbytes for item in case.inputs)
        if read >= MOSTLY_READ * (case.bytes - read):
            return Contestant.batched("limit", self.read(read))
        as_large = sum(prod(item.shape) >= case.result for item in case.inputs)
        return Contestant.batched("limit", self.write(case.bytes, 3 if as_large > 1 else 2))

    def arithmetic(self, flops: int) -> Loop:
        """Returns a loop that measures how many nanoseconds `flops` floating-point operations take."""

        def loop(times: int) -> int:
            self._call("madd", WARM_ITERATIONS)
            start = perf_counter_ns()
            self._call("madd", self._iterations)
            taken = perf_counter_ns() - start
            return round(taken * times * flops / (self._iterations * self.madd_flops))

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
        arrays = self._arrays(number, size)
        for address in arrays.addresses:
            self._call("fill", address, arrays.count)

        def loop_of(name: str) -> Loop:
            return lambda times: self._call(name, *reversed(arrays.addresses), arrays.count, times)

        ways = {name: loop_of(name) for name in names}
        tried = measure([Contestant.batched(*way) for way in ways.items()], repeats=11, sample_seconds=0.002)
        return ways[min(tried, key=lambda timing: timing.minimum).name]

    def repeat(self, *addresses: int) -> Loop:
        """Returns a loop that calls a kernel and returns 0 or the status of a failed call.

        The arguments are the addresses of the kernel, the layout, the inputs, the outputs and the parameters.
        """
        return lambda times: self._call("repeat", *addresses, times)

    def figures(self, name: str, repeats: int, seconds: float, *, bandwidth: bool) -> dict[str, float]:
        """Measures the limits: GFLOP/s, and if `bandwidth`, also GB/s by cache level."""
        peak = f"{name} multiply and add, GFLOP/s"
        amounts = {peak: self.madd_flops * self._iterations}
        loops = [self.arithmetic(amounts[peak])]
        for level, size in LEVELS.items() if bandwidth else ():
            ways = {"read": self.read(size), "copy": self.write(size, 2), "triad": self.write(size, 3)}
            for way, loop in ways.items():
                amounts[f"{level} {way}, GB/s"] = size
                loops.append(loop)
        contestants = [Contestant.batched(of, loop, timed=of == peak) for of, loop in zip(amounts, loops, strict=True)]
        timings = measure(contestants, repeats=repeats, sample_seconds=seconds)
        return {timing.name: amounts[timing.name] / timing.minimum for timing in timings}
