"""Offload: after lw.calibrate(), AUTO moves a call on CPU tensors to a GPU if that is faster, copies included.

The extension decides (native/extension/call/offload.c) by the costs measured here: a launch, the transfer of a byte,
and the rate of the GPU. It moves matrix products, convolutions and attention only: other operations take about as long
on the CPU as copying their operands. The GPU is opened once the calls so far would have saved as much time on it as
opening it takes.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Final

from lanewise import _ext
from lanewise.backends import placement, registry, selection
from lanewise.backends.backend import GPU_BACKENDS, Backend, backend_of, place_of
from lanewise.costs import calibration
from lanewise.costs.calibration import Adapter
from lanewise.errors import LanewiseError

__all__ = ["least_product", "measured", "open_measured", "summary"]

# The shapes of the inputs of the operations whose mean rate is the GPU's: some 2 GFLOP each, so that a call takes
# longer than the latency of a GPU.
SHAPES: Final[dict[str, tuple[tuple[int, ...], ...]]] = {
    "matmul": ((1024, 1024), (1024, 1024)),
    "conv2d": ((8, 64, 56, 56), (64, 64, 3, 3)),
    "scaled_dot_product_attention": ((8, 1024, 64), (8, 1024, 64), (8, 1024, 64)),
}
COPIED_BYTES: Final = 1 << 24
REPEATS: Final = 5
SAMPLE_SECONDS: Final = 0.02
WARM_SECONDS: Final = 0.1  # the clock of an idle GPU is low
LARGEST_PRODUCT: Final = 1 << 15  # rows, in least_product()


def measured(host: Backend) -> tuple[Adapter, dict[str, float]] | None:
    """Returns the best GPU and its costs for tensors of the CPU backend `host`, None if there is no GPU. Software
    adapters do not count, and neither does a GPU that fails, or that a page cannot wait for."""
    if any(registry.is_pending(each) for each in GPU_BACKENDS):
        return None
    with suppress(LanewiseError):
        gpu = selection.open_place("gpu")
        backend = backend_of(gpu)
        (device,) = (each for each in registry.devices(backend) if place_of(backend, each.index) == gpu)
        return Adapter(backend, device.name, device.driver), _costs(gpu, host)
    return None


def _costs(gpu: str, host: Backend) -> dict[str, float]:
    """Returns the costs of an open GPU, given by its place."""
    from lanewise.costs.timing import Contestant, measure

    def wait(_: object) -> None:
        _ext.synchronize(gpu)

    element, block = (placement.move(_ext.rand((size,), seed=0), host) for size in (1, COPIED_BYTES // 4))
    contestants = [
        Contestant.calling("launch", lambda: placement.move(_ext.exp(placement.move(element, gpu)), host)),
        Contestant.calling("transfer", lambda: placement.move(placement.move(block, gpu), host)),
    ]
    nominal = {}
    for name, shapes in SHAPES.items():
        inputs = [_ext.rand(shape, seed=seed) for seed, shape in enumerate(shapes)]
        nominal[name] = _ext.expected_times(name, *inputs)[0]
        copies = (placement.move(each, gpu) for each in inputs)
        contestants.append(Contestant.calling(name, getattr(_ext, name), *copies, finish=wait))
    timings = measure(contestants, repeats=REPEATS, sample_seconds=SAMPLE_SECONDS, warm_seconds=WARM_SECONDS)
    times = {timing.name: timing.minimum for timing in timings}
    return {
        "launch": times["launch"],
        "transfer": max(times["transfer"] - times["launch"], 0.0) / (2 * COPIED_BYTES),
        "gpu": math.prod(times[name] / each for name, each in nominal.items()) ** (1 / len(nominal)),
    }


def open_measured(is_due: bool) -> str | None:
    """Returns the place of the GPU that the calibration measured, None if it is not open. Opens it if that `is_due`. If
    it then cannot be used, warns and says why."""
    adapter = selection.offload_adapter()
    if adapter is None or not (is_due or registry.is_open(adapter.backend)):
        return None
    try:
        found = registry.devices(adapter.backend)
        same = [each for each in found if (each.name, each.driver) == (adapter.name, adapter.driver)]
        if same and (is_due or same[0].index in registry.open_numbers(adapter.backend)):
            return registry.ensure_open(adapter.backend, same[0])
        if not is_due:
            return None
        reason = registry.missing(adapter.backend) or f"the devices are now {', '.join(map(str, found))}"
    except LanewiseError as error:
        reason = str(error)
    with suppress(RuntimeWarning):  # with -W error, the call must still succeed
        calibration.warn(
            f"lanewise: calls stay on the CPU, and are not offloaded to {adapter.name}, which lw.calibrate() measured: "
            f"{reason}; measure again, or remove the measurement with lw.reset_calibration()"
        )
    return None


def summary() -> str:
    """Returns a sentence that says which calls AUTO offloads to which GPU, "" if it offloads none."""
    adapter = selection.offload_adapter()
    if adapter is None:
        return ""
    rows = least_product()
    which = f"square matrix products from {rows} rows on" if rows else "but no product of square matrices"
    return f"AUTO offloads calls to {adapter.name} if they are faster there{':' if rows else ','} {which}"


def least_product() -> int | None:
    """Returns the least number of rows of square float32 matrices whose product AUTO offloads, None if none."""

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
