"""Tests, on every backend, that Lanewise does not repeat mistakes of earlier array libraries.

This file covers what neither a contract's special values nor another file tests. Elsewhere:

- exp, tanh, log and gelu of NaN, infinities and zero: special values in the contracts (test_operations.py)
- argmax beyond 2^24, sums of 2^24 elements: test_large.py; argmax of ties and of NaN: the contract of argmax
- a backend left out of the tests: test_required.py; a library compiled for the wrong instruction set: tests/native
- more than 65,535 workgroups on a GPU, NaN in shaders: tests/webgpu
"""

import numpy as np
import pytest
from generator.draw import draw
from judge import bits

import lanewise as lw

LENGTHS = range(1, 68)  # up to four vectors of 16 lanes, and a tail of three


def elementwise(contract):
    return contract.kind.name == "elementwise" and not contract.internal


def values_of(contract, dtype):
    """Returns a vector for each input, in which the contract's special values alternate with drawn numbers. It is
    as long as the longest part that is tested."""
    special = [row for row in contract.special if row.out is not None and dtype in row.dtypes and not row.parameters]
    special = [row for row in special if all(each.name in row.inputs for each in contract.inputs)]
    columns = []
    for each in contract.inputs:
        own = np.array([row.inputs[each.name] for row in special], each.dtype or dtype)
        drawn = draw(contract, each.name, dtype, (max(LENGTHS),), "traps")
        both = np.stack([np.resize(own, drawn.shape) if own.size else drawn, drawn], axis=1).reshape(-1)
        columns.append(both[: max(length % 7 + length for length in LENGTHS)])
    return columns


@pytest.mark.contracts(lambda contract: elementwise(contract))
def test_elements_do_not_depend_on_position_or_neighbors(contract, dtype, backend):
    """The mistake: relu(NaN) differed between a vectorized loop and the loop over the remaining elements."""
    function = getattr(lw, contract.operation)
    columns = values_of(contract, dtype)
    singles = [[lw.asarray(column[i : i + 1]) for column in columns] for i in range(columns[0].size)]
    expected = np.concatenate([bits(np.asarray(function(*single))) for single in singles])
    for length in LENGTHS[::5] if backend.is_gpu else LENGTHS:  # a GPU has vectors of 4, and each call takes long
        start = length % 7
        part = slice(start, start + length)
        result = bits(np.asarray(function(*(lw.asarray(column[part]) for column in columns))))
        wrong = np.flatnonzero(result != expected[part])
        assert not wrong.size, f"{[column[part][wrong[0]] for column in columns]} at {wrong[0]} of {length}"


def around(values):
    """Returns float32 values and both neighbors of each."""
    values = np.asarray(values, "float32")
    return np.concatenate([values, np.nextafter(values, np.float32(np.inf)), np.nextafter(values, np.float32(-np.inf))])


