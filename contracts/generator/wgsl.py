"""Emits a WGSL module for each kernel that WebGPU has, and packs all modules into shaders.wgsl.

A module is a template of webgpu/kinds, filled in with the bindings of the contract's operands and with calls of the
operation's functions in webgpu/ops: `lw_<stem>_<dtype>`, or four functions with that prefix for a reduction. The
declarations of webgpu/ops and webgpu/math that the module uses are found by name and added; others are left out.

shaders.wgsl stores declarations that modules share only once. It consists of parts: first the declarations, then the
modules. Each part starts with a comment in JSON and has no other comments. The JSON holds the name of a declaration, or
what lanewise/webgpu/shaders.py reads about a module, such as the declarations that it needs. lanewise_shaders.c is the
same for native/extension/webgpu.c.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Template

from .fields import ContractError
from .schema import Contract, Kernel, Parameter, all_kernels

WEBGPU = Path(__file__).resolve().parents[2] / "webgpu"
COMPONENTS = "xyzw"  # component n of a vec4 holds the offset of operand n, or parameter n


@dataclass(frozen=True)
class Item:
    """How items of a dtype are stored in a buffer, and the type of value that functions receive."""

    bits: int
    element: str  # type of the buffer's elements
    value: str  # type of the functions' arguments
    load: str = "$item"  # converts a stored item to a value
    store: str = "$value"  # converts a value to an item to store

    @property
    def packed(self) -> bool:
        """Whether several items share a word, so that writing one must be atomic."""
        return self.bits < 32

    def extract(self, word: str) -> str:
        """Returns the item at the byte offset `at`, from the word that contains it."""
        align = 3 if self.bits == 8 else 2
        return f"(({word} >> ((at & {align}u) * 8u)) & {hex((1 << self.bits) - 1)}u)"

    def number(self, words: str) -> str:
        """Returns the item that two words of the parameters hold, in a vector."""
        if self.bits == 64:
            return words
        return f"{words}.x" if self.element == "u32" else f"bitcast<{self.element}>({words}.x)"


ITEMS = {
    "bool": Item(8, "u32", "bool", "($item != 0u)", "select(0u, 1u, $value)"),
    "int32": Item(32, "i32", "i32"),
    "int64": Item(64, "vec2<u32>", "vec2<u32>"),
    "float16": Item(16, "u32", "u32"),
    "float32": Item(32, "f32", "f32"),
    "float64": Item(64, "vec2<u32>", "vec2<u32>"),
    "bits8": Item(8, "u32", "u32"),
    "bits16": Item(16, "u32", "u32"),
    "bits32": Item(32, "u32", "u32"),
    "bits64": Item(64, "vec2<u32>", "vec2<u32>"),
}


# The struct of a kind's parameters, if it is not LwLayout
LAYOUTS = {"matrix": "LwMatrixLayout", "window": "LwWindowLayout", "attention": "LwAttentionLayout"}


class Library:
    """The declarations of webgpu/math, webgpu/ops and webgpu/kinds/layout.wgsl by name.

    A declaration starts with its keyword in the first column. It is one line, or ends at the next line that starts with
    a closing brace.
    """

    declaration = re.compile(
        r"^(?:fn|struct|const|override|alias|var<\w+>) *(\w+)(?:.*;$|.*\n(?:^[^}].*\n|^\n)*^}.*$)", re.M
    )
    name = re.compile(r"\b(?:lw_\w+|Lw\w+)\b")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts: dict[str, str] = {}
        self.paths: dict[str, Path] = {}
        layout = folder / "kinds" / "layout.wgsl"  # shared by the kinds with strided operands
        for path in sorted([*folder.glob("math/*.wgsl"), *folder.glob("ops/*.wgsl"), layout]):
            for match in self.declaration.finditer(path.read_text()):
                if match[1] in self.texts:
                    raise ContractError(
                        f"{path}: expected each name once, got {match[1]}, also in {self.paths[match[1]]}; rename one"
                    )
                self.texts[match[1]] = match[0]
                self.paths[match[1]] = path

    def require(self, contract: Contract, name: str) -> str:
        """Returns `name` if the operation's file declares it; otherwise raises ContractError."""
        file = f"ops/{contract.operation}.wgsl"
        if self.paths.get(name) == self.folder / file:
            return name
        raise ContractError(
            f"contracts/{contract.path.name}: expected function {name} in webgpu/{file}, got none; write it, "
            "or declare webgpu: {fallback: cpu, why: ...}"
        )

    def uses(self, text: str) -> list[str]:
        """Returns the names of the declarations that `text` uses, directly or indirectly."""
        used: set[str] = set()
        queue = [text]
        while queue:
            for name in self.name.findall(queue.pop()):
                if name in self.texts and name not in used:
                    used.add(name)
                    queue.append(self.texts[name])
        return sorted(used)

    def result(self, name: str) -> str:
        """Returns the result type of a function."""
        match = re.search(r"->\s*([^{]+?)\s*\{", self.texts[name])
        if not match:
            raise ContractError(f"{self.paths[name]}: expected {name} to return a value, got no result type; add one")
        return match[1]


