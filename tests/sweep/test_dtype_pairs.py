"""Tests operations of two arrays against NumPy: every pair of dtypes, with numbers at the ends of their ranges. Where
the dtype of the result is not NumPy's, NumPy computes in the dtype of the result:

- an integer with a float gives that float, where NumPy widens it for integers of 16 bits or more;
- float16 with bfloat16 gives float32, where ml_dtypes raises an error;
- uint64 with a signed integer is an error, where NumPy gives float64;
- bool is added, multiplied and shifted as int32, where NumPy computes with truth values or int8;
- integers are divided as float32, of 64 bits as float64, where NumPy always gives float64.

test_dtypes.py compares every pair of dtypes by value.
"""

import itertools

import ml_dtypes
import numpy as np
import pytest
from generator.schema import DTYPES, FLOATS, INTEGERS
from judge import bits

import lanewise as lw

OPERATIONS = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "divide": np.divide,
    "floor_divide": np.floor_divide,  # of integers by 0: 0; of the lowest by -1: the lowest
    "bitwise_and": np.bitwise_and,
    "bitwise_left_shift": np.left_shift,  # by a negative count, or by all bits or more: 0
}
ON_BITS = ("bitwise_and", "bitwise_left_shift")


def numbers(dtype):
    """Returns numbers at the ends of a dtype's range, and small ones."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype in INTEGERS:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        return np.array(sorted({low, max(low, -7), max(low, -1), 0, 1, 3, 8, 31, 33, 100, high - 1, high}), dtype)
    limits = ml_dtypes.finfo(dtype)
    positive = [0, limits.smallest_subnormal, limits.smallest_normal, 0.5, 1, 2.5, 33, limits.max, np.inf]
    return np.array([*positive, *(-each for each in positive), np.nan], "float64").astype(dtype)


def promoted(first, second):
    """Returns the dtype of two dtypes together; None if there is none."""
    both = {first, second}
    floats = both & set(FLOATS)
    if both == {"float16", "bfloat16"}:
        return "float32"
    if len(floats) == 1:
        return floats.pop()
    if "uint64" in both and any(each.startswith("int") for each in both):
        return None
    return np.result_type(first, second).name


def computed(name, first, second):
    """Returns the dtype that NumPy is to compute in; None if the call is refused."""
    together = promoted(first, second)
    if together is None or (together in FLOATS and name in ON_BITS):
        return None
    if name == "divide" and together not in FLOATS:
        return "float64" if together in ("int64", "uint64") else "float32"
    return "int32" if together == "bool" and name != "bitwise_and" else together


def of_numpy(name, dtype, x1, x2):
    """Returns what NumPy gives for arrays in `dtype`. It computes bfloat16 as float32, and rounds the result."""
    wide = "float32" if dtype == "bfloat16" else dtype
    return OPERATIONS[name](*(x.astype(dtype).astype(wide) for x in (x1, x2))).astype(dtype)


@pytest.mark.parametrize(("first", "second"), list(itertools.product(DTYPES, DTYPES)))
def test_every_pair_of_dtypes(first, second, host):
    x1, x2 = numbers(first)[:, None], numbers(second)
    for name in OPERATIONS:
        dtype = computed(name, first, second)
        if dtype is None:
            with pytest.raises(lw.DTypeError, match=f"^{name}: .*astype"):
                getattr(lw, name)(x1, x2)
            continue
        result = getattr(lw, name)(x1, x2)
        with np.errstate(all="ignore"):
            expected = of_numpy(name, dtype, x1, x2)
        assert result.dtype == dtype, name
        got = np.asarray(result)
        # of two zeros, both libraries return either one
        same = got == expected if name == "maximum" else np.zeros(got.shape, bool)
        wrong = np.argwhere(~same & (bits(got) != bits(expected)))
        assert not wrong.size, (name, [(x1[i, 0], x2[j], got[i, j], expected[i, j]) for i, j in wrong[:5]])
