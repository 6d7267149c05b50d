"""Models of arange, linspace, full and eye: the references of their contracts, rounded once."""

from __future__ import annotations

from typing import Any

import numpy as np
from generator import references

from tests.models.tree import Array


def arange(start: float, stop: float | None = None, step: float = 1, dtype: str | None = None) -> Array:
    """start + i * step, in int64 if start, stop and step are ints, else in float64."""
    result = references.arange(start, stop, step)
    return result.astype(dtype or ("int32" if result.dtype == "int64" else "float32"))


def linspace(start: float, stop: float, num: int, dtype: str = "float32", endpoint: bool = True) -> Array:
    """start + i * ((stop - start) / n) in float64. With endpoint, n is num - 1 and the last of several elements is
    stop; otherwise, n is num."""
    return np.linspace(start, stop, num, endpoint).astype(dtype)


def full(shape: Any, fill_value: float, dtype: str) -> Array:
    """The value."""
    return np.full(shape, fill_value).astype(dtype)


def eye(n_rows: int, n_cols: int | None = None, k: int = 0, dtype: str = "float32") -> Array:
    """1 where column - row is k, else 0."""
    return np.eye(n_rows, n_cols, k).astype(dtype)


MODELS = {"arange": arange, "linspace": linspace, "full": full, "eye": eye}
