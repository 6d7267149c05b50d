"""Tests cases.py and inputs.py: every public operation has benchmark cases (arguments of a given size), which state the
right numbers of bytes moved and of arithmetic operations, and inputs are inside the domain and the same each time."""

import math

import pytest

import lanewise as lw
from lanewise.errors import ArgumentError
from tests.cases import operations
from tests.cases.cases import build, default_sizes, parse_size
from tests.cases.inputs import ITEM_BYTES, PATTERN, ascending, draw, packed, typical, unpacked
from tests.cases.operations import Range


@pytest.mark.parametrize("name", sorted(operations.load()))
def test_every_operation_has_cases(name):
    operation = operations.find(name)
    for size in ((16,), default_sizes(operation)[-1]):
        case = build(operation, size)
        assert case.result >= 0 and case.label and (case.bytes or 0) < 1 << 25


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


def test_the_largest_elements_of_a_row_are_distinct():
    case = build(operations.find("topk"), (1 << 20,))
    (x,) = case.inputs
    for start in range(0, x.size, case.size[-1]):
        largest = sorted(x.values[start : start + case.size[-1]])[-11:]
        assert len(set(largest)) == len(largest)


@pytest.mark.parametrize(
    ("text", "size"), [("1024", (1024,)), ("64k", (65536,)), ("2M", (2 << 20,)), ("3x4K", (3, 4096))]
)
def test_sizes_are_parsed(text, size):
    assert parse_size(text) == size
    for wrong in ("", "many", "3x", "-1", "0", "1.5", "4x0"):
        with pytest.raises(ArgumentError, match="size"):
            parse_size(wrong)


@pytest.mark.parametrize(
    ("name", "size", "dtype", "message"),
    [
        ("sigmoyd", (4,), None, "did you mean sigmoid"),
        ("exp", (4,), "int32", "exp: expected a dtype of float32, float64, got int32"),
        *((name, (1 << 20,), None, "at most 268,435,456 elements") for name in ("matmul", "matvec", "vecmat", "outer")),
        ("conv2d", (8, 8), None, "expected one number or nxcxhxw as its size, got 8x8"),
    ],
)
def test_mistakes_are_explained(name, size, dtype, message):
    with pytest.raises(ArgumentError, match=message):
        build(operations.find(name), size, dtype)


def test_contracts_override_their_kinds_field_by_field():
    conv2d, pool = (build(operations.find(name), (6,)) for name in ("conv2d", "max_pool2d"))
    assert conv2d.size == pool.size == (1, 64, 6, 6)
    assert [item.shape for item in conv2d.inputs] == [(1, 64, 6, 6), (64, 64, 3, 3), (64,)]
    assert (conv2d.keywords, pool.keywords) == ({"padding": 1}, {"kernel_size": 2})
    assert pool.result == 64 * 3 * 3
    assert build(operations.find("softmax"), (1 << 20,)).size == (1024, 1024)
    assert build(operations.find("softmax"), (2, 300)).size == (2, 300)


def test_options_of_inputs_limit_their_values():
    x, indices = build(operations.find("take"), (50,)).inputs
    assert x.size == 50 and set(indices.values) <= set(range(50))
    row, _ = build(operations.find("searchsorted"), (50,)).inputs
    assert list(row.values) == sorted(row.values)
    base, _ = build(operations.find("pow"), (50,)).inputs
    assert min(base.values) > 0


@pytest.mark.parametrize("dtype", ITEM_BYTES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 5), (PATTERN + 3,)])
def test_inputs_have_the_shape_and_dtype(dtype, shape):
    drawn = draw(dtype, shape, None, seed=0)
    assert (drawn.dtype, drawn.shape) == (dtype, shape)
    assert len(drawn.data) == drawn.nbytes
    assert len(drawn.values) == drawn.size == math.prod(shape)


@pytest.mark.parametrize("dtype", ITEM_BYTES)
def test_numbers_are_packed_as_lanewise_stores_them(dtype):
    values = draw(dtype, (1000,), None, 0).values
    assert unpacked(dtype, packed(dtype, values)) == values
    assert lw.asarray(list(values), dtype).tobytes() == packed(dtype, values)
    assert list(ascending(draw(dtype, (1000,), None, 0)).values) == sorted(values)


def test_bfloat16_is_rounded_to_even():
    values = [1.0, 1.00390625, 1.01171875, 1.003907, -1.01171875, 0.1, -0.0]
    assert packed("bfloat16", values) == lw.asarray(values, lw.bfloat16).tobytes()
    assert unpacked("bfloat16", packed("bfloat16", values))[:3] == (1.0, 1.0, 1.015625)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64"])
def test_few_elements_are_equal_if_they_are_spread(dtype):
    assert len(set(draw(dtype, (PATTERN * 2,), None, 0).values)) <= PATTERN
    assert len(set(draw(dtype, (PATTERN * 2,), None, 0, spread=True).values)) > PATTERN * 2 - 10


@pytest.mark.parametrize(
    ("name", "dtype", "result"),
    [
        ("add", "float16", "float16"),
        ("add", "uint8", "uint8"),
        ("less", "bfloat16", "bool"),
        ("argsort", "int8", "int32"),
        ("take", "uint16", "uint16"),
    ],
)
def test_dtypes_that_are_only_stored_are_accepted(name, dtype, result):
    operation = operations.find(name)
    assert operation.accepts(dtype) and operation.result(dtype) == result
    assert build(operation, (64,), dtype).inputs[0].dtype == dtype
    assert not operations.find("exp").accepts("int8") and not operations.find("add").accepts("bool")
    assert min(build(operations.find("log"), (64,), "float16").inputs[0].values) >= 0


@pytest.mark.parametrize(
    ("dtype", "within", "expected"),
    [
        ("float32", None, (-8.0, 8.0)),
        ("float32", Range(-103.0, 88.0), (-8.0, 8.0)),
        ("float32", Range(0.0, 1e30), (0.0, 8.0)),
        ("float32", Range(-1.0, 1.0), (-1.0, 1.0)),
        ("float32", Range(100.0, 200.0), (100.0, 200.0)),
        ("int32", Range(-(2.0**31), 2.0**31 - 1), (-1000, 1000)),
        ("int32", Range(0, 99_999), (0, 99_999)),
        ("int8", None, (-128, 127)),
        ("uint8", None, (0, 255)),
        ("uint8", Range(0, 99_999), (0, 255)),
        ("uint64", Range(-50, 50), (0, 50)),
    ],
)
def test_values_come_from_the_typical_part_of_the_domain(dtype, within, expected):
    assert typical(dtype, within) == expected
    low, high = expected
    assert all(low <= value <= high for value in draw(dtype, (1000,), within, 0).values)
    assert draw(dtype, (100,), within, 1) == draw(dtype, (100,), within, 1) != draw(dtype, (100,), within, 2)
    assert 0 not in list(draw("int32", (5000,), Range(-2, 2, exclude_zero=True), 0).values)
