"""Tests lanewise in an engine without SIMD. V8 has no SIMD on a processor without SSE4.1, and a flag makes it assume
such a processor. The wheel installs there, and operations run on the scalar kernels."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import chromium
import engines
import pytest
from console import Console
from local_site import LocalSite

PROGRAM = Path(__file__).parent / "programs" / "smoke.py"
FLAG = "--no-enable-sse4-1"

pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="only x86 has engines without SIMD"
)


@pytest.fixture(scope="module")
def old_chromium(driver: chromium.Driver) -> Iterator[chromium.Chromium]:
    with closing(driver.launch([FLAG])) as browser:
        yield browser


def check(engine: engines.Engine) -> None:
    results = engine.run(PROGRAM)
    assert set(results) == {"scalar"}
    assert results["scalar"]["backend"] == ["scalar", "scalar"]
    assert results["scalar"]["added"] == [1024 + index * 0.25 for index in range(1024)]


@pytest.mark.parametrize(("version", "place"), [engines.IN_NODE[0], engines.IN_NODE[-1]])
def test_in_node(version: str, place: str, wheel: Path) -> None:
    folder = engines.distribution(version)
    with closing(engines.NodeEngine(engines.node(place), folder, version, wheel, [FLAG])) as engine:
        check(engine)


def test_in_chromium(old_chromium: chromium.Chromium, site: LocalSite) -> None:
    """With the newest release that all browsers run; the oldest one runs so on the landing page."""
    check(engines.BrowserEngine(Console(old_chromium, site, engines.NEWEST)))
