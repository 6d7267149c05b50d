"""Tests operations whose result depends on a position or on a whole row: prefix sums, rotary embedding, sequences,
random numbers, normalization."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from generator import references
from harness import Runner, on_gpu, stays_on_gpu

import lanewise as lw


def created(operation: str, *arguments: Any, **keywords: Any) -> np.ndarray:
    """Returns what an operation without operands creates on the device."""
    with lw.use_backend("wgpu"), stays_on_gpu():
        result = getattr(lw, operation)(*arguments, **keywords)
    assert result.backend == "wgpu"
    return np.array(result)


def on_cpu(operation: str, *arguments: Any, **keywords: Any) -> np.ndarray:
    return np.array(getattr(lw, operation)(*arguments, **keywords))


LENGTHS = [1, 63, 64, 65, 4095, 4096, 4097, 8193, 50_001]


@pytest.mark.parametrize("length", LENGTHS)
def test_prefix_sums_of_integers(gpu: Runner, length: int) -> None:
    """Sums wrap around."""
    x = np.random.default_rng(length).integers(-(2**31), 2**31, (3, length)).astype(np.int32)
    with np.errstate(over="ignore"):
        rows, columns = x.cumsum(1, dtype=np.int32), x.cumsum(0, dtype=np.int32)
    np.testing.assert_array_equal(gpu.guarded("cumulative_sum", x, axis=1), rows)
    np.testing.assert_array_equal(gpu.guarded("cumulative_sum", x, axis=0), columns)
    flags = x > 0
    np.testing.assert_array_equal(gpu.run("cumulative_sum", flags, axis=1), flags.cumsum(1))


@pytest.mark.parametrize("length", LENGTHS)
def test_prefix_sums_of_floats(gpu: Runner, length: int) -> None:
    """The tolerance is the contract's, a multiple of the sum of the absolute values."""
    x = np.random.default_rng(length).uniform(-1, 1, (3, length)).astype(np.float32)
    exact, size = x.cumsum(1, dtype=np.float64), np.abs(x).cumsum(1, dtype=np.float64)
    assert (np.abs(gpu.guarded("cumulative_sum", x, axis=1) - exact) <= 4.8e-7 * size).all()
    whole = on_gpu(x)
    with stays_on_gpu():
        backwards = lw.cumulative_sum(whole[::-1, ::-1], axis=-1)
    exact, size = (each[::-1, ::-1].cumsum(1, dtype=np.float64) for each in (x, np.abs(x)))
    assert (np.abs(np.array(backwards) - exact) <= 4.8e-7 * size).all()


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
@pytest.mark.parametrize("length", [100, 4097, 20_000])
def test_prefix_sums_in_place(gpu: Runner, length: int, dtype: Any) -> None:
    base = np.random.default_rng(length).integers(-9, 9, (5, length)).astype(dtype)
    x = on_gpu(base)
    with stays_on_gpu():
        lw.cumulative_sum(x[1:4], axis=1, out=x[1:4])
    base[1:4] = base[1:4].cumsum(1)
    np.testing.assert_array_equal(np.array(x), base)


@pytest.mark.parametrize("pairs", ["adjacent", "split"])
@pytest.mark.parametrize("scaling", ["linear", "ntk"])
@pytest.mark.parametrize("offset", [0, 1000, 2**20 + 3, 2**30])
def test_rotation_at_large_positions(gpu: Runner, offset: int, scaling: str, pairs: str) -> None:
    """The tolerance is the contract's, about what the rotation of a pair of float32 costs with exact angles."""
    x = np.random.default_rng(7).uniform(-3, 3, (2, 70, 34)).astype(np.float32)
    theta, others = 10_000.0, {"scaling": scaling, "factor": 4.0, "pairs": pairs}
    keywords = {"offset": offset, "theta": theta, **others}
    expected = references.rope(x.astype(np.longdouble), np.longdouble(theta), np.longdouble(offset), axis=1, **others)
    tolerance = 6e-7 if offset < 2**25 else 1e-5  # the turns per position have a relative error of about 2^-42
    np.testing.assert_allclose(gpu.guarded("rope", x, **keywords), expected, rtol=0, atol=tolerance)
    view = on_gpu(x)
    with stays_on_gpu():
        rows = lw.rope(view[:, ::-1, ::-1][:, ::-1, ::-1], **keywords)
    np.testing.assert_allclose(np.array(rows), expected, rtol=0, atol=tolerance)


