"""lw.calibrate() in Pyodide: it measures the libraries that the engine runs, and holds for the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engines import Engine

PROGRAM = Path(__file__).parent / "programs" / "calibrate.py"


@pytest.fixture(scope="session")
def found(engine: Engine) -> dict[str, Any]:
    results: dict[str, Any] = engine.run(PROGRAM)
    return results


def test_every_library_is_measured(found: dict[str, Any], engine: Engine, notes: list[str]) -> None:
    assert set(found["order"]) == engine.backends
    assert found["order"][-1] == "scalar"
    assert all(len(row) == 5 and min(row.values()) >= 1 for row in found["times"].values())
    notes.append(f"calibrated, {engine.version}: {found['times']}")


def test_it_holds_for_the_page(found: dict[str, Any]) -> None:
    assert found["kept"] and found["used"] == found["order"][0]
    assert found["path"] is None
    assert found["forgotten"] and found["default"] in ("relaxed_simd", "simd128", "scalar")
