"""The support matrix: operations down, backends across, made from what a run of the sweep saw."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from generator.schema import BACKENDS, Contract

TICK, CROSS = "✓", "✗"
_seen: dict[tuple[str, str], list[bool]] = defaultdict(list)


def note(operation: str, backend: str, report: pytest.TestReport) -> None:
    """Remembers one test's outcome. Skipped tests say nothing."""
    if report.failed or (report.passed and report.when == "call"):
        _seen[operation, backend].append(report.passed)


def cell(operation: str, backend: str) -> str:
    outcomes = _seen.get((operation, backend))
    return "" if outcomes is None else TICK if all(outcomes) else CROSS


def write(path: Path, contracts: tuple[Contract, ...]) -> None:
    """A Markdown table; nothing when no operation was tested."""
    if not _seen:
        return
    public = [contract for contract in contracts if not contract.internal]
    backends = [backend for backend in BACKENDS if any(key[1] == backend for key in _seen)]
    lines = [
        "Ticked: all tests of the operation on the backend passed in this run. Crossed: one failed. Empty: not run.",
        "",
        f"| operation | {' | '.join(backends)} |",
        f"|---|{'---|' * len(backends)}",
    ]
    for contract in public:
        cells = " | ".join(cell(contract.operation, backend) for backend in backends)
        lines.append(f"| {contract.operation} | {cells} |")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
