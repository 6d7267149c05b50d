"""Runs operations on NumPy arrays, on the device of the backend wgpu, and asserts that no other backend computes."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import lanewise as lw
from lanewise.webgpu.shaders import Shader

POISON = 0xA5  # the value of every byte around a result
GUARD = 17  # elements of poison before and after a result; an odd number, so that small elements start inside a word


def on_gpu(array: Any, dtype: Any = None) -> lw.Tensor:
    """Returns a row-major tensor on the device with the elements of an array."""
    return lw.asarray(np.array(array, dtype, order="C")).to("wgpu")


def zeros(*shape: int) -> lw.Tensor:
    """Returns a float32 tensor of zeros on the device."""
    return on_gpu(np.zeros(shape), np.float32)


def repeated(*shape: int, dtype: Any = np.float32) -> lw.Tensor:
    """Returns a tensor of any size on the device, all elements of which are one zero in memory."""
    return lw.broadcast_to(on_gpu(np.zeros(1), dtype), shape)


def normal(*shape: int, seed: int = 4) -> np.ndarray:
    """Returns normally distributed float32 numbers, the same for the same shape and seed."""
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(np.float32)


def floats(*values: float) -> lw.Tensor:
    """Returns a float32 tensor on the device."""
    return on_gpu(values, np.float32)


def counted(action: Callable[[], Any]) -> tuple[Any, dict[str, int]]:
    """Returns what `action` returns, and by how much it changed each of the statistics."""
    before = lw.memory_stats("wgpu")
    result = action()
    after = lw.memory_stats("wgpu")
    return result, {name: after[name] - before[name] for name in after}


@contextlib.contextmanager
def stays_on_gpu() -> Iterator[None]:
    """Asserts that nothing is copied to the device or from it, as it would be if the CPU computed."""
    before = lw.memory_stats("wgpu")
    yield
    after = lw.memory_stats("wgpu")
    copies = [after[name] - before[name] for name in ("uploads", "readbacks")]
    assert copies == [0, 0], "the CPU computed, or a tensor was copied to it"


def in_process(program: str, *words: str, **variables: str) -> list[str]:
    """Runs a program in a process of its own, with these words and environment variables, and returns the lines that it
    prints. It has to exit with 0 and to print no traceback."""
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr[-2000:]
    return done.stdout.splitlines()


def run_threads(*functions: Callable[[], object]) -> None:
    """Calls each function in a thread of its own, and waits for all of them."""
    threads = [threading.Thread(target=each) for each in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def spoiled(shader: Shader) -> Shader:
    """Returns a shader that does not compile."""
    return replace(shader, source=shader.source + "fn wrong() { nonsense(); }")


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
