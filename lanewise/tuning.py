"""lw.calibrate(): which of the CPU's backends is the fastest on this machine, found by measuring.

The processor says which instruction sets it has, not which of them pays: some take wide registers at a lower clock, or
in halves. Each kind of operations is timed at sizes from 10 elements to a million, all backends in turn, by the engine
of timing.py. One backend is chosen for all kinds: on Zen 4, 2026-11, AVX-512 is the best overall and less than a
tenth behind in any kind, so that a choice for each would gain nothing. calibration.py keeps what is found, and
selection.py follows it.
"""

from __future__ import annotations

import math
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from lanewise import _ext, calibration, placement, registry, selection
from lanewise.backend import CPU_BACKENDS, Backend
from lanewise.calibration import KINDS, Calibration, Times
from lanewise.errors import BackendError

if TYPE_CHECKING:
    from lanewise.timing import Contestant

__all__ = ["calibrate", "get_calibration", "reset_calibration"]

SIZES: Final = (10, 1_000, 30_000, 1_000_000)  # elements
EDGES: Final = (4, 32, 128, 256)  # of square matrices
REPEATS: Final = 7
SAMPLE_SECONDS: Final = 0.003 if sys.platform == "emscripten" else 0.0003  # a browser's clock is coarse

_lock = threading.Lock()


class Work(NamedTuple):
    """An operation, and the shapes of what it is given."""

    kind: str
    operation: str
    shapes: tuple[tuple[int, ...], ...]


def calibrate(*, save: bool = True) -> Calibration:
    """Measures which CPU backend is the fastest on this machine, and lets AUTO use it from now on.

    It takes a few seconds, best on a machine that does nothing else. With `save`, other processes of this user follow
    it from their import on, as long as processor, system and version are the same: a file in the user's cache folder,
    or in LANEWISE_CACHE_DIR, keeps it. RuntimeWarning where that cannot be written; in Pyodide it holds for the page.
    What LANEWISE_BACKEND, lw.use_backend() and lw.set_backend_priority() say comes first. lw.reset_calibration() takes
    it back.

    >>> import lanewise as lw
    >>> found = lw.calibrate(save=False)
    >>> found.backend in found.times, found is lw.get_calibration()
    (True, True)
    >>> lw.reset_calibration()
    """
    with _lock:
        found = _measured()
        if save:
            try:
                found = calibration.save(found)
            except OSError as error:
                warnings.warn(
                    f"calibrate: what was measured holds for this process alone: {calibration.folder()} cannot be "
                    f"written to ({error.strerror}); set LANEWISE_CACHE_DIR to a folder that can, or save nothing: "
                    "save=False, on the command line --no-save",
                    RuntimeWarning,
                    stacklevel=2,
                )
        selection.follow(found)
        return found


def get_calibration() -> Calibration | None:
    """What AUTO goes by: the last lw.calibrate() of this process, else what an earlier one kept; None without any.

    >>> import lanewise as lw
    >>> lw.get_calibration() is None
    True
    """
    return selection.calibration_in_use()


def reset_calibration() -> None:
    """Lets AUTO choose by the processor's instruction sets again, here and in later processes: what lw.calibrate() kept
    is removed. BackendError where that is not allowed.

    >>> import lanewise as lw
    >>> lw.reset_calibration()
    """
    with _lock:
        try:
            calibration.forget()
        except OSError as error:
            raise BackendError(
                f"reset_calibration: {calibration.folder()} cannot be written to ({error.strerror}); "
                "remove the file in it by hand, or set LANEWISE_CACHE_DIR to another folder"
            ) from error
        selection.follow(None)


def _measured() -> Calibration:
    import time

    backends = [backend for backend in CPU_BACKENDS if registry.opens(backend)]
    return Calibration(relative(_sampled(backends)), time.strftime("%Y-%m-%d"))


def _sampled(backends: Sequence[Backend]) -> dict[str, list[dict[Backend, float]]]:
    """For each kind of operations, the nanoseconds that each of its works takes on each backend."""
    from lanewise.timing import measure

    found: dict[str, list[dict[Backend, float]]] = {kind: [] for kind in KINDS}
    for work in _works():
        contestants = _contestants(work, backends)
        timings = measure(contestants, repeats=REPEATS, sample_seconds=SAMPLE_SECONDS)
        minima = [timing.minimum for timing in timings]
        found[work.kind].append(dict(zip(backends, minima, strict=True)))
    return found


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
    """The same elements for all, placed on each: then it does not matter inside which use_backend() this is called."""
    from lanewise.timing import Contestant

    function = getattr(_ext, work.operation)
    inputs = [_ext.rand(shape, seed=seed) for seed, shape in enumerate(work.shapes)]
    return [
        Contestant.calling(backend.value, function, *(placement.move(each, backend) for each in inputs))
        for backend in backends
    ]


def relative(sampled: dict[str, list[dict[Backend, float]]]) -> Times:
    """For each backend and kind, the geometric mean over the kind's works of its time, then relative to the fastest.

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