@dataclass(frozen=True)
class Module:
    """Generates the parts of one kernel's WGSL module."""

    library: Library
    contract: Contract
    kernel: Kernel

    @cached_property
    def operands(self) -> list[tuple[str, Item]]:
        """The names and items of the inputs, then of the result."""
        dtypes = [each.dtype or self.kernel.dtype for each in self.contract.inputs]
        names = [each.name for each in self.contract.inputs]
        return [
            (name, ITEMS[dtype]) for name, dtype in zip([*names, "out"], [*dtypes, self.kernel.result], strict=True)
        ]

    @property
    def out(self) -> Item:
        return self.operands[-1][1]

    @property
    def stem(self) -> str:
        return self.kernel.name if self.contract.kind.name == "cast" else f"{self.kernel.stem}_{self.kernel.dtype}"

    def function(self, suffix: str = "") -> str:
        return self.library.require(self.contract, f"lw_{self.stem}{suffix}")

    def bindings(self, scratch: str = "") -> str:
        """Returns the bindings: the operands, scratch memory if its element type is given, layout and parameters."""
        lines = []
        for position, (name, item) in enumerate(self.operands):
            last = position == len(self.operands) - 1
            access = "read_write" if last else "read"
            element = f"atomic<{item.element}>" if last and item.packed else item.element
            lines.append(f"@group(0) @binding({position}) var<storage, {access}> {name}_buffer: array<{element}>;")
        if scratch:
            lines.append(f"@group(0) @binding({len(lines)}) var<storage, read_write> scratch_buffer: array<{scratch}>;")
        struct = LAYOUTS.get(self.contract.kind.name, "LwLayout")
        lines.append(f"@group(0) @binding({len(lines)}) var<uniform> lw: {struct};")
        return "\n".join(lines) + "\n"

    def loads(self, numbers: bool = True) -> str:
        """Returns a function lw_load_<input>(at: u32) for each input, which loads the element at a byte offset. The
        override lw_sources says where each input is (webgpu/kinds/layout.wgsl). `numbers`: an input may be a number."""
        functions = []
        for position, each in enumerate(self.contract.inputs):
            item = self.operands[position][1]
            cases = []
            if numbers:
                cases.append((1, item.load.replace("$item", item.number(f"lw.number_{COMPONENTS[position]}"))))
            if item == self.out:
                cases.append((2, self._load(item, "out_buffer", atomic=item.packed)))
            if each.optional:
                absent = f"lw_{self.stem}_absent_{each.name}"
                cases.append((3, f"{absent if absent in self.library.texts else item.value}()"))
            source = f"(lw_sources >> {2 * position}u) & 3u" if position else "lw_sources & 3u"
            lines = [f"    if (({source}) == {code}u) {{ return {value}; }}" for code, value in cases]
            lines.append(f"    return {self._load(item, f'{each.name}_buffer')};")
            body = "\n".join(lines)
            functions.append(f"fn lw_load_{each.name}(at: u32) -> {item.value} {{\n{body}\n}}\n")
        return "".join(functions)

    def _load(self, item: Item, buffer: str, atomic: bool = False) -> str:
        word = f"{buffer}[at >> {3 if item.bits == 64 else 2}u]"
        word = f"atomicLoad(&{word})" if atomic else word
        return item.load.replace("$item", item.extract(word) if item.packed else word)

    def load(self, position: int, at: str = "at") -> str:
        """Returns an expression that loads an input; `at` names the vector of the operands' byte offsets."""
        return f"lw_load_{self.operands[position][0]}({at}.{COMPONENTS[position]})"

    def store(self, value: str, item_of_value: str | None = None) -> str:
        """Returns statements, without the last semicolon, that store `value`, or the item `item_of_value` if given."""
        at = f"at.{COMPONENTS[len(self.operands) - 1]}"
        item = item_of_value or self.item(value)
        if not self.out.packed:
            return f"out_buffer[{at} >> {3 if self.out.bits == 64 else 2}u] = {item}"
        shift = f"(({at} & {3 if self.out.bits == 8 else 2}u) * 8u)"
        word = f"&out_buffer[{at} >> 2u]"
        clear = f"atomicAnd({word}, ~({hex((1 << self.out.bits) - 1)}u << {shift}))"
        return f"{clear};\natomicOr({word}, {item} << {shift})"

    def item(self, value: str) -> str:
        return self.out.store.replace("$value", value)

    def parameters(self, value: str) -> list[str]:
        """Returns the parameters as arguments of a WGSL function: bools and choices as i32, others as type `value`."""
        return [_parameter(position, each, value) for position, each in self.contract.expression_parameters]


