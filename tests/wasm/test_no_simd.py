"""An engine without SIMD: V8 has none where the processor lacks SSE4.1, and its flag makes it believe so. The wheel
installs there, and the scalar kernels do everything."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import chromium
import engines
import pyodide_fixture
import pytest
from local_site import LocalSite

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PROGRAM = Path(__file__).parent / "programs" / "smoke.py"
FLAG = "--no-enable-sse4-1"

pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="only x86 has engines without SIMD"
)


@pytest.fixture
def old_browser(launcher: chromium.Chromium) -> Iterator[Browser]:
    opened = launcher.launch([FLAG])
    yield opened
    opened.close()


def check(engine: engines.Engine) -> None:
    results = engine.run(PROGRAM)
    assert set(results) == {"scalar"}
    assert results["scalar"]["backend"] == ["scalar", "scalar"]
    assert results["scalar"]["added"] == [1024 + index * 0.25 for index in range(1024)]


@pytest.mark.parametrize("version", sorted(pyodide_fixture.DISTRIBUTIONS))
def test_in_node(version: str, node: str, wheel: Path) -> None:
    check(engines.NodeEngine(node, engines.distribution(version), version, wheel, [FLAG]))


@pytest.mark.parametrize("version", sorted(pyodide_fixture.DISTRIBUTIONS))
def test_in_chromium(version: str, old_browser: Browser, site: LocalSite) -> None:
    console = chromium.Console(old_browser, site, version, worker=False)
    check(engines.BrowserEngine(console, version))
