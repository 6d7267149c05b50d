"""The generated WGSL modules, and what the first line of each says of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from lanewise.errors import BackendError

__all__ = ["FOLDER", "Shader", "load"]

FOLDER: Final = Path(__file__).resolve().parents[1] / "wgsl"  # where the build puts them


@dataclass(frozen=True, slots=True)
class Shader:
    """One kernel's module. The numbers are the generator's (contracts/generator/wgsl.py)."""

    kernel: str
    source: str
    inputs: int
    item_bytes: int  # of the result
    in_place: bool  # has an entry for a result that is the first input
    scratch_bytes: int  # of a block's result, of a reduction


@cache
def load(folder: Path, kernel: str, kind: str) -> Shader:
    """The module of a kernel. BackendError where WebGPU has none."""
    path = folder / f"{kernel}.wgsl"
    if not path.exists():
        hint = "bring its operands to the CPU" if folder.exists() else f"build the package: {folder} is missing"
        raise BackendError(f"{kernel}: wgpu has no shader for it (kind {kind}); {hint}")
    source = path.read_text()
    facts = json.loads(source.partition("\n")[0].removeprefix("//"))
    return Shader(kernel, source, **facts)