def _parameter(position: int, parameter: Parameter, value: str) -> str:
    own = "f32" if parameter.type == "float" else "i32"
    text = f"bitcast<{own}>(lw.scalars.{COMPONENTS[position]})"
    return text if own == value or parameter.type in ("bool", "choice") else f"{value}({text})"


def _elementwise(module: Module) -> str:
    loads = (module.load(position) for position in range(len(module.contract.inputs)))
    arguments = ", ".join([*loads, *module.parameters(ITEMS[module.kernel.dtype].value)])
    return _each_element(module, f"{module.function()}({arguments})")


def _each_element(module: Module, value: str) -> str:
    """Returns a module that stores `value` in each element `i` of the result; `at` has the byte offsets of operands."""
    template = _template("elementwise_packed" if module.out.packed else "elementwise")
    text = Template(template).substitute(
        item=module.item(value),
        store=_indent(module.store(value, "item" if module.out.packed else None), template),
        component=COMPONENTS[len(module.contract.inputs)],
        per_word=f"{32 // module.out.bits}u",
        item_bits=f"{module.out.bits}u",
        item_bytes=f"{module.out.bits // 8}u",
    )
    return module.bindings() + module.loads() + text


def _reduction(module: Module) -> str:
    identity = module.function("_identity")
    accumulator = module.library.result(identity)
    loads = [module.load(position) for position in range(len(module.contract.inputs))]
    index = ["i"] if module.contract.kind.name == "index_reduction" else []
    parameters = module.parameters("f32")
    template = _template("reduction")
    finished = f"{module.function('_finish')}({', '.join(['result', 'lw.length', *parameters])})"
    text = Template(template).substitute(
        accumulator=accumulator,
        identity=f"{identity}()",
        map=f"{module.function('_map')}({', '.join([*loads, *index])})",
        combine=module.function("_combine"),
        store=_indent(module.store(finished), template),
    )
    return module.bindings(scratch=accumulator) + module.loads() + text


def _matrix(module: Module) -> str:
    template = _template("matrix")
    loads = [module.load(position) for position in range(len(module.contract.inputs))]
    finished = f"{module.function()}({', '.join(['product', *loads[2:], *module.parameters(module.out.value)])})"
    text = Template(template).substitute(
        item=module.out.value, load_a=loads[0], load_b=loads[1], store=_indent(module.store(finished), template)
    )
    return module.bindings(scratch=module.out.value) + module.loads(numbers=False) + text


def _gather(module: Module) -> str:
    """Returns a module whose scalars are the extent of the indexed axis and its stride in bytes."""
    position = f"lw_take_position({module.load(1)}, bitcast<i32>(lw.scalars.x))"
    if module.contract.operation == "put":
        template = _template("put")
        store = _indent(module.store(module.load(0)), template)
        text = Template(template).substitute(position=position, store=store)
        return module.bindings(scratch="atomic<u32>") + module.loads() + text
    return _each_element(module, f"lw_load_{module.contract.inputs[0].name}(at.x + {position} * lw.scalars.y)")


