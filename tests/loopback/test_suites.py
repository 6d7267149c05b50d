"""Runs tests of other stages on the device loopback, if what they test differs on a device. Those of the sweep name the
backend that it stands for; for the others it is the default backend, so that every tensor is on the device."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "build" / "loopback"  # built by conftest.py
LINES = 60  # of the output to show if a test fails

# The sweep's tests of calls: their layouts, indices, dtypes and out. The others test the kernels' numbers, and loopback
# has those of the CPU.
CALLS = [f"tests/sweep/test_{name}.py" for name in ("dtypes", "indices", "operations", "out")]
# Tests of what has no tensors on a device: the command line, and how libraries are found.
WITHOUT_TENSORS = [f"--ignore=tests/package/test_{name}.py" for name in ("bench", "cli", "discovery", "libraries")]
# A folder of tests -> LANEWISE_LOOPBACK, which of its tests to run, and a number that more than so many must pass.
SUITES = {
    "sweep": ("1", (*CALLS, "-k", "wgpu"), 1300),
    "extension": ("default", ("tests/extension", "-m", "not host"), 1050),
    "package": ("default", ("tests/package", *WITHOUT_TENSORS, "-m", "not host"), 1900),
}


@pytest.mark.parametrize("suite", SUITES)
def test_suites(suite: str) -> None:
    loopback, chosen, least = SUITES[suite]
    environment = {
        **os.environ,
        "LANEWISE_LOOPBACK": loopback,
        "LANEWISE_REQUIRE": "",  # no backend but this one is tested
        "LANEWISE_NO_MATRIX": "1",
        "PYTHONPATH": str(PACKAGE),
        "PYTHONSAFEPATH": "1",  # or else Python would import lanewise/ from the checkout
    }
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", *chosen]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1200
    )
    lines = done.stdout.splitlines()
    if done.returncode:
        print(*lines[-LINES:], sep="\n")
    assert done.returncode == 0
    passed = re.search(r"\b(\d+) passed\b", lines[-1])
    assert passed and int(passed[1]) > least, lines[-1]