STREAMS: list[tuple[Any, dict[str, int]]] = [
    (33, {"seed": 1}),
    ((5, 7), {"seed": 12345678901}),
    (70_001, {"seed": 7, "offset": 3}),
    (9, {"seed": 7, "offset": 17179869183}),
    (9, {"seed": 7, "offset": 2**62}),
    (9, {"seed": -1}),
    (70_003, {"seed": 7, "offset": 2**34 - 8}),  # the counter's second word changes
    *((count, {"seed": count, "offset": 4}) for count in (1, 2, 3, 4, 5)),
]


@pytest.mark.parametrize(("shape", "keywords"), STREAMS)
@pytest.mark.parametrize("operation", ["rand", "randn"])
def test_random_numbers_have_the_bits_of_the_cpu(gpu: Runner, operation: str, shape: Any, keywords: Any) -> None:
    """Those of randn, too: its kernel protects each rounding."""
    got, expected = created(operation, shape, **keywords), on_cpu(operation, shape, **keywords)
    assert got.shape == expected.shape
    assert got.tobytes() == expected.tobytes()


RANGES = [
    (0, 33),
    (0.0, 1.0, 0.25),
    (5.0, -2.0, -1.5),
    (0.1, 500.0, 0.1),
    (1e30, 1e30 + 1e25, 1e22),
    (-1e-30, 1e-30, 1e-33),
    (1e-40, 5e-38, 1e-40),
    (-3e38, 3e38, 1e36),
    (1e300, 1.1e300, 1e298),
    (1e-300, 2e-300, 1e-302),
    (1.0, 1.00001, 2**-24),  # half of the results are midway between two float32
    (16777216.0, 16777300.0, 0.5),
    (0.0, 1e-5, 1e-9 / 3),
    (-1.0, 1.0, 2**-13),
    (1e9, 1e9 + 70000, 1.0),
]


@pytest.mark.parametrize("arguments", RANGES)
def test_ranges_of_floats(gpu: Runner, arguments: tuple[float, ...]) -> None:
    """Each value is rounded once, like on the CPU, which computes in float64, except for denormal results."""
    got, expected = created("arange", *arguments, dtype="float32"), on_cpu("arange", *arguments, dtype="float32")
    assert got.shape == expected.shape
    assert_rounded_once(got, expected)


def assert_rounded_once(got: np.ndarray, expected: np.ndarray) -> None:
    """Asserts the same bits, with two exceptions. A denormal number may differ by one unit, as it may be rounded twice.
    Where terms cancel, as in -3e38 + 300 * 1e36, pairs of float32 have fewer bits than float64: start and step are
    rounded to 48 bits, and each of nine sums has a relative error of 2^-46, which is at most
    (2 * 2^-48 + 9 * 2^-46) * size < 2^-42 * size. Of numbers beyond 2^-18 * size, that is less than half a unit."""
    magnitude = np.abs(expected.astype(np.float64))
    size = magnitude.max(initial=0, where=np.isfinite(expected))
    allowed = np.where(magnitude > 2.0**-18 * size, 0, 2.0**-42 * size)
    allowed[magnitude < np.finfo(np.float32).tiny] += 1.5 * 2.0**-149
    with np.errstate(invalid="ignore"):
        assert ((got == expected) | (np.abs(got.astype(np.float64) - expected) <= allowed)).all()


