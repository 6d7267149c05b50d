"""Checks of arguments for operations written in Python.

Each function returns the argument in the form that the caller needs, or raises an error that names the argument.
Operations with kernels have their arguments checked by the extension (native/extension/call/call.c).
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from lanewise.dtypes import as_dtype
from lanewise.errors import ArgumentError, ArgumentTypeError, AxisError, LanewiseError, describe

__all__ = ["is_ordered", "normalize_axes", "normalize_axis", "refuse_split_shape", "to_bool", "to_int", "to_number"]


def to_int(name: str, value: Any, *, minimum: int | None = None) -> int:
    """Returns an int. Raises ArgumentTypeError for bools and non-integers, ArgumentError for ints below `minimum`."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number: int = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"expected an int for {name}, got {describe(value)}") from None
    if minimum is not None and number < minimum:
        raise ArgumentError(f"expected {name} of at least {minimum}, got {number}")
    return number


def to_bool(name: str, value: Any) -> bool:
    """Returns a bool. Accepts any value equal to True or False, such as 1 or a bool of NumPy."""
    for truth in (False, True):
        try:
            if value == truth:
                return truth
        except (LanewiseError, TypeError, ValueError):  # for example, an array of several elements has no truth value
            pass
    raise ArgumentTypeError(f"expected True or False for {name}, got {describe(value)}")


def to_number(value: Any) -> Any:
    """Converts a number of any library to a bool, an int or a float."""
    if isinstance(value, int | float):
        return value
    if isinstance(value, str | bytes | bytearray):
        raise ArgumentTypeError(f"expected a number, got {describe(value)}")
    kind = as_dtype(value.dtype).kind if hasattr(value, "dtype") else ""
    try:
        if kind == "b":
            return bool(value)
        return operator.index(value) if kind != "f" and hasattr(type(value), "__index__") else float(value)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"expected a number, got {describe(value)}") from None


def normalize_axis(axis: Any, ndim: int) -> int:
    """Checks an axis, which may be negative, and returns it as a number from 0 to ndim - 1."""
    place = to_int("axis", axis)
    if not -ndim <= place < ndim:
        raise AxisError(f"expected an axis within {ndim} dimension{'' if ndim == 1 else 's'}, got {place}")
    return place % ndim


def normalize_axes(axes: Any, ndim: int) -> list[int]:
    """Checks an axis or several axes, which must differ, and returns a list of numbers from 0 to ndim - 1."""
    normalized = [normalize_axis(axis, ndim) for axis in (axes if is_ordered(axes) else (axes,))]
    if len(set(normalized)) < len(normalized):
        raise AxisError(f"expected each axis at most once, got {describe(axes)}")
    return normalized


def refuse_split_shape(operation: str, arguments: Sequence[Any]) -> None:
    """Raises an error if the arguments are those of a call such as zeros(2, 3): a shape as separate ints."""
    if len(arguments) > 1 and all(isinstance(one, int) for one in arguments):
        ints = ", ".join(map(str, arguments))
        raise ArgumentTypeError(f"expected the shape as one argument, got {ints}; write {operation}(({ints}))")


def is_ordered(value: Any) -> bool:
    """Whether `value` is an iterable of ordered items: not a set or mapping, and also not a string or bytes."""
    if type(value) in (list, tuple):  # the checks below take a microsecond
        return True
    return isinstance(value, Iterable) and not isinstance(value, Set | Mapping | str | bytes)
