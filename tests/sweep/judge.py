"""Whether results are right: oracle_file.near for whole arrays. All arithmetic is in float64 or on integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from oracle_file import DIGITS, OVERFLOW, SMALLEST, Array, Bound, Case

INTEGERS = {1: "u1", 2: "u2", 4: "u4", 8: "u8"}


def as_array(array: Array) -> np.ndarray:
    return np.frombuffer(array.data, array.dtype).reshape(array.shape)


def complaint(case: Case, result: np.ndarray, backend: str) -> str | None:
    """What is wrong with a result, or None."""
    wanted = as_array(case.reference)
    if result.dtype != case.result_dtype:
        return f"{case.name}: dtype {result.dtype}, {case.result_dtype} expected"
    if result.shape != wanted.shape:
        return f"{case.name}: shape {result.shape}, {wanted.shape} expected"
    magnitude = as_array(case.magnitude) if case.magnitude else np.zeros(())
    good = near(result, wanted, case.bound(backend), magnitude, case.strict)
    if good.all():
        return None
    first = np.unravel_index(int(np.argmin(good)), good.shape)
    inputs = [as_array(each)[first] for each in case.inputs if each and each.shape == good.shape]
    given = f" of {', '.join(map(repr, inputs))}" if inputs else ""
    where = list(map(int, first))
    what = f"{result[first]!r}, {wanted[first]!r} expected"
    return f"{case.name}: {np.count_nonzero(~good)} wrong, first {where}{given}: {what}"


def near(got: np.ndarray, wanted: np.ndarray, bound: Bound, magnitude: Any, strict: bool) -> np.ndarray:
    """Element by element, whether a result is as near to its reference as the bound demands."""
    if got.dtype.kind != "f":
        return got == wanted
    dtype = got.dtype.name
    with np.errstate(all="ignore"):
        rounded = wanted.astype(dtype)
        same = got == rounded
        if strict:
            same &= (got != 0) | (np.signbit(got) == np.signbit(rounded))
        limit = OVERFLOW[dtype]
        distance = np.abs(np.clip(got.astype("f8"), -limit, limit) - np.clip(wanted, -limit, limit))
        allowed = np.maximum(bound.ulp * unit(wanted, dtype), bound.absolute)
        allowed = np.maximum(allowed, bound.relative * np.abs(wanted))
        close = distance <= np.maximum(allowed, bound.magnitude * magnitude)
    exact = np.isinf(wanted) | (strict & (wanted == 0)) | bound.exact
    return np.where(np.isnan(wanted) | np.isnan(got), np.isnan(wanted) & np.isnan(got), np.where(exact, same, close))


def unit(values: np.ndarray, dtype: str) -> np.ndarray:
    """One unit in the last place of a dtype, beside these values."""
    exponents = np.frexp(np.minimum(np.abs(values), OVERFLOW[dtype] / 2))[1]
    exponents = np.where(values == 0, SMALLEST[dtype], exponents)
    return np.ldexp(1.0, np.maximum(exponents - DIGITS[dtype], SMALLEST[dtype]))


def bits(array: np.ndarray) -> np.ndarray:
    """What is the same on every backend: the bits, but for those of NaN."""
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return np.ascontiguousarray(array).view(INTEGERS[array.dtype.itemsize])
