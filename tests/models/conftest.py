"""Fixtures for the tests that compare operations with models: NumPy code that computes in the same order, so that all
bits must agree."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / each) for each in ("contracts", "tests", "tests/sweep")]

from tested import HOSTS  # noqa: E402

import lanewise as lw  # noqa: E402


@pytest.fixture(params=HOSTS, ids=[backend.value for backend in HOSTS])
def host(request: pytest.FixtureRequest) -> Iterator[lw.Backend]:
    """Runs the test once on each CPU backend of this machine."""
    with lw.use_backend(request.param):
        yield request.param
