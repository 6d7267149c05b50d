"""Tests operations on each backend of every engine, with the oracle's test cases: all of them in the engines WHOLE of
engines.py, a share of them in each of the others. The list of operations comes from operations.json, which is generated
from contracts/."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyodide_runner
import pytest
import support
from engines import SHARED, Engine, operations_of

TESTS = Path(__file__).parents[1]
ORACLE = Path(os.environ.get("LANEWISE_ORACLE", TESTS.parent / "build" / "oracle"))
PROGRAM = TESTS / "wasm" / "programs" / "sweep.py"

_SWEEP = pyodide_runner.load(PROGRAM)
_DESCRIBED = _SWEEP.described(ORACLE)
OPERATIONS = [each["name"] for each in _DESCRIBED]
REPRODUCIBLE = [each["name"] for each in _DESCRIBED if each["reproducible"]]

WASM = ("simd128", "relaxed_simd")  # backends that only a WebAssembly engine has

Findings = dict[str, dict[str, dict[str, Any]]]


def mounts_for(names: Sequence[str], folder: Path) -> dict[str, Path]:
    """Returns what programs/sweep.py needs to be mounted to run these operations. Copies their cases to the folder: a
    browser downloads and unpacks all that is mounted, and the cases of all operations are 47 MB."""
    for path in (ORACLE / "accepted.json", *(ORACLE / f"{name}.bin" for name in names)):
        if path.exists():
            shutil.copy(path, folder)
    (folder / "operations.txt").write_text("\n".join(names))
    return {"/tests": TESTS, "/oracle": folder}


@pytest.fixture(scope="session")
def findings(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Findings:
    """What programs/sweep.py returns in an engine: for each of its operations and backends, complaints and a digest."""
    mounts = mounts_for(operations_of(engine.name, OPERATIONS), tmp_path_factory.mktemp("oracle"))
    found: Findings = engine.run(PROGRAM, mounts=mounts, timeout=600)
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
    shared = [name for engine in SHARED for name in operations_of(engine, OPERATIONS)]
    assert sorted(shared) == sorted(OPERATIONS)


def test_results(findings: Findings, engine: Engine) -> None:
    assert sorted(findings) == sorted(operations_of(engine.name, OPERATIONS))
    wrong = []
    for operation, backends in findings.items():
        assert set(backends) == engine.backends
        for backend, found in backends.items():
            if backend in WASM:
                support.note(operation, backend, not found["complaints"], found["dtypes"])
            wrong += [f"{operation}, {backend}: {text}" for text in found["complaints"]]
    assert not wrong, "\n".join(wrong)


def test_the_bits_are_those_of_the_native_backends(findings: Findings, native: Findings) -> None:
    different = [
        (operation, backend)
        for operation in findings.keys() & set(REPRODUCIBLE)
        for backend, found in findings[operation].items()
        if backend != "relaxed_simd" and found["digest"] != native[operation]["scalar"]["digest"]
    ]
    assert not different
