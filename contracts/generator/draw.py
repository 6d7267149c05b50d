"""Numbers for the tests, from a contract's domains; the same on every machine, because names are the seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from .schema import FLOATS, Contract, Range

Array = np.ndarray[Any, Any]


def generator(*names: object) -> np.random.Generator:
    """Random numbers that belong to these names."""
    digest = hashlib.sha256(" ".join(map(str, names)).encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))


def draw(contract: Contract, name: str, dtype: str, shape: Sequence[int], *seeds: object) -> Array:
    """Values of input `name` when the operation computes in `dtype`; `seeds` tell one draw from another."""
    own = contract.input(name).dtype or dtype
    random = generator(contract.operation, name, dtype, tuple(shape), *seeds)
    return _values(contract.range(name, own), own, tuple(shape), random)


def everywhere(dtype: str, count: int, *seeds: object) -> Array:
    """Finite numbers with every exponent and sign alike: random bits."""
    bits = np.dtype(dtype).itemsize * 8
    random = generator("everywhere", dtype, count, *seeds)
    found: Array = random.integers(0, 2**bits, size=2 * count, dtype=f"uint{bits}").view(dtype)
    return found[np.isfinite(found)][:count]


def indices(extent: int, shape: Sequence[int], *seeds: object) -> Array:
    """Valid positions along an axis, counted from either end."""
    random = generator("indices", extent, tuple(shape), *seeds)
    return random.integers(-extent, max(extent, 1), tuple(shape), dtype="i4")


def _values(among: Range, dtype: str, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype not in FLOATS:
        low, high = int(among.low), int(among.high)
        wide = random.integers(low, high, shape, dtype="i8", endpoint=True)
        close = np.clip(random.integers(-9, 10, shape), low, high)
        return np.where(random.random(shape) < 0.5, wide, close).astype(dtype)
    # Of three kinds: evenly spread, small ones of every magnitude (where the range has such), and whole ones, among
    # which there are ties.
    even = random.uniform(among.low, among.high, shape)
    small = even * 2.0 ** random.uniform(-20, 0, shape)
    choice = random.integers(0, 3, shape) if among.low <= 0 <= among.high else random.integers(0, 2, shape) * 2
    mixed = np.where(choice == 0, even, np.where(choice == 1, small, np.rint(even)))
    values = np.clip(mixed, among.low, among.high).astype(dtype)
    if among.exclude_zero:
        values = np.where(values == 0, np.array(among.high, dtype), values)
    return np.asarray(values)
