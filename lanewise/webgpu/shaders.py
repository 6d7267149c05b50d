"""Reads the file of WGSL modules that contracts/generator/wgsl.py writes. The file has each shared part only once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from lanewise.errors import LibraryError

__all__ = ["ENTRIES", "FILE", "VARIANTS", "Shader", "kernel_names", "load"]

FILE: Final = Path(__file__).resolve().parents[1] / "_lib" / "shaders.wgsl"  # written by the build

# lw_entry of recorder.h
ENTRIES: Final = ("main", "blocks", "combine", "clear", "claim", "vectors", "runs", "tiles", "tile_parts", "dots")
# overrides that are set to `variant` of lw_dispatch; a module has at most one of them
VARIANTS: Final = ("lw_ndim", "lw_transposed", "lw_row_vectors")


@dataclass(frozen=True, slots=True)
class Shader:
    """The WGSL module of one kernel."""

    kernel: str
    source: str
    inputs: int
    has_scratch: bool  # whether a buffer of scratch memory is bound after the result


def load(index: int) -> Shader:
    """Returns the module of the kernel with this index in the table of kernels. Raises LibraryError without a file."""
    declarations, modules = _read(FILE)
    facts, own = modules[index]
    source = "".join((*(declarations[name] for name in facts["uses"]), own))
    return Shader(facts["kernel"], source, facts["inputs"], bool(facts["scratch_bytes"]))


def kernel_names() -> set[str]:
    """Returns the names of the kernels that have a module."""
    return {facts["kernel"] for facts, _ in _read(FILE)[1].values()}


@cache
def _read(file: Path) -> tuple[dict[str, str], dict[int, tuple[dict[str, Any], str]]]:
    """Returns the declarations that modules share, by name, and for each kernel its metadata and its module without
    these declarations. Each part of the file starts with its metadata, in a comment, and has no other comments."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise LibraryError(f"{file}: cannot be read: {error}; reinstall lanewise") from None
    declarations, modules = {}, {}
    for part in text.split("//")[1:]:
        line, _, source = part.partition("\n")
        facts = json.loads(line)
        if "declares" in facts:
            declarations[facts["declares"]] = source
        else:
            modules[facts["index"]] = facts, source
    return declarations, modules
