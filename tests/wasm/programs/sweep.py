"""Every operation on every backend of this engine, against the oracle's files: what tests/sweep does, with Python's
standard library alone, because a bare Pyodide has no NumPy. The result: {operation: {backend: [complaints]}}.

Mounts: /tests (for oracle_file.py) and /oracle."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lanewise as lw
from lanewise import _ext, libraries

sys.path.append("/tests")
import oracle_file

LONGEST = 5  # complaints about one operation on one backend


def tensor(array: oracle_file.Array | None) -> Any:
    if array is None:
        return None
    dtype = getattr(lw, array.dtype)
    if array.size == 0:
        return lw.empty(array.shape, dtype=dtype)
    if array.dtype == "float16":  # memoryview.cast() does not know it before Python 3.14
        flat = lw.asarray(list(array.values()), dtype=dtype)
    else:
        data: Any = array.data  # its type knows only formats written out
        flat = lw.asarray(data.cast(oracle_file.FORMATS[array.dtype]))
    return lw.reshape(flat, array.shape)


def run(operation: str, case: oracle_file.Case, arrays: list[Any], *, sequence: bool) -> Any:
    keywords = {name: tuple(value) if isinstance(value, list) else value for name, value in case.keywords.items()}
    return getattr(lw, operation)(*([arrays] if sequence else arrays), **keywords)


def complaint(case: oracle_file.Case, result: Any, backend: str) -> str | None:
    dtype = str(result.dtype).rpartition(".")[2]
    if (dtype, result.shape) != (case.result_dtype, case.reference.shape):
        return f"{case.name}: {dtype} {result.shape}, {case.result_dtype} {case.reference.shape} expected"
    return case.complaint(elements(result, case), backend)


def elements(result: Any, case: oracle_file.Case) -> Sequence[Any]:
    """In row-major order."""
    data = memoryview(result).tobytes()
    return struct.unpack(f"<{case.reference.size}{oracle_file.FORMATS[case.result_dtype]}", data)


def sweep() -> dict[str, dict[str, list[str]]]:
    described = json.loads((libraries.DIRECTORY / "operations.json").read_text())["operations"]
    backends = [info.name for info in lw.backends() if info.available]
    complaints: dict[str, dict[str, list[str]]] = {}
    for each in described:
        name, path = each["name"], Path("/oracle") / f"{each['name']}.bin"
        if not path.exists():  # its contract has no reference
            continue
        sequence = any(one["sequence"] for one in each["inputs"])
        found = complaints[name] = {backend: [] for backend in backends}
        oracle = oracle_file.read(path)
        if oracle.signature != _ext.signature():
            raise ValueError(f"{path} and the wheel were made from different contracts; make both again")
        for case in oracle.cases:
            for backend in backends:
                if backend in case.excused or len(found[backend]) == LONGEST:
                    continue
                try:
                    with lw.use_backend(backend):
                        arrays = [tensor(array) for array in case.inputs]
                        text = complaint(case, run(name, case, arrays, sequence=sequence), backend)
                except Exception as error:
                    text = f"{case.name}: {type(error).__name__}: {error}"
                if text:
                    found[backend].append(text)
    return complaints


sweep()
