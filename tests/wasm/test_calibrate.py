"""Tests lw.calibrate() in Pyodide: it measures the backends of the engine, and keeps the result while Pyodide runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engines import KINDS, Engine

PROGRAM = Path(__file__).parent / "programs" / "calibrate.py"
pytestmark = pytest.mark.parametrize("engine", KINDS, indirect=True, scope="session")


@pytest.fixture(scope="session")
def results(engine: Engine) -> dict[str, Any]:
    answer: dict[str, Any] = engine.run(PROGRAM)
    return answer


def test_every_library_is_measured(results: dict[str, Any], engine: Engine, notes: list[str]) -> None:
    assert set(results["order"]) == engine.backends
    assert set(results["costs"]) == engine.backends and min(results["costs"].values()) > 0
    notes.append(f"calibrated, {engine.version}: {results['costs']}")


def test_the_calibration_lasts_as_long_as_the_page(results: dict[str, Any], engine: Engine) -> None:
    assert results["kept"] and results["used"] == results["order"][0]
    assert results["path"] is None
    assert results["forgotten"] and results["default"] in engine.backends
