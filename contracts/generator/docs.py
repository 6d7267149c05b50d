"""Signatures and docstrings of the public functions, for the extension and for the stubs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from .schema import Contract, Parameter, Value

WIDTH = 100
PARAMETER_TYPES = {
    "float": "float",
    "int": "int",
    "bool": "bool",
    "scalar": "float, int or bool",
    "axis": "int",
    "axes": "int or tuple of ints",
    "keepdims": "bool",
    "dtype": "dtype",
    "shape": "int or tuple of ints",
    "pair": "int or pair of ints",
    "pairs": "int, pair of ints, or a pair for each axis",
}


def literal(value: Value) -> str:
    """A default as Python source."""
    return repr(value)


def signature(contract: Contract, self_name: str) -> str:
    """The argument list as inspect.signature reads it; `self_name` is $module or $self."""
    method = self_name == "$self"
    inputs = contract.inputs[1:] if method else contract.inputs
    parts = [self_name, *(each.name for each in inputs if not each.optional), "/"]
    parts += [f"{each.name}=None" for each in inputs if each.optional]
    if method and (one := packed(contract)):
        parts.append(f"*{one.name}")
    else:
        parts += [_parameter(each) for each in contract.parameters if each.positional]
    keywords = [_parameter(each) for each in contract.parameters if not each.positional]
    if contract.has_out:
        keywords.append("out=None")
    if contract.device:
        keywords.append("device=None")
    return f"({', '.join([*parts, *(['*', *keywords] if keywords else [])])})"


def packed(contract: Contract) -> Parameter | None:
    """What a method may be given item by item: t.reshape(2, 3) as well as t.reshape((2, 3))."""
    only = contract.parameters[0] if len(contract.parameters) == 1 else None
    return only if only and contract.kind.name == "view" and only.name in ("shape", "axes") else None


def docstring(contract: Contract) -> str:
    """One sentence, formula, arguments, result, errors, an example."""
    blocks = [contract.summary, *_formula(contract)]
    if contract.inputs or contract.parameters:
        blocks.append(_section("Parameters", _arguments(contract)))
    blocks.append(_section("Returns", [_item(contract.returns, _result(contract))]))
    if errors := _errors(contract):
        blocks.append(_section("Raises", [_item(name, f"When {when}.") for name, when in errors.items()]))
    blocks.append(f"Example\n-------\n{contract.example}")
    return "\n\n".join(blocks) + "\n"


def summary_of(contract: Contract, name: str) -> str:
    """For methods and aliases, which need not repeat everything."""
    if name != contract.operation:
        return f"Another name for lanewise.{contract.operation}.\n"
    return f"{contract.summary}\n\nSee the function lanewise.{contract.operation}.\n"


def _parameter(parameter: Parameter) -> str:
    return parameter.name if parameter.required else f"{parameter.name}={literal(parameter.default)}"


def _formula(contract: Contract) -> Iterator[str]:
    if contract.formula:
        yield textwrap.fill(f"{contract.formula}", WIDTH, initial_indent="    ", subsequent_indent="    ",
                            break_on_hyphens=False)  # fmt: skip
    if contract.source:
        yield textwrap.fill(f"Source: {contract.source}.", WIDTH, break_on_hyphens=False)


def _section(title: str, items: list[str]) -> str:
    return "\n".join([title, "-" * len(title), *items])


def _item(head: str, text: str) -> str:
    return f"{head}\n" + textwrap.fill(text, WIDTH, initial_indent="    ", subsequent_indent="    ")


def _arguments(contract: Contract) -> list[str]:
    items = []
    for each in contract.inputs:
        dtype = "int32 or int64" if each.dtype == "int32" else each.dtype  # the host makes indices int32
        kind = "sequence of arrays" if each.sequence else f"{dtype} array" if dtype else "array"
        items.append(_item(f"{each.name} : {kind}{', optional' if each.optional else ''}", _sentence(each.doc)))
    for parameter in contract.parameters:
        kind = PARAMETER_TYPES.get(parameter.type, "")
        if parameter.type == "choice":
            kind = " or ".join(repr(choice) for choice in parameter.choices)
        default = "" if parameter.required else f", default {literal(parameter.default)}"
        limits = f"; {parameter.limits.says}" if parameter.limits and parameter.limits.says else ""
        items.append(_item(f"{parameter.name} : {kind}{default}", _sentence(parameter.doc + limits)))
    if contract.has_out:
        items.append(
            _item("out : Tensor, optional", f"Written and returned instead of a new tensor{_in_place(contract)}.")
        )
    if contract.device:
        items.append(_item("device : Backend or str, optional", 'Where the result is placed: "cpu" or a backend.'))
    return items


def _in_place(contract: Contract) -> str:
    """What `out` may be."""
    allowed = {"any": "an input", "first": contract.inputs[0].name} if contract.inputs else {}
    return f"; it may be {allowed[contract.kind.in_place]}" if contract.kind.in_place in allowed else ""


def _errors(contract: Contract) -> dict[str, str]:
    """Error class -> when. Of a kind without kernels of its own, those that the contract's rows name and those that
    follow from its arguments: its operations share little else."""
    errors = dict(contract.kind.errors)
    raised = {each.raises for each in contract.special}
    has_axis = any(each.type in ("axis", "axes") for each in contract.parameters)
    follows = {"AxisError": has_axis, "DTypeError": not contract.moves}
    if not contract.kind.has_kernels:
        errors = {name: when for name, when in errors.items() if name in raised or follows.get(name)}
    elif contract.kind.name == "rows" and len(contract.inputs) == 1:
        del errors["ShapeError"]
    if contract.refuses_empty:
        errors["ShapeError"] = ", or ".join([*filter(None, [errors.get("ShapeError")]), "there are no elements"])
    if any(each.type == "float" or (each.limits and each.limits.says) for each in contract.parameters):
        errors.setdefault("ArgumentError", "a parameter is out of range")
    return {**errors, **contract.errors}


def _result(contract: Contract) -> str:
    """Shape, dtype and how exact it is."""
    shape = contract.result_shape or contract.kind.result
    return " ".join([f"Shape: {shape}.", f"Dtype: {contract.result_dtype or _dtype(contract)}.", *_accuracy(contract)])


def _dtype(contract: Contract) -> str:
    if contract.kind.name == "cast":
        return "the one asked for"
    if contract.moves:
        return "as given, any" if contract.inputs else "any"
    if all(dtype == result for dtype, result in contract.dtypes.items()):
        return " or ".join(contract.dtypes)
    result = " or ".join(dict.fromkeys(contract.dtypes.values()))
    return f"{result}, of {', '.join(contract.dtypes)}"


def _accuracy(contract: Contract) -> Iterator[str]:
    """By how much a result may be off on a CPU; nothing where it is rounded once."""
    bound = contract.tolerance.bound
    limits = {
        "ulp": bound.ulp,
        "": bound.absolute,
        "of the result": bound.relative,
        "of the result of absolute values": bound.magnitude,
    }
    parts = [f"{limit:g} {what}".replace("e-0", "e-").strip() for what, limit in limits.items() if limit]
    if parts:
        yield f"Off by at most {' or '.join(parts)}{', the larger' if len(parts) > 1 else ''}."


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text[:1].islower() else f"{text}."
