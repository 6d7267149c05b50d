"""Writes the support matrix, and skips tests that this machine cannot run. Several folders of tests use this module.

The support matrix has a row for each operation and a column for each backend, and shows the tests of this run only.
Each folder of tests runs in a separate process. Before the process ends, it saves the outcomes of its tests to a file
of its own, and then writes build/reports/support.md from the files of all folders.
"""

from __future__ import annotations

import json
import os
import subprocess
import zlib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from native.compiler import Compiler
    from native.targets import Target

REPORTS = Path(__file__).resolve().parents[1] / "build" / "reports"
SAVED = REPORTS / "support"
TABLE = REPORTS / "support.md"
REOPENED = REPORTS / "reopened.txt"  # a line for each page that was opened once more
ORDER = ("cuda", "wgpu", "avx512", "avx2", "avx", "sse2", "neon", "relaxed_simd", "simd128", "scalar")  # of the columns

_seen: dict[str, dict[str, bool]] = {}  # operation -> backend -> whether all tests of this pair passed


def note(operation: str, backend: str, passed: bool) -> None:
    """Records the outcome of one test. Do not call it for a skipped test."""
    backends = _seen.setdefault(operation, {})
    backends[backend] = passed and backends.get(backend, True)


def save(folder: str) -> None:
    """Writes the outcomes that this process recorded for its folder, then the table of all folders. A test that runs
    tests of other folders sets LANEWISE_NO_MATRIX, so that their outcomes do not replace those of the folder itself."""
    if not _seen or os.environ.get("LANEWISE_NO_MATRIX"):
        return
    SAVED.mkdir(parents=True, exist_ok=True)
    (SAVED / f"{folder}.json").write_text(json.dumps(_seen, indent=1, sort_keys=True), encoding="utf-8")
    publish()


def publish() -> None:
    """Writes the table of all folders' outcomes."""
    if SAVED.exists():
        TABLE.write_text(table(_merged()), encoding="utf-8")


def note_reopened(page: str, error: object) -> None:
    """Records that a page of a browser did not boot, or crashed, and is opened once more. run.py's summary lists it."""
    line = f"{page}: {error}".partition("\n")[0]
    print(f"opened once more: {line}")
    REPORTS.mkdir(parents=True, exist_ok=True)
    with REOPENED.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


def reopened() -> list[str]:
    """Returns a line for each page that was opened once more."""
    return REOPENED.read_text(encoding="utf-8").splitlines() if REOPENED.exists() else []


def clear() -> None:
    """Deletes what earlier runs recorded."""
    for path in (*SAVED.glob("*.json"), TABLE, REOPENED):
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
    """Returns a line for each operation that failed, or did not run, on one of these backends."""
    merged, lacking, backends = _merged(), [], tuple(backends)
    for operation in operations:
        missing = [backend for backend in backends if not merged.get(operation, {}).get(backend)]
        if missing:
            lacking.append(f"{operation}: no tick for {', '.join(missing)}")
    return lacking


def table(outcomes: dict[str, dict[str, bool]]) -> str:
    """Returns the matrix in Markdown."""
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


@cache
def relaxed_simd_flags() -> tuple[str, ...] | None:
    """Returns the flags that Node needs to accept i8x16.relaxed_swizzle, or None if no flags make it do so."""
    module = "0,97,115,109,1,0,0,0,1,5,1,96,0,1,123,3,2,1,0,10,15,1,13,0,65,1,253,15,65,2,253,15,253,128,2,11"
    script = f"process.exit(WebAssembly.validate(new Uint8Array([{module}])) ? 0 : 1)"
    for flags in ((), ("--experimental-wasm-relaxed-simd",)):  # older versions of Node require the flag
        if subprocess.run(["node", *flags, "-e", script], capture_output=True, check=False).returncode == 0:
            return flags
    return None


def share(names: Iterable[str], offset: int, count: int) -> list[str]:
    """Returns the names in one of `count` shares, chosen by a hash, so that a name stays in its share when others are
    added. The shares 0 to count - 1 together have all names."""
    return [name for name in names if zlib.crc32(name.encode()) % count == offset]


def compiled_quickly(target: Target, using: Compiler, level: str = "-O1") -> tuple[Target, Compiler]:
    """Returns the target and zig with flags that take 0.6 of the time to compile kernels with the level -O1, a sixth
    with -O0. zig treats -O1 as -O3, so these choose its debug mode without what it adds, and then tell the compiler
    behind it how much to optimize."""
    flags = ("-fno-sanitize=undefined", "-g0", "-Xclang", level)
    return replace(target, optimization="-Og"), replace(using, cflags=(*using.cflags, *flags))


def absent(reason: str, what: str) -> None:
    """Skips the test, or fails it if LANEWISE_REQUIRE names `what`."""
    import pytest

    if what in os.environ.get("LANEWISE_REQUIRE", "").split(","):
        pytest.fail(reason)
    pytest.skip(reason)
