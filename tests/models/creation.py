"""Models of arange, linspace, full and eye, from the formulas of their contracts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.models.tree import Array


def arange(start: float, stop: float | None = None, step: float = 1, dtype: str | None = None) -> Array:
    """start + i * step, in int64 if start, stop and step are ints, else in float64, and rounded once."""
    first, last = (0, start) if stop is None else (start, stop)
    whole = all(isinstance(each, int) for each in (first, last, step))
    count = max(math.ceil((last - first) / step), 0)
    return (np.arange(count) * step + first).astype(dtype or ("int32" if whole else "float32"))


def linspace(start: float, stop: float, num: int, dtype: str = "float32", endpoint: bool = True) -> Array:
    """start + i * ((stop - start) / n) in float64, rounded once. With endpoint, n is num - 1 and the last of
    several elements is stop; otherwise, n is num."""
    distance = (stop - start) / max(num - 1 if endpoint else num, 1)
    result = start + np.arange(num) * distance
    if endpoint and num > 1:
        result[-1] = stop
    return result.astype(dtype)


def full(shape: Any, fill_value: float, dtype: str) -> Array:
    """The value, rounded once."""
    return np.full(shape, np.array(fill_value).astype(dtype))


def eye(n_rows: int, n_cols: int | None = None, k: int = 0, dtype: str = "float32") -> Array:
    """1 where column - row is k, else 0."""
    rows, columns = np.indices((n_rows, n_rows if n_cols is None else n_cols))
    return (columns - rows == k).astype(dtype)


MODELS = {"arange": arange, "linspace": linspace, "full": full, "eye": eye}
