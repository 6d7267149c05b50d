"""Tests judge.near and oracle_file.near, which compare results with references: they agree, and reject errors."""

import math

import numpy as np
import oracle_file
import pytest
from generator.draw import everywhere
from judge import as_array, complaint, near, unit
from oracle_file import Bound

EXACT = Bound(0, 0, 0, 0)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_unit_is_numpy_spacing(dtype):
    values = everywhere(dtype, 1000, "units")
    assert np.array_equal(unit(values.astype("f8"), dtype), np.abs(np.spacing(np.abs(values))).astype("f8"))
    assert all(oracle_file.unit(float(x), dtype) == abs(float(np.spacing(np.abs(x)))) for x in values)


@pytest.mark.parametrize(
    ("got", "expected", "bound", "strict", "accepted"),
    [
        (1.0, 1.0, EXACT, False, True),
        (np.float32(0.1), 0.1, EXACT, False, True),
        (np.nextafter(np.float32(0.1), 1), 0.1, EXACT, False, False),
        (np.nextafter(np.float32(0.1), 1), 0.1, Bound(2, 0, 0, 0), False, True),
        (0.0, -0.0, EXACT, True, False),
        (0.0, -0.0, EXACT, False, True),
        (0.0, -0.0, Bound(2, 0, 0, 0), True, False),
        (1e-45, 0.0, Bound(2, 0, 0, 0), True, False),
        (1e-45, 0.0, Bound(2, 0, 0, 0), False, True),
        (math.nan, 1.0, Bound(0, 9, 0, 0), False, False),
        (1.0, math.nan, Bound(0, 9, 0, 0), False, False),
        (math.nan, math.nan, EXACT, True, True),
        (math.inf, 1e39, EXACT, False, True),
        (3.4028235e38, math.inf, Bound(2, 0, 0, 0), False, False),
        (math.inf, 3.4028234e38, Bound(2, 0, 0, 0), False, True),  # infinity counts as 2^128, about an ulp above 3.4e38
        (math.inf, 3.0e38, Bound(2, 0, 0, 0), False, False),
        (-math.inf, math.inf, EXACT, False, False),
    ],
)
def test_judges(got, expected, bound, strict, accepted):
    array = np.array(got, "float32")
    assert bool(near(array, np.array(expected), bound, 0.0, strict)) == accepted
    assert oracle_file.near(float(array), expected, "float32", bound, 0.0, strict) == accepted


@pytest.mark.contracts(lambda contract: contract.reference)
def test_reference_passes_and_altered_result_fails(contract, oracle):
    """A result is altered in its last element, and in the signs of its zeros: these count in special cases, and where
    the tolerance is 0."""
    for case in (*oracle.cases[::7], *(each for each in oracle.cases if " special " in each.name)):
        reference = as_array(case.reference)
        with np.errstate(all="ignore"):
            result = np.array(reference.astype(case.result_dtype))
        is_exact = case.bound("").is_exact
        strict = is_exact or " special " in case.name
        assert complaint(case, result, "") is None
        assert case.complaint(result.ravel().tolist(), "") is None
        if result.dtype.kind == "f" and not result.all():
            negated = np.where(result == 0, -result, result)
            assert bool(complaint(case, negated, "")) == strict, case.name
            assert bool(case.complaint(negated.ravel().tolist(), "")) == strict, case.name
        if result.size and is_exact:
            flat = result.reshape(-1)
            flat[-1] = not flat[-1] if result.dtype == bool else 1 if flat[-1] == 0 or np.isnan(flat[-1]) else 0
            assert complaint(case, result, "")
            assert case.complaint(result.ravel().tolist(), "")
