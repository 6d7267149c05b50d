"""Emits a WGSL module for each kernel that WebGPU has, and packs all modules into shaders.wgsl.

A module is a template of webgpu/kinds, filled in with the bindings of the contract's operands and with calls of the
operation's functions in webgpu/ops: `lw_<stem>_<dtype>`, or four functions with that prefix for a reduction. The
declarations of webgpu/ops and webgpu/math that the module uses are found by name and added; others are left out.

shaders.wgsl stores what modules share only once. It consists of parts: first the declarations, then the modules. Each
part starts with a comment in JSON and has no other comments. The JSON holds the name of a declaration, or what
lanewise/webgpu/shaders.py reads about a module. In the text of a module, `lw_$` stands for `lw_` and the name of its
kernel; a module without a text has that of the kernel `like`. lanewise/webgpu/shaders.py finds the declarations.
lanewise_shaders.c tells native/extension/webgpu/webgpu.c about modules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from ..facts import FACTS
from ..fields import ContractError
from ..schema import Contract, all_kernels
from .wgsl_kinds import EMITTERS
from .wgsl_matrix import TILES, declarations
from .wgsl_module import WEBGPU, Library, Module

__all__ = ["EMITTERS", "WEBGPU", "Library", "emit", "emit_table", "pack"]


def emit(contracts: tuple[Contract, ...]) -> dict[str, str]:
    """Returns {kernel name: module} for the kernels that WebGPU has; each module is a part of shaders.wgsl.
    Modules that resemble each other are neighbors, which makes the compressed file a fifth smaller."""
    library = _library()
    indices = {kernel.name: index for index, kernel in enumerate(all_kernels(contracts))}
    alike = sorted(contracts, key=lambda contract: (contract.kind.name, len(contract.inputs)))
    return {name: text for contract in alike for name, text in _modules(library, contract, indices)}


def emit_table(contracts: tuple[Contract, ...], modules: Mapping[str, str]) -> dict[str, str]:
    """Returns {file name: text} for lanewise_shaders.c, what the extension has to know about the modules."""
    rows = []
    for name in (kernel.name for kernel in all_kernels(contracts)):
        if name in modules:
            text = modules[name]
            facts = json.loads(text[2 : text.index("\n")])
            vectors = int("fn vectors(" in text or "fn tiles(" in text)
            rows.append(f"    [LW_KERNEL_{name}] = {{1, {facts['scratch_bytes']}, {vectors}}},")
    table = "\n".join(rows)
    tiles = "\n".join(
        f'    {{"{each.name}", {each.rows}, {each.columns}, {each.invocations}, {each.bytes}}},' for each in TILES
    )
    return {
        "lanewise_shaders.c": f"""\
/* Which kernels have a WGSL module, facts about it, and the tiles of products. Generated from contracts/ and webgpu/ by
 * wgsl.py. */
#include "webgpu/shader.h"
#include "lanewise_operations.h"
#include "lanewise_table.h"

const lw_shader lw_shaders[LW_KERNEL_COUNT] = {{
{table}
}};

const lw_tile lw_tiles[] = {{
{tiles}
}};
const int lw_tile_count = {len(TILES)};
"""
    }


def pack(modules: Mapping[str, str]) -> dict[str, str]:
    """Returns {file name: text} for shaders.wgsl, which holds all modules."""
    library = _library()
    declarations = (_part({"declares": name}, library.texts[name]) for name in library.uses("".join(modules.values())))
    first: dict[str, int] = {}  # the index of the first kernel with a text
    parts = []
    for module in modules.values():
        head, _, own = module.partition("\n")
        facts = json.loads(head[2:])
        text = re.sub(rf"\blw_{facts['kernel']}(?=_|\b)", "lw_$", own)
        like = first.setdefault(text, facts["index"])
        parts.append(_part(facts, text) if like == facts["index"] else _part({**facts, "like": like}, ""))
    return {"shaders.wgsl": "".join((*declarations, *parts))}


def _library() -> Library:
    library = Library(WEBGPU)
    for tile in TILES:
        library.add(declarations(tile), WEBGPU / "kinds" / "matrix" / "matrix_tile.wgsl")
    return library


def _modules(library: Library, contract: Contract, indices: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    emitter = EMITTERS.get(contract.kind.name)
    required = contract.kind.backends["webgpu"] == "now" and contract.fallback is None
    if required and emitter is None:
        raise ContractError(
            f"contracts/kinds.yaml: {contract.kind.name}: expected an emitter in wgsl_kinds.py, got none; write it, "
            "with a template in webgpu/kinds"
        )
    if emitter is None or contract.fallback is not None:
        return
    for kernel in contract.kernels:
        try:
            text = emitter(Module(library, contract, kernel))
        except ContractError:
            if required and not (kernel.dtype in FACTS.dtypes and FACTS.dtypes[kernel.dtype].no_webgpu):
                raise
            continue
        facts = {
            "kernel": kernel.name,
            "index": indices[kernel.name],
            "inputs": len(contract.inputs),
            "scratch_bytes": _scratch_bytes(library, text),
        }
        if contract.kind.name in ("elementwise", "cast") and contract.expression_parameters:
            facts["parameters"] = [position for position, _ in contract.expression_parameters]
        yield kernel.name, _part(facts, text)


def _part(facts: Mapping[str, object], text: str) -> str:
    """Returns a part of shaders.wgsl: the facts as a comment in JSON, then the text without comments."""
    return f"//{json.dumps(facts, separators=(',', ':'))}\n{_strip(text)}"


def _scratch_bytes(library: Library, text: str) -> int:
    """Returns the bytes per partial result (32-bit scalar, vec2 or struct of float32); 0 without scratch memory."""
    match = re.search(r"scratch_buffer: array<(.*)>;", text)
    if not match:
        return 0
    if match[1].startswith("vec2"):
        return 8
    return 4 * library.texts[match[1]].count(": f32") if match[1] in library.texts else 4


def _strip(text: str) -> str:
    """Removes comments, indentation and empty lines, because browsers download the modules."""
    lines = (re.sub(r"\s*//.*", "", line).strip() for line in text.splitlines())
    return "\n".join(filter(None, lines)) + "\n"
