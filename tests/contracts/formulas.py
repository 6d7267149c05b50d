"""Reads the field `formula` of a contract as an expression of NumPy, so that it can be compared with the reference:

    |x|, e^x, x = 0             abs(x), e**x, x == 0; ln, sqrt, arcsin and so on are NumPy's functions
    a where c, b elsewhere      where(c, a, b)
    a, or b if p is 'v'         where(p == 'v', b, a)
    sum(x), mean(x), max(x)     along the axis; n is the number of elements
    x[0]^2 + x[1]^2 + ...       sum(x^2); in the same way with *, and, or
    sum over k of a[..., k] * b[k, ...]        einsum

What follows a semicolon, or a comma at the end, explains the formula and is not read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from generator.references import erf
from generator.schema import Contract

ALONG_AXIS = ("sum", "prod", "all", "any", "mean", "var", "std", "max", "min")
SERIES = {"+": "sum", "*": "prod", "and": "all", "or": "any"}
_TERM = r"([^(),]*\[%s\][^(),]*?)"
_TERMS = rf"{_TERM % 0}( [+*] | and | or |, ){_TERM % 1}\2\.\.\.(?:\2{_TERM % 'n-1'})?(?=\)|,|$)"

NAMES: dict[str, Any] = {
    **{name: each for name, each in vars(np).items() if isinstance(each, np.ufunc)},
    **{name: getattr(np, name) for name in (*ALONG_AXIS, "pi", "e", "inf", "where", "einsum")},
    **dict(ln=np.log, NaN=np.nan, true=True, false=False, erf=erf, axis=None, correction=0),  # noqa: C408
    "number_of": lambda x, axis: x.size // max(np.sum(x, axis=axis).size, 1),
}


def expression(contract: Contract, others: Mapping[str, Contract]) -> str | None:
    """Returns a contract's formula as an expression of NAMES, its inputs and parameters, and of i and j, an element's
    last two indices; None if it is not of this form. It may call operations of `others`."""
    inputs = [each.name for each in contract.inputs]
    text, index = contract.formula.partition(";")[0], ""
    if element := re.match(r"out\[(.*?)\] = ", text):
        text, index = text[element.end() :], element[1]
    if product := re.fullmatch(r"(?:(\w+) \* )?(?:sum over \w of )?(\w+)\[([., \w]*)\](?: \* (\w+)\[(.*)\])?", text):
        factor, a, of_a, b, of_b = product.groups()
        of_a, of_b, to = (re.sub("[ ,]", "", each or "") for each in (of_a, of_b, index))
        return f"{factor or 1} * einsum('{of_a},{of_b}->{to}', {a}, {b})" if b else f"einsum('{of_a}->{to}', {a})"
    text = text.replace(f"[{index}]", "") if index else text
    text = re.sub(_TERMS, _series, text)
    text = re.sub(r"(max|min)imum\(x\[0\], \1imum\(x\[1\], \.\.\.\)\)", r"\1(x)", text)
    text = re.sub(r"\|([^|]+)\|", r"abs(\1)", text.replace(" for n elements", ""))
    text = re.sub(r"(?<= )=(?= )", "==", re.sub(r"(?<=\S)\^(?=\S)", "**", text))
    text = text.replace("either is NaN", " or ".join(f"isnan({name})" for name in inputs))
    while text:
        try:
            tree = _ForArrays(inputs, others).visit(ast.parse(_conditions(text), mode="eval"))
        except SyntaxError:
            text = text.rpartition(", ")[0]
            continue
        names = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
        known = names <= {*NAMES, *inputs, *(each.name for each in contract.parameters), "i", "j"}
        return ast.unparse(tree) if known and "[" not in text else None
    return None


def _series(terms: re.Match[str]) -> str:
    term = terms[1].replace("[0]", "")
    is_series = terms[3].replace("[1]", "") == term == (terms[4] or term).replace("[n-1]", "")
    return f"{SERIES.get(terms[2].strip(), '')}({term})" if is_series else terms[0]


def _conditions(text: str) -> str:
    if choice := re.fullmatch(r"(.*), or (.*) if (\w+) is ('\w+'|true|false)", text):
        return f"where({choice[3]} == {choice[4]}, {choice[2]}, {choice[1]})"
    if text.endswith((" elsewhere", " in between")):
        *cases, last = re.sub(r" elsewhere$| in between$", "", text).split(", ")
        for value, _, condition in reversed([case.partition(" where ") for case in cases]):
            last = f"where({condition}, {value}, {last})"
        return last
    return text


class _ForArrays(ast.NodeTransformer):
    """Makes `and`, `or` and powers work on arrays, makes sums run along the axis, and replaces calls of operations by
    their formulas."""

    def __init__(self, inputs: list[str], others: Mapping[str, Contract]) -> None:
        self.inputs, self.others = inputs, others

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        return _call("logical_and" if isinstance(node.op, ast.And) else "logical_or", *node.values)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        is_power = isinstance(node.op, ast.Pow) and not isinstance(node.right, ast.Constant)
        return _call("float_power", node.left, node.right) if is_power else node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return _parsed(f"number_of({self.inputs[0]}, axis)") if node.id == "n" else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = ast.unparse(node.func)
        if name in ("max", "min") and len(node.args) > 1:
            return _call(f"{name}imum", *node.args)
        if name in ALONG_AXIS:
            ddof = ", ddof=correction" * (name in ("var", "std"))
            return _call(name, *node.args, more=f"axis=axis, keepdims=True{ddof}")
        if name in self.others and name not in NAMES and (called := expression(self.others[name], self.others)):
            for each, value in zip(self.others[name].inputs, node.args, strict=True):
                called = re.sub(rf"\b{each.name}\b", f"({ast.unparse(value)})", called)
            return _parsed(called)
        return node


def _call(name: str, *arguments: ast.expr, more: str = "") -> ast.expr:
    return _parsed(f"{name}({', '.join([*map(ast.unparse, arguments), *filter(None, [more])])})")


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
