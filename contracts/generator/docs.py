"""Composes the signatures and docstrings of public functions, for the extension and the stubs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from .schema import Contract, Parameter

WIDTH = 100
PARAMETER_TYPES = {
    "float": "float",
    "int": "int",
    "bool": "bool",
    "scalar": "bool, int or float",
    "axis": "int",
    "axes": "int or tuple of ints",
    "keepdims": "bool",
    "dtype": "dtype",
    "shape": "int or tuple of ints",
    "pair": "int or pair of ints",
    "pairs": "int, pair of ints, or a pair for each axis",
}


def signature(contract: Contract, self_name: str) -> str:
    """Returns the argument list as inspect.signature reads it; `self_name` is $module or $self."""
    method = self_name == "$self"
    inputs = contract.inputs[1:] if method else contract.inputs
    parts = [self_name, *(each.name for each in inputs if not each.optional), "/"]
    parts += [f"{each.name}=None" for each in inputs if each.optional]
    if method and (parameter := variadic(contract)):
        parts.append(f"*{parameter.name}")
    else:
        parts += [_parameter(each) for each in contract.parameters if each.positional]
    keywords = [_parameter(each) for each in contract.parameters if not each.positional]
    if contract.has_out:
        keywords.append("out=None")
    if contract.device:
        keywords.append("device=None")
    return f"({', '.join([*parts, *(['*', *keywords] if keywords else [])])})"


def variadic(contract: Contract) -> Parameter | None:
    """Returns the parameter whose items a method takes as separate arguments, as t.reshape(2, 3) does, or None."""
    only = contract.parameters[0] if len(contract.parameters) == 1 else None
    return only if only and contract.kind.name == "view" and only.name in ("shape", "axes") else None


def docstring(contract: Contract) -> str:
    """Returns the summary, formula, source, parameters, result, errors and example, in NumPy's docstring format."""
    blocks = [contract.summary, *_formula(contract)]
    if contract.inputs or contract.parameters:
        blocks.append(_section("Parameters", _arguments(contract)))
    blocks.append(_section("Returns", [_item(contract.returns, _result(contract))]))
    if errors := _errors(contract):
        blocks.append(_section("Raises", [_item(name, f"If {when}.") for name, when in errors.items()]))
    blocks.append(f"Example\n-------\n{contract.example}")
    return "\n\n".join(blocks) + "\n"


def summary_of(contract: Contract, name: str) -> str:
    """Returns the short docstring of a method or an alias; it refers to the function that has the full one."""
    if name != contract.operation:
        return f"Alias of lanewise.{contract.operation}.\n"
    return f"{contract.summary}\n\nSee the function lanewise.{contract.operation}.\n"


def _parameter(parameter: Parameter) -> str:
    return parameter.name if parameter.required else f"{parameter.name}={parameter.default!r}"


