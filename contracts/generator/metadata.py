"""Emits operations.json, from which lanewise/functions/operations.py, the tests and the benchmark read facts about
operations.

Also emits bench.json, which only the benchmark reads.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from .schema import Contract


def emit(contracts: tuple[Contract, ...]) -> dict[str, str]:
    """Returns {file name: text} for operations.json, which describes the public operations."""
    content = {"operations": [_entry(contract) for contract in contracts if not contract.internal]}
    return {"operations.json": json.dumps(content, separators=(",", ":"), allow_nan=False) + "\n"}


def emit_bench(contracts: tuple[Contract, ...]) -> dict[str, str]:
    """Returns {file name: text} for bench.json: each operation's field `bench`, with the FLOPs of all elements if there
    is a step for each. The file is not in the package.
    """
    content = {contract.operation: {**_flops(contract), **contract.bench} for contract in contracts}
    content = {operation: fields for operation, fields in content.items() if fields}
    return {"bench.json": json.dumps(content, indent=1, allow_nan=False) + "\n"}


def _flops(contract: Contract) -> dict[str, Any]:
    per_element = contract.flops and contract.kind.name in ("elementwise", "reduction")
    return {"flops": f"{contract.flops} * count"} if per_element else {}


def _entry(contract: Contract) -> dict[str, Any]:
    return {
        "name": contract.operation,
        "kind": contract.kind.name,
        "reproducible": contract.reproducible,
        "inputs": [
            {"name": each.name, "dtype": each.dtype, "optional": each.optional, "sequence": each.sequence}
            for each in contract.inputs
        ],
        "parameters": [{"name": each.name} for each in contract.parameters],
        "dtypes": {"any": "same"} if contract.moves else {dtype: contract.result(dtype) for dtype in contract.computed},
        "domain": {
            name: {dtype: dataclasses.asdict(each) for dtype, each in ranges.items()}
            for name, ranges in contract.domain.items()
        },
        "aliases": list(contract.aliases),
        "kernels": _kernels(contract),
    }  # fmt: skip


def _kernels(contract: Contract) -> list[dict[str, str]]:
    """Returns the names of the kernels by dtype, for each variant; an empty list for a cast, or if there are none."""
    names = contract.kernel_names
    if not names or contract.kind.name == "cast":
        return []
    computed = contract.computed
    rows = [{dtype: contract.kernel(dtype, variant) for dtype in computed} for variant in range(len(contract.stems))]
    return [{dtype: name for dtype, name in row.items() if name in names} for row in rows]
