"""The pages of the Python API other than operations: functions, classes, errors, and Tensor.

Everything is read from the sources, not imported, so that the reference needs no compiler and no machine with every
backend: public names from lanewise/__init__.py, signatures and docstrings from the modules that it imports them from,
attributes of Tensor from the stub's template, and the docstrings of those that are written in C from native/extension.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template

from generator import stubs
from generator.facts import FACTS
from generator.schema import Contract
from markup import code, directive, docstring, relative, table, text
from operation_pages import operators, path

__all__ = ["groups", "page", "page_of", "tensor_page"]

ROOT = Path(__file__).resolve().parents[2]
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
TITLES = {
    "dtypes": "Data types",
    "creation functions that are not operations": "More creation functions",
    "constants": "Constants",
    "backends": "Backends and devices",
    "memory": "Memory",
    "threads": "Threads",
    "printing": "Printing",
    "errors": "Errors",
}
CONSTANTS = {
    "e": "Euler's number.",
    "inf": "Positive infinity.",
    "nan": "Not a number.",
    "newaxis": "`None`: in an index, adds a dimension of size 1.",
    "pi": "The ratio of a circle's circumference to its diameter.",
    "__version__": "The version of the package, a string.",
}
PROTOCOLS = {
    "`x[...]`, `x[...] = values`": "NumPy's indexing: integers, slices, `...`, `None`, arrays of indices, masks",
    "`len(x)`, `for row in x`, `value in x`": "along the first axis; `in` looks at all elements",
    "`bool(x)`, `int(x)`, `float(x)`, `operator.index(x)`": "of a tensor with one element",
    "`round(x)`, `math.trunc(x)`, `divmod(x, y)`, `+x`": "as for numbers; `round` takes no digits",
    '`f"{x:.2f}"`, `str(x)`, `repr(x)`': "formatting; a specification needs a tensor with one element",
    "`copy.copy(x)`, `copy.deepcopy(x)`, `pickle.dumps(x)`": "copy the elements",
    "`memoryview(x)`, `np.asarray(x)`": "share the memory of a tensor on the CPU",
    "`torch.from_dlpack(x)`, `np.from_dlpack(x)`": "share the memory, by `__dlpack__` and `__dlpack_device__`",
    "`np.exp(x)`, `np.mean(x)`": "NumPy's functions of a tensor return arrays",
    "`x.__array_namespace__()`": "the module `lanewise`, as the array API asks for",
}


@dataclass(frozen=True)
class Group:
    """The names of a page: those after one comment in `__all__`."""

    title: str
    path: str
    names: tuple[str, ...]


@cache
def _source_and_tree(name: str) -> tuple[str, ast.Module]:
    """Returns the text of a module of Lanewise, such as "backends.memory", and its syntax tree."""
    source = (ROOT / "lanewise").joinpath(*name.split(".")).with_suffix(".py").read_text(encoding="utf-8")
    return source, ast.parse(source)


@cache
def groups() -> tuple[Group, ...]:
    """Returns the groups of `__all__` in lanewise/__init__.py, without Tensor, which has its own page."""
    source, _ = _source_and_tree("__init__")
    listing = re.search(r"^__all__ = \[\n(.*?)^\]", source, re.DOTALL | re.MULTILINE)
    if not listing:
        raise LookupError(
            "lanewise/__init__.py: expected a list __all__ with a line for each group, got none; "
            "change groups() in site/reference/python_api.py"
        )
    found: dict[str, list[str]] = {}
    comment = ""
    for line in listing[1].splitlines():
        if line.strip().startswith("#"):
            comment = line.strip("# ")
        elif comment:
            found.setdefault(comment, []).extend(re.findall(r'"(\w+)"', line))
    names = {comment: tuple(each for each in listed if each != "__version__") for comment, listed in found.items()}
    names["constants"] = (*names["constants"], "__version__")
    titles = {comment: TITLES.get(comment, comment.capitalize()) for comment in names}
    return tuple(
        Group(title, f"api/{title.lower().replace(' ', '-')}.md", names[comment]) for comment, title in titles.items()
    )


def page_of() -> dict[str, str]:
    """Returns the path of the page that documents each public name that is not an operation."""
    return {"Tensor": "api/tensor.md"} | {name: group.path for group in groups() for name in group.names}


@cache
def _modules_of_names() -> dict[str, str]:
    """Returns the module from which lanewise/__init__.py imports each name."""
    _, tree = _source_and_tree("__init__")
    return {
        alias.asname or alias.name: node.module.removeprefix("lanewise.")
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("lanewise.")
        for alias in node.names
    }


def page(group: Group) -> str:
    """Returns the page of a group."""
    blocks = [f"# {group.title}"]
    data = [name for name in group.names if _definition(name) is None]
    if group.title == "Constants":
        blocks.append(table(["name", "value"], [[code(f"lw.{name}"), CONSTANTS[name]] for name in data]))
    elif data:
        blocks.append(_dtype_table())
    if group.title == "Errors":
        _, introduction, _ = (ast.get_docstring(_source_and_tree("errors")[1]) or "").split("\n\n")
        blocks.append(docstring(introduction))
    for name in group.names:
        node = _definition(name)
        if isinstance(node, ast.ClassDef):
            blocks.append(_class_directive(name, node))
        elif node is not None:
            blocks.append(_function_directive(f"lanewise.{name}", node, "py:function"))
    return "\n\n".join(blocks) + "\n"


def _definition(name: str) -> Definition | None:
    """Returns the function or class that a public name refers to, None for other objects."""
    module = _modules_of_names().get(name, "__init__")
    for node in _source_and_tree(module)[1].body:
        if isinstance(node, Definition) and node.name == name:
            return node
    return None


def _dtype_table() -> str:
    kinds = {"signed": "signed integer", "unsigned": "unsigned integer", "floating": "floating point"}
    rows = [
        [code(f"lw.{name}"), kinds.get(each.group.name, each.group.name), str(each.bits // 8)]
        for name, each in FACTS.dtypes.items()
    ]
    return table(["dtype", "kind", "bytes"], rows)


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, is_method: bool) -> str:
    """Returns the argument list with types, without self."""
    arguments = ast.unparse(node.args)
    if is_method:
        arguments = re.sub(r"^(self|cls)(: Tensor)?(, /)?(, )?", "", arguments)
    arrow = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return re.sub(r"\bbuiltins\.", "", f"({arguments}){arrow}")


def _function_directive(
    name: str, node: ast.FunctionDef | ast.AsyncFunctionDef, kind: str, doc: str | None = None
) -> str:
    """Returns the directive of a function or method; `doc` replaces its docstring."""
    options = ["async:"] if isinstance(node, ast.AsyncFunctionDef) else []
    body = doc if doc is not None else ast.get_docstring(node) or ""
    signature = f"{name}{_signature(node, kind == 'py:method')}"
    return directive(kind, signature, docstring(body), options)


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "property" for each in node.decorator_list)


def _class_directive(name: str, node: ast.ClassDef) -> str:
    """Returns a class with its fields, properties and methods."""
    module = _modules_of_names().get(name, "__init__")
    bases = [ast.unparse(base) for base in node.bases]
    is_error, is_enum = module == "errors", "StrEnum" in bases
    blocks = [docstring(ast.get_docstring(node) or "")]
    if is_error:
        blocks.append(f"Derives from {', '.join(map(code, bases))}.")
    if fields := _fields(node, module, name):
        blocks.append(table(["field", "type", "meaning"] if any(row[2] for row in fields) else ["field", "type"],
                            [row if any(each[2] for each in fields) else row[:2] for row in fields]))  # fmt: skip
    if is_enum:
        members = [each for each in node.body if isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant)]
        blocks.append(table(["member", "value"], [[code(ast.unparse(each.targets[0])), code(ast.unparse(each.value))]
                                                  for each in members]))  # fmt: skip
    constructor = ""
    for each in node.body:
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if each.name == "__init__" and not is_error and module == "selection":
            constructor = _signature(each, is_method=True).partition(" -> ")[0]
        if each.name.startswith("_") or not ast.get_docstring(each):
            continue
        if _is_property(each):
            kind = ast.unparse(each.returns) if each.returns else ""
            content = docstring(ast.get_docstring(each) or "")
            blocks.append(directive("py:property", each.name, content, [f"type: {kind}"]))
        else:
            blocks.append(_function_directive(each.name, each, "py:method"))
    return directive("py:exception" if is_error else "py:class", f"lanewise.{name}{constructor}", "\n\n".join(blocks))


def _fields(node: ast.ClassDef, module: str, name: str) -> list[list[str]]:
    """Returns the rows of a table of fields: name, type and the comment beside it."""
    lines = _source_and_tree(module)[0].splitlines()
    rows = []
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            comment = lines[each.lineno - 1].partition("#")[2].strip()
            comment = "" if comment.startswith("type:") else comment
            default = f" = {ast.unparse(each.value)}" if each.value else ""
            rows.append([code(each.target.id), code(f"{ast.unparse(each.annotation)}{default}"), text(comment)])
    return rows


def tensor_page(contracts: Sequence[Contract]) -> str:
    """Returns the page of Tensor: attributes, methods, operators, and the operations that are methods, too."""
    here = "api/tensor.md"
    node = _tensor_class()
    written = _docstrings()
    attributes, methods = [], []
    for each in node.body:
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) or each.name.startswith("_"):
            continue
        if each.name not in written:
            raise LookupError(
                f"Tensor.{each.name}: expected a docstring in methods.py or native/extension, got none; write it"
            )
        if _is_property(each):
            kind = re.sub(r"\bbuiltins\.", "", ast.unparse(each.returns) if each.returns else "")
            attributes.append(directive("py:property", each.name, docstring(written[each.name]), [f"type: {kind}"]))
        else:
            methods.append(_function_directive(each.name, each, "py:method", written[each.name]))
    signs = [
        [code(sign), f"[{each.operation}]({relative(here, path(each.operation))})"]
        for each in contracts
        for sign in operators(each.operation)
    ]
    operations = [f"[{each.operation}]({relative(here, path(each.operation))})" for each in contracts if each.method]
    blocks = [
        "# Tensor",
        directive("py:class", "lanewise.Tensor", text(ast.get_docstring(node) or "")),
        "Tensors have no constructor: [asarray](../operations/asarray.md), [zeros](../operations/zeros.md) and the "
        "other creation functions make them.",
        "## Attributes",
        _as_members_of_tensor(attributes),
        "## Methods",
        _as_members_of_tensor(methods),
        "## Operators",
        "In-place forms, such as `x += y`, exist for the arithmetic and bitwise operators. Numbers, and what "
        "`lw.asarray` accepts, may stand on either side.",
        table(["expression", "operation"], signs),
        "## Python's protocols",
        table(["expression", "meaning"], [[left, right] for left, right in PROTOCOLS.items()]),
        "## Operations as methods",
        "Each of these takes the tensor as its first argument: `x.softmax(axis=0)` is `lw.softmax(x, axis=0)`.",
        " · ".join(operations),
    ]
    return "\n\n".join(blocks) + "\n"


def _as_members_of_tensor(blocks: Sequence[str]) -> str:
    """Returns descriptions of members, with the names of their class and module for links to them."""
    module = "```{py:currentmodule} lanewise\n```"
    named = [re.sub(r"^(`+\{py:\w+\} )", r"\1Tensor.", block, count=1) for block in blocks]
    return "\n\n".join([module, *named])


def _tensor_class() -> ast.ClassDef:
    """Returns the class Tensor of the stub's template, without operators and operations."""
    source = Template(stubs.TEMPLATE.read_text(encoding="utf-8")).substitute(
        names="", operators="", methods="", functions=""
    )
    return next(node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == "Tensor")


