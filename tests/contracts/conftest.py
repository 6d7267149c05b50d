"""Fixtures: a valid contract (the YAML text that defines an operation), and a folder with it that a test may modify."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "contracts")]


SLANT = """\
operation: slant
kind: elementwise
summary: "Each element where it is positive, scaled by a slope elsewhere."
source: "this test"
inputs:
  x: {doc: "any shape"}
parameters:
  slope: {type: float, default: 0.01, doc: "of the part below zero"}
dtypes: {float32: float32}
complexity: low
reproducible: true
reference: "np.where(x > 0, x, slope * x)"
domain: {x: {low: -100, high: 100}}
special:
  - {x: .nan, out: .nan}
laws:
  slope_1_is_the_identity: {says: "slope 1 is the identity", holds: "op(x, slope=1.0) == x"}
example: |
  >>> lw.slant([-2.0, 2.0], slope=0.5).tolist()
  [-1.0, 2.0]
"""


@pytest.fixture
def slant() -> str:
    """The text of a valid contract, of an operation that Lanewise does not have."""
    return SLANT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A contracts folder with kinds.yaml and one contract."""
    contracts = tmp_path / "contracts"
    contracts.mkdir()
    shutil.copy(ROOT / "contracts" / "kinds.yaml", contracts)
    (contracts / "slant.yaml").write_text(SLANT, encoding="utf-8")
    return contracts