def _formula(contract: Contract) -> Iterator[str]:
    if contract.formula:
        yield textwrap.fill(contract.formula, WIDTH, initial_indent="    ", subsequent_indent="    ",
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
        dtype = "integer" if each.dtype == "int32" else each.dtype  # the extension converts indices
        kind = "sequence of arrays" if each.sequence else f"{dtype} array" if dtype else "array"
        items.append(_item(f"{each.name} : {kind}{', optional' if each.optional else ''}", _sentence(each.doc)))
    for parameter in contract.parameters:
        kind = PARAMETER_TYPES.get(parameter.type, "")
        if parameter.type == "choice":
            kind = f"{{{', '.join(repr(choice) for choice in parameter.choices)}}}"
        default = "" if parameter.required else f", default {parameter.default!r}"
        limits = f"; {parameter.limits.says}" if parameter.limits and parameter.limits.says else ""
        items.append(_item(f"{parameter.name} : {kind}{default}", _sentence(parameter.doc + limits)))
    if contract.has_out:
        receives = f"Tensor of the result's shape and dtype that receives the result{_in_place(contract)}."
        items.append(_item("out : Tensor, optional", receives))
    if contract.device:
        places = 'Device of the result: "cpu", "wgpu", "wgpu:1", or a CPU backend.'
        items.append(_item("device : Backend or str, optional", places))
    return items


def _in_place(contract: Contract) -> str:
    """Returns a clause that names the input that may also be passed as `out`, or "" if none may."""
    any_input = "one of the inputs" if len(contract.inputs) > 1 else contract.inputs[0].name
    allowed = {"any": any_input, "first": contract.inputs[0].name}
    return f"; it may be {allowed[contract.kind.in_place]}" if contract.kind.in_place in allowed else ""


def _errors(contract: Contract) -> dict[str, str]:
    """Returns the condition under which each error class is raised.

    kinds.yaml lists the errors of a kind's operations. Operations without kernels have little in common, so for them
    only some of these errors are returned: those that a row of `special` raises, AxisError if a parameter is an axis,
    and DTypeError if the operation does more than move elements.
    """
    errors = dict(contract.kind.errors)
    raised = {each.raises for each in contract.special}
    has_axis = any(each.type in ("axis", "axes") for each in contract.parameters)
    implied = {"AxisError": has_axis, "DTypeError": not contract.moves}
    if not contract.kind.has_kernels:
        errors = {name: when for name, when in errors.items() if name in raised or implied.get(name)}
    else:
        if contract.kind.name in ("elementwise", "rows") and len(contract.inputs) == 1:
            del errors["ShapeError"]  # a single input has no other shape to match
        if not has_axis:
            errors.pop("AxisError", None)
    if contract.refuses_empty:
        empty = "there are no elements to reduce"
        errors["ShapeError"] = f"{errors['ShapeError']}, or {empty}" if "ShapeError" in errors else empty
    if any(each.choices or each.type == "float" or (each.limits and each.limits.says) for each in contract.parameters):
        errors.setdefault("ArgumentError", "a parameter has a value that is not allowed")
    return {**errors, **contract.errors}


def _result(contract: Contract) -> str:
    """Returns the shape, dtype and accuracy of the result."""
    unary = contract.kind.name == "elementwise" and len(contract.inputs) == 1
    shape = contract.result_shape or (f"the shape of {contract.inputs[0].name}" if unary else contract.kind.result)
    return " ".join([f"Shape: {shape}.", f"Dtype: {contract.result_dtype or _dtype(contract)}.", *_accuracy(contract)])


def _dtype(contract: Contract) -> str:
    if contract.kind.name == "cast":
        return "the requested dtype"
    if contract.moves:
        inputs = [each for each in contract.inputs if each.dtype is None]
        if not inputs:
            return "the requested dtype"
        several = len(inputs) > 1 or inputs[0].sequence
        source = "the promoted dtype of the inputs" if several else f"the dtype of {inputs[0].name}"
        return f"{source}; every dtype is supported"
    if all(dtype == result for dtype, result in contract.dtypes.items()):
        return _either(contract.dtypes)
    return f"{_either(contract.dtypes.values())}, from {_either(contract.dtypes)}"


def _either(names: Iterable[str]) -> str:
    """Returns "a", "a or b", or "a, b or c", without duplicates."""
    *others, last = dict.fromkeys(names)
    return f"{', '.join(others)} or {last}" if others else last


def _accuracy(contract: Contract) -> Iterator[str]:
    """Yields sentences that state the largest error on a CPU, or nothing if results are rounded once."""
    for dtype, accuracy in contract.accuracies.items():
        bound = accuracy.tolerance.bound
        limits = {
            "ulp": bound.ulp,
            "": bound.absolute,
            "times the result": bound.relative,
            "times the result for the inputs' absolute values": bound.magnitude,
        }
        parts = [f"{limit:g} {what}".replace("e-0", "e-").strip() for what, limit in limits.items() if limit]
        if parts:
            of = f" of {dtype}" if dtype else ""
            yield f"Accuracy{of}: within {_either(parts)}{', whichever is larger' if len(parts) > 1 else ''}."


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text[:1].islower() else f"{text}."
