"""Checks the operations that have no oracle file (test cases with expected results) because they return several tensors
or have no tensor as input. Uses lanewise only, so that it runs in a Pyodide without NumPy. Each function checks one
operation in one dtype: it raises AssertionError if a result is wrong, and returns the results, so that test_sweep.py
can compare their bits between backends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import lanewise as lw


def _random(shape: tuple[int, ...], seed: int, dtype: str) -> Any:
    """Returns random numbers: whole ones from 0 to 39 if the dtype has no others, otherwise from -0.5 to 0.5."""
    if lw.isdtype(dtype, "real floating"):
        return lw.astype(lw.rand(shape, seed=seed) - 0.5, dtype)
    return lw.astype(lw.floor(lw.rand(shape, seed=seed) * 40), dtype)


def _same(x: Any, y: Any) -> bool:
    """Returns whether shape, dtype and elements are equal."""
    return bool(x.shape == y.shape and x.dtype == y.dtype and lw.all(x == y))


def add_rms_norm(dtype: str) -> Sequence[Any]:
    x, residual, weight = (_random((7, 130), seed, dtype) for seed in (1, 2, 3))
    normalized, total = lw.add_rms_norm(x, residual, weight[0])
    assert _same(total, x + residual)
    assert _same(normalized, lw.rms_norm(x + residual, weight[0]))
    return normalized, total


def asarray(dtype: str) -> Sequence[Any]:
    x = lw.asarray([[1, 0], [0, 1]], dtype=dtype)
    assert x.tolist() == [[1, 0], [0, 1]] and x.dtype == dtype
    default = lw.asarray([[1.5, -2.0], [0.0, 4.0]])
    assert default.tolist() == [[1.5, -2.0], [0.0, 4.0]] and default.dtype is lw.float32
    assert lw.asarray([1, 2]).dtype is lw.int32 and lw.asarray([True]).dtype is lw.bool
    return (x,)


def eigh(dtype: str) -> Sequence[Any]:
    results, unit = [], 1e-6 * lw.finfo(dtype).eps / lw.finfo("float32").eps
    for size in (1, 2, 9, 64):
        a = _random((size, size), size, dtype)
        a = a + a.mT
        values, vectors = lw.eigh(a)
        assert bool(lw.all(values[1:] >= values[:-1])), f"{size}: not ascending"
        orthonormal = lw.max(lw.abs(vectors.mT @ vectors - lw.eye(size, dtype=dtype))).item()
        assert orthonormal <= 10 * unit, f"{size}: the vectors are not orthonormal, by {orthonormal}"
        again = lw.max(lw.abs((vectors * values) @ vectors.mT - a)).item()
        assert again <= unit * (size + 2), f"{size}: the decomposition does not give the matrix, by {again}"
        results += [values, vectors]
    return results


def nonzero(dtype: str) -> Sequence[Any]:
    x = lw.astype(lw.floor(lw.rand((13, 21), seed=4) * 3), dtype)
    rows, columns = lw.nonzero(x)
    assert bool(lw.all(x[rows, columns] != 0))
    assert rows.shape == (int(lw.sum(lw.astype(x != 0, lw.int32)).item()),)
    return rows, columns


def split(dtype: str) -> Sequence[Any]:
    x = _random((5, 12), 5, dtype)
    parts = lw.split(x, 4, axis=1)
    assert len(parts) == 4 and _same(lw.concat(parts, axis=1), x)
    return tuple(parts)


def topk(dtype: str) -> Sequence[Any]:
    x = lw.astype(lw.floor(lw.rand((6, 200), seed=6) * 40), dtype)
    values, indices = lw.topk(x, 9)
    assert _same(values, lw.sort(x, descending=True)[:, :9])
    assert _same(indices, lw.argsort(x, descending=True)[:, :9])
    assert _same(lw.take_along_axis(x, indices, axis=1), values)
    return values, indices


CHECKS: dict[str, Callable[[str], Sequence[Any]]] = {
    check.__name__: check for check in (add_rms_norm, asarray, eigh, nonzero, split, topk)
}
