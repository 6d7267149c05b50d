"""Tests the digits demo in an engine of each kind: all backends predict what NumPy and the native scalar backend do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyodide_runner
import pytest
from engines import EMCC, KINDS, Engine

from wasm import releases

PROGRAM = Path(__file__).parent / "programs" / "digits.py"
pytestmark = pytest.mark.parametrize("engine", [*KINDS, EMCC], indirect=True, scope="session")


@pytest.fixture(scope="session")
def native() -> dict[str, Any]:
    report: dict[str, Any] = pyodide_runner.load(PROGRAM).report("--backend", "scalar")
    return report


def test_predictions(engine: Engine, native: dict[str, Any], notes: list[str], request: pytest.FixtureRequest) -> None:
    report = engine.run(PROGRAM)
    readers = {each["name"]: each["images_per_second"] for each in report["readers"]}
    numpy = {"numpy"} if releases.carries(engine.version, "numpy") else set()
    assert set(readers) == engine.backends | numpy
    assert report["agree"] and report["status"] == 0
    assert report["predictions"] == native["predictions"]
    figures = ", ".join(f"{name} {speed:,}" for name, speed in readers.items())
    notes.append(f"digits in {request.node.callspec.id}, images/s: {figures}")
