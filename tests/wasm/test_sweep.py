"""Every operation in every Pyodide: the oracle's cases, on each backend that the engine has. An operation is tested
here because its contract has a reference; nobody names it."""

from __future__ import annotations

import os
from pathlib import Path

import pyodide_runner
import pytest

from lanewise import operations

TESTS = Path(__file__).parents[1]
ORACLE = Path(os.environ.get("LANEWISE_ORACLE", TESTS.parent / "build" / "oracle"))
OPERATIONS = [name for name in operations.names() if (ORACLE / f"{name}.bin").exists()]

Complaints = dict[str, dict[str, list[str]]]  # operation, backend


@pytest.fixture(scope="session")
def complaints(pyodide: Path, wheel: Path) -> Complaints:
    found: Complaints = pyodide_runner.run(
        pyodide,
        TESTS / "wasm" / "programs" / "sweep.py",
        packages=[wheel],
        mounts={"/tests": TESTS, "/oracle": ORACLE},
        timeout=900,
    )
    return found


def test_the_oracle_is_there() -> None:
    assert OPERATIONS, f"nothing in {ORACLE}; run: python contracts/generate.py --oracle {ORACLE}"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_results(operation: str, complaints: Complaints) -> None:
    assert {"simd128", "scalar"} <= set(complaints[operation])
    wrong = [f"{backend}: {text}" for backend, texts in complaints[operation].items() for text in texts]
    assert not wrong, "\n".join(wrong)