@pytest.mark.parametrize(("name", "expected"), [("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc),
                                              ("round", np.rint)])  # fmt: skip
def test_rounding_near_halves_and_of_large_integers(name, expected, backend):
    """The mistake: round(0.49999997) was 1, and round(8388609) was not 8388609."""
    halves = around(np.arange(-40, 41) / 2)
    large = around([s * 2.0**e * f for e in range(21, 33) for f in (1, 1.5, 1.75) for s in (1, -1)])
    every = np.arange(2**22 - 100, 2**22 + 100, 0.5), np.arange(2**23 - 100, 2**24, 97), np.arange(2**24 - 64, 2**24)
    x = np.concatenate([halves, large, *every, -every[0]]).astype("float32")
    assert np.array_equal(bits(np.asarray(getattr(lw, name)(lw.asarray(x)))), bits(expected(x)))


def test_exp_does_not_decrease_where_the_entry_of_a_table_changes(backend):
    """core/ops/exp.h has an entry for each sixteenth of a power of two, and shifts the changes by up to 61 floats."""
    changes = ((np.arange(-1664, 2048) + 0.5) / 16 * np.log(2)).astype("float32")
    x = np.sort((changes[:, None].view("int32") + np.arange(-80, 81, dtype="int32")).view("float32"), axis=1)
    assert (np.diff(np.asarray(lw.exp(lw.asarray(x))), axis=1) >= 0).all()


def ways(array):
    """Yields (name, tensor, axes to reduce, the same view in NumPy) for several views of the numbers."""
    square = array.reshape(-1, 1000)
    yield "all", lw.asarray(array), None, array
    yield "rows", lw.asarray(square), 1, square
    yield "columns", lw.asarray(square), 0, square
    yield "transposed", lw.asarray(square.T), 0, square.T
    yield "backwards", lw.asarray(array[::-1]), 0, array[::-1]
    yield "with gaps", lw.asarray(array[::3]), 0, array[::3]
    yield "two of three axes", lw.asarray(array.reshape(10, -1, 100)), (0, 2), array.reshape(10, -1, 100)


def test_variance_survives_a_large_mean_on_every_path(backend):
    """The mistake: the variance of 10000 plus noise of 0.02 was 504, 328, 120 or 0, depending on the code path."""
    noisy = (10000 + np.random.default_rng(1).normal(0, 0.02, 60_000)).astype("float32")
    for way, x, axis, array in ways(noisy):
        expected = np.var(array, axis=axis, dtype="float64")
        variance, deviation = np.asarray(lw.var(x, axis=axis)), np.asarray(lw.std(x, axis=axis))
        assert np.all(np.abs(variance - expected) <= 1e-5 * expected), way
        assert np.all(np.abs(deviation - np.sqrt(expected)) <= 1e-5 * np.sqrt(expected)), way
    rows = noisy.reshape(-1, 1000)
    exact = rows.astype("float64")
    exact = (exact - exact.mean(1, keepdims=True)) / np.sqrt(exact.var(1, keepdims=True) + 1e-5)
    # rounding the mean, 10000, to float32 costs up to half an ulp, 0.0005; the standard deviation is 0.02
    assert np.abs(np.asarray(lw.layer_norm(rows, eps=1e-5)) - exact).max() <= 0.0005 / 0.02


def test_layer_norm_with_outliers_as_its_pivot(backend):
    """A one-pass variance that first subtracts the mean of four elements loses three digits if they are outliers."""
    rows = np.random.default_rng(2).normal(0, 1, (3, 4096)).astype("float32")
    rows[:, [0, 1024, 2048, 4095]] = 10_000
    exact = rows.astype("float64")
    exact = (exact - exact.mean(1, keepdims=True)) / exact.std(1, keepdims=True)
    assert (
        np.abs(np.asarray(lw.layer_norm(lw.asarray(rows), eps=0.0)) - exact).max() <= 3e-5
    )  # the largest elements of the result are about 32, so this is 1e-6 of them


def test_sums_keep_their_digits_on_every_path(backend):
    """The mistake: a sum of 2^20 elements of 0.1 was off by 1000. Sums by blocks have a relative error below 2e-6."""
    tenth = np.full(1_200_000, 0.1, "float32")
    for way, x, axis, array in ways(tenth):
        expected = np.sum(array, axis=axis, dtype="float64")
        assert np.all(np.abs(np.asarray(lw.sum(x, axis=axis)) - expected) <= 2e-6 * expected), way
        assert np.all(np.abs(np.asarray(lw.mean(x, axis=axis)) - np.float64(np.float32(0.1))) <= 2e-7), way
    exact = np.sum(tenth, dtype="float64")
    assert abs(float(lw.dot(tenth, lw.ones(tenth.size))) - exact) <= 2e-6 * exact
    assert abs(float(lw.cumulative_sum(tenth)[-1]) - exact) <= 2e-6 * exact
    # matmul adds the products in blocks of 256, then adds the blocks' sums, so at most 256 + 1,200,000 / 256 roundings
    # affect each product
    allowed = (256 + tenth.size / 256) * 2.0**-24 * exact
    assert abs(float(lw.matmul(tenth, lw.ones(tenth.size))) - exact) <= allowed
    assert np.all(
        np.abs(np.asarray(lw.matmul(lw.ones((9, tenth.size)), np.stack([tenth] * 9, axis=1))) - exact) <= allowed
    )


def test_sums_of_products_of_bytes_are_exact(backend):
    """Products of 8-bit integers are computed in float32 as long as no sum exceeds 2^24: up to 258 products of uint8,
    514 of uint8 and int8, and 1024 of int8. One of the sums here is odd, so that float32 cannot hold it if it is
    larger."""
    for left, right in ((255, 255), (255, -128), (-128, -128), (127, -127), (-128, 127)):
        for k in (31, 258, 259, 514, 516, 1024, 1025):
            x, y = np.full((2, 17, k), left), np.full((k, 65), right)
            x[0, 0, -1] = y[-1, 0] = 1
            operands = [lw.asarray(each.astype("uint8" if each.max() > 127 else "int8")) for each in (x, y)]
            for dtype in ("int32", "int64"):
                assert np.array_equal(np.asarray(lw.matmul(*operands, dtype=dtype)), x @ y), (left, right, k, dtype)


# Ways to compute the matrix product of left and right.
PRODUCTS = {
    "matmul": lambda left, right: lw.matmul(left, right),
    "transposed": lambda left, right: lw.matmul(right.mT, left.mT).mT,
    "batched": lambda left, right: lw.matmul(lw.stack([left, left]), right)[1],
    "by vectors": lambda left, right: lw.stack([lw.vecmat(row, right) for row in left]),
    "vector by vector": lambda left, right: lw.stack([lw.matvec(left, column) for column in right.mT]).mT,
    "linear": lambda left, right: lw.linear(left, right.mT),
    "weighted_sum": lambda left, right: lw.weighted_sum(left, right),
    "conv2d": lambda left, right: lw.conv2d(left.mT[None, :, :, None], right.mT[:, :, None, None])[0, :, :, 0].mT,
    "outer": lambda left, right: lw.sum(
        lw.stack([lw.outer(left[:, k], right[k]) for k in range(left.shape[1])]), axis=0
    ),
}


@pytest.mark.parametrize("value", [np.inf, np.nan])
@pytest.mark.parametrize("way", PRODUCTS)
def test_zero_times_infinity_is_not_skipped(way, value, backend):
    """The mistake: a product that skipped zero factors turned 0 times infinity into 0."""
    rows, columns = 5, 21
    for n in (1, 2, 3, 8, 17, 40):
        for k in {0, n // 2, n - 1}:
            left, right = np.ones((rows, n), "float32"), np.ones((n, columns), "float32")
            left[2] = 0
            right[k, 13] = value
            with np.errstate(invalid="ignore"):
                expected = left @ right
            result = np.asarray(PRODUCTS[way](lw.asarray(left), lw.asarray(right)))
            assert np.isnan(expected[2, 13]) and np.isnan(result[2, 13]), (n, k)
            np.testing.assert_array_equal(result, expected)


@pytest.mark.contracts(lambda contract: elementwise(contract) and len(contract.inputs) == 1)
def test_requested_backend_runs(contract, backend):
    """The mistake: operations on one backend's tensors ran another backend's code, even if a backend was requested."""
    x = lw.asarray(draw(contract, contract.inputs[0].name, contract.computed[-1], (40,), "traps"))
    result = getattr(lw, contract.operation)(x)
    assert result.backend is x.backend is backend
    assert getattr(lw, contract.operation)(x.to("scalar")).backend is lw.Backend.SCALAR
