"""The tiles of matrix products on a GPU. lw.calibrate() measures which size is the fastest, and its file keeps that.

Which one is depends on registers, the number of cores and the compiler, which WebGPU does not report. On an NVIDIA H200
it is 64x128 for square matrices of 1024 and 4096 rows, 128x256 for 2048, and there 128x128 if B is transposed.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from lanewise import _ext, placement, selection
from lanewise.backend import Backend, place_of
from lanewise.calibration import TILED
from lanewise.devices import DeviceInfo
from lanewise.errors import OutOfMemoryError

__all__ = ["choose", "measured"]

EDGES: Final = (512, 1024, 2048, 4096)  # rows and columns of the matrices
MAX_SECONDS: Final = 0.05  # larger products are not measured if one takes longer
NOISE: Final = 1.03  # tiles that take at most this many times as long as the fastest keep the order of tile_names()
REPEATS: Final = 5
SAMPLE_SECONDS: Final = 0.01
WARM_SECONDS: Final = 0.03


def measured(device: DeviceInfo) -> dict[str, tuple[str, ...]]:
    """Returns the names of the fastest tiles on an open device of WebGPU for products of EDGES rows, for each operation
    in TILED: matmul reads the rows of B, linear its columns. Leaves out sizes for which the device has no memory."""
    from lanewise.timing import Contestant, measure

    gpu = place_of(Backend.WGPU, device.index)

    def wait(_: object) -> None:
        _ext.synchronize(gpu)

    def multiply(tile: int, function: Any, a: Any, b: Any) -> Any:
        _ext.choose_tiles(gpu, (tile,), (tile,))
        return function(a, b)

    found: dict[str, list[str]] = {name: [] for name in TILED}
    try:
        for edge in EDGES:
            a, b = (placement.move(_ext.rand((edge, edge), seed=seed), gpu) for seed in range(2))
            slowest = 0.0
            for name, tiles in found.items():
                contestants = [
                    Contestant.calling(tile, partial(multiply, number, getattr(_ext, name)), a, b, finish=wait)
                    for number, tile in enumerate(_ext.tile_names())
                ]
                timings = measure(
                    contestants, repeats=REPEATS, sample_seconds=SAMPLE_SECONDS, warm_seconds=WARM_SECONDS
                )
                limit = min(timing.minimum for timing in timings) * NOISE
                tiles.append(next(timing.name for timing in timings if timing.minimum <= limit))
                slowest = max(slowest, *(timing.minimum for timing in timings))
            if slowest > MAX_SECONDS * 1e9:
                break
    except OutOfMemoryError:
        pass  # the largest matrices are too large for this GPU
    finally:
        choose(device)
    return {name: tuple(tiles) for name, tiles in found.items()}


def choose(device: DeviceInfo) -> None:
    """Makes an open device of WebGPU use the tiles that were measured on this adapter and driver, or the default."""
    calibration = selection.calibration_in_use()
    times = calibration.gpu if calibration else None
    is_measured = times and (times.backend, times.adapter, times.driver) == (Backend.WGPU, device.name, device.driver)
    tiles = times.tiles if times and is_measured else {}
    numbers = (tuple(map(_ext.tile_names().index, tiles.get(name, ()))) for name in TILED)
    _ext.choose_tiles(place_of(Backend.WGPU, device.index), *numbers)
