"""Tests operations that promise the same bits everywhere against models of the order in which they compute."""

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
    """A CPU backend that runs what the test computes."""
    with lw.use_backend(request.param):
        yield request.param
