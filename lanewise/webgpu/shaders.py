"""The generated WGSL modules, all in one file, what they share written once (contracts/generator/wgsl.py)."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

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
    declarations, modules = _read(file)
    if kernel not in modules:
        hint = "bring its operands to the CPU" if file.exists() else f"build the package: {file} is missing"
        raise BackendError(f"{kernel}: wgpu has no shader for it (kind {kind}); {hint}")
    facts, own = modules[kernel]
    source = "".join((*(declarations[name] for name in facts["uses"]), own))
    return Shader(source=source, **{name: value for name, value in facts.items() if name != "uses"})


def carried(file: Path) -> Collection[str]:
    """The kernels that have a module."""
    return _read(file)[1].keys()


@cache
def _read(file: Path) -> tuple[dict[str, str], dict[str, tuple[dict[str, Any], str]]]:
    """Declarations by name, and of each kernel's module the facts and what no other has. A part starts with the only
    comment in it."""
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
