"""Fixtures for the tests of lw.calibrate()."""

from __future__ import annotations

import pytest

import lanewise as lw
from lanewise.backends import selection


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
def threads_used(thread_counts):
    """Returns a function that runs `setup` in a process of its own, sets two threads and calls exp of 1 MB, expected to
    take 34 us on one thread. It returns how many threads the calls used and how many could run at once."""

    def run(setup: str) -> list[int]:
        calls = "x = lw.ones(1 << 18)\nfor _ in range(100): lw.exp(x)\nprint(count(), _ext.get_running_threads())"
        program = f"lw.set_num_threads(2)\n{setup}\n{calls}"
        return thread_counts(program, LANEWISE_BACKEND=lw.best_available_backend().value)

    return run
