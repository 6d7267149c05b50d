"""Checks results against references, as oracle_file.py does, but for whole NumPy arrays at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from oracle_file import DIGITS, OVERFLOW, SMALLEST, Array, Bound, Case

INTEGERS = {1: "u1", 2: "u2", 4: "u4", 8: "u8"}


def as_array(array: Array) -> np.ndarray:
    return np.frombuffer(array.data, array.dtype).reshape(array.shape)


def complaint(case: Case, result: np.ndarray, backend: str) -> str | None:
    """Returns a message saying what is wrong with a result, or None."""
    expected = as_array(case.reference)
    if result.dtype != case.result_dtype:
        return f"{case.name}: expected dtype {case.result_dtype}, got {result.dtype}"
    if result.shape != expected.shape:
        return f"{case.name}: expected shape {expected.shape}, got {result.shape}"
    magnitude = as_array(case.magnitude) if case.magnitude else np.zeros(())
    good = near(result, expected, case.bound(backend), magnitude, case.strict)
    if good.all():
        return None
    first = np.unravel_index(int(np.argmin(good)), good.shape)
    inputs = [as_array(each)[first] for each in case.inputs if each and each.shape == good.shape]
    arguments = f" for inputs {', '.join(map(repr, inputs))}" if inputs else ""
    where = list(map(int, first))
    what = f"expected {expected[first]!r}, got {result[first]!r}"
    return f"{case.name}: {np.count_nonzero(~good)} wrong, first at {where}{arguments}: {what}"


def near(got: np.ndarray, expected: np.ndarray, bound: Bound, magnitude: Any, strict: bool) -> np.ndarray:
    """Returns for each element whether the result is within the bound of its reference."""
    if got.dtype.kind != "f":
        return got == expected
    dtype = got.dtype.name
    with np.errstate(all="ignore"):
        rounded = expected.astype(dtype)
        same = got == rounded
        if strict:
            same &= (got != 0) | (np.signbit(got) == np.signbit(rounded))
        limit = OVERFLOW[dtype]
        distance = np.abs(np.clip(got.astype("f8"), -limit, limit) - np.clip(expected, -limit, limit))
        allowed = np.maximum(bound.ulp * unit(expected, dtype), bound.absolute)
        allowed = np.maximum(allowed, bound.relative * np.abs(expected))
        close = distance <= np.maximum(allowed, bound.magnitude * magnitude)
    exact = np.isinf(expected) | (strict & (expected == 0)) | bound.exact
    nan, other_nan = np.isnan(expected), np.isnan(got)
    return np.where(nan | other_nan, nan & other_nan, np.where(exact, same, close))


def unit(values: np.ndarray, dtype: str) -> np.ndarray:
    """Returns one unit in the last place (ulp) of a dtype at these values."""
    exponents = np.frexp(np.minimum(np.abs(values), OVERFLOW[dtype] / 2))[1]
    exponents = np.where(values == 0, SMALLEST[dtype], exponents)
    return np.ldexp(1.0, np.maximum(exponents - DIGITS[dtype], SMALLEST[dtype]))


def bits(array: np.ndarray) -> np.ndarray:
    """Returns the bits of an array, with all NaNs made equal, since their bits differ between backends."""
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return np.ascontiguousarray(array).view(INTEGERS[array.dtype.itemsize])
