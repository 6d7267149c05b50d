"""Runs tests of other stages on the device loopback. Those of the sweep name the backend that it stands for; for the
others it is the default backend, so that every tensor is on the device."""

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

# A folder of tests -> LANEWISE_LOOPBACK, which of its tests to run, and a number that more than so many must pass.
SUITES = {
    "sweep": ("1", ("-k", "wgpu"), 2080),
    "extension": ("default", ("-m", "not host"), 1150),
    "package": ("default", ("-m", "not host"), 2010),
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
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", f"tests/{suite}", *chosen]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1200
    )
    lines = done.stdout.splitlines()
    if done.returncode:
        print(*lines[-LINES:], sep="\n")
    assert done.returncode == 0
    passed = re.search(r"\b(\d+) passed\b", lines[-1])
    assert passed and int(passed[1]) > least, lines[-1]
