"""Reads the inputs and parameters of a contract."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping

from .fields import Fields
from .schema import DTYPES, PARAMETER_TYPES, Input, Kind, Limits, Parameter

__all__ = ["inputs", "parameter"]


def inputs(fields: Fields, kind: Kind) -> tuple[Input, ...]:
    """Returns the inputs: those described, or those named, of which the first has any shape and the others broadcast
    with it. Without the field, there is one, x, unless the kind may have none."""
    if isinstance(fields.peek("inputs"), Mapping):
        return tuple(_input(name, each) for name, each in fields.sections("inputs"))
    default = () if kind.name in ("creation", "composed") else ("x",)
    names = fields.names("inputs") if "inputs" in fields else default
    if len(names) > 1 and kind.name != "elementwise":
        raise fields.error("expected a description of each input, for only those of kind elementwise broadcast")
    docs = {name: f"broadcasts with {names[0]}" if number else "any shape" for number, name in enumerate(names)}
    return tuple(_input(name, Fields({"doc": doc}, fields.where)) for name, doc in docs.items())


def _input(name: str, fields: Fields) -> Input:
    result = fields.record(Input, name=name, dtype=fields.choice("dtype", DTYPES, default=None))
    if result.default and not result.optional:
        raise fields.error("expected optional: true, because the input has a default; add it")
    return result


def parameter(name: str, fields: Fields) -> Parameter:
    """Returns one parameter. Raises ContractError if its default, its limits or its choices do not fit its type."""
    kind = fields.choice("type", PARAMETER_TYPES)
    choices = fields.names("choices")
    required = "default" not in fields
    default = None if required else fields.value("default")
    if kind == "choice" and not choices:
        raise fields.error("expected choices with type: choice, got none; add choices: [name, ...]")
    if choices and kind != "choice":
        raise fields.error(f"expected choices only with type: choice, got type: {kind}; remove the choices")
    if choices and not required and default not in choices:
        raise fields.error(f"expected the default to be one of {', '.join(choices)}, got {default!r}")
    expected = {"float": (int, float), "int": (int,), "bool": (bool,), "keepdims": (bool,), "pair": (int,)}.get(kind)
    if expected and default is not None and (not isinstance(default, expected) or
                                             (isinstance(default, bool) and bool not in expected)):  # fmt: skip
        raise fields.error(f"expected a default of type {kind}, got {default!r}")
    result = fields.record(
        Parameter,
        name=name,
        type=kind,
        required=required,
        default=float(default) if kind == "float" and isinstance(default, (int, float)) else default,
        choices=choices,
        limits=_limits(fields, kind),
    )
    if result.limits and default is not None and not result.limits.low <= float(default) <= result.limits.high:
        raise fields.error(f"expected the default to be {result.limits.says or 'finite'}, got {default!r}")
    return result


def _limits(fields: Fields, kind: str) -> Limits | None:
    """Returns a parameter's limits: the lower one from `at_least` or `above`, the upper one from `at_most`."""
    bounds = {name: fields.number(name) for name in ("at_least", "above", "at_most") if name in fields}
    if kind not in ("float", "int"):
        if bounds:
            raise fields.error(f"expected {next(iter(bounds))} only with type: float or int, got type: {kind}")
        return None
    if "at_least" in bounds and "above" in bounds:
        raise fields.error("expected one lower limit, got at_least and above; remove one")
    largest = sys.float_info.max if kind == "float" else math.inf
    low = math.nextafter(bounds["above"], math.inf) if "above" in bounds else bounds.get("at_least", -largest)
    words = " and ".join(f"{name.replace('_', ' ')} {number:.17g}" for name, number in bounds.items())
    return Limits(low, bounds.get("at_most", largest), words)
