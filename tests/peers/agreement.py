"""Shared by the tests against peers (NumPy, SciPy and PyTorch): arrays, and agree().

Peers compute in float64, so the difference is Lanewise's error. If the operation's contract states the largest error
over every float, that is the bound. Otherwise, the bound is the contract's tolerance, because an error measured on
random inputs may not be the largest. A test with inputs beyond the contract's domain also accepts errors of at most
`allowed`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from generator.schema import Bound
from hypothesis import strategies as st
from judge import near
from strategies import views
from tested import CONTRACTS, HOSTS

import lanewise as lw

UNIT = 2.0**-24  # half the distance between 1 and the next float32: rounding's largest relative error
EXTREME = np.array([0, 1, -1, 2**31 - 1, -(2**31), 46341, -65536, 31, 32], "int32")

contracts = {contract.operation: contract for contract in CONTRACTS}


@st.composite
def numbers(draw: Any, shape: Any, low: float = -10, high: float = 10, dtype: str = "float32", extremes: bool = False):
    """Draws an array in any layout: uniform numbers, with some extreme values of int32 if `extremes`."""
    array = draw(views(shape, dtype))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    array[...] = random.uniform(low, high, shape).astype(dtype)
    if extremes:
        array[...] = np.where(random.random(shape) < 0.3, random.choice(EXTREME, shape), array)
    return array


def wide(*arrays: Any) -> list[Any]:
    """Returns float64 copies of the arrays, for peers to compute with; None stays None."""
    return [None if array is None else np.array(array, "float64") for array in arrays]


def agree(
    operation: str,
    expected: Any,
    *inputs: Any,
    magnitude: Any = 0.0,
    allowed: Any = 0.0,
    by_contract: bool = True,
    **keywords: Any,
) -> None:
    """Asserts that an operation gives the peer's result, `expected`, on each CPU backend. The bound is the contract's
    or `allowed`, whichever is larger; without `by_contract`, it is `allowed`."""
    expected = np.asarray(expected)
    contract = contracts[operation]
    # The largest error was measured only for the values that float parameters have in the oracle's cases. For other
    # values, the tolerance is the bound.
    free = any(each.type == "float" and each.name in keywords for each in contract.parameters)
    for backend in HOSTS:
        with lw.use_backend(backend):
            result = np.asarray(getattr(lw, operation)(*inputs, **keywords))
        assert result.shape == expected.shape
        assert (result.dtype == expected.dtype) or (result.dtype, expected.dtype) == ("float32", "float64")
        accuracy = contract.accuracy(result.dtype.name)
        limit = accuracy.tolerance.of(backend.value) if free else accuracy.judged_by(backend.value)
        bound = limit if by_contract else Bound()
        good = result == expected
        if result.dtype.kind == "f":
            with np.errstate(all="ignore"):
                good = near(result, expected, bound, magnitude, False) | (np.abs(result - expected) <= allowed)
        wrong = f"{operation} on {backend}: {np.count_nonzero(~good)} wrong"
        assert good.all(), f"{wrong}: expected {expected[~good][:3]}, got {result[~good][:3]}"
