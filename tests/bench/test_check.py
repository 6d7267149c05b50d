"""Tests check.py, which compares results before the benchmark times anything: rounding errors and underflow are
accepted, and any other difference is described."""

from math import inf, nan

import pytest

from tests.bench.check import difference, positions, reference, wrong
from tests.bench.goals import Goal
from tests.cases import operations
from tests.cases.cases import build


@pytest.mark.parametrize("count", [0, 1, 4099, 4100, 100_003, 1 << 20])
def test_positions_are_inside_and_reach_both_ends(count):
    at = positions(count)
    assert all(0 <= position < count for position in at)
    assert len(at) <= 10_000
    if count:
        assert (at[0], at[-1]) == (0, count - 1)


@pytest.mark.parametrize(
    ("got", "expected"),
    [*((value, value) for value in (0.0, 1.0, nan, inf, -inf)), (1.00001, 1.0), (0.0, 8.8e-48), (3.5e-44, 8.8e-48)],
)
def test_equal_values_rounding_and_underflow_agree(got, expected):
    assert difference([got], [expected], [0]) == ""
    assert difference([1.0, 1e-7], [1.0, 0.0], [0, 1]) == ""  # small beside the largest element


@pytest.mark.parametrize(("got", "want"), [(1.001, 1.0), (nan, 1.0), (1.0, nan), (inf, 1.0), (inf, -inf), (0.0, 1.0)])
def test_wrong_values_are_named_with_their_position(got, want):
    assert difference([5.0, got], [5.0, want], [0, 77]).startswith("element 77: expected")


def test_the_reference_of_a_product_is_that_of_the_whole_product():
    case = build(operations.find("matmul"), (3, 5, 7))
    x1, x2 = (array.values for array in case.inputs)
    whole = [sum(x1[row * 5 + i] * x2[i * 7 + column] for i in range(5)) for row in range(3) for column in range(7)]
    assert reference(case, range(21)) == pytest.approx(whole, rel=1e-12)
    assert reference(case, [20, 3]) == pytest.approx([whole[20], whole[3]], rel=1e-12)
    terms = reference(case, [20], magnitudes=True)
    assert terms == pytest.approx([sum(abs(x1[10 + i] * x2[i * 7 + 6]) for i in range(5))], rel=1e-12)


def test_only_the_contestant_that_is_wrong_is_named():
    case = build(operations.find("add"), (100,))
    x1, x2 = (array.values for array in case.inputs)

    def right(at):
        return [x1[i] + x2[i] for i in at]

    def without_tail(at):
        return [x1[i] + x2[i] if i < 96 else 0.0 for i in at]

    complaints, _ = wrong(case, [("right", right), ("wrong", without_tail)])
    assert list(complaints) == ["wrong"]
    assert complaints["wrong"].startswith("element 96: expected")


@pytest.mark.parametrize(
    ("dtype", "rounded", "wrongly"), [("float64", 1e-12, 1e-7), ("float16", 1e-3, 0.01), ("bfloat16", 8e-3, 0.1)]
)
def test_the_allowed_error_depends_on_the_dtype(dtype, rounded, wrongly):
    case = build(operations.find("negative"), (100,), dtype)
    (x,) = (array.values for array in case.inputs)
    results = [(each, lambda at, each=each: [-x[i] * (1 + each) for i in at]) for each in (rounded, wrongly)]
    assert list(wrong(case, results)[0]) == [wrongly]


def test_products_of_small_integers_are_checked_in_the_dtype_of_the_result():
    case = Goal("", "us", work="matmul 2x300x2 dtype=int32", dtype="int8").case()
    x1, x2 = (array.values for array in case.inputs)
    whole = [sum(x1[row * 300 + i] * x2[i * 2 + column] for i in range(300)) for row in range(2) for column in range(2)]
    assert reference(case, range(4)) == whole


def test_the_reference_is_computed_in_double_precision():
    pytest.importorskip("numpy", reason="the reference needs it")
    case = build(operations.find("sum"), (100_000,))
    (x,) = case.inputs
    assert reference(case, [0]) == pytest.approx([sum(x.values)], rel=1e-12)
