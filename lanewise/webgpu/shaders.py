"""Reads the file of WGSL modules that contracts/generator/wgsl.py writes. The file has each shared part only once."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from lanewise.errors import BackendError

__all__ = ["FILE", "Shader", "kernel_names", "load"]

FILE: Final = Path(__file__).resolve().parents[1] / "_lib" / "shaders.wgsl"  # written by the build


@dataclass(frozen=True, slots=True)
class Shader:
    """The WGSL module of one kernel, with metadata from its generator (contracts/generator/wgsl.py)."""

    kernel: str
    source: str
    inputs: int
    item_bytes: int  # size of an element of the result
    in_place: bool  # whether the module has an entry point for a result that overwrites the first input
    scratch_bytes: int  # size of the partial result of one block, in a reduction


def load(file: Path, kernel: str, kind: str) -> Shader:
    """Returns the module of a kernel. Raises BackendError if there is none."""
    declarations, modules = _read(file)
    if kernel not in modules:
        hint = "move the operands to the CPU with .to()" if file.exists() else f"build the package: {file} is missing"
        raise BackendError(f"{kernel}: wgpu has no shader for this kernel (kind {kind}); {hint}")
    facts, own = modules[kernel]
    source = "".join((*(declarations[name] for name in facts["uses"]), own))
    return Shader(source=source, **{name: value for name, value in facts.items() if name != "uses"})


def kernel_names(file: Path) -> Collection[str]:
    """Returns the kernels that have a module."""
    return _read(file)[1].keys()


@cache
def _read(file: Path) -> tuple[dict[str, str], dict[str, tuple[dict[str, Any], str]]]:
    """Returns the declarations that modules share, by name, and for each kernel its metadata and its module without
    these declarations. Each part of the file starts with its metadata, in a comment, and has no other comments."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    declarations, modules = {}, {}
    for part in text.split("//")[1:]:
        line, _, source = part.partition("\n")
        facts = json.loads(line)
        if "declares" in facts:
            declarations[facts["declares"]] = source
        else:
            modules[facts["kernel"]] = facts, source
    return declarations, modules
