"""Float64 references: a contract's expression over NumPy arrays, and whether a result is near enough."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

erf = np.vectorize(math.erf, otypes=[np.float64])


def fma(x1: np.ndarray, x2: np.ndarray, x3: np.ndarray) -> np.ndarray:
    """Exactly x1 x2 + x3, rounded to float32 once: double rounding is avoided by going through odd."""
    product = x1 * x2  # exact in float64
    total = product + x3
    back = total - product
    rest = (product - (total - back)) + (x3 - back)
    bits = total.view(np.int64)
    away = np.where((rest > 0) == (total > 0), 1, -1)
    inexact = (rest != 0) & (bits & 1 == 0) & np.isfinite(total)
    return np.where(inexact, bits + away, bits).view(np.float64)


def cast(x: np.ndarray, dtype: Any) -> np.ndarray:
    """What astype promises: saturating, NaN to 0."""
    dtype = np.dtype(dtype)
    if dtype.kind == "i" and x.dtype.kind == "f":
        info = np.iinfo(dtype)
        whole = np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0))
        inside = (whole > info.min) & (whole < info.max)
        return np.where(inside, np.where(inside, whole, 0).astype(dtype), np.where(whole > 0, info.max, info.min))
    return x.astype(dtype)


NAMES = {"np": np, "erf": erf, "fma": fma, "cast": cast}


def wide(x: np.ndarray) -> np.ndarray:
    """Floats in float64, others as they are."""
    return x.astype(np.float64) if x.dtype.kind == "f" else x


def wanted(contract: Any, dtype: str, inputs: dict[str, np.ndarray], parameters: dict[str, Any]) -> np.ndarray:
    """The reference's value."""
    values = {name: wide(x) for name, x in inputs.items()}
    with np.errstate(all="ignore"):
        return np.asarray(eval(contract.expression(dtype), NAMES, {**parameters, **values}))


def assert_close(result: np.ndarray, reference: np.ndarray, bound: Any, magnitude: np.ndarray | float = 0.0) -> None:
    """The largest of a bound's parts holds; without any, the reference rounded once."""
    if result.dtype.kind != "f":
        np.testing.assert_array_equal(result, reference.astype(result.dtype))
        return
    with np.errstate(all="ignore"):
        rounded = reference.astype(result.dtype)
        unit = np.abs(np.spacing(rounded.astype(result.dtype))).astype(np.float64)
        allowed = np.maximum.reduce(
            np.broadcast_arrays(
                bound.ulp * unit, bound.absolute, bound.relative * np.abs(reference), bound.magnitude * magnitude
            )
        )
        error = np.abs(result.astype(np.float64) - reference)
    fine = (result == rounded) | (np.isnan(result) & np.isnan(reference)) | (error <= allowed)
    if not fine.all():
        at = tuple(int(i) for i in np.argwhere(~fine)[0])
        raise AssertionError(
            f"{(~fine).sum()} of {fine.size} differ; first at {at}: {result[at]!r}, wanted {reference[at]!r} "
            f"within {allowed[at] if allowed.ndim else allowed!r}"
        )


def draw(generator: np.random.Generator, contract: Any, name: str, dtype: str, size: int) -> np.ndarray:
    """Values of an input over its domain; where the domain is whole, every second one has random bits."""
    area = contract.range(name, dtype)
    kind = np.dtype(dtype)
    if dtype == "bool":
        return generator.random(size) < 0.5
    if kind.kind == "i":
        return generator.integers(int(area.low), int(area.high), size, dtype=kind, endpoint=True)
    values = generator.uniform(area.low, area.high, size).astype(kind)
    if area.whole and dtype == "float32":
        bits = generator.integers(0, 2**32, size, dtype=np.uint32).view(np.float32)
        usable = np.isfinite(bits) & (np.arange(size) % 2 == 1)
        values = np.where(usable, bits, values)
    if area.exclude_zero:
        values[values == 0] = 1
    return values
