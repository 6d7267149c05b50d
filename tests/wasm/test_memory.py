"""Tests the WebAssembly heap: a tensor that does not fit raises MemoryError, and tensors survive the heap's growth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engines import EMCC, KINDS, Engine

from wasm import releases

PROGRAM = Path(__file__).parent / "programs" / "memory.py"
pytestmark = pytest.mark.parametrize("engine", [*KINDS, EMCC], indirect=True, scope="session")


@pytest.fixture(scope="session")
def results(engine: Engine) -> dict[str, Any]:
    answer: dict[str, Any] = engine.run(PROGRAM)
    return answer


def test_freed_memory_is_cached_within_the_limit(results: dict[str, Any]) -> None:
    kept = results["kept"]
    block = 1 << 24
    assert kept["used"]["cached_bytes"] == 0 and kept["used"]["allocated_bytes"] >= block
    assert kept["kept"]["cached_bytes"] == block
    assert kept["kept"]["allocated_bytes"] == kept["used"]["allocated_bytes"] - block
    assert kept["limited"]["cached_bytes"] == 0
    assert kept["limit"] == kept["default"] == 1 << 28


def test_more_than_the_heap_can_hold_is_refused(results: dict[str, Any]) -> None:
    for way, refusal in results["too_large"].items():
        assert {"OutOfMemoryError", "MemoryError"} <= set(refusal["raised"]), (way, refusal["message"])
        assert refusal["next"] == [4.0, 6.0], way


def test_a_full_heap_is_survived(results: dict[str, Any]) -> None:
    full = results["used_up"]
    assert "MemoryError" in full["raised"], full["message"]
    assert full["next"] == [4.0, 6.0]
    assert full["taken"] > 1 << 31
    assert full["highest"] > 1 << 31  # a tensor lies above 2 GiB, where addresses must not be read as negative numbers
    assert full["sum"] == 1 << 22
    assert full["afterwards"] == 2 << 22


def test_growth_keeps_all_values(results: dict[str, Any]) -> None:
    growth = results["growth"]
    assert growth["sizes"] == sorted(set(growth["sizes"])) and len(growth["sizes"]) == 4
    assert growth["wrong"] == []


def test_views_stay_valid_when_memory_grows(results: dict[str, Any], engine: Engine) -> None:
    growth = results["growth"]
    assert growth["view"]
    if releases.carries(engine.version, "numpy"):
        assert growth["numpy"] == [[0, 1, 2, 3, 4], -7, [5, -6, 7, 8, 9]]
    else:
        assert growth["row"] == [5, 6, 7, 8, 9]
