"""Whether the sources have what the contracts promise, and nothing that no contract asks for."""

from __future__ import annotations

from pathlib import Path

from .fields import ContractError
from .schema import Contract

EXPRESSIONS = ("elementwise", "cast", "reduction", "index_reduction", "rows")  # kinds with a file each in core/ops


def check(contracts: tuple[Contract, ...], root: Path) -> None:
    """Raises ContractError for the first operation without C, or file without contract.

    That WGSL is there is checked by wgsl.py, which knows the functions it needs.
    """
    for contract in contracts:
        wanted = root / "core" / "ops" / f"{contract.operation}.h"
        if contract.kind.name in EXPRESSIONS and not wanted.exists():
            raise ContractError(f"{contract.operation}: no C expression; write core/ops/{contract.operation}.h")
        if contract.fallback is None and contract.kind.lanes["webgpu"] == "now":
            shader = root / "webgpu" / "ops" / f"{contract.operation}.wgsl"
            if not shader.exists():
                raise ContractError(
                    f"{contract.operation}: no WGSL function; write webgpu/ops/{contract.operation}.wgsl, "
                    "or declare `webgpu: {fallback: cpu, why: ...}`"
                )
    operations = {contract.operation for contract in contracts}
    for folder, suffix in (("core/ops", ".h"), ("webgpu/ops", ".wgsl")):
        for path in sorted((root / folder).glob(f"*{suffix}")):
            if path.stem not in operations:
                raise ContractError(
                    f"{folder}/{path.name}: no contract; write contracts/{path.stem}-v1.yaml, or remove the file"
                )
