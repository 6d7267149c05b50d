"""The parts of a WGSL module that follow from a kernel's contract: bindings, loads, stores and parameters. And the
library of declarations in webgpu/ops and webgpu/math, which are found by name or made from webgpu/functions."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from string import Template

from ..facts import FACTS
from ..fields import ContractError
from ..schema import BITS, Contract, Kernel, Parameter

__all__ = ["COMPONENTS", "ITEMS", "WEBGPU", "Item", "Library", "Module", "indented", "read_template"]

WEBGPU = Path(__file__).resolve().parents[3] / "webgpu"
_VECTOR_SHIFTS = {8: 2, 16: 3, 32: 4}  # binary logarithms of the bytes of four elements, by their bits
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

    def is_stored_like(self, other: Item) -> bool:
        """Whether both are stored alike, as bool and bits8 are, so that one may be read through the other's binding."""
        return (self.bits, self.element) == (other.bits, other.element)

    def extract(self, word: str) -> str:
        """Returns the item at the byte offset `at`, from the word that contains it."""
        align = 3 if self.bits == 8 else 2
        return f"(({word} >> ((at & {align}u) * 8u)) & {hex((1 << self.bits) - 1)}u)"

    def number(self, words: str) -> str:
        """Returns the item that two words of the parameters hold, in a vector."""
        if self.bits == 64:
            return words
        return f"{words}.x" if self.element == "u32" else f"bitcast<{self.element}>({words}.x)"


def _item(bits: int, group: str = "bits") -> Item:
    """Returns the item of dtypes of a size and class, by default that of bits without a meaning."""
    if group == "bool":
        return Item(bits, "u32", "bool", "($item != 0u)", "select(0u, 1u, $value)")
    if group in ("signed", "unsigned") and bits < 32:
        empty = 32 - bits
        load = f"((bitcast<i32>($item) << {empty}u) >> {empty}u)" if group == "signed" else "bitcast<i32>($item)"
        return Item(bits, "u32", "i32", load, f"(bitcast<u32>($value) & {hex((1 << bits) - 1)}u)")
    letter = {"signed": "i", "floating": "f"}.get(group, "u") if bits == 32 else "u"
    element = "vec2<u32>" if bits == 64 else f"{letter}32"
    return Item(bits, element, element)


ITEMS = {name: _item(each.bits, each.group.name) for name, each in FACTS.dtypes.items()} | {
    name: _item(bits) for name, bits in BITS.items()
}


# What templates may name in place of dtypes: stored_signed for the signed ones that are only stored, and so on
STORED = {f"stored_{group}": [each.name for each in FACTS.dtypes.values() if each.computed and each.group.name == group]
          for group in FACTS.classes}  # fmt: skip


# The struct of a kind's parameters, if it is not LwLayout
LAYOUTS = {
    "matrix": "LwMatrixLayout",
    "window": "LwWindowLayout",
    "attention": "LwAttentionLayout",
    "sort": "LwSortLayout",
}


