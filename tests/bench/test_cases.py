"""Tests cases.py: every public operation has a benchmark case (arguments of a given size), and cases state the right
numbers of bytes moved and of arithmetic operations."""

import pytest

from lanewise.errors import ArgumentError
from tests.bench import operations
from tests.bench.cases import build, default_sizes, parse_size


@pytest.mark.parametrize("name", sorted(operations.load()))
def test_every_operation_has_a_case(name):
    operation = operations.find(name)
    case = build(operation, (16,))
    assert case.result >= 0
    assert case.label


@pytest.mark.parametrize("name", sorted(operations.load()))
def test_every_operation_has_a_case_of_its_largest_default_size(name):
    operation = operations.find(name)
    case = build(operation, default_sizes(operation)[-1])
    assert (case.bytes or 0) < 1 << 25


@pytest.mark.parametrize(
    ("name", "size", "bytes_", "flops"),
    [
        ("add", (1000,), 12_000, 1000),
        ("fma", (10, 10), 1600, 200),
        ("exp", (1000,), 8000, None),
        ("where", (1000,), 13_000, None),
        ("less", (1000,), 9000, None),
        ("sum", (1000,), 4004, 1000),
        ("matmul", (64,), 3 * 64 * 64 * 4, 2 * 64**3),
        ("matmul", (2, 3, 4), (6 + 12 + 8) * 4, 48),
        ("linear", (2, 3, 4), (6 + 12 + 4 + 8) * 4, 48),
        ("conv2d", (1, 8, 5, 7), (8 * 35 * 2 + 8 * 8 * 9 + 8) * 4, 2 * 8 * 35 * 8 * 9),
        ("max_pool2d", (1, 8, 5, 7), (8 * 35 + 8 * 2 * 3) * 4, None),
        ("astype", (1000,), 8000, None),
        ("reshape", (1000,), None, None),
    ],
)
def test_bytes_and_arithmetic(name, size, bytes_, flops):
    case = build(operations.find(name), size)
    assert case.bytes == bytes_
    assert case.flops == flops


def test_one_number_as_size_gives_square_matrices_of_rows():
    assert build(operations.find("softmax"), (1 << 20,)).size == (1024, 1024)
    assert build(operations.find("softmax"), (2, 300)).size == (2, 300)


def test_the_largest_elements_of_a_row_are_distinct():
    case = build(operations.find("topk"), (1 << 20,))
    (x,) = case.inputs
    for start in range(0, x.size, case.size[-1]):
        largest = sorted(x.view[start : start + case.size[-1]])[-11:]
        assert len(set(largest)) == len(largest)


@pytest.mark.parametrize(
    ("text", "size"), [("1024", (1024,)), ("64k", (65536,)), ("2M", (2 << 20,)), ("3x4K", (3, 4096))]
)
def test_sizes_are_parsed(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "many", "3x", "-1", "0", "1.5", "4x0"])
def test_invalid_sizes_are_refused(text):
    with pytest.raises(ArgumentError, match="size"):
        parse_size(text)


def test_an_unknown_operation_suggests_similar_names():
    with pytest.raises(ArgumentError, match="did you mean sigmoid"):
        operations.find("sigmoyd")


def test_a_dtype_without_kernels_is_refused():
    with pytest.raises(ArgumentError, match="exp: expected a dtype of float32, got int32"):
        build(operations.find("exp"), (4,), "int32")


@pytest.mark.parametrize("name", ["matmul", "matvec", "vecmat", "outer"])
def test_a_size_that_makes_huge_matrices_is_refused(name):
    with pytest.raises(ArgumentError, match="expected at most 268,435,456 elements per tensor"):
        build(operations.find(name), (1 << 20,))


def test_a_wrong_number_of_extents_is_refused():
    with pytest.raises(ArgumentError, match="expected one number or nxcxhxw as its size, got 8x8"):
        build(operations.find("conv2d"), (8, 8))


def test_contracts_override_their_kinds_field_by_field():
    conv2d, pool = (build(operations.find(name), (6,)) for name in ("conv2d", "max_pool2d"))
    assert conv2d.size == pool.size == (1, 64, 6, 6)
    assert [item.shape for item in conv2d.inputs] == [(1, 64, 6, 6), (64, 64, 3, 3), (64,)]
    assert (conv2d.keywords, pool.keywords) == ({"padding": 1}, {"kernel_size": 2})
    assert pool.result == 64 * 3 * 3


def test_options_of_inputs_limit_their_values():
    x, indices = build(operations.find("take"), (50,)).inputs
    assert x.size == 50 and set(indices.view) <= set(range(50))
    row, _ = build(operations.find("searchsorted"), (50,)).inputs
    assert list(row.view) == sorted(row.view)
    base, _ = build(operations.find("pow"), (50,)).inputs
    assert min(base.view) > 0