def _creation(module: Module) -> str:
    """Returns a module whose function receives the position of an element, and the bits of the parameters."""
    parameters = (f"lw.number_{COMPONENTS[position]}" for position in range(len(module.contract.kernel_parameters)))
    return _each_element(module, f"{module.function()}({', '.join(['i', *parameters])})")


def _search(module: Module) -> str:
    row = module.contract.inputs[0].name
    search = Template(_template("search")).substitute(
        value=module.operands[1][1].value, row=row, is_before=module.function()
    )
    return search + _each_element(module, f"lw_search({module.load(1)})")


def _rows(module: Module) -> str:
    library, stem = module.library, f"lw_{module.stem}"
    loads = [module.load(position) for position in range(len(module.contract.inputs))]
    if f"{stem}_advance" in library.texts:
        return _scan(module, loads[0])
    template, total = _template("rows"), []
    if f"{stem}_term" in library.texts:
        template = template.replace("@compute", _template("rows_total") + "\n@compute")
        total = ["lw_add_up(row, summary, invocation)"]
    parameters = module.parameters("f32")
    rescale, scale, element = "", [], loads[0]
    if f"{stem}_scale" in library.texts:
        rescale = f"scale = {stem}_scale({', '.join(['summary', *parameters])});"
        rescale += "\nif (scale != 1.0) {\n    summary = lw_summarize(row, scale, invocation);\n}"
        scale, element = ["scale"], f"{loads[0]} * scale"
    numbers = ", ".join(["summary", *total, *scale, "lw.length", *parameters])
    text = Template(template).substitute(
        summary=library.result(module.function("_identity")),
        identity=f"{module.function('_identity')}()",
        map=f"{module.function('_map')}({element})",
        combine=module.function("_combine"),
        rescale=rescale.replace("\n", "\n        "),
        term=f"{stem}_term({loads[0]}, summary)",
        numbers=f"{module.function('_numbers')}({numbers})",
        value=f"{module.function('_value')}({', '.join([*loads, 'numbers'])})",
        store=_indent(module.store("value"), template),
    )
    return module.bindings() + module.loads() + text


def _scan(module: Module, load: str) -> str:
    template = _template("scan")
    zero = module.function("_zero")
    text = Template(template).substitute(
        item=module.out.value,
        zero=f"{zero}()",
        identity=f"{module.function('_identity')}()",
        load=load,
        value=f"{module.function('_value')}(lw_scanned[invocation], before)",
        advance=f"{module.function('_advance')}(before, lw_scanned[lw_tile - 1u])",
        join=module.function("_join"),
        store=_indent(module.store("value"), template),
    )
    return module.bindings(scratch=module.library.result(zero)) + module.loads() + text


def _rotation(module: Module) -> str:
    name = module.contract.inputs[0].name
    text = Template(_template("rotation")).substitute(
        places=module.library.require(module.contract, f"lw_{module.contract.operation}_places"),
        rotate=module.function(),
        first=f"lw_load_{name}(first.x)",
        second=f"lw_load_{name}(second.x)",
    )
    return module.bindings() + module.loads(numbers=False) + text


def _window(module: Module) -> str:
    inputs = module.contract.inputs
    size = "lw.kernel_size.x * lw.kernel_size.y"
    finish = [module.load(2)] if len(inputs) > 1 else ["inside", size, *module.parameters("f32")]
    combine = ", ".join(["acc", *(module.load(position) for position in range(min(len(inputs), 2)))])
    text = Template(_template("window")).substitute(
        identity=f"{module.function('_identity')}()",
        combine=f"{module.function('_combine')}({combine})",
        finish=f"{module.function('_finish')}({', '.join(['acc', *finish])})",
        component=COMPONENTS[len(inputs)],
        result=f"{len(inputs)}u",
    )
    return module.bindings() + module.loads(numbers=False) + text


def _attention(module: Module) -> str:
    names = [each.name for each in module.contract.inputs]
    loads = dict(zip(("query", "key", "value", "mask"), (f"lw_load_{name}" for name in names), strict=True))
    functions = {name: module.function(f"_{name}") for name in ("score", "weight", "rescale", "mean")}
    text = Template(_template("attention")).substitute(
        **loads, **functions, maximum="lw_maximum_float32", lowest="lw_from_bits(lw_SIGN_BIT | lw_INFINITY_BITS)"
    )
    return module.bindings() + module.loads() + text


