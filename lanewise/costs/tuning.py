"""lw.calibrate(): measures which CPU backend is the fastest on this machine, and when threads and a GPU pay.

A processor reports its instruction sets, but not which is the fastest: some processors lower their clock for wide
registers, or process such a register in two halves. timing.py times operations of each kind on all backends in turn, on
one thread. Their mean, compared with the contracts' times, is the rate of a backend: AUTO chooses the least, by which
the extension corrects the times that calls are expected to take. One backend is chosen for all kinds: on Zen 4
(2026-11), AVX-512 is the fastest overall and, for each kind, less than 10 % slower than the best backend, so choosing
per kind would gain little. thread_cost.py measures threads, offload.py the GPU; calibration.py stores the result, and
selection.py uses it.
"""

from __future__ import annotations

import math
import sys
import threading
import warnings
from collections.abc import Sequence
from typing import Final

from lanewise import _ext
from lanewise.backends import placement, registry, selection, threads
from lanewise.backends.backend import CPU_BACKENDS, Backend
from lanewise.costs import calibration
from lanewise.costs.calibration import MAX_NANOSECONDS, Calibration, using_costs
from lanewise.errors import BackendError, named

__all__ = ["calibrate", "get_calibration", "reset_calibration"]

Shapes = tuple[tuple[int, ...], ...]
SIZE: Final = 1 << 15
# Operations of each kind, with the shapes of their inputs, which stay in L2.
WORKS: Final[tuple[tuple[str, Shapes], ...]] = (
    ("add", ((SIZE,), (SIZE,))),
    ("fma", ((SIZE,), (SIZE,), (SIZE,))),
    ("exp", ((SIZE,),)),
    ("tanh", ((SIZE,),)),
    ("sum", ((SIZE,),)),
    ("max", ((SIZE,),)),
    ("softmax", ((128, 256),)),
    ("layer_norm", ((128, 256), (256,), (256,))),
    ("matmul", ((128, 128), (128, 128))),
    ("conv2d", ((1, 16, 28, 28), (16, 16, 3, 3))),
)
REPEATS: Final = 7
SAMPLE_SECONDS: Final = 0.003 if sys.platform == "emscripten" else 0.0003  # a browser's clock is coarse

_lock = threading.Lock()


def calibrate(*, save: bool = True) -> Calibration:
    """Measures which CPU backend is the fastest on this machine, and makes AUTO use it.

    Also measures for how much work one more thread makes a call faster; from then on, calls are divided accordingly. If
    there is a GPU, also measures how long its kernels and copies take. AUTO then offloads matrix products, convolutions
    and attention on CPU tensors that take less time there, including the copies of the operands and of the result, with
    the contracts' tolerances for GPUs.

    This takes a few seconds; run it on an otherwise idle machine. With `save`, a file in the user's cache folder, or in
    LANEWISE_CACHE_DIR, stores the result for later processes that have the same processor, operating system and version
    of Lanewise. If the file cannot be written, a RuntimeWarning says so. In Pyodide the result is lost with the page.
    lw.reset_calibration() removes the result; LANEWISE_BACKEND, use_backend() and set_backend_priority() override it.

    >>> import lanewise as lw
    >>> result = lw.calibrate(save=False)
    >>> result.backend in result.costs, result is lw.get_calibration()
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

    from lanewise.costs import offload

    result = Calibration(_rates([each for each in CPU_BACKENDS if registry.opens(each)]), time.strftime("%Y-%m-%d"))
    costs, gpu = dict(result.costs), offload.measured(result.backend)
    if threads.HAS_POOL:
        from lanewise.costs import thread_cost

        costs |= thread_cost.measured(result.backend)
    return result._replace(costs=costs | (gpu[1] if gpu else {}), gpu=gpu and gpu[0])


def _rates(backends: Sequence[Backend]) -> dict[str, float]:
    """Returns, by name, the geometric mean of each backend's times on one thread, divided by the contracts' times."""
    logarithms = dict.fromkeys(backends, 0.0)
    with using_costs(spinning=MAX_NANOSECONDS, sleeping=MAX_NANOSECONDS):
        for operation, shapes in WORKS:
            for backend, time in _times(operation, shapes, backends).items():
                logarithms[backend] += math.log(time)
    return {backend.value: round(math.exp(total / len(WORKS)), 4) for backend, total in logarithms.items()}


def _times(operation: str, shapes: Shapes, backends: Sequence[Backend]) -> dict[Backend, float]:
    """Returns the times of an operation, divided by that in its contract, on inputs that are placed on each backend, so
    that a surrounding use_backend() has no effect."""
    from lanewise.costs.timing import Contestant, measure

    function, inputs = getattr(_ext, operation), [_ext.rand(shape, seed=seed) for seed, shape in enumerate(shapes)]
    contestants = [
        Contestant.calling(backend.value, function, *(placement.move(each, backend) for each in inputs))
        for backend in backends
    ]
    nominal = _ext.expected_times(operation, *inputs)[0]
    timings = measure(contestants, repeats=REPEATS, sample_seconds=SAMPLE_SECONDS)
    return {backend: timing.minimum / nominal for backend, timing in zip(backends, timings, strict=True)}
