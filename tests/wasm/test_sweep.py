"""Tests every operation on each backend of every engine, with the oracle's test cases. The list of operations comes
from operations.json, which is generated from contracts/."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyodide_runner
import pytest
import support
from engines import Engine

TESTS = Path(__file__).parents[1]
ORACLE = Path(os.environ.get("LANEWISE_ORACLE", TESTS.parent / "build" / "oracle"))
PROGRAM = TESTS / "wasm" / "programs" / "sweep.py"

_SWEEP = pyodide_runner.load(PROGRAM)
_DESCRIBED = _SWEEP.described(ORACLE)
OPERATIONS = [each["name"] for each in _DESCRIBED]
REPRODUCIBLE = [each["name"] for each in _DESCRIBED if each["reproducible"]]

WASM = ("simd128", "relaxed_simd")  # backends that only a WebAssembly engine has

Findings = dict[str, dict[str, dict[str, Any]]]


@pytest.fixture(scope="session")
def findings(engine: Engine) -> Findings:
    """What programs/sweep.py returns in an engine: for each operation and backend, complaints and a digest."""
    found: Findings = engine.run(PROGRAM, mounts={"/tests": TESTS, "/oracle": ORACLE}, timeout=600)
    return found


@pytest.fixture(scope="session")
def native() -> Findings:
    """What programs/sweep.py returns on the native scalar backend. One native backend is enough, because tests/sweep
    checks that all of them give the same bits."""
    found: Findings = _SWEEP.sweep(ORACLE, ["scalar"])
    return found


def test_every_operation_is_covered() -> None:
    left_out = [each["name"] for each in _SWEEP.table() if each["name"] not in OPERATIONS]
    assert not left_out, f"{ORACLE} has no cases of {left_out}; run: python contracts/generate.py --oracle {ORACLE}"


@pytest.mark.parametrize("operation", OPERATIONS)
def test_results(operation: str, findings: Findings, engine: Engine) -> None:
    assert set(findings[operation]) == engine.backends
    for backend, found in findings[operation].items():
        if backend in WASM:
            support.note(operation, backend, not found["complaints"])
    wrong = [f"{backend}: {text}" for backend, found in findings[operation].items() for text in found["complaints"]]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("operation", REPRODUCIBLE)
def test_the_bits_are_those_of_the_native_backends(operation: str, findings: Findings, native: Findings) -> None:
    expected = native[operation]["scalar"]["digest"]
    different = [
        backend
        for backend, found in findings[operation].items()
        if backend != "relaxed_simd" and found["digest"] != expected
    ]
    assert not different
