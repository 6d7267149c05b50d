"""Runs operations on NumPy arrays, on the device of the backend wgpu, and asserts that no other backend computes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import lanewise as lw

POISON = 0xA5  # the value of every byte around a result
GUARD = 17  # elements of poison before and after a result; an odd number, so that small elements start inside a word


def on_gpu(array: Any, dtype: Any = None) -> lw.Tensor:
    """Returns a row-major tensor on the device with the elements of an array."""
    return lw.asarray(np.array(array, dtype, order="C")).to("wgpu")


def floats(*values: float) -> lw.Tensor:
    """Returns a float32 tensor on the device."""
    return on_gpu(values, np.float32)


def counted(action: Callable[[], Any]) -> tuple[Any, dict[str, int]]:
    """Returns what `action` returns, and by how much it changed each of the statistics."""
    before = lw.memory_stats("wgpu")
    result = action()
    after = lw.memory_stats("wgpu")
    return result, {name: after[name] - before[name] for name in after}


def transfers() -> tuple[int, int]:
    """Returns how many copies to the device, and from it, there have been."""
    stats = lw.memory_stats("wgpu")
    return stats["uploads"], stats["readbacks"]


@contextlib.contextmanager
def stays_on_gpu() -> Iterator[None]:
    """Asserts that nothing is copied to the device or from it, as it would be if the CPU computed."""
    before = transfers()
    yield
    assert transfers() == before, "the CPU computed, or a tensor was copied to it"


class Runner:
    """Runs operations on a device."""

    def run(self, operation: str, *inputs: Any, **keywords: Any) -> np.ndarray:
        """Runs an operation of lanewise, and returns its result. Arrays, also in the keywords, are uploaded first."""
        operands = [self._placed(each) for each in inputs]
        named = {name: self._placed(value) for name, value in keywords.items()}
        with stays_on_gpu():
            result = getattr(lw, operation)(*operands, **named)
        assert result.backend == "wgpu"
        return np.array(result)

    def guarded(self, operation: str, *inputs: Any, **keywords: Any) -> np.ndarray:
        """Like run(), for operations with `out`: runs once more into a part of a tensor. Asserts that the elements
        around it are intact, and that the results are the same, except for the rounding of floats: the first result may
        be computed by an entry point for vectors, which adds in another order."""
        result = self.run(operation, *inputs, **keywords)
        size, dtype = result.size, result.dtype
        before = np.full((size + 2 * GUARD) * dtype.itemsize, POISON, np.uint8).view(dtype)
        if dtype.kind == "b":
            before = np.arange(size + 2 * GUARD) % 3 == 0  # a bool is 0 or 1
        around = on_gpu(before)
        out = around[GUARD : GUARD + size].reshape(result.shape)
        operands = [self._placed(each) for each in inputs]
        named = {name: self._placed(value) for name, value in keywords.items()}
        with stays_on_gpu():
            getattr(lw, operation)(*operands, **named, out=out)
        after = np.array(around)
        np.testing.assert_allclose(after[GUARD : GUARD + size], result.ravel(), rtol=2e-5, atol=2e-5)
        for guard in (slice(0, GUARD), slice(GUARD + size, None)):
            assert after[guard].tobytes() == before[guard].tobytes(), "the kernel wrote outside its result"
        return result

    def keeps_denormals(self) -> bool:
        """Returns whether float arithmetic has denormal operands and results. WGSL lets an adapter flush them to 0."""
        tiny = np.array([2.0**-140, 2.0**-100, 0.5], np.float32)
        return bool((self.run("multiply", tiny, tiny[::-1].copy()) != 0)[[0, 2]].all())

    @staticmethod
    def _placed(value: Any) -> Any:
        return on_gpu(value) if isinstance(value, np.ndarray) else value
