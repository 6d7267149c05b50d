"""Tests arange, linspace, full and eye against their models. Large results are split into tasks for threads."""

import numpy as np
import pytest
from generator.schema import INTEGERS

from tests.models.comparison import BY_NAME, agree

COUNTS = [0, 1, 2, 65, 4097, (1 << 15) + 1, 70_001]


@pytest.mark.parametrize("count", COUNTS)
def test_arange(count):
    agree("arange", count)
    agree("arange", -5, -5 + 3 * count, 3)
    agree("arange", 9, 9 - 2 * count, -2)
    agree("arange", 0.1, 0.1 + (count - 0.5) * 0.7, 0.7)
    agree("arange", 1e8, 1e8 - (count - 0.5) / 3, -1 / 3)
    for dtype in ("float32", "int64", "uint32", "uint64", "float64"):
        agree("arange", 16_777_210, 16_777_210 + count, dtype=dtype)
    for dtype in ("int8", "int16", "uint8", "uint16"):
        agree("arange", np.iinfo(dtype).min, min(np.iinfo(dtype).min + count, np.iinfo(dtype).max), dtype=dtype)
    for dtype in ("float16", "bfloat16"):
        agree("arange", 0, count / 8, 1 / 8, dtype=dtype)


@pytest.mark.parametrize("dtype", BY_NAME["linspace"].computed)
@pytest.mark.parametrize("count", COUNTS)
def test_linspace(count, dtype):
    for start, stop in ((0, 1), (0.1, 0.7), (3.5, -2.25), (1e-3, 6e4), (7, 7)):
        agree("linspace", start, stop, count, dtype=dtype)
        agree("linspace", start, stop, count, dtype=dtype, endpoint=False)


@pytest.mark.parametrize("dtype", BY_NAME["full"].dtypes)
def test_full(dtype):
    limits = np.iinfo(dtype) if dtype in INTEGERS else None
    for value in (0, 1, limits.min, limits.max) if limits else (True, False) if dtype == "bool" else (
        0.0, -0.0, 0.1, 1e-8, 65519.99, 1 + 2.0**-11 + 2.0**-40, 1e-45, float("inf"), float("nan"),
    ):  # fmt: skip
        for shape in (0, 1, 63, 65, (3, 5, 7), (1 << 15) + 1, (2, 70_001)):
            agree("full", shape, value, dtype=dtype)


def test_eye():
    for shape in ((0, 3), (1, 1), (7, 7), (5, 9), (9, 5), (300, 301)):
        for k in (-6, -1, 0, 1, 6, 400):
            agree("eye", *shape, k=k)
            agree("eye", *shape, k=k, dtype="bool")
    agree("eye", 4)
