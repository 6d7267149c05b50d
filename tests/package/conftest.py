"""Fixtures for the tests of lw.calibrate()."""

from __future__ import annotations

import pytest

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
