"""Runs operations on every backend of this engine, and compares the results with those expected in the oracle's
files of test cases. tests/sweep does so with NumPy; this program uses only the standard library, because a bare Pyodide
has no NumPy. test_sweep.py also runs this program natively, to compare the bits.

In Pyodide, the repository's tests/ must be mounted as /tests, and as /oracle a folder with the oracle's files and with
operations.txt, the names of the operations to run."""

from __future__ import annotations

import hashlib
import json
import math
import struct
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import lanewise as lw
from lanewise import _ext
from lanewise.backends import libraries

sys.path += ["/tests", "/tests/wasm/programs"]
import oracle_file
import several
import stored

MAX_COMPLAINTS = 5  # after so many failed cases of an operation on a backend, the remaining ones are skipped

# {operation: {backend: {"complaints": [...], "dtypes": [those in which results were compared],
#                        "digest": hash of all results, with each NaN as the same bits}}}
Findings = dict[str, dict[str, dict[str, Any]]]

# (case, bits of its result, bound) -> the bits with each NaN as the same bits, and what is wrong. Most backends give
# the same bits, and judging them takes longer than computing them.
Judged = dict[tuple[int, bytes, oracle_file.Bound], tuple[bytes, str | None]]


def run(operation: str, case: oracle_file.Case, *, sequence: bool) -> Any:
    arrays = [stored.tensor(array) for array in case.inputs]
    return getattr(lw, operation)(*([arrays] if sequence else arrays), **case.keywords)


def judge(case: oracle_file.Case, result: Any, backend: str, digest: Any, judged: Judged) -> str | None:
    dtype = str(result.dtype).rpartition(".")[2]
    if (dtype, result.shape) != (case.result_dtype, case.reference.shape):
        return f"{case.name}: expected {case.result_dtype} {case.reference.shape}, got {dtype} {result.shape}"
    content = result.tobytes()  # row-major
    key = id(case), content, case.bound(backend)
    if key not in judged:
        values = oracle_file.Array(dtype, result.shape, memoryview(content)).values()
        form = f"<{len(values)}{oracle_file.FORMATS[dtype] or 'f'}"
        with_one_nan = struct.pack(form, *(value if value == value else math.nan for value in values))
        judged[key] = with_one_nan, case.complaint(values, backend)
    with_one_nan, text = judged[key]
    digest.update(with_one_nan)
    return text


def try_all(
    operation: str, oracle: oracle_file.Oracle, backend: str, judged: Judged, *, sequence: bool
) -> dict[str, Any]:
    complaints: list[str] = []
    digest = hashlib.sha256()
    for case in oracle.cases:
        if backend in case.excused or len(complaints) == MAX_COMPLAINTS:
            continue
        try:
            with lw.use_backend(backend):
                text = judge(case, run(operation, case, sequence=sequence), backend, digest, judged)
        except Exception as error:
            text = f"{case.name}: {type(error).__name__}: {error}"
        if text:
            complaints.append(text)
    return {"complaints": complaints, "digest": digest.hexdigest()}


def check(operation: str, backend: str, dtypes: Iterable[str]) -> dict[str, Any]:
    """Runs the operation's check in several.py."""
    complaints: list[str] = []
    digest = hashlib.sha256()
    for dtype in dtypes:
        try:
            with lw.use_backend(backend):
                for result in several.CHECKS[operation](dtype):
                    digest.update(result.tobytes())
        except Exception as error:
            complaints.append(f"{dtype}: {type(error).__name__}: {error}")
    return {"complaints": complaints, "digest": digest.hexdigest()}


def check_stored(
    entry: Mapping[str, Any], oracle: oracle_file.Oracle | None, backend: str, dtypes: Mapping[str, str]
) -> list[str]:
    """Returns what is wrong in dtypes that are only stored. `dtypes` has the dtype that each is computed in."""
    complaints = []
    for dtype, computed in dtypes.items():
        try:
            with lw.use_backend(backend):
                if oracle:
                    stored.check(entry["name"], oracle, dtype, computed, composed=entry["kind"] == "composed")
                else:
                    stored.check_several(entry["name"], dtype, computed)
        except Exception as error:
            complaints.append(f"{type(error).__name__}: {error}")
    return complaints


def table() -> list[dict[str, Any]]:
    """Returns the entries of operations.json, one for each operation."""
    path = libraries.DIRECTORY / "operations.json"
    entries: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["operations"]
    return entries


def described(folder: Path) -> list[dict[str, Any]]:
    """Returns the entries of operations.json for the operations that the sweep covers."""
    return [each for each in table() if each["name"] in several.CHECKS or (folder / f"{each['name']}.bin").exists()]


def sweep(
    folder: Path, backends: Sequence[str], names: Collection[str] | None = None, *, only_stored: bool = False
) -> Findings:
    """Runs the operations with these names; all by default. With `only_stored`, only in dtypes that are stored."""
    findings: Findings = {}
    accepted: dict[str, dict[str, str]] = json.loads((folder / "accepted.json").read_text())
    for each in described(folder):
        name, path = each["name"], folder / f"{each['name']}.bin"
        if names is not None and name not in names:
            continue
        oracle = oracle_file.read(path) if path.exists() else None
        if oracle and oracle.signature != _ext.signature():
            raise ValueError(f"{path} and the wheel come from different versions of contracts/; build both again")
        computed = {dtype for dtype, elements in accepted[name].items() if dtype == elements and not only_stored}
        narrow = {dtype: elements for dtype, elements in accepted[name].items() if dtype != elements}
        sequence = any(one["sequence"] for one in each["inputs"])
        judged: Judged = {}
        findings[name] = {}
        for backend in backends:
            if only_stored:
                found = {"complaints": []}
            elif oracle:
                found = try_all(name, oracle, backend, judged, sequence=sequence)
                computed &= {case.computed_dtype for case in oracle.cases}
            else:  # a check of several.py
                found = check(name, backend, sorted(computed))
            found["complaints"] += check_stored(each, oracle, backend, narrow)
            findings[name][backend] = {**found, "dtypes": sorted({*computed, *narrow})}
    return findings


def here() -> Findings:
    names = Path("/oracle/operations.txt").read_text().split()
    return sweep(Path("/oracle"), [info.name for info in lw.backends() if info.available], names)


here() if __name__ == "__main__" else None
