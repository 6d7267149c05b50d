"""The benchmark of the landing page: five workloads in NumPy and on every backend of Lanewise.

worker.mjs runs this in Pyodide and passes on what `run` reports, an event at a time, so that the page can draw a bar as
soon as it is measured. Each event is a dict that JSON can hold:

    facts       versions, the backends that are available or the reason why not, the GPU's adapter, and the number of
                web workers that share matrix products, 0 if the page is not cross-origin isolated
    measuring   the work and the contestant that are measured next
    sample      a sample has been taken, so the worker is alive
    result      nanoseconds of one call; how far its answer is from the reference, and whether the tolerance allows that
    failure     the error that ended the measurement of the contestant
    done        the benchmark has ended
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter_ns
from typing import Any

import numpy as np
import numpy.typing as npt

import lanewise as lw
from lanewise.costs.timing import Contestant, measure
from lanewise.demo import digits as demo_data
from lanewise.demo.network import Network, tensor
from lanewise.demo.numpy_peer import NumpyNetwork, array

Array = npt.NDArray[Any]
Report = Callable[[dict[str, Any]], object]

NUMPY, GPU, WORKERS = "numpy", "wgpu", "workers"
BACKENDS = ("simd128", "relaxed_simd", GPU)
CONTESTANTS = (NUMPY, "simd128", "relaxed_simd", WORKERS, GPU)  # in the order in which they run
MAX_WORKERS = 4  # logical processors may share a core, and operands are copied to the workers by one thread
SIZES = {"matmul-256": 256, "matmul-512": 512}
REPEATS = 5
SAMPLE_SECONDS = 0.1  # a browser's clock may tick once in a millisecond, so one tick is at most 1 % of a sample
GPU_SAMPLE_SECONDS = 0.25  # each sample ends with a read, whose round trip must be a small part of it
GPU_REPEATS = 4
GPU_MAX_SECONDS = 1.5  # after which no further sample is taken: software adapters are slow
GPU_MAX_CALLS = 500  # in one sample
GPU_OPEN_SECONDS = 30.0  # in which the browser must open the GPU

# The tolerances of the contracts; tests/site/test_bench.py compares them with contracts/*.yaml.
TOLERANCES: dict[str, dict[str, float]] = {
    "matmul": {"magnitude": 4.9e-7},
    "exp": {"ulp": 1.4},
    "softmax": {"absolute": 1.86e-7, "ulp": 2.48},
}


class Work:
    """A workload. `error` returns how far an answer is from the reference, in multiples of the tolerance."""

    name = ""
    threaded = False  # whether web workers share it

    def numpy(self) -> Callable[[], Array]:
        """Returns the function to time in NumPy."""
        raise NotImplementedError

    def lanewise(self, backend: str) -> Callable[[], lw.Tensor]:
        """Returns the function to time on a backend, which is in use when the function runs."""
        raise NotImplementedError

    def error(self, answer: Array) -> float:
        """Returns the error of an answer; more than 1 is too much."""
        raise NotImplementedError


class Call(Work):
    """A call of one operation that has the same name in Lanewise and a NumPy function that computes it."""

    def __init__(self, name: str, operation: str, function: Callable[..., Array], *inputs: lw.Tensor) -> None:
        self.name, self.operation, self.function = name, operation, function
        self.threaded = operation == "matmul"
        self.inputs = [np.asarray(each) for each in inputs]
        self.reference: tuple[Array, Array] | None = None

    def numpy(self) -> Callable[[], Array]:
        """Returns a call of the NumPy function."""
        return partial(self.function, *self.inputs)

    def lanewise(self, backend: str) -> Callable[[], lw.Tensor]:
        """Returns a call of Lanewise's operation.

        On the GPU, the operands are there already, and each call writes into the same tensor: Lanewise does not compute
        elementwise results that nobody reads.
        """
        function = getattr(lw, self.operation)
        operands = [lw.asarray(each) for each in self.inputs]
        if backend != GPU:
            return partial(function, *operands)
        placed = [each.to(GPU) for each in operands]
        return partial(function, *placed, out=function(*placed))

    def error(self, answer: Array) -> float:
        """Compares with NumPy's answer in float64, by the tolerance of the operation's contract."""
        if self.reference is None:
            self.reference = self._reference()
        expected, allowed = self.reference
        return float(np.max(np.abs(answer - expected) / allowed))

    def _reference(self) -> tuple[Array, Array]:
        """Returns the reference and the errors that the contract tolerates."""
        wide = [each.astype(np.float64) for each in self.inputs]
        expected = self.function(*wide)
        tolerance = TOLERANCES[self.operation]
        allowed = np.full(expected.shape, tolerance.get("absolute", 0.0))
        if "ulp" in tolerance:
            spacing = np.spacing(np.abs(expected).astype(np.float32)).astype(np.float64)
            allowed = np.maximum(allowed, tolerance["ulp"] * spacing)
        if "magnitude" in tolerance:
            allowed = np.maximum(allowed, tolerance["magnitude"] * self.function(*map(np.abs, wide)))
        return expected, allowed


class Digits(Work):
    """The demo's network reads its 540 handwritten digits. All contestants must read the same as NumPy."""

    name = "digits"

    def __init__(self) -> None:
        self.digits = demo_data.load()
        self.reader = NumpyNetwork(self.digits)
        self.expected = self.reader(array(self.digits)).argmax(axis=1)

    def numpy(self) -> Callable[[], Array]:
        """Returns the network in NumPy."""
        return partial(self.reader, array(self.digits))

    def lanewise(self, backend: str) -> Callable[[], lw.Tensor]:
        """Returns the network of lanewise.demo, with its weights and images on the backend."""
        network, images = Network(self.digits), tensor(self.digits)
        return partial(network, images.to(GPU) if backend == GPU else images)

    def error(self, answer: Array) -> float:
        """Returns twice the number of digits that NumPy reads differently, so that one of them is too many."""
        return 2.0 * int((answer.argmax(axis=1) != self.expected).sum())


