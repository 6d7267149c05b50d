"""Fixtures for the tests of lw.calibrate()."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import lanewise as lw
from lanewise import selection


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Gives each test its own cache folder, and stops using any calibration before and after the test."""
    path = tmp_path / "cache" / "of lanewise"
    monkeypatch.setenv("LANEWISE_CACHE_DIR", str(path))
    monkeypatch.delenv("LANEWISE_BACKEND", raising=False)
    selection.follow(None)
    yield path
    selection.follow(None)


@pytest.fixture
def threads_used():
    """Returns a function that runs `setup` in a process of its own, sets two threads and calls exp of 1 MB, expected to
    take 34 us on one thread. It returns how many threads the calls used and how many could run at once."""
    if not sys.platform.startswith("linux"):
        pytest.skip("reads /proc")

    def run(setup: str) -> tuple[int, int]:
        program = f"""
import os
import lanewise as lw
from lanewise import _ext
lw.set_num_threads(2)
{setup}
x = lw.ones(1 << 18)
for _ in range(100):
    lw.exp(x)
print(len(os.listdir("/proc/self/task")), _ext.get_running_threads())"""
        environment = os.environ | {"LANEWISE_BACKEND": lw.best_available_backend().value}
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        used, running = map(int, done.stdout.split())
        return used, running

    return run
