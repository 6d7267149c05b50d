"""Tests code/total.c; it must fail for mutants of that file."""

import ctypes

library = ctypes.CDLL("build/total.so")
library.total.restype = ctypes.c_double
integers = [ctypes.c_int] * 4
library.total.argtypes = [ctypes.c_void_p, *integers, ctypes.c_double, ctypes.c_double]


def total(low: float, high: float) -> float:
    """Returns the total of a matrix of 2 rows and 3 columns. Its rows begin 5 elements apart."""
    x = (ctypes.c_double * 10)(1, 2, 9, 70, 70, 4, 5, 6, 70, 70)
    result: float = library.total(x, 2, 3, 5, 1, low, high)
    return result


assert total(2, 10) == (2 + 8 + 4 + 5 + 6) * 1.5 + 3
assert total(0, 6) == (1 + 2 + 4 + 5) * 1.5 + 3
assert total(20, 30) == -1
assert library.total_references() == 0
