"""Checks the operations that have no oracle file (test cases with expected results) because they return several tensors
or have no tensor as input. Uses lanewise only, so that it runs in a Pyodide without NumPy. Each function checks one
operation: it raises AssertionError if a result is wrong, and returns the results, so that test_sweep.py can compare
their bits between backends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import lanewise as lw


def _same(x: Any, y: Any) -> bool:
    """Returns whether shape, dtype and elements are equal."""
    return bool(x.shape == y.shape and x.dtype == y.dtype and lw.all(x == y))


def add_rms_norm() -> Sequence[Any]:
    x, residual, weight = (lw.rand((7, 130), seed=seed) - 0.5 for seed in (1, 2, 3))
    normalized, total = lw.add_rms_norm(x, residual, weight[0])
    assert _same(total, x + residual)
    assert _same(normalized, lw.rms_norm(x + residual, weight[0]))
    return normalized, total


def asarray() -> Sequence[Any]:
    x = lw.asarray([[1.5, -2.0], [0.0, 4.0]])
    assert x.tolist() == [[1.5, -2.0], [0.0, 4.0]] and x.dtype is lw.float32
    assert lw.asarray([1, 2]).dtype is lw.int32 and lw.asarray([True]).dtype is lw.bool
    return (x,)


def eigh() -> Sequence[Any]:
    results = []
    for size in (1, 2, 9, 64):
        a = lw.rand((size, size), seed=size) - 0.5
        a = a + a.mT
        values, vectors = lw.eigh(a)
        assert bool(lw.all(values[1:] >= values[:-1])), f"{size}: not ascending"
        orthonormal = lw.max(lw.abs(vectors.mT @ vectors - lw.eye(size))).item()
        assert orthonormal <= 1e-5, f"{size}: the vectors are not orthonormal, by {orthonormal}"
        again = lw.max(lw.abs((vectors * values) @ vectors.mT - a)).item()
        assert again <= 1e-6 * size + 2e-6, f"{size}: the decomposition does not give the matrix, by {again}"
        results += [values, vectors]
    return results


def nonzero() -> Sequence[Any]:
    x = lw.floor(lw.rand((13, 21), seed=4) * 3)
    rows, columns = lw.nonzero(x)
    assert bool(lw.all(x[rows, columns] != 0))
    assert rows.shape == (int(lw.sum(lw.astype(x != 0, lw.int32)).item()),)
    return rows, columns


def split() -> Sequence[Any]:
    x = lw.rand((5, 12), seed=5)
    parts = lw.split(x, 4, axis=1)
    assert len(parts) == 4 and _same(lw.concat(parts, axis=1), x)
    return tuple(parts)


def topk() -> Sequence[Any]:
    x = lw.floor(lw.rand((6, 200), seed=6) * 40)
    values, indices = lw.topk(x, 9)
    assert _same(values, lw.sort(x, descending=True)[:, :9])
    assert _same(indices, lw.argsort(x, descending=True)[:, :9])
    assert _same(lw.take_along_axis(x, indices, axis=1), values)
    return values, indices


CHECKS: dict[str, Callable[[], Sequence[Any]]] = {
    check.__name__: check for check in (add_rms_norm, asarray, eigh, nonzero, split, topk)
}
