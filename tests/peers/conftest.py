"""Tests against peers: the same calls to NumPy, SciPy and, if installed, PyTorch, with inputs drawn by hypothesis.
tests/sweep compares with references of this project; these tests compare with independent implementations where a
reference is not a call of NumPy itself. Shapes, views and indexing are compared with NumPy in tests/sweep/test_numpy.py
and tests/package/test_shaping.py, sorting in tests/package/test_sorting.py."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / each) for each in ("contracts", "tests", "tests/sweep", "tests/peers")]

import support  # noqa: E402


@pytest.fixture(scope="session")
def torch() -> Any:
    """The module torch, set to run on one thread."""
    try:
        import torch
    except ImportError:
        support.absent("PyTorch is not installed (pip install torch; the CPU build suffices)", "torch")
    torch.set_num_threads(1)
    return torch
