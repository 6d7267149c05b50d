"""Whether a contestant computes the right thing, asked before it is timed.

It catches gross errors: another operation, a wrong axis, a tail left out, an approximation too coarse to
count. How accurate Lanewise is, the tests of the contracts say. The reference is NumPy in float64 where it is
installed, and otherwise the first contestant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from tests.bench.cases import Case
from tests.bench.inputs import HostArray
from tests.bench.peers import convert

RELATIVE = 1e-4
OF_LARGEST = 1e-5  # sums that cancel are small against what they were made of
LEAST = 2.0**-126  # that float32 holds to all its digits: of products of many factors less is left
EDGE = 128
SPREAD = 4099  # a prime: no pattern in the data repeats at this distance

UNCHECKED = ("rand", "randn")  # every library has its own stream


def positions(count: int) -> list[int]:
    """Which elements of a result to compare: both ends, and some thousands in between."""
    if count <= SPREAD:
        return list(range(count))
    inner = range(EDGE, count - EDGE, max(1, count // SPREAD))
    return [*range(EDGE), *inner, *range(count - EDGE, count)]


def reference(case: Case, wanted: Sequence[int], magnitudes: bool = False) -> list[float] | None:
    """The elements of the result in double precision, where NumPy is installed and has the operation; or those of the
    inputs' magnitudes."""
    if find_spec("numpy") is None:
        return None
    import numpy as np

    from tests.bench.peers.numpy_functions import function

    compute = function(case.operation.name)
    if compute is None:
        return None

    def double(value: HostArray) -> object:
        array = np.frombuffer(value.data, value.dtype).reshape(value.shape)
        array = array.astype(np.float64) if value.dtype == "float32" else array
        return np.abs(array) if magnitudes else array

    result = np.asarray(compute(*convert(case.arguments, double), **case.keywords))
    return [float(value) for value in result.reshape(-1)[list(wanted)]]


def difference(got: Sequence[float], want: Sequence[float], at: Sequence[int], terms: Sequence[float] = ()) -> str:
    """What is wrong with a result, or nothing. `terms` are as large as what was added up."""
    finite = [abs(value) for value in (*want, *terms) if math.isfinite(value)]
    slack = OF_LARGEST * max(finite, default=0.0)
    for mine, right, position in zip(got, want, at, strict=True):
        same = mine == right or (math.isnan(mine) and math.isnan(right))
        near = math.isfinite(right) and abs(mine - right) <= RELATIVE * abs(right) + slack + LEAST
        if not (same or near):
            return f"element {position} is {mine:.9g}; {right:.9g} was expected"
    return ""


def wrong(
    case: Case, results: Sequence[tuple[str, Callable[[Sequence[int]], list[float]]]]
) -> tuple[dict[str, str], str]:
    """The contestants whose results differ, each with how, and what they were compared with.

    A contestant is a name and a function from positions to the elements of its result.
    """
    if case.operation.name in UNCHECKED or not results:
        return {}, "nothing"
    at = positions(case.result)
    want, against = reference(case, at), "NumPy in float64"
    if want is None:
        against, read = results[0]
        want = read(at)
    adds_up = case.operation.kind in ("reduction", "matrix")
    terms = (reference(case, at, magnitudes=True) if adds_up else None) or ()
    complaints = {name: difference(read(at), want, at, terms) for name, read in results}
    return {name: complaint for name, complaint in complaints.items() if complaint}, against
