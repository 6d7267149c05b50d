"""What earlier systems of this kind got wrong, each as a test on every backend.

Here is what neither a contract's special values nor another file tests. Elsewhere:

- exp, tanh, log and gelu of NaN, infinities and zero: the contracts, 37 copies of each (test_operations.py)
- argmax beyond 2^24, sums of 2^20 elements: test_large.py; its ties, and NaN as the extreme: the contract of argmax
- a backend that the tests leave out: test_required.py; that a library is compiled for what it says: tests/native
- more than 65,535 workgroups on a GPU, NaN in shaders: tests/webgpu
"""

import numpy as np
import pytest
from generator.draw import draw
from judge import bits

import lanewise as lw

LENGTHS = range(1, 68)  # four vectors of 16 lanes and three more elements


def elementwise(contract):
    return contract.kind.name == "elementwise" and not contract.internal


def values_of(contract, dtype):
    """For each input, what the contract calls special and as many drawn numbers, one after the other."""
    special = [row for row in contract.special if row.out is not None and dtype in row.dtypes and not row.parameters]
    special = [row for row in special if all(each.name in row.inputs for each in contract.inputs)]
    columns = []
    for each in contract.inputs:
        own = np.array([row.inputs[each.name] for row in special], each.dtype or dtype)
        drawn = draw(contract, each.name, dtype, (max(LENGTHS),), "traps")
        columns.append(np.stack([np.resize(own, drawn.shape) if own.size else drawn, drawn], axis=1).reshape(-1))
    return columns


@pytest.mark.contracts(lambda contract: elementwise(contract))
def test_an_element_does_not_depend_on_its_place_or_its_neighbours(contract, dtype, backend):
    """relu(NaN) was one thing in the body of a loop and another in its tail."""
    function = getattr(lw, contract.operation)
    columns = values_of(contract, dtype)
    singles = [[lw.asarray(column[i : i + 1]) for column in columns] for i in range(columns[0].size)]
    wanted = np.concatenate([bits(np.asarray(function(*single))) for single in singles])
    for length in LENGTHS:
        start = length % 7
        part = slice(start, start + length)
        result = bits(np.asarray(function(*(lw.asarray(column[part]) for column in columns))))
        wrong = np.flatnonzero(result != wanted[part])
        assert not wrong.size, f"{[column[part][wrong[0]] for column in columns]} at {wrong[0]} of {length}"


def around(values):
    """float32 numbers and their neighbours."""
    values = np.asarray(values, "float32")
    return np.concatenate([values, np.nextafter(values, np.float32(np.inf)), np.nextafter(values, np.float32(-np.inf))])


