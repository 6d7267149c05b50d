"""Whether the sources have what the contracts promise, and nothing that no contract asks for."""

from __future__ import annotations

from pathlib import Path

from .fields import ContractError
from .schema import Contract


def check(contracts: tuple[Contract, ...], root: Path) -> None:
    """Raises ContractError for the first operation without C or WGSL, or file without contract.

    That a WGSL file has the functions it should is checked by wgsl.py, that a C header has them by the compiler.
    """
    for contract in contracts:
        name = contract.operation
        if contract.lender:
            continue
        if contract.kind.backends["cpu"] == "now" and not (root / f"core/ops/{name}.h").exists():
            raise ContractError(f"{name}: no C expression; write core/ops/{name}.h")
        demanded = contract.kind.backends["webgpu"] == "now" and contract.fallback is None
        if demanded and not (root / f"webgpu/ops/{name}.wgsl").exists():
            raise ContractError(
                f"{name}: no WGSL function; write webgpu/ops/{name}.wgsl, "
                "or declare `webgpu: {fallback: cpu, why: ...}`"
            )
    operations = {contract.operation for contract in contracts}
    for folder, suffix in (("core/ops", ".h"), ("webgpu/ops", ".wgsl")):
        for path in sorted((root / folder).glob(f"*{suffix}")):
            if path.stem not in operations:
                raise ContractError(
                    f"{folder}/{path.name}: no contract; write contracts/{path.stem}.yaml, or remove the file"
                )