class Library:
    """The declarations of webgpu/math, webgpu/ops and two files of webgpu/kinds by name, and those that are added.

    A declaration starts with its keyword in the first column. It is one line, or ends at the next line that starts with
    a closing brace. `template NAME(DTYPES) -> RESULTS: key = expression; ...` stands for the declarations of
    webgpu/functions/NAME.wgsl, once for each dtype and each result, in which each $key is replaced. `-> RESULTS` is
    there if the result has another dtype. Names of STORED stand for dtypes.
    """

    declaration = re.compile(
        r"^(?:fn|struct|const|override|alias|var<\w+>) *(\w+)(?:.*;$|.*\n(?:^[^}].*\n|^\n)*^}.*$)", re.M
    )
    name = re.compile(r"\b(?:lw_\w+|Lw\w+)\b")
    template = re.compile(r"^template (\w+)\(([\w ]+)\)(?: -> ([\w ]+))?:((?:\s+\w+ = [^;]+;)+)$", re.M)

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts: dict[str, str] = {}
        self.paths: dict[str, Path] = {}
        shared = [folder / "kinds" / f"{name}.wgsl" for name in ("layout", "matrix/matrix_vectors")]
        for path in sorted([*folder.glob("math/*.wgsl"), *folder.glob("ops/*.wgsl"), *shared]):
            text = path.read_text()
            self.add(text, path)
            for name, dtypes, results, keys in self.template.findall(text):
                for dtype, result in product(_expanded(dtypes), _expanded(results) or [""]):
                    try:
                        filled = self._filled(path, name, dtype, result or dtype, keys)
                    except (FileNotFoundError, KeyError) as error:
                        raise ContractError(
                            f"{path}: expected dtypes, a template of webgpu/functions and all its $names, "
                            f"got template {name} without {error.args[-1]}; correct it"
                        ) from error
                    self.add(filled, path)

    def add(self, text: str, path: Path) -> None:
        """Adds the declarations in a text that is in a file, or made from it."""
        for match in self.declaration.finditer(text):
            if match[1] in self.texts:
                raise ContractError(
                    f"{path}: expected each name once, got {match[1]}, also in {self.paths[match[1]]}; rename one"
                )
            self.texts[match[1]] = match[0]
            self.paths[match[1]] = path

    def _filled(self, path: Path, name: str, dtype: str, result: str, keys: str) -> str:
        """Returns the declarations of a template, with `keys` and the names that webgpu/README.md lists filled in. The
        keys' expressions may have these names, too."""
        text = (self.folder / "functions" / f"{name}.wgsl").read_text()
        value = ITEMS[dtype].value
        names = {"operation": path.stem, "dtype": dtype, "value": value, "to": result, "out": ITEMS[result].value}
        names |= {"arguments": f"x: {value}", "accumulator": value}
        for prefix, name_of_facts in (("", dtype), ("to_", result)):
            if facts := FACTS.dtypes.get(name_of_facts):
                names |= {f"{prefix}bits": str(facts.bits), f"{prefix}fraction": str(facts.fraction)}
        own = {key: Template(value).substitute(names) for key, value in re.findall(r"(\w+) = ([^;]+);", keys)}
        filled = Template(text).substitute(names | own)
        if unknown := sorted(own.keys() - {*Template(text).get_identifiers()}):
            raise ContractError(f"{path}: expected only the $names of template {name}, got {unknown[0]}; correct it")
        return filled

    def require(self, contract: Contract, name: str) -> str:
        """Returns `name` if the operation's file declares it; otherwise raises ContractError."""
        file = f"ops/{contract.operation}.wgsl"
        if self.paths.get(name) == self.folder / file:
            return name
        raise contract.error(
            f"expected function {name} in webgpu/{file}, got none; write it, "
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


def _expanded(names: str) -> list[str]:
    """Returns the dtypes in a list, with those of STORED in place of its names."""
    return [dtype for name in names.split() for dtype in STORED.get(name, [name])]


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

    @property
    def narrow(self) -> str:
        """The input that may be stored in a narrower dtype (webgpu/math/narrow.wgsl), so that it is bound as words."""
        kind, inputs = self.contract.kind.name, self.contract.inputs
        fits = kind == "rows" or (kind in ("reduction", "index_reduction") and len(inputs) == 1)
        return inputs[0].name if fits and not inputs[0].dtype and self.kernel.dtype in ("float32", "int32") else ""

    def four_at(self, buffer: str, at: str, is_out: bool = False) -> str:
        """Returns an expression of the vector at a byte offset of the input that may be narrow, or in its place of the
        result. Both are bound as vectors."""
        if not self.narrow:
            return f"{buffer}[{at} >> 4u]"
        words = f"bitcast<vec4<u32>>({buffer}[{at} >> 4u])" if is_out else f"{buffer}[{at} >> 4u]"
        return f"lw_elements_{self.kernel.dtype}({words}, {at})"

    def bindings(self, scratch: str = "", vectors: Collection[str] = ()) -> str:
        """Returns the bindings: the operands, scratch memory if its element type is given, layout and parameters.
        Operands in `vectors` are bound as vectors of four elements."""
        lines = []
        for position, (name, item) in enumerate(self.operands):
            last = position == len(self.operands) - 1
            access = "read_write" if last else "read"
            element = f"atomic<{item.element}>" if last and item.packed else item.element
            element = "u32" if name == self.narrow else element
            element = f"vec4<{element}>" if name in vectors else element
            lines.append(f"@group(0) @binding({position}) var<storage, {access}> {name}_buffer: array<{element}>;")
        if scratch:
            lines.append(f"@group(0) @binding({len(lines)}) var<storage, read_write> scratch_buffer: array<{scratch}>;")
        struct = LAYOUTS.get(self.contract.kind.name, "LwLayout")
        lines.append(f"@group(0) @binding({len(lines)}) var<uniform> lw: {struct};")
        return "\n".join(lines) + "\n"

    def loads(
        self,
        numbers: bool = True,
        results: bool = True,
        first: int = 0,
        stem: str = "lw_load",
        vectors: Collection[str] = (),
    ) -> str:
        """Returns a function <stem>_<input>(at: u32) for each input from `first` on, which loads the element at a byte
        offset. The override lw_sources says where each input is (webgpu/kinds/layout.wgsl): `numbers`, an input may be
        a number; `results`, it may share the buffer of the result; `vectors`, inputs that are bound as such."""
        functions = []
        for position, each in enumerate(self.contract.inputs):
            if position < first:
                continue
            item = self.operands[position][1]
            cases = []
            if numbers:
                cases.append((1, item.load.replace("$item", item.number(f"lw.number_{COMPONENTS[position]}"))))
            if item.is_stored_like(self.out) and results:
                value = self._load(item, "out_buffer", item.packed, "out" in vectors)
                is_narrow = each.name == self.narrow
                cases.append((2, f"lw_element_{self.kernel.dtype}(bitcast<u32>({value}), at)" if is_narrow else value))
            if each.optional:
                absent = f"lw_{self.stem}_absent_{each.name}"
                cases.append((3, f"{absent if absent in self.library.texts else item.value}()"))
            source = f"(lw_sources >> {2 * position}u) & 3u" if position else "lw_sources & 3u"
            lines = [f"    if (({source}) == {code}u) {{ return {value}; }}" for code, value in cases]
            own = self._load(item, f"{each.name}_buffer", is_vector=each.name in vectors)
            own = f"lw_element_{self.kernel.dtype}({own}, at)" if each.name == self.narrow else own
            lines.append(f"    return {own};")
            body = "\n".join(lines)
            functions.append(f"fn {stem}_{each.name}(at: u32) -> {item.value} {{\n{body}\n}}\n")
        return "".join(functions)

    def _load(self, item: Item, buffer: str, atomic: bool = False, is_vector: bool = False) -> str:
        if is_vector:
            return f"{buffer}[at >> 4u][(at >> 2u) & 3u]"
        word = f"{buffer}[at >> {3 if item.bits == 64 else 2}u]"
        word = f"atomicLoad(&{word})" if atomic else word
        return item.load.replace("$item", item.extract(word) if item.packed else word)

    def load(self, position: int, at: str = "at") -> str:
        """Returns an expression that loads an input; `at` names the vector of the operands' byte offsets."""
        return f"lw_load_{self.operands[position][0]}({at}.{COMPONENTS[position]})"

    @property
    def has_vectors(self) -> bool:
        """Whether operands can be read and written four elements at a time."""
        return all(item.bits <= 32 for _, item in self.operands)

    def vectors(self) -> str:
        """Returns the bindings of operands as vectors, and a function lw_load_four_<input>(at: u32) for each input. It
        loads four elements from a byte offset on, or repeats one if that is the operand's last stride. Elements of 1 or
        2 bytes are read as words."""
        parts = []
        for position, (name, item) in enumerate(self.operands):
            if item.bits == 32:
                access = "read_write" if position == len(self.operands) - 1 else "read"
                variable = f"{name}_vectors: array<vec4<{item.element}>>"
                parts.append(f"@group(0) @binding({position}) var<storage, {access}> {variable};\n")
        for position, each in enumerate(self.contract.inputs):
            item = self.operands[position][1]
            number = item.load.replace("$item", item.number(f"lw.number_{COMPONENTS[position]}"))
            repeats = f"lw.strides[lw_ndim - 1u].{COMPONENTS[position]} == 0u"
            source = f"(lw_sources >> {2 * position}u) & 3u" if position else "lw_sources & 3u"
            lines = [f"    if (({source}) == 1u) {{ return vec4<{item.value}>({number}); }}"]
            for name, code in (("out", 2), (each.name, 0)):
                is_atomic = item.packed and code == 2
                four = self.four(name, item, f"at >> {_VECTOR_SHIFTS[item.bits]}u", is_atomic)
                one = self._load(item, f"{name}_{'buffer' if item.packed else 'vectors'}", is_atomic, not item.packed)
                value = f"if ({repeats}) {{ return vec4<{item.value}>({one}); }} return {four};"
                if code == 0:
                    lines.append(f"    {value}")
                elif item.is_stored_like(self.out):
                    lines.append(f"    if (({source}) == {code}u) {{ {value} }}")
            body = "\n".join(lines)
            parts.append(f"fn lw_load_four_{each.name}(at: u32) -> vec4<{item.value}> {{\n{body}\n}}\n")
        return "".join(parts)

    def four(self, name: str, item: Item, i: str, atomic: bool = False) -> str:
        """Returns an expression of vector i of an operand: four elements."""
        if item.bits == 32:
            return f"{name}_vectors[{i}]"
        words = [f"{name}_buffer[{i}]"]
        if item.bits == 16:
            words = [f"{name}_buffer[2u * ({i}) + {k // 2}u]" for k in range(4)]
        words = [f"atomicLoad(&{word})" if atomic else word for word in words]
        shifts = ", ".join(f"{item.bits * k % 32}u" for k in range(4))
        mask = hex((1 << item.bits) - 1)
        items = f"((vec4<u32>({', '.join(words)}) >> vec4<u32>({shifts})) & vec4<u32>({mask}u))"
        if item.value == "bool":
            return f"({items} != vec4<u32>())"
        shift = f"{32 - item.bits}u"
        load = item.load.replace("bitcast<i32>", "bitcast<vec4<i32>>").replace(shift, f"vec4<u32>({shift})")
        return load.replace("$item", items)

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


def read_template(name: str) -> str:
    """Returns a template of webgpu/kinds."""
    return next((WEBGPU / "kinds").rglob(f"{name}.wgsl")).read_text()


def indented(statement: str, template: str) -> str:
    """Indents the lines after the first as far as the template indents `$store`."""
    margin = re.search(r"^( *)\$store", template, re.M)
    return statement.replace("\n", "\n" + (margin[1] if margin else ""))
