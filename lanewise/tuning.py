"""lw.calibrate(): measures which CPU backend is the fastest on this machine, and when threads and a GPU pay.

A processor reports its instruction sets, but not which is the fastest: some processors lower their clock for wide
registers, or process such a register in two halves. timing.py times each kind of operation, on all backends in turn, at
sizes from 10 to a million elements. One backend is chosen for all kinds: on Zen 4 (2026-11), AVX-512 is the fastest
overall and, for each kind, less than 10 % slower than the best backend, so choosing per kind would gain little.
rates.py measures times on one thread, waking.py threads, promotion.py the GPU; calibration.py stores the result, and
selection.py uses it.
"""

from __future__ import annotations

import math
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from lanewise import _ext, calibration, placement, registry, selection, threads
from lanewise.backend import CPU_BACKENDS, Backend
from lanewise.calibration import KINDS, Calibration, Times
from lanewise.errors import BackendError, named

if TYPE_CHECKING:
    from lanewise.timing import Contestant

__all__ = ["calibrate", "get_calibration", "reset_calibration"]

SIZES: Final = (10, 1_000, 30_000, 1_000_000)  # numbers of elements
EDGES: Final = (4, 32, 128, 256)  # rows and columns of square matrices
REPEATS: Final = 7
SAMPLE_SECONDS: Final = 0.003 if sys.platform == "emscripten" else 0.0003  # a browser's clock is coarse

_lock = threading.Lock()


class Work(NamedTuple):
    """An operation to time, and the shapes of its inputs."""

    kind: str
    operation: str
    shapes: tuple[tuple[int, ...], ...]


def calibrate(*, save: bool = True) -> Calibration:
    """Measures which CPU backend is the fastest on this machine, and makes AUTO use it.

    Also measures how long operations take on one thread, and how much work pays for waking another; from then on,
    calls are divided accordingly.

    If there is a GPU, also measures how large calls have to be to take less time there, including the copies of the
    operands to it and of the result back. AUTO then runs such calls on it, with the contracts' tolerances for GPUs. And
    measures which tiles of matrix products are the fastest on it, which it uses from then on.

    This takes a few seconds; run it on an otherwise idle machine. With `save`, a file in the user's cache folder, or in
    LANEWISE_CACHE_DIR, stores the result for later processes that have the same processor, operating system and version
    of Lanewise. If the file cannot be written, a RuntimeWarning says so. In Pyodide the result is lost with the page.
    lw.reset_calibration() removes the result; LANEWISE_BACKEND, use_backend() and set_backend_priority() override it.

    >>> import lanewise as lw
    >>> result = lw.calibrate(save=False)
    >>> result.backend in result.times, result is lw.get_calibration()
    (True, True)
    >>> lw.reset_calibration()
    """
    with _lock:
        result = _measured()
        if save:
            try:
                result = calibration.save(result)
            except OSError as error:
                warnings.warn(
                    f"calibrate: the result applies to this process only: cannot write to {calibration.folder()} "
                    f"({error.strerror}); set LANEWISE_CACHE_DIR to another folder, or do not save it: save=False, or "
                    "--no-save on the command line",
                    RuntimeWarning,
                    stacklevel=2,
                )
        selection.follow(result)
        return result


def get_calibration() -> Calibration | None:
    """Returns the calibration that AUTO uses, from this process or stored by an earlier one; None if there is none.

    >>> import lanewise as lw
    >>> lw.get_calibration() is None
    True
    """
    return selection.calibration_in_use()


@named("reset_calibration")
def reset_calibration() -> None:
    """Removes the result of lw.calibrate(): AUTO chooses by instruction sets again, here and in later processes.

    Raises BackendError if the file cannot be removed.

    >>> import lanewise as lw
    >>> lw.reset_calibration()
    """
    with _lock:
        try:
            calibration.forget()
        except OSError as error:
            raise BackendError(
                f"cannot write to {calibration.folder()} ({error.strerror}); "
                f"remove {calibration.NAME} in it, or set LANEWISE_CACHE_DIR to another folder"
            ) from None
        selection.follow(None)


def _measured() -> Calibration:
    import time

    from lanewise import promotion

    backends = [backend for backend in CPU_BACKENDS if registry.opens(backend)]
    result = Calibration(relative(_sampled(backends)), time.strftime("%Y-%m-%d"))
    if threads.HAS_POOL:
        from lanewise import rates, waking

        best = result.backend
        result = result._replace(waking=waking.measured(best), rates=rates.measured(best))
    return result._replace(gpu=promotion.measured(result.backend))


def _sampled(backends: Sequence[Backend]) -> dict[str, list[dict[Backend, float]]]:
    """Returns, for each kind of operation, a list with an item per operation and size: nanoseconds on each backend."""
    from lanewise.timing import measure

    samples: dict[str, list[dict[Backend, float]]] = {kind: [] for kind in KINDS}
    for work in _works():
        contestants = _contestants(work, backends)
        timings = measure(contestants, repeats=REPEATS, sample_seconds=SAMPLE_SECONDS)
        minima = [timing.minimum for timing in timings]
        samples[work.kind].append(dict(zip(backends, minima, strict=True)))
    return samples


def _works() -> Iterator[Work]:
    for size in SIZES:
        edge = math.isqrt(size)
        yield Work("arithmetic", "add", ((size,), (size,)))
        yield Work("arithmetic", "fma", ((size,), (size,), (size,)))
        yield Work("functions", "exp", ((size,),))
        yield Work("functions", "tanh", ((size,),))
        yield Work("reductions", "sum", ((size,),))
        yield Work("reductions", "max", ((size,),))
        yield Work("rows", "softmax", ((edge, edge),))
        yield Work("rows", "layer_norm", ((edge, edge), (edge,), (edge,)))
    for edge in EDGES:
        yield Work("matrices", "matmul", ((edge, edge), (edge, edge)))
    yield Work("matrices", "conv2d", ((1, 16, 28, 28), (16, 16, 3, 3)))


def _contestants(work: Work, backends: Sequence[Backend]) -> list[Contestant]:
    """Returns a contestant per backend, with inputs placed on it, so that a surrounding use_backend() has no effect."""
    from lanewise.timing import Contestant

    function = getattr(_ext, work.operation)
    inputs = [_ext.rand(shape, seed=seed) for seed, shape in enumerate(work.shapes)]
    return [
        Contestant.calling(backend.value, function, *(placement.move(each, backend) for each in inputs))
        for backend in backends
    ]


def relative(sampled: dict[str, list[dict[Backend, float]]]) -> Times:
    """Returns the geometric mean of each backend's times for each kind, relative to the fastest backend.

    >>> relative({"rows": [{Backend.AVX: 10.0, Backend.SSE2: 20.0}, {Backend.AVX: 4.0, Backend.SSE2: 32.0}]})
    {<Backend.AVX: 'avx'>: {'rows': 1.0}, <Backend.SSE2: 'sse2'>: {'rows': 4.0}}
    """
    times: dict[Backend, dict[str, float]] = {}
    for kind, works in sampled.items():
        logarithms = {
            backend: math.fsum(math.log(work[backend]) for work in works) / len(works) for backend in works[0]
        }
        least = min(logarithms.values())
        for backend, value in logarithms.items():
            times.setdefault(backend, {})[kind] = round(math.exp(value - least), 3)
    return times
