"""operations.json: what Python code reads about operations, such as the benchmark, the demo pages and WebGPU."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

from .schema import DTYPES, Contract, Range


def emit(contracts: tuple[Contract, ...], webgpu: frozenset[str] = frozenset()) -> dict[str, str]:
    """`webgpu` names the kernels that have a shader module."""
    entries = {False: [], True: []}  # type: dict[bool, list[dict[str, Any]]]
    for contract in contracts:
        entries[contract.internal].append(_entry(contract, webgpu))
    content = {"operations": entries[False], "internal": entries[True]}
    return {"operations.json": json.dumps(content, separators=(",", ":"), allow_nan=False) + "\n"}


def emit_bench(contracts: tuple[Contract, ...]) -> dict[str, str]:
    """bench.json: the `bench` fields by operation, for tests/bench. It is not part of the package."""
    content = {contract.operation: contract.bench for contract in contracts if contract.bench}
    return {"bench.json": json.dumps(content, indent=1, allow_nan=False) + "\n"}


def _entry(contract: Contract, webgpu: frozenset[str]) -> dict[str, Any]:
    return {
        "name": contract.operation,
        "kind": contract.kind.name,
        "complexity": contract.complexity,
        "reproducible": contract.reproducible,
        "inputs": [
            {"name": each.name, "dtype": each.dtype, "optional": each.optional, "sequence": each.sequence,
             "default": each.default}
            for each in contract.inputs
        ],
        "parameters": [
            {"name": each.name, "type": each.type, "required": each.required, "default": each.default,
             "positional": each.positional, "for_kernel": each.for_kernel, "choices": list(each.choices)}
            for each in contract.parameters
        ],
        "dtypes": {"any": "same"} if contract.moves else {dtype: contract.result(dtype) for dtype in contract.computed},
        "domain": {
            name: {dtype: _range(each) for dtype, each in ranges.items()} for name, ranges in contract.domain.items()
        },
        "aliases": list(contract.aliases),
        "kernels": _kernels(contract),
        "webgpu": {
            "fallback": contract.fallback,
            "kernels": [name for name in contract.kernel_names if name in webgpu],
        },
    }  # fmt: skip


def _kernels(contract: Contract) -> list[dict[str, str]]:
    """Per variant, dtype -> kernel."""
    names = contract.kernel_names
    if not names or contract.kind.name == "cast":
        return []
    rows = [{dtype: contract.kernel(dtype, variant) for dtype in DTYPES} for variant in range(len(contract.stems))]
    return [{dtype: name for dtype, name in row.items() if name in names} for row in rows]


def _range(each: Range) -> dict[str, Any]:
    assert math.isfinite(each.low) and math.isfinite(each.high)
    return dataclasses.asdict(each)
