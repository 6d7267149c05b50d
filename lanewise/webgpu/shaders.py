"""The generated WGSL modules, all in one file, and what the first line of each says of it."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from lanewise.errors import BackendError

__all__ = ["FILE", "Shader", "carried", "load"]

FILE: Final = Path(__file__).resolve().parents[1] / "_lib" / "shaders.wgsl"  # where the build puts them


@dataclass(frozen=True, slots=True)
class Shader:
    """One kernel's module. The numbers are the generator's (contracts/generator/wgsl.py)."""

    kernel: str
    source: str
    inputs: int
    item_bytes: int  # of the result
    in_place: bool  # has an entry for a result that is the first input
    scratch_bytes: int  # of a block's result, of a reduction


def load(file: Path, kernel: str, kind: str) -> Shader:
    """The module of a kernel. BackendError where WebGPU has none."""
    shader = _read(file).get(kernel)
    if shader is None:
        hint = "bring its operands to the CPU" if file.exists() else f"build the package: {file} is missing"
        raise BackendError(f"{kernel}: wgpu has no shader for it (kind {kind}); {hint}")
    return shader


def carried(file: Path) -> Collection[str]:
    """The kernels that have a module."""
    return _read(file).keys()


@cache
def _read(file: Path) -> dict[str, Shader]:
    """A module starts with the only comment in it."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    shaders = (_shader(module) for module in text.split("//")[1:])
    return {shader.kernel: shader for shader in shaders}


def _shader(module: str) -> Shader:
    facts, _, source = module.partition("\n")
    return Shader(source=source, **json.loads(facts))
