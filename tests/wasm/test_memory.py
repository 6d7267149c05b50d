"""The heap of WebAssembly: what does not fit is a MemoryError and nothing worse, and growth moves nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyodide_fixture
import pytest
from engines import Engine

PROGRAM = Path(__file__).parent / "programs" / "memory.py"


@pytest.fixture(scope="session")
def found(engine: Engine) -> dict[str, Any]:
    results: dict[str, Any] = engine.run(PROGRAM)
    return results


def test_what_is_kept(found: dict[str, Any]) -> None:
    kept = found["kept"]
    block = 1 << 24
    assert kept["used"]["cached_bytes"] == 0 and kept["used"]["allocated_bytes"] >= block
    assert kept["kept"]["cached_bytes"] == block
    assert kept["kept"]["allocated_bytes"] == kept["used"]["allocated_bytes"] - block
    assert kept["limited"]["cached_bytes"] == 0
    assert kept["limit"] == kept["default"] == 1 << 28


def test_more_than_the_heap_can_hold_is_refused(found: dict[str, Any]) -> None:
    for way, refusal in found["too_large"].items():
        assert {"OutOfMemoryError", "MemoryError"} <= set(refusal["raised"]), (way, refusal["message"])
        assert refusal["next"] == [4.0, 6.0], way


def test_a_full_heap_is_survived(found: dict[str, Any]) -> None:
    full = found["used_up"]
    assert "MemoryError" in full["raised"], full["message"]
    assert full["next"] == [4.0, 6.0]
    assert full["taken"] > 1 << 31
    assert full["highest"] > 1 << 31  # the sign bit of an address is a bit like any other
    assert full["sum"] == 1 << 22
    assert full["afterwards"] == 2 << 22


def test_growth_loses_nothing(found: dict[str, Any]) -> None:
    growth = found["growth"]
    assert growth["sizes"] == sorted(set(growth["sizes"])) and len(growth["sizes"]) == 4
    assert growth["wrong"] == []


def test_views_stay_valid_when_memory_grows(found: dict[str, Any], engine: Engine) -> None:
    growth = found["growth"]
    assert growth["view"]
    if pyodide_fixture.carries(engine.version, "numpy"):
        assert growth["numpy"] == [[0, 1, 2, 3, 4], -7, [5, -6, 7, 8, 9]]
    else:
        assert growth["row"] == [5, 6, 7, 8, 9]
