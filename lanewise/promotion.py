"""Promotion: after lw.calibrate(), AUTO moves a call on CPU tensors to a GPU if that is faster, copies included.

The extension decides (native/extension/promotion.c) by the times measured here: those of copies, and of one operation
of each kind whose complexity is high. Other operations take about as long on the CPU as copying their operands. The GPU
is opened once the calls so far would have saved as much time on it as opening it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from time import perf_counter_ns
from typing import Any, Final

from lanewise import _ext, calibration, placement, registry, selection, threads, tiles
from lanewise.backend import GPU_BACKENDS, Backend, backend_of, place_of
from lanewise.calibration import TILED, GpuTimes
from lanewise.errors import LanewiseError

__all__ = ["least_product", "measured", "open_promoted", "summary"]

# The shapes of the inputs of the operations in calibration.PROMOTED: some 2 GFLOP each, so that a call takes longer
# than the latency of a GPU, but not so long that calibrating a slow CPU takes minutes.
SHAPES: Final[dict[str, tuple[tuple[int, ...], ...]]] = {
    "matmul": ((1024, 1024), (1024, 1024)),
    "conv2d": ((8, 64, 56, 56), (64, 64, 3, 3)),
    "scaled_dot_product_attention": ((8, 1024, 64), (8, 1024, 64), (8, 1024, 64)),
}
COPIED_BYTES: Final = 1 << 24
OPENING: Final = 1e9  # nanoseconds; assumed if the GPU was open before, so that the time cannot be measured
REPEATS: Final = 5
SAMPLE_SECONDS: Final = 0.02
WARM_SECONDS: Final = 0.1  # the clock of an idle GPU is low
LARGEST_PRODUCT: Final = 1 << 15  # rows, in least_product()


def measured(host: Backend) -> GpuTimes | None:
    """Returns the times of the best GPU and of the CPU backend `host`, None if there is no GPU. Software adapters do
    not count, and neither does a GPU that fails, or that a page cannot wait for."""
    if any(registry.is_pending(each) for each in GPU_BACKENDS):
        return None
    with suppress(LanewiseError):
        was_open = any(map(registry.is_open, GPU_BACKENDS))
        start = perf_counter_ns()
        gpu = selection.open_place("gpu")
        placement.move(_ext.exp(placement.move(_ext.rand((1,), seed=0), gpu)), host)
        opening = OPENING if was_open else float(perf_counter_ns() - start)
        return _measured_on(gpu, host, opening)
    return None


def _measured_on(gpu: str, host: Backend, opening: float) -> GpuTimes:
    """Returns the times of an open GPU, given by its place."""
    from lanewise.timing import Contestant, measure

    backend = backend_of(gpu)
    (device,) = (each for each in registry.devices(backend) if place_of(backend, each.index) == gpu)

    def wait(_: object) -> None:
        _ext.synchronize(gpu)

    fastest = tiles.measured(device) if backend is Backend.WGPU else dict.fromkeys(TILED, ())
    element, block = (placement.move(_ext.rand((size,), seed=0), host) for size in (1, COPIED_BYTES // 4))
    moved = placement.move(block, gpu)
    contestants = [
        Contestant.calling("latency", lambda: placement.move(_ext.exp(placement.move(element, gpu)), host)),
        Contestant.calling("upload", placement.move, block, gpu, finish=wait),
        Contestant.calling("download", placement.move, moved, host),
    ]
    nominal = {}
    for name, shapes in SHAPES.items():
        function: Callable[..., Any] = getattr(_ext, name)
        inputs = [placement.move(_ext.rand(shape, seed=seed), host) for seed, shape in enumerate(shapes)]
        nominal[name] = _ext.expected_times(name, *inputs)[0]
        contestants.append(Contestant.calling(name, function, *inputs))
        copies = (placement.move(each, gpu) for each in inputs)
        contestants.append(Contestant.calling(f"{name} on the GPU", function, *copies, finish=wait))
    timings = measure(contestants, repeats=REPEATS, sample_seconds=SAMPLE_SECONDS, warm_seconds=WARM_SECONDS)
    times = {timing.name: timing.minimum for timing in timings}
    return GpuTimes(
        backend=backend,
        adapter=device.name,
        driver=device.driver,
        threads=threads.get_num_threads(),
        opening=opening,
        latency=times["latency"],
        upload=max(times["upload"] - times["latency"], 0.0) / COPIED_BYTES,
        download=max(times["download"] - times["latency"], 0.0) / COPIED_BYTES,
        rates={name: (times[name] / each, times[f"{name} on the GPU"] / each) for name, each in nominal.items()},
        tiles=fastest,
    )


def open_promoted(is_due: bool) -> str | None:
    """Returns the place of the GPU that the calibration measured, None if it is not open. Opens it if that `is_due`. If
    it then cannot be used, warns and says why."""
    times = selection.gpu_times_in_use()
    if times is None or not (is_due or registry.is_open(times.backend)):
        return None
    try:
        found = registry.devices(times.backend)
        measured_on = [each for each in found if (each.name, each.driver) == (times.adapter, times.driver)]
        if measured_on and (is_due or measured_on[0].index in registry.open_numbers(times.backend)):
            return registry.ensure_open(times.backend, measured_on[0])
        if not is_due:
            return None
        reason = registry.missing(times.backend) or f"the devices are now {', '.join(map(str, found))}"
    except LanewiseError as error:
        reason = str(error)
    with suppress(RuntimeWarning):  # with -W error, the call must still succeed
        calibration.warn(
            f"lanewise: calls stay on the CPU, and do not move to {times.adapter}, which lw.calibrate() measured: "
            f"{reason}; measure again, or remove the measurement with lw.reset_calibration()"
        )
    return None


def summary() -> str:
    """Returns a sentence that says which calls AUTO moves to which GPU, "" if it moves none."""
    times = selection.gpu_times_in_use()
    if times is None or threads.get_num_threads() > times.threads:
        return ""
    if rows := least_product():
        return (
            f"AUTO moves calls to {times.adapter} if they are faster there: square matrix products from {rows} rows on"
        )
    return f"AUTO moves calls to {times.adapter} if they are faster there, but no product of square matrices"


def least_product() -> int | None:
    """Returns the least number of rows of square float32 matrices whose product AUTO moves to a GPU, None if none."""

    def is_moved(rows: int) -> bool:
        matrix = _ext.broadcast_to(_ext.ones(()), (rows, rows))
        _, _, *times = _ext.expected_times("matmul", matrix, matrix)
        return bool(times) and times[1] < times[0]

    low, high = 0, LARGEST_PRODUCT
    if not is_moved(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_moved(middle) else (middle, high)
    return high