EMITTERS = {
    "elementwise": _elementwise,
    "cast": _elementwise,
    "reduction": _reduction,
    "index_reduction": _reduction,
    "matrix": _matrix,
    "gather": _gather,
    "creation": _creation,
    "search": _search,
    "rows": _rows,
    "rotation": _rotation,
    "window": _window,
    "attention": _attention,
}


def emit(contracts: tuple[Contract, ...]) -> dict[str, str]:
    """Returns {kernel name: module} for the kernels that WebGPU has; each module is a part of shaders.wgsl."""
    library = Library(WEBGPU)
    indices = {kernel.name: index for index, kernel in enumerate(all_kernels(contracts))}
    return {name: text for contract in contracts for name, text in _modules(library, contract, indices)}


def emit_table(contracts: tuple[Contract, ...], modules: Mapping[str, str]) -> dict[str, str]:
    """Returns {file name: text} for lanewise_shaders.c, the table of the kernels' modules that the extension reads."""
    rows = []
    for name in (kernel.name for kernel in all_kernels(contracts)):
        if name in modules:
            text = modules[name]
            facts = json.loads(text[2 : text.index("\n")])
            rows.append(f"    [LW_KERNEL_{name}] = {{1, {facts['scratch_bytes']}}},")
    table = "\n".join(rows)
    return {
        "lanewise_shaders.c": f"""\
/* Which kernels have a WGSL module, and facts about it. Generated from contracts/ and webgpu/ by wgsl.py. */
#include "shader.h"
#include "lanewise_operations.h"
#include "lanewise_table.h"

const lw_shader lw_shaders[LW_KERNEL_COUNT] = {{
{table}
}};
"""
    }


def pack(modules: Mapping[str, str]) -> dict[str, str]:
    """Returns {file name: text} for shaders.wgsl, which holds all modules."""
    library = Library(WEBGPU)
    used = {name for text in modules.values() for name in json.loads(text[2 : text.index("\n")])["uses"]}
    declarations = (_part({"declares": name}, library.texts[name]) for name in sorted(used))
    return {"shaders.wgsl": "".join((*declarations, *modules.values()))}


def _modules(library: Library, contract: Contract, indices: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    emitter = EMITTERS.get(contract.kind.name)
    required = contract.kind.backends["webgpu"] == "now" and contract.fallback is None
    if required and emitter is None:
        raise ContractError(
            f"contracts/kinds.yaml: {contract.kind.name}: expected an emitter in wgsl.py, got none; write it, "
            "with a template in webgpu/kinds"
        )
    if emitter is None or contract.fallback is not None:
        return
    for kernel in contract.kernels:
        try:
            text = emitter(Module(library, contract, kernel))
        except ContractError:
            if required:
                raise
            continue
        facts = {
            "kernel": kernel.name,
            "index": indices[kernel.name],
            "inputs": len(contract.inputs),
            "scratch_bytes": _scratch_bytes(library, text),
            "uses": library.uses(text),
        }
        yield kernel.name, _part(facts, text)


def _part(facts: Mapping[str, object], text: str) -> str:
    """Returns a part of shaders.wgsl: the facts as a comment in JSON, then the text without comments. The JSON has
    no spaces, to keep the file small: a module lists many declarations."""
    return f"//{json.dumps(facts, separators=(',', ':'))}\n{_strip(text)}"


def _scratch_bytes(library: Library, text: str) -> int:
    """Returns the bytes per partial result (32-bit scalar, vec2 or struct of float32); 0 without scratch memory."""
    match = re.search(r"scratch_buffer: array<(.*)>;", text)
    if not match:
        return 0
    if match[1].startswith("vec2"):
        return 8
    return 4 * library.texts[match[1]].count(": f32") if match[1] in library.texts else 4


def _template(name: str) -> str:
    return (WEBGPU / "kinds" / f"{name}.wgsl").read_text()


def _indent(statement: str, template: str) -> str:
    """Indents the lines after the first as far as the template indents `$store`."""
    margin = re.search(r"^( *)\$store", template, re.M)
    return statement.replace("\n", "\n" + (margin[1] if margin else ""))


def _strip(text: str) -> str:
    """Removes comments and empty lines, because browsers download the modules."""
    lines = (re.sub(r"\s*//.*", "", line) for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip()) + "\n"