@pytest.mark.parametrize(
    "arguments",
    [(0, 5000), (-5, 1000, 3), (9, -9, -2), (-(2**31), 2**31 - 1, 2**20 - 1), (2**31 - 1, -(2**31), -(2**24) - 1)],
)
def test_ranges_of_integers(gpu: Runner, arguments: tuple[int, ...]) -> None:
    np.testing.assert_array_equal(created("arange", *arguments, dtype="int32"), np.arange(*arguments))


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize(
    ("start", "stop", "count"),
    [(0, 1, 11), (3.5, -2.25, 33), (0.1, 0.7, 1000), (-1, 1, 4097), (2, 5, 1), (7, 7, 5), (-3e38, 3e38, 1000),
     (1e-38, 2e-38, 100), (1e30, 1.0001e30, 999)],
)  # fmt: skip
def test_evenly_spaced_numbers(gpu: Runner, start: float, stop: float, count: int, endpoint: bool) -> None:
    got = created("linspace", start, stop, count, endpoint=endpoint)
    assert_rounded_once(got, on_cpu("linspace", start, stop, count, endpoint=endpoint))


@pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), 1, 7, (3, 5), 70_001])
def test_constants(gpu: Runner, shape: Any, dtype: str) -> None:
    value = True if dtype == "bool" else -7
    got = created("full", shape, value, dtype)
    assert got.dtype == dtype
    assert (got == value).all()
    assert not created("zeros", shape, dtype).any()


ROWS = [1, 2, 4, 255, 256, 257, 1024, 1028, 4096, 4097, 8192, 8196, 9001]


@pytest.mark.parametrize("length", ROWS)
def test_layer_norm(gpu: Runner, length: int) -> None:
    """Tolerances are the contract's. eps makes the denominator of a constant row."""
    random = np.random.default_rng(length)
    x = (100 + random.normal(size=(5, length))).astype(np.float32)
    weight, bias = random.uniform(-2, 2, (2, length)).astype(np.float32)
    for given, tolerance in (((), 3.4e-6), ((weight, bias), 7e-6), ((None, bias), 3.4e-6), ((weight,), 7e-6)):
        expected = references.layer_norm(x.astype(float), *given, *[None] * (2 - len(given)), -1, 1e-5)
        np.testing.assert_allclose(gpu.guarded("layer_norm", x, *given), expected, rtol=0, atol=tolerance)
        columns = gpu.guarded("layer_norm", x.T.copy(), *given, axis=0)
        np.testing.assert_allclose(columns, expected.T, rtol=0, atol=tolerance)


@pytest.mark.parametrize("length", [2, 300, 5000])
@pytest.mark.parametrize("size", [3e38, 1e25, 1e18, 1e-15, 1e-25, 1e-37])
def test_layer_norm_of_rows_whose_squares_overflow_or_vanish(gpu: Runner, size: float, length: int) -> None:
    """Each row is scaled by itself: every other row has numbers of usual size."""
    if size < 1e-30 and not gpu.keeps_denormals():
        pytest.skip("this adapter flushes denormals to zero, and with them differences of such small numbers")
    random = np.random.default_rng(length)
    x = random.uniform(-1, 1, (4, length))
    x[::2] *= size
    x = x.astype(np.float32)
    expected = references.layer_norm(x.astype(np.longdouble), None, None, -1, 0.0).astype(float)
    np.testing.assert_allclose(gpu.guarded("layer_norm", x, eps=0.0), expected, rtol=2e-5, atol=3.4e-6)


@pytest.mark.parametrize("length", ROWS)
@pytest.mark.parametrize("operation", ["softmax", "log_softmax"])
def test_softmax(gpu: Runner, operation: str, length: int) -> None:
    x = np.random.default_rng(length).uniform(-10, 10, (5, length)).astype(np.float32)
    x[1] += 1e30
    x[2, :-1] = -np.inf
    expected = getattr(references, operation)(x.astype(float), -1)
    np.testing.assert_allclose(gpu.guarded(operation, x), expected, rtol=2e-6, atol=1e-6)
    np.testing.assert_allclose(gpu.guarded(operation, x.T.copy(), axis=0), expected.T, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("length", ROWS)
def test_rms_norm(gpu: Runner, length: int) -> None:
    x = np.random.default_rng(length).normal(size=(3, length)).astype(np.float32)
    expected = references.rms_norm(x.astype(float), None, -1, 1e-5)
    np.testing.assert_allclose(gpu.guarded("rms_norm", x), expected, rtol=2e-6, atol=math.ulp(0))