@pytest.mark.parametrize(("name", "wanted"), [("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc),
                                              ("round", np.rint)])  # fmt: skip
def test_rounding_near_halves_and_where_floats_are_whole(name, wanted, backend):
    """round(0.49999997) was 1, and round(8388609) another number."""
    halves = around(np.arange(-40, 41) / 2)
    large = around([s * 2.0**e * f for e in range(21, 33) for f in (1, 1.5, 1.75) for s in (1, -1)])
    every = np.arange(2**22 - 100, 2**22 + 100, 0.5), np.arange(2**23 - 100, 2**24, 97), np.arange(2**24 - 64, 2**24)
    x = np.concatenate([halves, large, *every, -every[0]]).astype("float32")
    assert np.array_equal(bits(np.asarray(getattr(lw, name)(lw.asarray(x)))), bits(wanted(x)))


def ways(array):
    """The same numbers as one row, as rows, as columns, backwards and with gaps, each with the axis to reduce."""
    square = array.reshape(-1, 1000)
    yield "all", lw.asarray(array), None, array
    yield "rows", lw.asarray(square), 1, square
    yield "columns", lw.asarray(square), 0, square
    yield "transposed", lw.asarray(square.T), 0, square.T
    yield "backwards", lw.asarray(array[::-1]), 0, array[::-1]
    yield "with gaps", lw.asarray(array[::3]), 0, array[::3]
    yield "two of three axes", lw.asarray(array.reshape(10, -1, 100)), (0, 2), array.reshape(10, -1, 100)


def test_variance_survives_a_large_mean_on_every_path(backend):
    """The variance of 10000 and noise of 0.02 was 504, 328, 120 or 0, depending on the path."""
    noisy = (10000 + np.random.default_rng(1).normal(0, 0.02, 60_000)).astype("float32")
    for way, x, axis, array in ways(noisy):
        wanted = np.var(array, axis=axis, dtype="float64")
        variance, deviation = np.asarray(lw.var(x, axis=axis)), np.asarray(lw.std(x, axis=axis))
        assert np.all(np.abs(variance - wanted) <= 1e-5 * wanted), way
        assert np.all(np.abs(deviation - np.sqrt(wanted)) <= 1e-5 * np.sqrt(wanted)), way
    rows = noisy.reshape(-1, 1000)
    exact = rows.astype("float64")
    exact = (exact - exact.mean(1, keepdims=True)) / np.sqrt(exact.var(1, keepdims=True) + 1e-5)
    # the mean itself is rounded to float32: half a unit of 10000, 0.0005, of a deviation of 0.02
    assert np.abs(np.asarray(lw.layer_norm(rows, eps=1e-5)) - exact).max() <= 0.0005 / 0.02


def test_layer_norm_of_rows_unlike_the_elements_that_it_takes_for_typical(backend):
    """One pass takes deviations from the mean of four elements; from such as these, variances lose three digits."""
    rows = np.random.default_rng(2).normal(0, 1, (3, 4096)).astype("float32")
    rows[:, [0, 1024, 2048, 4095]] = 10_000
    exact = rows.astype("float64")
    exact = (exact - exact.mean(1, keepdims=True)) / exact.std(1, keepdims=True)
    assert np.abs(np.asarray(lw.layer_norm(lw.asarray(rows), eps=0.0)) - exact).max() <= 3e-5  # of 32


def test_sums_keep_their_digits_on_every_path(backend):
    """2^20 times 0.1 in one float32 was off by a thousand. Within 2e-6 of the sum here: blocks of partial sums."""
    tenth = np.full(1_200_000, 0.1, "float32")
    for way, x, axis, array in ways(tenth):
        wanted = np.sum(array, axis=axis, dtype="float64")
        assert np.all(np.abs(np.asarray(lw.sum(x, axis=axis)) - wanted) <= 2e-6 * wanted), way
        assert np.all(np.abs(np.asarray(lw.mean(x, axis=axis)) - np.float64(np.float32(0.1))) <= 2e-7), way
    exact = np.sum(tenth, dtype="float64")
    assert abs(float(lw.dot(tenth, lw.ones(tenth.size))) - exact) <= 2e-6 * exact
    assert abs(float(lw.cumulative_sum(tenth)[-1]) - exact) <= 2e-6 * exact
    # sums of 256 products, and the sum of those: so many roundings of half a unit; a single sum has 1,200,000
    pieces = (256 + tenth.size / 256) * 2.0**-24 * exact
    assert abs(float(lw.matmul(tenth, lw.ones(tenth.size))) - exact) <= pieces
    assert np.all(
        np.abs(np.asarray(lw.matmul(lw.ones((9, tenth.size)), np.stack([tenth] * 9, axis=1))) - exact) <= pieces
    )


# Products in which the zeros of the left meet the infinity or the NaN of the right, at one inner place `k` of `n`.
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
    """A product that left out factors of 0 turned 0 times infinity into 0."""
    rows, columns = 5, 21
    for n in (1, 2, 3, 8, 17, 40):
        for k in {0, n // 2, n - 1}:
            left, right = np.ones((rows, n), "float32"), np.ones((n, columns), "float32")
            left[2] = 0
            right[k, 13] = value
            with np.errstate(invalid="ignore"):
                wanted = left @ right
            result = np.asarray(PRODUCTS[way](lw.asarray(left), lw.asarray(right)))
            assert np.isnan(wanted[2, 13]) and np.isnan(result[2, 13]), (n, k)
            np.testing.assert_array_equal(result, wanted)


@pytest.mark.contracts(lambda contract: elementwise(contract) and len(contract.inputs) == 1)
def test_the_backend_that_was_asked_for_is_the_one_that_runs(contract, backend):
    """Tensors of one backend ran another one's code, and a backend that was named was not used."""
    x = lw.asarray(draw(contract, contract.inputs[0].name, contract.computed[-1], (40,), "traps"))
    result = getattr(lw, contract.operation)(x)
    assert result.backend is x.backend is backend
    assert getattr(lw, contract.operation)(x.to("scalar")).backend is lw.Backend.SCALAR
