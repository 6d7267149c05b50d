"""Draws the tests' inputs from a contract's domains. The seeds are names, so every machine draws the same values."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import ml_dtypes  # noqa: F401  registers bfloat16
import numpy as np

from .schema import FLOATS, Contract, Range

Array = np.ndarray[Any, Any]


def generator(*names: object) -> np.random.Generator:
    """Returns a random number generator seeded by names."""
    digest = hashlib.sha256(" ".join(map(str, names)).encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))


def draw(contract: Contract, name: str, dtype: str, shape: Sequence[int], *seeds: object) -> Array:
    """Returns random values for input `name` of an operation that computes in `dtype`; they depend on `seeds`."""
    own = contract.input(name).dtype or dtype
    random = generator(contract.operation, name, dtype, tuple(shape), *seeds)
    return _values(contract.range(name, own), own, tuple(shape), random)


def everywhere(dtype: str, count: int, *seeds: object) -> Array:
    """Returns finite numbers with random bits, so that all signs and exponents are equally likely."""
    bits = np.dtype(dtype).itemsize * 8
    random = generator("everywhere", dtype, count, *seeds)
    values: Array = random.integers(0, 2**bits, size=2 * count, dtype=f"uint{bits}").view(dtype)
    return values[np.isfinite(values)][:count]


def indices(extent: int, shape: Sequence[int], *seeds: object) -> Array:
    """Returns random valid indices of an axis of size `extent`; about half are negative and count from the end."""
    random = generator("indices", extent, tuple(shape), *seeds)
    return random.integers(-extent, max(extent, 1), tuple(shape), dtype="i4")


def _values(interval: Range, dtype: str, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype not in FLOATS:
        low, high = int(interval.low), int(interval.high)
        wide = random.integers(low, high, shape, dtype="i8", endpoint=True)
        close = np.clip(random.integers(-9, 10, shape), low, high)
        return np.where(random.random(shape) < 0.5, wide, close).astype(dtype)
    # Mixes uniform values, uniform values scaled down by factors of 2^-20 to 1 (if the range includes 0), and integers,
    # which often repeat.
    even = random.uniform(interval.low, interval.high, shape)
    small = even * 2.0 ** random.uniform(-20, 0, shape)
    choice = random.integers(0, 3, shape) if interval.low <= 0 <= interval.high else random.integers(0, 2, shape) * 2
    mixed = np.where(choice == 0, even, np.where(choice == 1, small, np.rint(even)))
    values = np.clip(mixed, interval.low, interval.high).astype(dtype)
    if interval.exclude_zero:
        values = np.where(values == 0, np.array(interval.high, dtype), values)
    return np.asarray(values)
