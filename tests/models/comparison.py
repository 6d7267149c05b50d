"""Compares operations with their models, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from generator.draw import draw
from judge import bits
from tested import CONTRACTS, HOSTS

import lanewise as lw
from tests.models import composed, creation, eigen, elementwise, random_numbers, reductions, rows, windows
from tests.models.tree import BLOCK, Array

MODULES = (composed, creation, eigen, elementwise, random_numbers, reductions, rows, windows)
MODELS = {name: model for module in MODULES for name, model in module.MODELS.items()}
BY_NAME = {contract.operation: contract for contract in CONTRACTS}

# Zeros, denormals, numbers with squares that overflow or underflow, numbers near the largest, infinities and NaN.
SPECIAL = np.array(
    [0.0, -0.0, 1e-45, -1e-40, 1e-30, -3e-20, 1.5, -3.0, 3e20, -2e30, 3.4e38, -3.4e38, np.inf, -np.inf, np.nan], "f4"
)


def drawn(operation: str, shape: Any, dtype: str = "float32") -> list[Array]:
    """Returns values for every input of an operation. They differ from those in the oracle's files."""
    contract = BY_NAME[operation]
    return [draw(contract, each.name, dtype, shape, "models") for each in contract.inputs]


def planted(x: Array, values: Array, step: int = 61) -> Array:
    """Returns a copy of x in which every `step`-th element is one of `values`."""
    copy = x.copy()
    places = copy.reshape(-1)[::step]
    places[...] = np.resize(values, places.shape)
    return copy


def cancelling(x: Array) -> Array:
    """Returns a copy of a matrix in which some blocks hold large elements and others their negatives. The rounding
    errors of float64, which depend on the order in which blocks are joined, are then as large as the sum of a row."""
    copy = x.copy()
    for start in range(0, x.shape[1] - 3 * BLOCK, 4 * BLOCK):
        large = x[:, start : start + BLOCK] * np.float32(2.0**60)
        copy[:, start : start + BLOCK], copy[:, start + 2 * BLOCK : start + 3 * BLOCK] = large, -large
    return copy


def nearly_equal(count: int, steps: int) -> Array:
    """Returns rows of different magnitudes. The elements of a row are up to `steps` units in the last place apart."""
    first = (1.1 * 2.0 ** -np.arange(-40, 120, 3)).astype("f4").view("i4")
    return (first[:, None] + np.arange(count) % (steps + 1)).astype("i4").view("f4")


def agree(operation: str, *inputs: Any, **parameters: Any) -> None:
    """Asserts that an operation gives the bits of its model on every CPU backend. All NaNs count as equal."""
    with np.errstate(all="ignore"):
        expected = _several(MODELS[operation](*inputs, **parameters))
    shapes = [np.shape(each) for each in inputs if each is not None]
    for backend in HOSTS:
        with lw.use_backend(backend):
            results = _several(getattr(lw, operation)(*inputs, **parameters))
        for result, model in zip(map(np.asarray, results), expected, strict=True):
            assert (result.dtype, result.shape) == (model.dtype, model.shape)
            same = bits(result) == bits(model)
            if not same.all():
                at = np.unravel_index(int(np.argmin(same)), same.shape)
                what = f"{np.count_nonzero(~same)} of {same.size} differ, first at {list(map(int, at))}"
                values = f"expected {model[at]!r}, got {result[at]!r}"
                raise AssertionError(f"{operation} of {shapes} {parameters} on {backend}: {what}: {values}")


def _several(results: Any) -> list[Any]:
    return list(results) if isinstance(results, list | tuple) else [results]
