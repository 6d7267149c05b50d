"""Writes the support matrix, and skips tests that this machine cannot run. Several folders of tests use this module.

The support matrix is two tables with a row for each operation: one has a column for each backend, the other one for
each dtype. It shows the tests of this run only. Each folder of tests runs in a separate process. Before the process
ends, it saves the outcomes of its tests to a file of its own, and then writes build/reports/support.md from the files
of all folders.
"""

from __future__ import annotations

import json
import os
import subprocess
import zlib
from collections.abc import Iterable, Mapping
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

PASSED, LEFT, FAILED = "✓", "cpu", "✗"  # what tests found; LEFT: they passed, and the GPU leaves the dtype to the CPU
SEVERITY = (PASSED, LEFT, FAILED)

# operation -> backend -> dtype -> the most severe outcome of the tests; "" stands for tests that are of no single dtype
Outcomes = dict[str, dict[str, dict[str, str]]]
_seen: Outcomes = {}


def note(operation: str, backend: str, passed: bool, dtypes: Iterable[str] = (), left: Iterable[str] = ()) -> None:
    """Records the outcome of one test, which compared results in `dtypes`. Do not call it for a skipped test. A GPU
    leaves the dtypes in `left` to the CPU."""
    for dtype in {*dtypes, *left} or {""}:
        _merge(_seen, operation, backend, dtype, FAILED if not passed else LEFT if dtype in left else PASSED)


def _merge(outcomes: Outcomes, operation: str, backend: str, dtype: str, found: str) -> None:
    dtypes = outcomes.setdefault(operation, {}).setdefault(backend, {})
    dtypes[dtype] = max(found, dtypes.get(dtype, PASSED), key=SEVERITY.index)


def save(folder: str) -> None:
    """Writes the outcomes that this process recorded for its folder, then the tables of all folders. A test that runs
    tests of other folders sets LANEWISE_NO_MATRIX, so that their outcomes do not replace those of the folder itself."""
    if not _seen or os.environ.get("LANEWISE_NO_MATRIX"):
        return
    SAVED.mkdir(parents=True, exist_ok=True)
    (SAVED / f"{folder}.json").write_text(json.dumps(_seen, indent=1, sort_keys=True), encoding="utf-8")
    publish()


def publish() -> None:
    """Writes the tables of all folders' outcomes."""
    if SAVED.exists():
        TABLE.write_text(tables(_merged()), encoding="utf-8")


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


def _merged() -> Outcomes:
    merged: Outcomes = {}
    for path in sorted(SAVED.glob("*.json")):
        for operation, backends in json.loads(path.read_text(encoding="utf-8")).items():
            for backend, dtypes in backends.items():
                for dtype, found in dtypes.items():
                    _merge(merged, operation, backend, dtype, found)
    return merged


def gaps(accepted: Mapping[str, Iterable[str]], backends: Iterable[str]) -> list[str]:
    """Returns a line for each operation that failed on one of these backends, or for which no test compared results in
    one of the dtypes that it accepts."""
    merged, lacking, backends = _merged(), [], tuple(backends)
    for operation, dtypes in accepted.items():
        missing = []
        for backend in backends:
            found = merged.get(operation, {}).get(backend, {})
            untested = [dtype for dtype in dtypes if found.get(dtype, FAILED) == FAILED]
            if untested or not found or FAILED in found.values():
                missing.append(f"{backend} ({', '.join(untested)})" if untested and found else backend)
        if missing:
            lacking.append(f"{operation}: no tick for {', '.join(missing)}")
    return lacking


def tables(outcomes: Outcomes) -> str:
    """Returns the matrix in Markdown."""
    backends = [backend for backend in ORDER if any(backend in known for known in outcomes.values())]
    dtypes = {dtype for known in outcomes.values() for found in known.values() for dtype in found} - {""}
    ordered = sorted(dtypes, key=lambda dtype: (dtype.rstrip("0123456789"), len(dtype), dtype))
    lines = [
        "Ticked: every test of the operation on the backend passed in this run. Crossed: one failed. Empty: not run.",
        "",
        *_head(backends),
    ]
    for operation, known in sorted(outcomes.items()):
        signs = {backend: FAILED if FAILED in found.values() else PASSED for backend, found in known.items()}
        lines.append(_row(operation, [signs.get(backend, "") for backend in backends]))
    lines += [
        "",
        "Ticked: results in the dtype were compared on each backend that ran the operation, and are right. Otherwise, "
        "the backends that differ are named: cpu says that the GPU leaves the dtype to the CPU.",
        "",
        *_head(ordered),
    ]
    for operation, known in sorted(outcomes.items()):
        lines.append(_row(operation, [_cell(known, dtype) for dtype in ordered]))
    return "\n".join(lines) + "\n"


def _head(columns: list[str]) -> list[str]:
    return [_row("operation", columns), f"|---|{'---|' * len(columns)}"]


def _row(operation: str, cells: list[str]) -> str:
    return f"| {operation} | {' | '.join(cells)} |"


def _cell(known: Mapping[str, Mapping[str, str]], dtype: str) -> str:
    """Returns the outcome in a dtype on all backends of an operation."""
    found = {backend: known[backend].get(dtype, "not run") for backend in ORDER if backend in known}
    if set(found.values()) <= {"not run"}:
        return ""
    return ", ".join(f"{backend}: {sign}" for backend, sign in found.items() if sign != PASSED) or PASSED


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
