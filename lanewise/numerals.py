"""Formats numbers with equal width, as NumPy prints the elements of an array. Used by printing.py.

A float has the fewest digits that read back as the same float of its dtype, or fewer if `precision` limits them. For
float64, Python's repr finds these digits; for narrower dtypes, digits are added until the text reads back correctly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any, Final

from lanewise import _ext, dtypes
from lanewise.dtypes import DType

__all__ = ["formatter", "scalar"]

# By narrow dtype: so many digits of a number are kept if it is rounded to a normal float of the dtype and back. If that
# gives a float, its fewest digits are these without zeros at the end. And the smallest normal float.
_SURE: Final = {"float16": (3, 2.0**-14), "bfloat16": (2, 2.0**-126), "float32": (6, 2.0**-126)}
_FLOAT32: Final = Struct("f")
# Floats of at least this magnitude are shown with an exponent, as in NumPy.
_LARGEST_POSITIONAL: Final = {2: 1e3, 4: 1e6, 8: 1e8}  # by the size of an element


def formatter(values: Sequence[Any], dtype: DType, precision: int) -> Callable[[Any], str]:
    """Returns a function that formats each of `values` with the same width.

    `precision` is the largest number of digits after the decimal point.

    >>> show = formatter([1.0, 2.5], dtypes.float32, 8)
    >>> show(1.0), show(2.5)
    ('1. ', '2.5')
    """
    if dtype.kind != "f":
        # as in NumPy, bools are as wide as False even if all are True
        width = len("False") if dtype is dtypes.bool else max(len(str(value)) for value in values)
        return lambda value: str(value).rjust(width)
    finite = [value for value in values if math.isfinite(value)]
    special = max((len(str(value)) for value in values if not math.isfinite(value)), default=0)
    if _needs_exponent(finite, dtype):
        return _scientific(finite, dtype, precision)
    return _positional(finite, special, dtype, precision)


def scalar(value: Any, dtype: DType) -> str:
    """Formats a single number as Python does.

    >>> scalar(0.10000000149011612, dtypes.float32)
    '0.1'
    """
    if dtype.kind != "f" or not math.isfinite(value):
        return str(value)
    return repr(float(f"{value:.{_shortest(value, dtype)[0] - 1}e}"))


def _needs_exponent(finite: Sequence[float], dtype: DType) -> bool:
    sizes = [abs(value) for value in finite if value]
    if not sizes:
        return False
    smallest = _rounded_to(0.0001, dtype)
    return (
        max(sizes) >= _LARGEST_POSITIONAL[dtype.itemsize]
        or min(sizes) < smallest
        or _rounded_to(max(sizes) / min(sizes), dtype) > 1000
    )


def _positional(finite: Sequence[float], special: int, dtype: DType, precision: int) -> Callable[[float], str]:
    def split(value: float) -> tuple[str, str]:
        digits, exponent = _shortest(value, dtype)
        whole, _, fraction = f"{value:.{min(max(digits - 1 - exponent, 0), precision)}f}".partition(".")
        return whole, fraction.rstrip("0")

    known = {value: split(value) for value in finite if value}  # 0 and -0 are the same key
    parts = [*known.values(), *(split(value) for value in finite if not value)]
    left = max((len(whole) for whole, _ in parts), default=0)
    right = max((len(fraction) for _, fraction in parts), default=0)
    left = max(left, special - right - len("."))

    def show(value: float) -> str:
        if not math.isfinite(value):
            return str(value).rjust(left + len(".") + right)
        whole, fraction = known.get(value) or split(value)
        return f"{whole.rjust(left)}.{fraction.ljust(right)}"

    return show


def _scientific(finite: Sequence[float], dtype: DType, precision: int) -> Callable[[float], str]:
    def split(value: float, digits: int) -> tuple[str, str, str]:
        mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
        whole, _, fraction = mantissa.partition(".")
        return whole, fraction, exponent

    parts = [split(value, min(_shortest(value, dtype)[0] - 1, precision)) for value in finite]
    right = max(len(fraction.rstrip("0")) for _, fraction, _ in parts)
    left = max(len(whole) for whole, _, _ in parts)
    tail = right + len("e") + max(len(exponent) for _, _, exponent in parts)

    def show(value: float) -> str:
        if not math.isfinite(value):
            return str(value).rjust(left + len(".") + tail)
        whole, fraction, exponent = split(value, right)
        sign, figures = exponent[0], exponent[1:].rjust(tail - right - len("e+"), "0")
        return f"{whole.rjust(left)}.{fraction}e{sign}{figures}"

    return show


def _shortest(value: float, dtype: DType) -> tuple[int, int]:
    """Returns how many digits distinguish `value` from other floats of its dtype, and the first digit's power of 10."""
    if dtype.itemsize == 8:
        mantissa = repr(value).lstrip("-").partition("e")[0]
        digits = mantissa.replace(".", "").strip("0") if value else "0"
        return len(digits), int(f"{value:.{len(digits) - 1}e}".partition("e")[2])
    sure, smallest = _SURE[dtype.name]
    is_normal = abs(value) >= smallest
    for precision in range(sure - 1 if is_normal else 0, 9):
        text = f"{value:.{precision}e}"
        if _rounded_to(float(text), dtype) == value:
            break
    mantissa, _, exponent = text.partition("e")
    if is_normal and precision == sure - 1:
        precision = len(mantissa.rstrip("0").partition(".")[2])
    return precision + 1, int(exponent)


def _rounded_to(value: float, dtype: DType) -> float:
    """Rounds to the nearest float of a dtype."""
    rounded: float
    if dtype is dtypes.float32 and abs(value) < 2**127:
        (rounded,) = _FLOAT32.unpack(_FLOAT32.pack(value))
    else:
        rounded = _ext.from_object(value, dtype, None, True).item()  # on the host, whatever the current backend
    return rounded
