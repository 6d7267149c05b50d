"""Checks results against references, as oracle_file.py does, but for whole NumPy arrays at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from oracle_file import DIGITS, OVERFLOW, SMALLEST, Array, Bound, Case

EXPONENT = 0x7FF0000000000000  # the exponent bits of a float64
INTEGERS = {1: "u1", 2: "u2", 4: "u4", 8: "u8"}


def as_array(array: Array) -> np.ndarray:
    return np.frombuffer(array.data, array.dtype).reshape(array.shape)


def complaint(case: Case, result: np.ndarray, backend: str) -> str | None:
    """Returns a message saying what is wrong with a result, or None."""
    if result.dtype != case.result_dtype:
        return f"{case.name}: expected dtype {case.result_dtype}, got {result.dtype}"
    if result.shape != case.reference.shape:
        return f"{case.name}: expected shape {case.reference.shape}, got {result.shape}"
    bound, found = case.bound(backend), result.tobytes()
    if case.accepted.get(bound) == found:
        return None
    expected = as_array(case.reference)
    if case.rest:
        expected = expected + as_array(case.rest).astype(np.longdouble)
    magnitude = as_array(case.magnitude) if case.magnitude else np.zeros(())
    good = near(result, expected, bound, magnitude, case.strict)
    if good.all():
        case.accepted[bound] = found
        return None
    first = np.unravel_index(int(np.argmin(good)), good.shape)
    inputs = [as_array(each)[first] for each in case.inputs if each and each.shape == good.shape]
    arguments = f" for inputs {', '.join(map(repr, inputs))}" if inputs else ""
    where = list(map(int, first))
    what = f"expected {expected[first]!r}, got {result[first]!r}"
    return f"{case.name}: {np.count_nonzero(~good)} wrong, first at {where}{arguments}: {what}"


def near(got: np.ndarray, expected: np.ndarray, bound: Bound, magnitude: Any, strict: bool) -> np.ndarray:
    """Returns for each element whether the result is as near to the reference as `bound` demands. If `strict`, a
    reference of zero demands a zero of the same sign."""
    if got.dtype.name not in DIGITS:
        return got == expected
    dtype = got.dtype.name
    with np.errstate(all="ignore"):
        rounded = expected.astype(dtype)
        same = got == rounded
        if strict:
            same &= (got != 0) | (np.signbit(got) == np.signbit(rounded))
        close = _distance(got, expected) <= allowed(expected, dtype, bound, magnitude)
    exact = np.isinf(expected) | (strict & (expected == 0)) | bound.is_exact
    nan, other_nan = np.isnan(expected), np.isnan(got)
    return np.where(nan | other_nan, nan & other_nan, np.where(exact, same, close))


def ratio(got: np.ndarray, expected: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """Returns each error as a multiple of what is allowed; infinite if only one of result and reference is NaN."""
    with np.errstate(all="ignore"):
        errors = np.asarray(_distance(got, expected) / bound)
    nan = np.isnan(errors)
    if nan.any():
        errors[nan] = np.where(np.isnan(got[nan]) == np.isnan(expected[nan]), 0.0, np.inf)
    return errors


def _distance(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    limit = OVERFLOW[got.dtype.name]
    return np.abs(np.clip(got.astype(expected.dtype), -limit, limit) - np.clip(expected, -limit, limit))


def allowed(expected: np.ndarray, dtype: str, bound: Any, magnitude: Any) -> np.ndarray:
    """Returns the error that a bound allows for each element of the reference."""
    with np.errstate(all="ignore"):
        error = np.maximum(bound.ulp * unit(expected, dtype), bound.absolute)
        if bound.relative:
            error = np.maximum(error, bound.relative * np.abs(expected))
        return np.maximum(error, bound.magnitude * magnitude) if bound.magnitude else error


def unit(values: np.ndarray, dtype: str) -> np.ndarray:
    """Returns one unit in the last place (ulp) of a dtype at these values."""
    powers = (
        np.minimum(np.abs(np.asarray(values, "f8")), OVERFLOW[dtype] / 2).view("i8") & EXPONENT
    )  # 2^floor(log2 |x|)
    return np.maximum(np.ldexp(1.0, 1 - DIGITS[dtype]) * powers.view("f8"), np.ldexp(1.0, SMALLEST[dtype]))


def bits(array: np.ndarray) -> np.ndarray:
    """Returns the bits of an array, with all NaNs made equal, since their bits differ between backends."""
    if array.dtype.name in DIGITS:
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return np.ascontiguousarray(array).view(INTEGERS[array.dtype.itemsize])
