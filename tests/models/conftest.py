"""Tests of the models: each operation that promises the same bits against a model of its order of operations."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / each) for each in ("contracts", "tests", "tests/sweep")]