def _softmax(x: Array) -> Array:
    """Computes softmax along the rows, as one writes it in NumPy."""
    powers: Array = np.exp(x - x.max(axis=1, keepdims=True))
    powers /= powers.sum(axis=1, keepdims=True)
    return powers


def _matmul(name: str) -> Work:
    shape = (SIZES[name], SIZES[name])
    return Call(name, "matmul", np.matmul, lw.rand(shape, seed=1) - 0.5, lw.rand(shape, seed=2) - 0.5)


# In the order in which they run. Matrix products come first because they gain the most. The small one precedes the
# large one, a single call of which takes NumPy longer than a whole sample, so that the first bar appears soon.
WORKS: dict[str, Callable[[], Work]] = {
    "matmul-256": partial(_matmul, "matmul-256"),
    "matmul-512": partial(_matmul, "matmul-512"),
    "exp": lambda: Call("exp", "exp", np.exp, lw.rand((1_000_000,), seed=3) * 20 - 10),
    "softmax": lambda: Call("softmax", "softmax", _softmax, lw.rand((1000, 1000), seed=4) * 20 - 10),
    "digits": Digits,
}


@dataclass(frozen=True)
class Timed:
    """The nanoseconds of one call, and the answer."""

    nanoseconds: float
    answer: Array


async def run(report: Report, processors: int = 1) -> None:
    """Measures all workloads on all contestants, and reports events as they happen.

    `processors` are those that the browser offers, which Python cannot see. One is too few for web workers.
    """
    workers = await _open_workers(min(processors, MAX_WORKERS))
    available = await _facts(report, workers)
    for make in WORKS.values():
        with lw.use_backend("cpu"):  # inputs are converted to NumPy, and not every browser can wait for a GPU here
            work = make()
        for contestant in CONTESTANTS:
            if contestant in available and (work.threaded or contestant != WORKERS):
                await _contest(work, contestant, report, workers)
        await asyncio.sleep(0)
    report({"type": "done"})


async def _contest(work: Work, contestant: str, report: Report, workers: int) -> None:
    """Measures and checks one contestant. An error ends only its part: the GPU may be lost, or memory run out."""
    about = {"work": work.name, "contestant": contestant}
    report({"type": "measuring", **about})
    try:
        timed = await _time(work, contestant, lambda _: report({"type": "sample"}), workers)
        nanoseconds = float(f"{timed.nanoseconds:.4g}")  # as links hold it, so that they show the same numbers
        report({"type": "result", **about, "nanoseconds": nanoseconds, **_judge(work, contestant, timed.answer)})
    except (lw.LanewiseError, MemoryError) as error:
        report({"type": "failure", **about, "message": str(error) or type(error).__name__})


