"""Reads the file of WGSL modules that contracts/generator/shaders/wgsl.py writes. The file has each shared part only
once."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from lanewise import _ext
from lanewise.backends import libraries

__all__ = ["ENTRIES", "FILE", "VARIANTS", "Function", "Shader", "assembled", "function", "kernel_names", "load"]

FILE: Final = libraries.DIRECTORY / "shaders.wgsl"  # the provider has checked it

# lw_entry of recorder.h
ENTRIES: Final = (
    "main", "blocks", "combine", "clear", "claim", "vectors", "tiles", "dots", "sums", "columns",
    *(f"{stem}_{tile}" for tile in _ext.tile_names() for stem in ("tiles", "tile_parts")),
)  # fmt: skip
# overrides that are set to `variant` of lw_dispatch; a module has at most one of them
VARIANTS: Final = ("lw_ndim", "lw_access", "lw_row_vectors", "lw_vectors", "lw_taps_outputs", "lw_has_large_teams")


@dataclass(frozen=True, slots=True)
class Shader:
    """The WGSL module of one kernel."""

    kernel: str
    source: str
    inputs: int
    outputs: int = 1  # buffers that are bound after the inputs: the results, or a result and scratch memory


@dataclass(frozen=True, slots=True)
class Function:
    """The WGSL function of an elementwise kernel."""

    name: str
    arguments: tuple[str, ...]  # the types of the inputs, then those of the parameters
    result: str
    inputs: int
    parameters: tuple[int, ...]  # the positions, among all parameters of the operation, of those that it receives


def load(index: int) -> Shader:
    """Returns the module of the kernel with this index in the table of kernels."""
    _, modules = _read(FILE)
    facts, _ = modules[index]
    _, shared = modules[facts.get("like", index)]
    text = shared.replace("lw_$", f"lw_{facts['kernel']}")
    return Shader(facts["kernel"], assembled(text), facts["inputs"], 1 + bool(facts["scratch_bytes"]))


def function(index: int) -> Function:
    """Returns the function of the elementwise kernel with this index."""
    declarations, modules = _read(FILE)
    facts, _ = modules[index]
    name = f"lw_{facts['kernel']}"
    signature, _, _ = declarations[name].partition("{")
    arguments, result = signature.split("->")
    types = tuple(re.findall(r": ([\w<>]+)", arguments))
    return Function(name, types, result.strip(), facts["inputs"], tuple(facts.get("parameters", ())))


def assembled(text: str) -> str:
    """Returns a module: the declarations that a text uses, directly or not, in the order of their names, and the text.
    If lw_rounded is among them, the entry points set lw_hidden (webgpu/math/pair.wgsl)."""
    declarations, _ = _read(FILE)
    used: dict[str, None] = {}
    queue = [text]
    while queue:
        for name in re.findall(r"\b[lL]w_?\w+", queue.pop()):
            if name in declarations and name not in used:
                used[name] = None
                queue.append(declarations[name])
    if "lw_rounded" in used:
        text = text.replace("groups: vec3<u32>) {", "groups: vec3<u32>) {\nlw_hidden = (lw.count >> 31u) & groups.x;")
    return "".join((*(declarations[name] for name in sorted(used)), text))


def kernel_names() -> set[str]:
    """Returns the names of the kernels that have a module."""
    return {facts["kernel"] for facts, _ in _read(FILE)[1].values()}


@cache
def _read(file: Path) -> tuple[dict[str, str], dict[int, tuple[dict[str, Any], str]]]:
    """Returns the declarations that modules share, by name, and for each kernel its metadata and the text of its
    module without these declarations, "" if it is like that of another kernel. Each part of the file starts with its
    metadata, in a comment, and has no other comments."""
    declarations, modules = {}, {}
    for part in file.read_text(encoding="utf-8").split("//")[1:]:
        line, _, source = part.partition("\n")
        facts = json.loads(line)
        if "declares" in facts:
            declarations[facts["declares"]] = source
        else:
            modules[facts["index"]] = facts, source
    return declarations, modules
