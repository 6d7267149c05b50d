"""Tests lanewise in an engine without SIMD. V8 has no SIMD on a processor without SSE4.1, and a flag makes it assume
such a processor. The wheel installs there, but its import raises an error. The wheel of scalar kernels computes."""

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
from pyodide_runner import ProgramError

PROGRAM = Path(__file__).parent / "programs" / "smoke.py"
FLAG = "--no-enable-sse4-1"
ERROR = (
    r"BackendUnavailableError: lanewise: expected a WebAssembly engine with SIMD128, as Chrome 91, .* have .*, got one "
    r"without; use such an engine, or the wheel that `python wasm/build.py --only scalar` makes"
)

pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="only x86 has engines without SIMD"
)


@pytest.fixture(scope="module")
def old_chromium(driver: chromium.Driver) -> Iterator[chromium.Chromium]:
    with closing(driver.launch([FLAG])) as browser:
        yield browser


def check_refused(engine: engines.Engine) -> None:
    for _ in range(2):  # a second import must not succeed with a part of the package
        with pytest.raises(ProgramError, match=ERROR):
            engine.run(PROGRAM)


@pytest.mark.parametrize(("version", "place"), [engines.IN_NODE[0], engines.IN_NODE[-1]])
def test_in_node(version: str, place: str, wheel: Path) -> None:
    folder = engines.distribution(version)
    with closing(engines.NodeEngine(engines.node(place), folder, version, wheel, [FLAG])) as engine:
        check_refused(engine)


def test_in_chromium(old_chromium: chromium.Chromium, site: LocalSite) -> None:
    """With the newest release that all browsers run; the oldest one runs so on the landing page."""
    check_refused(engines.BrowserEngine(Console(old_chromium, site, engines.NEWEST)))


def test_the_wheel_of_scalar_kernels_computes(scalar_wheel: Path) -> None:
    version, place = engines.IN_NODE[0]
    folder = engines.distribution(version)
    with closing(engines.NodeEngine(engines.node(place), folder, version, scalar_wheel, [FLAG])) as engine:
        results = engine.run(PROGRAM)
    assert set(results) == {"scalar"}
    assert results["scalar"]["backend"] == ["scalar", "scalar"]
    assert results["scalar"]["added"] == [1024 + index * 0.25 for index in range(1024)]
