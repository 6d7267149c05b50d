"""The tiles of matrix products on a GPU. lw.calibrate() measures which size is the fastest, and its file keeps that.

It depends on what WebGPU does not tell: the GPU's registers, workgroup memory and number of cores, and its compiler. On
an NVIDIA H200, each of three sizes is the fastest for some products, by up to a tenth.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from lanewise import _ext, placement, selection
from lanewise.calibration import TILED
from lanewise.devices import DeviceInfo

__all__ = ["choose", "measured"]

EDGES: Final = (512, 1024, 2048, 4096)  # rows and columns of the matrices
MAX_SECONDS: Final = 0.05  # larger products are not measured if one takes longer
NOISE: Final = 1.03  # tiles that take at most this many times as long as the fastest keep the order of tile_names()
REPEATS: Final = 5
SAMPLE_SECONDS: Final = 0.01
WARM_SECONDS: Final = 0.03


def measured(gpu: str) -> dict[str, tuple[str, ...]]:
    """Returns the names of the fastest tiles for products of EDGES rows, for each operation in TILED: matmul multiplies
    by the rows of a matrix, linear by its columns. Makes the open GPU, given by its place, use the default tiles."""
    from lanewise.timing import Contestant, measure

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
    finally:
        _ext.choose_tiles(gpu, (), ())
    return {name: tuple(tiles) for name, tiles in found.items()}


def choose(gpu: str, device: DeviceInfo) -> None:
    """Makes an open GPU, given by its place, use the tiles that were measured on such an adapter and driver, or the
    default ones."""
    calibration = selection.calibration_in_use()
    times = calibration.gpu if calibration else None
    is_measured = times and (times.adapter, times.driver) == (device.name, device.driver)
    tiles = times.tiles if times and is_measured else {}
    _ext.choose_tiles(gpu, *(tuple(map(_ext.tile_names().index, tiles.get(name, ()))) for name in TILED))
