"""Models of eigh and eigvalsh, from the comments of core/eigen.h. They compute in float64 and round the results.

1. Householder reflections make the matrix tridiagonal, from the last row up (Golub and Van Loan, 8.3.1).
2. Implicit QL steps with Wilkinson's shift make the result diagonal (Bowdler, Martin, Reinsch and Wilkinson, 1968).

A dot product has 16 partial sums: partial p starts at 0 and adds products p, p + 16, p + 32 and so on; then the upper
half of the partials is added to the lower half, until one is left. Other sums run from the first element to the last.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tests.models.tree import Array

PARTIALS = 16


class Tridiagonal(NamedTuple):
    """Householder's reduction: the diagonal, the off-diagonal elements, the vectors v, and h = v^T v / 2 for each."""

    diagonal: list[float]
    beside: list[float]
    vectors: dict[int, Array]
    halves: dict[int, float]


def eigh(x: Array) -> tuple[Array, Array]:
    """Returns eigenvalues in ascending order, and eigenvectors as columns."""
    results = [_decompose(each) for each in x.reshape(-1, *x.shape[-2:])]
    values, vectors = (np.array(each, x.dtype) for each in zip(*results, strict=True))
    return values.reshape(x.shape[:-1]), vectors.reshape(x.shape)


def eigvalsh(x: Array) -> Array:
    """Returns the eigenvalues that eigh returns, in ascending order."""
    return eigh(x)[0]


def _decompose(x: Array) -> tuple[Array, Array]:
    is_lower = np.tri(len(x), dtype=bool)
    if not np.isfinite(x[is_lower]).all():
        return np.full(len(x), np.nan), np.full(x.shape, np.nan)
    unit = _unit(np.max(np.abs(x[is_lower]), initial=0)) if x.dtype == "f8" else 1.0
    reduced = _tridiagonal(np.where(is_lower, x, x.T).astype("f8") / unit)
    rows = _accumulate(len(x), reduced)
    values = np.array(_diagonal(reduced.diagonal, reduced.beside, rows))
    order = np.argsort(values, kind="stable")
    return values[order] * unit, rows[order].T


def _unit(largest: float) -> float:
    """Returns the power of two that the elements of a float64 matrix are divided by."""
    exponent = int(np.float64(largest).view("i8")) >> 52
    return float(2.0 ** (min(max(exponent, 50), 2000) - 1023))


def _dot(rows: Array, v: Array) -> Array:
    """Returns the dot product of each row with v."""
    products = np.zeros((len(rows), -(-len(v) // PARTIALS) * PARTIALS))
    products[:, : len(v)] = rows * v
    partials = np.zeros((len(rows), PARTIALS))
    for start in range(0, products.shape[1], PARTIALS):
        partials = partials + products[:, start : start + PARTIALS]
    while partials.shape[1] > 1:
        half = partials.shape[1] // 2
        partials = partials[:, :half] + partials[:, half:]
    return partials[:, 0]


def _tridiagonal(a: Array) -> Tridiagonal:
    """Reduces A by A -= v q^T + q v^T for the Householder vector v of each row, where h = v^T v / 2 and
    q = A v / h - v (v^T A v) / (2 h^2)."""
    size = len(a)
    diagonal, beside, vectors, halves = [0.0] * size, [0.0] * size, {}, {}
    for i in range(size - 1, 0, -1):
        v = a[i, :i].copy()
        neighbor = float(v[-1])
        beyond = float(np.add.accumulate(np.append(0.0, v[:-1] * v[:-1]))[-1])
        diagonal[i], beside[i - 1] = float(a[i, i]), neighbor
        if beyond == 0:
            continue
        length = math.sqrt(beyond + neighbor * neighbor)
        length = -length if neighbor > 0 else length
        half = beyond + neighbor * neighbor - neighbor * length
        beside[i - 1], v[-1] = length, neighbor - length
        q = _dot(a[:i, :i], v) / half
        along = _dot(q[None], v)[0] / (2 * half)
        q = q - (along * v + 0 * v)
        a[:i, :i] -= v[:, None] * q + q[:, None] * v
        vectors[i], halves[i] = v, half
    diagonal[0] = float(a[0, 0])
    return Tridiagonal(diagonal, beside, vectors, halves)


def _accumulate(size: int, reduced: Tridiagonal) -> Array:
    """Returns Q^T, which starts as the identity: for each Householder vector v, Q^T -= (Q^T v) v^T / h with
    h = v^T v / 2."""
    rows = np.eye(size)
    for i in sorted(reduced.vectors):
        v = reduced.vectors[i]
        shares = _dot(rows[:i, :i], v) / reduced.halves[i]
        rows[:i, :i] -= shares[:, None] * v + 0 * v
    return rows


def _diagonal(d: list[float], e: list[float], rows: Array) -> list[float]:
    """Returns the eigenvalues of the tridiagonal matrix with diagonal d and off-diagonal elements e, and turns the rows
    of Q^T into eigenvectors. Elements of e that are at most 2^-53 times the largest |d| + |e| count as zero."""
    threshold = max(abs(one) + abs(other) for one, other in zip(d, e, strict=True)) * 2.0**-53
    for first in range(len(d)):
        while True:
            last = first
            while last < len(d) - 1 and abs(e[last]) > threshold:
                last += 1
            if last == first:
                break
            for i, cosine, sine in _step(d, e, first, last):
                low, high = rows[i].copy(), rows[i + 1].copy()
                rows[i + 1] = sine * low + cosine * high
                rows[i] = cosine * low - sine * high
    return d


def _step(d: list[float], e: list[float], first: int, last: int) -> list[tuple[int, float, float]]:
    """Applies one QL step to d and e. Returns the rotations of rows i and i + 1 of Q^T, as (i, cosine, sine)."""
    rotations = []
    g = (d[first + 1] - d[first]) / (2 * e[first])
    r = math.sqrt(g * g + 1)
    g = d[last] - d[first] + e[first] / (g + (-r if g < 0 else r))
    cosine = sine = 1.0
    left = 0.0
    for i in range(last - 1, first - 1, -1):
        f, b = sine * e[i], cosine * e[i]
        e[i + 1] = r = math.sqrt(f * f + g * g)
        sine, cosine = f / r, g / r
        rotations.append((i, cosine, sine))
        g = d[i + 1] - left
        r = (d[i] - g) * sine + 2 * cosine * b
        left = sine * r
        d[i + 1] = g + left
        g = cosine * r - b
    d[first] -= left
    e[first] = g
    e[last] = 0.0
    return rotations


MODELS = {"eigh": eigh, "eigvalsh": eigvalsh}
