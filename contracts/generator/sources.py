"""Checks that core/ops and webgpu/ops have a file for each contract that needs one, and none without a contract."""

from __future__ import annotations

from pathlib import Path

from .fields import ContractError
from .schema import Contract


def check(contracts: tuple[Contract, ...], root: Path) -> None:
    """Raises ContractError for the first missing C or WGSL file that is required, or the first file without a contract.

    wgsl.py checks that a WGSL file has the expected functions; for a C header the compiler does.
    """
    for contract in contracts:
        name = contract.operation
        if contract.lender:
            continue
        if contract.kind.backends["cpu"] == "now" and not (root / f"core/ops/{name}.h").exists():
            raise contract.error(f"expected core/ops/{name}.h, got no file; write it")
        required = contract.kind.backends["webgpu"] == "now" and contract.fallback is None
        if required and not (root / f"webgpu/ops/{name}.wgsl").exists():
            raise contract.error(
                f"expected webgpu/ops/{name}.wgsl, got no file; write it, "
                "or declare webgpu: {fallback: cpu, why: ...}"
            )
    operations = {contract.operation for contract in contracts}
    for folder, suffix in (("core/ops", ".h"), ("webgpu/ops", ".wgsl")):
        for path in sorted((root / folder).glob(f"*{suffix}")):
            if path.stem not in operations:
                raise ContractError(
                    f"{folder}/{path.name}: expected contracts/{path.stem}.yaml, got no file; write it, "
                    f"or remove {path.name}"
                )
