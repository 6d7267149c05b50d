"""Tests lanewise in Pyodide, installed from its wheel: it adds and sums, with the same bits as the native backends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyodide_runner
import pytest
import support
from engines import BrowserEngine, Engine

PROGRAMS = Path(__file__).parent / "programs"
TERMS = 1 << 20


@pytest.fixture(scope="session")
def native() -> dict[str, Any]:
    """The results of smoke.py in this Python."""
    results: dict[str, Any] = pyodide_runner.load(PROGRAMS / "smoke.py").results()
    return results


@pytest.fixture(scope="session")
def inside(engine: Engine) -> dict[str, Any]:
    """The results of smoke.py in a Pyodide."""
    results: dict[str, Any] = engine.run(PROGRAMS / "smoke.py")
    return results


def test_the_backends_of_the_engine_are_there(inside: dict[str, Any], engine: Engine) -> None:
    assert set(inside) == engine.backends


def test_each_backend_runs_its_own_kernels(inside: dict[str, Any]) -> None:
    for name, result in inside.items():
        assert result["backend"] == [name, name]


def test_adds(inside: dict[str, Any]) -> None:
    expected = [1024 + index * 0.25 for index in range(1024)]
    for name, result in inside.items():
        assert result["added"] == expected, name


def test_sums_many_small_terms_accurately(inside: dict[str, Any]) -> None:
    for name, result in inside.items():
        assert abs(result["sum"] - TERMS * 0.1) < 0.2, name


def test_the_bits_are_those_of_the_native_backends(inside: dict[str, Any], native: dict[str, Any]) -> None:
    assert native, "no native backend ran"
    reproducible = {name: result["sum_bits"] for name, result in (native | inside).items() if name != "relaxed_simd"}
    assert len(set(reproducible.values())) == 1, reproducible


@pytest.mark.parametrize("engine", ["page-0.29.5"], indirect=True, scope="session")
def test_a_page_that_crashes_is_opened_again(
    engine: BrowserEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is recorded, but not in this run's summary. Later tests of the engine run in the new page."""
    from playwright.sync_api import Error

    monkeypatch.setattr(support, "REOPENED", tmp_path / "reopened.txt")
    with pytest.raises(Error, match="crash"):
        engine.console.page.open("chrome://crash")
    assert "simd128" in engine.run(PROGRAMS / "smoke.py")
    (line,) = support.reopened()
    assert line.startswith("Pyodide 0.29.5: ") and "crashed" in line
