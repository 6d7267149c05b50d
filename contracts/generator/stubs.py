"""Emits the type stubs: _ext.pyi with every operation as a function, method or operator, and __init__.pyi.

_ext.pyi is the template _ext.pyi.in with the operations filled in. __init__.pyi declares what lanewise/__init__.py
imports and defines, read from its syntax tree, so that public names are listed only there.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from pathlib import Path
from string import Template

from . import docs
from .facts import FACTS
from .schema import Contract, Parameter

TEMPLATE = Path(__file__).with_name("_ext.pyi.in")
LINE = 110

PARAMETER_TYPES = {
    "float": "builtins.float",
    "int": "builtins.int",
    "bool": "builtins.bool",
    "scalar": "builtins.float",
    "axis": "builtins.int",
    "axes": "_Axes",
    "keepdims": "builtins.bool",
    "dtype": "_DTypeLike",
    "shape": "_Shape",
    "pair": "_Pair",
    "pairs": "_Pairs",
}

# Operation -> binary operator. Each has a reflected and an in-place method too: __add__, __radd__, __iadd__.
BINARY = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "divide": "truediv",
    "floor_divide": "floordiv",
    "remainder": "mod",
    "pow": "pow",
    "matmul": "matmul",
    "bitwise_and": "and",
    "bitwise_or": "or",
    "bitwise_xor": "xor",
    "bitwise_left_shift": "lshift",
    "bitwise_right_shift": "rshift",
}
COMPARISONS = {"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}
EQUALITIES = {"equal": "eq", "not_equal": "ne"}  # they override methods of `object` that return bool
UNARY = {"negative": "neg", "abs": "abs", "bitwise_invert": "invert"}


def emit(contracts: tuple[Contract, ...], package: Path) -> dict[str, str]:
    """Returns the text of each file by name; `package` is the folder lanewise/."""
    public = [contract for contract in contracts if not contract.internal]
    return {"_ext.pyi": _extension(public), "__init__.pyi": _package(public, package / "__init__.py")}


def _extension(contracts: list[Contract]) -> str:
    methods = [line for contract in contracts if contract.method for line in _definitions(contract, method=True)]
    functions = [line for contract in contracts for line in _definitions(contract, method=False)]
    names = [f'"{name}",' for contract in contracts for name in contract.names]
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        names=_indented(names),
        operators=_indented(_operators({contract.operation for contract in contracts})),
        methods=_indented(methods),
        functions="\n".join(functions),
    )


def _indented(lines: list[str]) -> str:
    return textwrap.indent("\n".join(lines), "    ")


def _operators(operations: set[str]) -> list[str]:
    lines = []
    for operation, name in BINARY.items():
        if operation in operations:
            for prefix in ("", "r", "i"):
                result = "Self" if prefix == "i" else "Tensor"
                modulus = ignore = ""
                if name == "pow" and prefix == "i":  # Python never passes a modulus to __ipow__, unlike __pow__
                    ignore = "  # type: ignore[misc]"
                elif name == "pow":
                    modulus = ", mod: None = None"
                lines.append(f"def __{prefix}{name}__(self, other: _Array{modulus}, /) -> {result}: ...{ignore}")
    for operation, name in COMPARISONS.items():
        if operation in operations:
            lines.append(f"def __{name}__(self, other: _Array, /) -> Tensor: ...")
    for operation, name in EQUALITIES.items():
        if operation in operations:
            lines.append(f"def __{name}__(self, other: object, /) -> Tensor: ...  # type: ignore[override]")
    for operation, name in UNARY.items():
        if operation in operations:
            lines.append(f"def __{name}__(self) -> Tensor: ...")
    return lines


def _definitions(contract: Contract, method: bool) -> Iterator[str]:
    for name in contract.names:
        arguments = _arguments(contract, method)
        result = f") -> {contract.returns}:"
        head = f"def {name}({', '.join(arguments)}{result}"
        if len(head) > LINE:
            head = "\n".join([f"def {name}(", *(f"    {argument}," for argument in arguments), result])
        if method or name != contract.operation:
            yield f"{head} ..."
        else:
            text = docs.docstring(contract).replace("\\", "\\\\")
            yield head + "\n" + textwrap.indent(f'"""{text}"""\n', "    ")


def _arguments(contract: Contract, method: bool) -> list[str]:
    required = [f"{each.name}: {'Sequence[_Array]' if each.sequence else '_Array'}"
                for each in contract.inputs if not each.optional]  # fmt: skip
    optional = [f"{each.name}: _Array | None = None" for each in contract.inputs if each.optional]
    positional = [_parameter(each) for each in contract.parameters if each.positional]
    keywords = [_parameter(each) for each in contract.parameters if not each.positional]
    if contract.has_out:
        keywords.append("out: Tensor | None = None")
    if contract.device:
        keywords.append("device: _Device | None = None")
    if method:
        required[0] = "self"
        if docs.variadic(contract):
            positional = [f"*{positional[0].partition(' =')[0]}"]
    bare = ["*"] if keywords and not any(each.startswith("*") for each in positional) else []
    slash = ["/"] if required else []
    return [*required, *slash, *optional, *positional, *bare, *keywords]


def _parameter(parameter: Parameter) -> str:
    if parameter.type == "choice":
        kind = f"Literal[{', '.join(repr(choice) for choice in parameter.choices)}]"
    else:
        kind = PARAMETER_TYPES[parameter.type]
    if parameter.required:
        return f"{parameter.name}: {kind}"
    none = " | None" if parameter.default is None or parameter.optional else ""
    return f"{parameter.name}: {kind}{none} = {parameter.default!r}"


def _package(contracts: list[Contract], source: Path) -> str:
    tree = ast.parse(source.read_text(encoding="utf-8"), str(source))
    names = [name for contract in contracts for name in contract.names]
    lines = [
        "# The public names of lanewise, as type checkers and editors see them. Generated by stubs.py from contracts/",
        "# and from lanewise/__init__.py.",
        "from typing import Final",
        "",
        *_imported("lanewise._ext", [(name, name) for name in names]),
    ]
    for node in tree.body:
        lines.extend(_declared(node))
    listed = _all(tree)
    added = [name for name in FACTS.dtypes if name not in listed]
    lines += [f"{name}: Final[DType]" for name in added]
    lines += ["__all__ = [", *(f'    "{name}",' for name in [*listed, *added, *names]), "]"]
    return "\n".join(lines) + "\n"


def _declared(node: ast.stmt) -> Iterator[str]:
    """Yields the declarations of the public names that a statement of __init__.py binds."""
    if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("lanewise."):
        pairs = [(alias.name, alias.asname or alias.name) for alias in node.names if alias.name != "*"]
        yield from _imported(node.module, pairs)
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        name = node.targets[0].id
        if not name.startswith("_"):
            yield f"{name}: {_type_of(node.value)}"
    elif isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name.endswith("__")):
        documentation = ast.get_docstring(node)
        node.body = [ast.Expr(ast.Constant(documentation))] if documentation else [ast.Expr(ast.Constant(...))]
        yield ast.unparse(node)


def _all(tree: ast.Module) -> list[str]:
    """Returns the names that __init__.py lists in __all__, to which it adds others at run time."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            listed = ast.literal_eval(node.value)
            return [str(name) for name in listed]
    return []


def _imported(module: str, pairs: list[tuple[str, str]]) -> Iterator[str]:
    """Yields an import that re-exports names: a stub does so only for names imported as `a as a`."""
    if pairs:
        yield f"from {module} import ("
        yield from (f"    {name} as {alias}," for name, alias in pairs)
        yield ")"


def _type_of(value: ast.expr) -> str:
    """Returns the type of a constant: that of a literal, or Final[float] for another expression, such as math.pi."""
    if isinstance(value, ast.Constant):
        return "None" if value.value is None else type(value.value).__name__
    return "Final[float]"
