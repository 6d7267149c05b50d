"""Tests the whole package on NEON, with its extension and Python code: an ARM wheel in an ARM Python, under qemu. It is
given a share of the operations, and all that have no kernels, because test_runner.py runs the oracle's cases of the
others on the NEON kernels; but all operations in dtypes that are only stored."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arm_python
import pytest

from native import build
from native.targets import TARGETS, host

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "wasm")]

import pyodide_runner  # noqa: E402
import support  # noqa: E402

ORACLE = Path(os.environ.get("LANEWISE_ORACLE", TESTS.parent / "build" / "oracle"))
PROGRAM = TESTS / "wasm" / "programs" / "sweep.py"
_DESCRIBED = pyodide_runner.load(PROGRAM).described(ORACLE)
WITHOUT_KERNELS = {each["name"] for each in _DESCRIBED if not each["kernels"] and each["kind"] != "cast"}
OPERATIONS = sorted({*support.share((each["name"] for each in _DESCRIBED), 0, 4), *WITHOUT_KERNELS})
PROMISED = [each["name"] for each in _DESCRIBED if each["reproducible"] and each["name"] in OPERATIONS]
BACKENDS = ("neon", "scalar")
SCRIPT = f"""
import json, sys
from pathlib import Path
sys.path[:0] = sys.argv[1:4]
import sweep
folder = Path(sys.argv[4])
print(json.dumps([sweep.sweep(folder, {BACKENDS!r}, sys.argv[5:]), sweep.sweep(folder, ["neon"], only_stored=True)]))
"""

Findings = dict[str, dict[str, dict[str, Any]]]


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory, absent: Callable[[str, str], None]) -> list[Findings]:
    """What sweep() of tests/wasm/programs/sweep.py finds in the ARM Python: for each operation and backend, complaints
    about wrong results of oracle cases, and a digest of all results. Then the same of all operations, but only in the
    dtypes that are stored."""
    python = [sys.executable]
    if host().name != "aarch64-linux":
        if missing := arm_python.missing():
            absent("neon", f"{missing} is not installed")
        python = arm_python.command()
    folder = tmp_path_factory.mktemp("arm")
    with zipfile.ZipFile(build.wheel(TARGETS["aarch64-linux"])) as wheel:
        wheel.extractall(folder)
    words = [*python, "-c", SCRIPT, str(folder), str(PROGRAM.parent), str(TESTS), str(ORACLE), *OPERATIONS]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr[-4000:]
    found: list[Findings] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="session")
def findings(both: list[Findings]) -> Findings:
    return both[0]


@pytest.fixture(scope="session")
def here() -> Findings:
    """What sweep() finds on the scalar backend of this machine, in the same form."""
    found: Findings = pyodide_runner.load(PROGRAM).sweep(ORACLE, ["scalar"], OPERATIONS)
    return found


@pytest.mark.parametrize("operation", OPERATIONS)
def test_results(operation: str, findings: Findings) -> None:
    assert set(findings[operation]) == set(BACKENDS)
    found = findings[operation]["neon"]
    support.note(operation, "neon", not found["complaints"], found["dtypes"])
    wrong = [f"{backend}: {text}" for backend, found in findings[operation].items() for text in found["complaints"]]
    assert not wrong, "\n".join(wrong)


def test_stored_dtypes(both: list[Findings]) -> None:
    wrong = []
    for operation, backends in both[1].items():
        found = backends["neon"]
        support.note(operation, "neon", not found["complaints"], found["dtypes"])
        wrong += [f"{operation}: {text}" for text in found["complaints"]]
    assert not wrong, "\n".join(wrong)


def test_the_bits_are_those_of_this_machine(findings: Findings, here: Findings) -> None:
    assert PROMISED
    different = [
        (name, backend)
        for name in PROMISED
        for backend in BACKENDS
        if findings[name][backend]["digest"] != here[name]["scalar"]["digest"]
    ]
    assert not different


def test_the_python_is_an_arm_python(absent: Callable[[str, str], None]) -> None:
    if host().name == "aarch64-linux" or shutil.which("qemu-aarch64") is None:
        pytest.skip("no emulation: this is an ARM machine, or qemu-aarch64 is not installed")
    if missing := arm_python.missing():
        absent("neon", f"{missing} is not installed")
    words = [*arm_python.command(), "-c", "import os; print(os.uname().machine)"]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() == "aarch64"
