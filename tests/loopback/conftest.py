"""Builds lanewise with loopback, a device made for tests (loopback.c), and gives each test a new device. Afterwards,
checks that the test left no memory behind, on the device or on the host."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "build" / "loopback"


def obstacle() -> str:
    """Returns why these tests cannot run, "" if they can. Builds the package, and makes it the one that is imported."""
    if sys.platform != "linux":
        return "loopback.c uses functions of Linux"
    if "lanewise" not in sys.modules:
        sys.path[:0] = [str(ROOT), str(ROOT / "contracts"), str(ROOT / "tests"), str(ROOT / "tests" / "sweep")]
        from tests.loopback.loopback import build_package

        build_package(PACKAGE)
        sys.path[:0] = [str(PACKAGE)]
    from lanewise import _ext

    if not hasattr(_ext, "open_loopback"):
        return "another lanewise was imported before; run the stage loopback by itself"
    if not os.environ.get("LANEWISE_LOOPBACK"):  # or else tests/conftest.py has registered it
        from tests.loopback.provider import register

        register()
    return ""


OBSTACLE = obstacle()


@pytest.fixture(autouse=True, scope="module")
def quick_collections() -> Iterator[None]:
    """Exempts what modules, and tests of files that have run, leave behind, such as the oracle's cases, from garbage
    collections, of which each test runs two."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[None]:
    """Opens a new device, on which no fault is switched on."""
    if OBSTACLE:
        pytest.skip(OBSTACLE)
    import lanewise as lw
    from lanewise import _ext

    gc.collect()
    lw.init_backend("wgpu")
    lw.reset("wgpu")
    _ext.inject("none", 0)
    _ext.slow_reads(0)
    host, failed = lw.memory_stats()["allocated_bytes"], request.session.testsfailed
    yield
    _ext.inject("none", 0)
    _ext.slow_reads(0)
    if request.session.testsfailed == failed:  # the traceback of a failure refers to tensors
        gc.collect()
        lw.empty_cache()
        assert _ext.live_blocks() == 0
        assert lw.memory_stats()["allocated_bytes"] == host
