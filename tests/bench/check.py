"""Compares the results of contestants (Lanewise and other libraries) before they are timed.

This catches gross errors: a wrong operation, a wrong axis, a missing tail, a far too coarse approximation. The tests of
the contracts check accuracy. The reference is NumPy in float64 if it is installed and has the operation, otherwise the
first contestant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec

from tests.bench.peers import convert, to_numpy
from tests.cases.cases import Case, Viewed
from tests.cases.inputs import HostArray

# The allowed error relative to the element, by the dtype of the result.
RELATIVE: Mapping[str, float] = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-4, "float64": 1e-9}
# This share of it is also allowed relative to the largest element or sum of magnitudes, because terms may cancel.
OF_LARGEST = 0.1
SMALLEST_NORMAL = 2.0**-126  # of float32; also allowed, because products of many factors may underflow
EDGE = 128
# Between the ends of a result, every n-th element is compared, where n is the number of elements divided by SPREAD.
# SPREAD is prime, so that n rarely divides the length of a row, and elements of many columns are compared.
SPREAD = 4099

UNCHECKED = ("rand", "randn")  # every library generates different random numbers


def positions(count: int) -> list[int]:
    """Returns the positions to compare: all in a small result, else both ends and some thousands in between."""
    if count <= SPREAD:
        return list(range(count))
    inner = range(EDGE, count - EDGE, max(1, count // SPREAD))
    return [*range(EDGE), *inner, *range(count - EDGE, count)]


def reference(case: Case, at: Sequence[int], magnitudes: bool = False) -> list[float] | None:
    """Computes the elements at these positions in float64; with `magnitudes`, from the absolute values of the inputs.

    Returns None if NumPy is not installed or does not have the operation.
    """
    if find_spec("numpy") is None:
        return None
    import numpy as np

    from tests.bench.peers.numpy_functions import function

    compute = function(case.operation.name)
    if compute is None:
        return None

    def double(value: HostArray | Viewed) -> object:
        array = to_numpy(value)
        array = array.astype(np.float64 if array.dtype.kind == "f" else case.keywords.get("dtype", array.dtype))
        return np.abs(array) if magnitudes else array

    arguments = convert(case.arguments, double)
    if case.call:
        names = {f"argument{i}": array for i, array in enumerate(arguments)}
        result = eval(case.call, {"function": compute, **names})  # the benchmark's own code
    elif case.operation.name == "matmul" and all(array.ndim == 2 for array in arguments):
        # Only the products that are compared: NumPy in a browser would take minutes for all of a large matrix.
        left, right = arguments
        rows, columns = np.divmod(np.asarray(at, dtype=np.intp), right.shape[1])
        return [float(left[row] @ right[:, column]) for row, column in zip(rows, columns, strict=True)]
    else:
        try:
            result = compute(*arguments, **case.keywords)
        except NotImplementedError:
            return None
    parts = result if isinstance(result, list | tuple) else [result]
    flat = np.concatenate([np.asarray(part).reshape(-1) for part in parts])
    return [float(value) for value in flat[list(at)]]


def difference(
    got: Sequence[float],
    expected: Sequence[float],
    at: Sequence[int],
    terms: Sequence[float] = (),
    relative: float = RELATIVE["float32"],
) -> str:
    """Describes the first element that differs too much, or returns "". `at` states the elements' positions.

    For sums, `terms` are the same sums, computed from the absolute values of the inputs. The allowed error grows
    with the largest of the values in `expected` and `terms`, because the numbers that are added may cancel.
    """
    finite = [abs(value) for value in (*expected, *terms) if math.isfinite(value)]
    slack = OF_LARGEST * relative * max(finite, default=0.0)
    for mine, right, position in zip(got, expected, at, strict=True):
        same = mine == right or (math.isnan(mine) and math.isnan(right))
        near = math.isfinite(right) and abs(mine - right) <= relative * abs(right) + slack + SMALLEST_NORMAL
        if not (same or near):
            return f"element {position}: expected {right:.9g}, got {mine:.9g}"
    return ""


def wrong(
    case: Case, results: Sequence[tuple[str, Callable[[Sequence[int]], list[float]]]]
) -> tuple[dict[str, str], str]:
    """Returns a description of each wrong result by contestant, and what the results were compared with.

    `results` pairs the name of a contestant with a function that reads elements of its result by position.
    """
    if case.operation.name in UNCHECKED or not results:
        return {}, "nothing"
    at = positions(case.result)
    expected, against = reference(case, at), "NumPy in float64"
    if expected is None:
        against, read = results[0]
        expected = read(at)
    sums = case.operation.kind in ("reduction", "matrix")
    terms = (reference(case, at, magnitudes=True) if sums else None) or ()
    relative = RELATIVE.get(case.result_dtype or case.operation.result(case.dtype), RELATIVE["float32"])
    complaints = {name: difference(read(at), expected, at, terms, relative) for name, read in results}
    return {name: complaint for name, complaint in complaints.items() if complaint}, against
