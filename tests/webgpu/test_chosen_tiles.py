"""Tests every tile of matrix products, and that lw.calibrate() measures which ones a GPU uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from harness import Runner, on_gpu
from openers import Switch

import lanewise as lw
from lanewise import _ext, registry, selection, tiles
from lanewise.backend import Backend
from lanewise.calibration import KINDS, PROMOTED, TILED, Calibration, GpuTimes

TILES = _ext.tile_names()
HOST = selection.default_backend()


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    yield
    selection.follow(None)
    _ext.choose_tiles("wgpu", (), ())


def normal(*shape: int, seed: int = 4) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("n", [450, 512])
@pytest.mark.parametrize("k", [20, 33, 1030])
def test_products(gpu: Runner, tile: str, n: int, k: int) -> None:
    """Of sizes for which no tile has too many elements beyond the edges, in all orders of the elements."""
    m = 197
    _ext.choose_tiles("wgpu", *(2 * ((TILES.index(tile),),)))
    a, b = normal(2, m, k), normal(k, n, seed=5)
    expected, size = a.astype(np.float64) @ b, abs(a).astype(np.float64) @ abs(b)
    x, y, left, right = on_gpu(a), on_gpu(b), on_gpu(a.swapaxes(1, 2)), on_gpu(b.T)
    for result in (x @ y, x @ right.T, left.mT @ y, left.mT @ right.T):
        assert (abs(np.asarray(result) - expected) <= 1e-6 * size).all()


def test_measuring(gpu: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "EDGES", (64, 128))
    monkeypatch.setattr(tiles, "SAMPLE_SECONDS", 1e-5)
    monkeypatch.setattr(tiles, "WARM_SECONDS", 0.0)
    device, *_ = registry.devices(Backend.WGPU)
    found = tiles.measured(device)
    assert found.keys() == set(TILED)
    assert all(len(names) == 2 and set(names) <= set(TILES) for names in found.values())
    monkeypatch.setattr(tiles, "MAX_SECONDS", 0.0)
    assert [len(names) for names in tiles.measured(device).values()] == [1, 1], "no larger products"


def test_measured_tiles_are_used(switch: Switch, adapter: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a calibration of this adapter and driver is there, and when the device is opened after that."""
    switch.use(None)
    device, *_ = registry.devices(Backend.WGPU)
    chosen: list[Any] = []
    choose = _ext.choose_tiles
    monkeypatch.setattr(_ext, "choose_tiles", lambda *arguments: (chosen.append(arguments), choose(*arguments)))
    numbers = GpuTimes(
        backend=Backend.WGPU,
        adapter=device.name,
        driver=device.driver,
        threads=1,
        opening=0.0,
        latency=1e9,
        upload=0.0,
        download=0.0,
        rates=dict.fromkeys(PROMOTED, (1.0, 1.0)),
        tiles={"matmul": TILES[1:3], "linear": TILES[:1]},
    )
    for gpu, expected in (
        (numbers, ((1, 2), (0,))),
        (numbers._replace(driver="another one"), ((), ())),
        (numbers._replace(adapter="another one"), ((), ())),
        (None, ((), ())),
    ):
        selection.follow(Calibration({HOST: dict.fromkeys(KINDS, 1.0)}, "2026-11-24", gpu=gpu))
        lw.reset("wgpu")
        assert chosen == 2 * [("wgpu", *expected)]
        chosen.clear()
    selection.follow(None)
    assert chosen == [("wgpu", (), ())]