@cache
def _docstrings() -> Mapping[str, str]:
    """Returns the docstrings of Tensor's attributes and methods that are not operations."""
    return dict(_docstrings_in_c()) | dict(_docstrings_in_python())


def _docstrings_in_python() -> Iterator[tuple[str, str]]:
    """Yields names and docstrings from the dictionary METHODS: a function, or `property(function)`."""
    _, tree = _source_and_tree("methods")
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    for node in tree.body:
        if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "METHODS"):
            continue
        assert isinstance(node.value, ast.Dict)
        for key, value in zip(node.value.keys, node.value.values, strict=True):
            called = value.args[0] if isinstance(value, ast.Call) else value
            if isinstance(key, ast.Constant) and isinstance(called, ast.Name) and called.id in functions:
                yield str(key.value), ast.get_docstring(functions[called.id]) or ""


def _docstrings_in_c() -> Iterator[tuple[str, str]]:
    """Yields names and docstrings from the tables of attributes and methods: `{"size", ..., "The number ..."}`."""
    for name in ("type.c", "exchange.c"):
        source = (ROOT / "native" / "extension" / "tensor" / name).read_text(encoding="utf-8")
        for entry in re.finditer(r'^    \{"([a-z]\w*|m?T)",([^{}]*)\},?$', source, re.MULTILINE):
            if strings := re.findall(r'"((?:[^"\\]|\\.)*)"', entry[2]):
                yield entry[1], strings[-1].replace("\\n", "\n").partition("--\n\n")[2] or strings[-1]
