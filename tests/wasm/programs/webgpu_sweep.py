"""Runs the oracle's cases of the operations that /oracle/operations.txt names on WebGPU, as sweep.py does on the CPU's
backends. Returns the complaints about each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path += ["/tests", "/tests/wasm/programs"]
import oracle_file
import sweep


def complaints(entry: dict[str, Any]) -> list[str]:
    path = Path("/oracle") / f"{entry['name']}.bin"
    if not path.exists():  # without an oracle file, a check of several.py runs
        found = sweep.check(entry["name"], "wgpu", ["float32"])
    else:
        sequence = any(one["sequence"] for one in entry["inputs"])
        found = sweep.try_all(entry["name"], oracle_file.read(path), "wgpu", {}, sequence=sequence)
    return list(found["complaints"])


def results() -> dict[str, list[str]]:
    names = Path("/oracle/operations.txt").read_text().split()
    return {entry["name"]: complaints(entry) for entry in sweep.table() if entry["name"] in names}


results() if __name__ == "__main__" else None
