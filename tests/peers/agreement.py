"""What the tests of the peers share: how much hypothesis draws, arrays, and whether an operation agrees with a peer.

Peers compute in float64, so that what differs is the error of Lanewise. It may be what the operation's contract says,
which has it from mathematics, and `allowed` more where a test's inputs are worse than the contract's domain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from judge import near
from oracle_file import Bound
from strategies import views
from tested import CONTRACTS, HOSTS

import lanewise as lw

UNIT = 2.0**-24  # half the distance of 1 and the next float32: what rounding errs by
EXTREME = {
    "float32": [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1e-45, -1e-38, 0.5, 2.5, 2.0**24],
    "int32": [0, 1, -1, 2**31 - 1, -(2**31), 46341, -65536, 31, 32],
    "bool": [False, True],
}

bounded = settings(derandomize=True, max_examples=100, deadline=None, database=None)
contracts = {contract.operation: contract for contract in CONTRACTS}


@st.composite
def numbers(draw: Any, shape: Any, low: float = -10, high: float = 10, dtype: str = "float32", extremes: bool = False):
    """An array in any layout: numbers between two, some of them extreme ones where that is wanted."""
    array = draw(views(shape, dtype))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    array[...] = random.uniform(low, high, shape).astype(dtype)
    if extremes:
        array[...] = np.where(random.random(shape) < 0.3, random.choice(np.array(EXTREME[dtype], dtype), shape), array)
    return array


def wide(*arrays: Any) -> list[Any]:
    """float64 copies, which peers compute with; None stays."""
    return [None if array is None else np.array(array, "float64") for array in arrays]


def agree(
    operation: str,
    wanted: Any,
    *inputs: Any,
    magnitude: Any = 0.0,
    allowed: Any = 0.0,
    by_contract: bool = True,
    **keywords: Any,
) -> None:
    """The operation gives on every backend what a peer wants; `by_contract=False` leaves no more than `allowed`."""
    wanted = np.asarray(wanted)
    part = contracts[operation].tolerance
    for backend in HOSTS:
        with lw.use_backend(backend):
            result = np.asarray(getattr(lw, operation)(*inputs, **keywords))
        assert result.shape == wanted.shape
        assert (result.dtype == wanted.dtype) or (result.dtype, wanted.dtype) == ("float32", "float64")
        limit = part.of(backend.value)
        bound = Bound(*((limit.ulp, limit.absolute, limit.relative, limit.magnitude) if by_contract else (0, 0, 0, 0)))
        good = result == wanted
        if result.dtype.kind == "f":
            with np.errstate(all="ignore"):
                good = near(result, wanted, bound, magnitude, False) | (np.abs(result - wanted) <= allowed)
        wrong = f"{operation} on {backend}: {np.count_nonzero(~good)} wrong"
        assert good.all(), f"{wrong}: {result[~good][:3]}, not {wanted[~good][:3]}"