def _judge(work: Work, contestant: str, answer: Array) -> dict[str, Any]:
    """Returns the error and whether it is tolerated. NumPy in float32 promises no tolerance, so it is not judged."""
    error = work.error(answer)
    return {"error": round(error, 3), "agrees": None if contestant == NUMPY else error <= 1}


async def _time(work: Work, contestant: str, progress: Callable[[str], object], workers: int) -> Timed:
    if contestant == GPU:
        with lw.use_backend(GPU):
            return await _time_on_gpu(work.lanewise(GPU), progress)
    if contestant == WORKERS:
        return await _time_on_workers(work, progress, workers)
    if contestant == NUMPY:
        return _time_here(Contestant.calling(NUMPY, work.numpy()), progress)
    return _time_here(_on_backend(work, contestant), progress)


def _on_backend(work: Work, backend: str) -> Contestant:
    with lw.use_backend(backend):
        function = work.lanewise(backend)
    return Contestant.calling(backend, function, context=partial(lw.use_backend, backend))


def _time_here(entrant: Contestant, progress: Callable[[str], object]) -> Timed:
    (timing,) = measure([entrant], repeats=REPEATS, sample_seconds=SAMPLE_SECONDS, progress=progress)
    return Timed(timing.minimum, np.asarray(entrant.run()))


async def _time_on_workers(work: Work, progress: Callable[[str], object], workers: int) -> Timed:
    """Times the fastest CPU backend on web workers, and ends them. Raises BackendError if they were lost meanwhile."""
    before = lw.get_num_threads()
    await lw.init_threads(workers)
    try:
        timed = _time_here(_on_backend(work, "cpu"), progress)
        if lw.get_num_threads() != workers:
            raise lw.BackendError("the web workers ended before the measurement did")
    finally:
        lw.set_num_threads(before)
    return timed


async def _time_on_gpu(function: Callable[[], lw.Tensor], progress: Callable[[str], object]) -> Timed:
    """Times calls that end with the read of one element, which waits for all of them.

    lanewise.costs.timing cannot be used: not every browser can suspend Python, and the others must await.
    """
    answer = await function().numpy_async()  # compiles the kernels

    async def sample(calls: int) -> int:
        start = perf_counter_ns()
        for _ in range(calls):
            result = function()
        await result.reshape((-1,))[-1:].numpy_async()
        progress(GPU)
        return max(1, perf_counter_ns() - start)

    calls, least = 1, int(GPU_SAMPLE_SECONDS * 1e9)
    while (taken := await sample(calls)) < least and calls < GPU_MAX_CALLS:
        calls = min(GPU_MAX_CALLS, calls * 10, max(calls + 1, int(calls * 1.1 * least / taken)))
    times = [taken]
    while len(times) < GPU_REPEATS and sum(times) < GPU_MAX_SECONDS * 1e9:
        times.append(await sample(calls))
    return Timed(min(times) / calls, answer)


async def _facts(report: Report, workers: int) -> set[str]:
    """Reports what this engine has, and returns the available contestants."""
    refusal = await _open_gpu()
    infos = {str(info.name): info for info in lw.backends()}
    reasons = {name: infos[name].reason for name in BACKENDS if not infos[name].available}
    if refusal and GPU not in reasons:
        reasons[GPU] = refusal
    device = next(iter(infos[GPU].devices), None)
    report(
        {
            "type": "facts",
            "lanewise": lw.__version__,
            "numpy": np.__version__,
            "missing": reasons,
            "adapter": {"name": device.name, "software": bool(device.software)} if device else None,
            "workers": workers,
        }
    )
    return {NUMPY, *BACKENDS, *([WORKERS] if workers else [])}.difference(reasons)


async def _open_workers(count: int) -> int:
    """Starts and ends web workers. Returns their number, or 0 if it is 1 or the page is not cross-origin isolated."""
    if count < 2:
        return 0
    before = lw.get_num_threads()
    try:
        await lw.init_threads(count)
    except lw.BackendError:
        return 0
    lw.set_num_threads(before)
    return count


async def _open_gpu() -> str:
    """Opens the GPU. Returns the reason why that failed, or "" if it succeeded."""
    try:
        await asyncio.wait_for(lw.init_backend(GPU), GPU_OPEN_SECONDS)
    except TimeoutError:
        return f"the browser has not opened the GPU within {GPU_OPEN_SECONDS:.0f} seconds"
    except lw.LanewiseError as error:
        return str(error)
    return ""
