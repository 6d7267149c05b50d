"""What several folders of tests share: the support matrix, and what becomes of a test for which something is missing.

The support matrix: operations down, backends across, from what tests saw in this run and from nothing else.

A folder of tests notes each outcome and saves them when it ends; the table in build/reports/support.md is then made
anew from all that was saved since the build. Folders run in processes of their own, so each has a file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

REPORTS = Path(__file__).resolve().parents[1] / "build" / "reports"
SAVED = REPORTS / "support"
TABLE = REPORTS / "support.md"
ORDER = ("cuda", "wgpu", "avx512", "avx2", "avx", "sse2", "neon", "relaxed_simd", "simd128", "scalar")  # of columns

_seen: dict[str, dict[str, bool]] = {}  # operation -> backend -> whether all its tests passed


def note(operation: str, backend: str, passed: bool) -> None:
    """Remembers one test's outcome; a skipped test says nothing."""
    backends = _seen.setdefault(operation, {})
    backends[backend] = passed and backends.get(backend, True)


def save(folder: str) -> None:
    """Writes what was noted here, and the table of what all folders noted."""
    if not _seen:
        return
    SAVED.mkdir(parents=True, exist_ok=True)
    (SAVED / f"{folder}.json").write_text(json.dumps(_seen, indent=1, sort_keys=True), encoding="utf-8")
    publish()


def publish() -> None:
    """Writes the table of what all folders noted."""
    if SAVED.exists():
        TABLE.write_text(table(_merged()), encoding="utf-8")


def clear() -> None:
    """Forgets earlier runs."""
    for path in (*SAVED.glob("*.json"), TABLE):
        path.unlink(missing_ok=True)


def _merged() -> dict[str, dict[str, bool]]:
    merged: dict[str, dict[str, bool]] = {}
    for path in sorted(SAVED.glob("*.json")):
        for operation, backends in json.loads(path.read_text(encoding="utf-8")).items():
            for backend, passed in backends.items():
                known = merged.setdefault(operation, {})
                known[backend] = passed and known.get(backend, True)
    return merged


def gaps(operations: Iterable[str], backends: Iterable[str]) -> list[str]:
    """What the matrix lacks: a line for each operation that did not run, or failed, on one of the backends."""
    merged, lacking, backends = _merged(), [], tuple(backends)
    for operation in operations:
        missing = [backend for backend in backends if not merged.get(operation, {}).get(backend)]
        if missing:
            lacking.append(f"{operation}: no tick for {', '.join(missing)}")
    return lacking


def table(outcomes: dict[str, dict[str, bool]]) -> str:
    """Markdown."""
    backends = [backend for backend in ORDER if any(backend in known for known in outcomes.values())]
    signs = {True: "✓", False: "✗", None: ""}
    lines = [
        "Ticked: every test of the operation on the backend passed in this run. Crossed: one failed. Empty: not run.",
        "",
        f"| operation | {' | '.join(backends)} |",
        f"|---|{'---|' * len(backends)}",
    ]
    for operation, known in sorted(outcomes.items()):
        lines.append(f"| {operation} | {' | '.join(signs[known.get(backend)] for backend in backends)} |")
    return "\n".join(lines) + "\n"


def absent(reason: str, what: str) -> None:
    """Skips the test, or fails it where LANEWISE_REQUIRE names what is missing."""
    import pytest

    if what in os.environ.get("LANEWISE_REQUIRE", "").split(","):
        pytest.fail(reason)
    pytest.skip(reason)
