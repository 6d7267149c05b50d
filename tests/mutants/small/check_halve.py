"""Tests code/halve.yaml; it must fail for mutants of that file."""

from pathlib import Path
from typing import Any

import yaml

contract: dict[str, Any] = yaml.safe_load(Path("code/halve.yaml").read_text(encoding="utf-8"))
assert contract["strict"] is True and contract["tolerance"] == {"absolute": 1e-6}
assert len(contract["rows"]) == contract["count"] == 3
for row in contract["rows"]:
    expected = (row["x"] if row["x"] >= 0 else max(row["x"], -9.0) + 2) / 2
    assert eval(contract["reference"], {"x": row["x"], "max": max, "min": min}) == expected == row["out"]
