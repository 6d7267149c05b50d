"""Tests the operators of Tensor: promotion with Python scalars, NumPy arrays on either side, updates in place
and comparisons."""

from __future__ import annotations

import math
import operator
import re

import numpy as np
import pytest

import lanewise as lw

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod]
SHIFTS = [operator.lshift, operator.rshift]
BITWISE = [operator.and_, operator.or_, operator.xor]
COMPARISONS = [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]


@pytest.fixture
def x() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((3, 5)).astype(np.float32)


@pytest.fixture
def y() -> np.ndarray:
    return np.random.default_rng(2).standard_normal((3, 5)).astype(np.float32)


@pytest.mark.parametrize("function", ARITHMETIC + COMPARISONS)
def test_operators_as_in_numpy(function, x, y):
    tx, ty = lw.asarray(x), lw.asarray(y)
    np.testing.assert_array_equal(np.asarray(function(tx, ty)), function(x, y))
    np.testing.assert_array_equal(np.asarray(function(tx, y)), function(x, y))
    np.testing.assert_array_equal(np.asarray(function(tx, y[0])), function(x, y[0]))
    np.testing.assert_array_equal(np.asarray(function(tx[:, ::-2], ty[:, ::-2])), function(x[:, ::-2], y[:, ::-2]))


@pytest.mark.parametrize("function", ARITHMETIC)
def test_array_on_the_left_gives_a_tensor(function, x, y):
    result = function(x, lw.asarray(y))
    assert isinstance(result, lw.Tensor)
    np.testing.assert_array_equal(np.asarray(result), function(x, y))


@pytest.mark.parametrize(
    ("tensor", "scalar", "dtype"),
    [
        ([True], True, "bool"),
        ([True], 2, "int32"),
        ([True], 2.0, "float32"),
        ([1], True, "int32"),
        ([1], 2, "int32"),
        ([1], 2.0, "float32"),
        ([1.0], True, "float32"),
        ([1.0], 2, "float32"),
        ([1.0], 2.0, "float32"),
    ],
)
def test_scalars_are_weak(tensor, scalar, dtype):
    dtype = "int32" if dtype == "bool" else dtype  # add has no kernel for bool and computes in int32
    assert str(dtype) in repr((lw.asarray(tensor) + scalar).dtype)
    assert str(dtype) in repr((scalar + lw.asarray(tensor)).dtype)


NUMPY_SCALARS = [
    *(np.bool_(True), np.int8(2), np.uint8(2), np.int32(2), np.int64(2), np.uint64(2)),
    *(np.float16(2), np.float32(2), np.float64(2), np.array(2), np.array(2.0), np.array(2, "uint16"), np.array(True)),
]


@pytest.mark.parametrize("number", NUMPY_SCALARS, ids=lambda each: f"{type(each).__name__}-{each.dtype}")
@pytest.mark.parametrize("values", [[1, 2], [1.0, 2.0]], ids=str)
def test_numpy_scalars_are_weak(values, number):
    tensor, value = lw.asarray(values), number.item()
    for function in (operator.add, operator.mul, operator.lt, lw.maximum):
        for scalar in (number, np.asarray(number)):
            result, expected = function(tensor, scalar), function(tensor, value)
            assert result.dtype == expected.dtype and result.tolist() == expected.tolist()
    assert (number + tensor).dtype == (value + tensor).dtype
    assert (number - tensor).tolist() == (value - tensor).tolist()
    if tensor.dtype != lw.int32 or not isinstance(value, float):
        before = tensor.dtype
        tensor += number
        assert tensor.dtype == before


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_tensors_without_dimensions_are_not_weak(dtype):
    x, scalar = lw.ones(3, dtype="int32"), lw.ones((), dtype=dtype)
    for condition in (lw.asarray(True), lw.asarray([True, False, True])):
        assert lw.where(condition, x, scalar).dtype == lw.where(condition, scalar, x).dtype == scalar.dtype
        assert lw.where(condition, x, np.asarray(scalar)).dtype == (lw.int32 if dtype == "int64" else lw.float32)


def test_numpy_scalars_that_do_not_fit():
    x = lw.asarray([1, 2])
    with pytest.raises(lw.RangeError, match=r"^add: expected a number within int32, got 1099511627776"):
        x + np.int64(2**40)
    with pytest.raises(lw.RangeError, match=r"^add: expected a number within int32, got an int beyond 64 bits"):
        x + np.uint64(2**63)
    assert (x < np.int64(2**40)).tolist() == [True, True]
    assert (lw.asarray([1.0]) * np.uint64(2**63)).tolist() == [2.0**63]


def test_numpy_scalars_alone_keep_their_dtype():
    """A NumPy scalar keeps its dtype if the operation has a kernel for it; otherwise it counts as a Python number."""
    assert lw.add(np.float32(1), np.float32(2)).dtype == lw.float32
    assert lw.abs(np.int64(-1)).dtype == lw.int32
    assert lw.abs(np.array(-1.0)).dtype == lw.float32
    assert lw.exp(np.float16(0)).dtype == lw.float32
    assert lw.where(True, np.float16(0), np.float16(1)).dtype == lw.float16
    assert lw.asarray(np.int64(1)).dtype == lw.int64
    with pytest.raises(lw.DTypeError, match="int64"):  # unlike a scalar, an array keeps its dtype
        lw.asarray([1]) + np.array([1], "int64")


def test_divide_of_integers_is_float32():
    result = lw.asarray([1, 2]) / lw.asarray([2, 4])
    assert result.dtype == lw.float32
    assert result.tolist() == [0.5, 0.5]


def test_int_that_does_not_fit_is_refused():
    with pytest.raises(lw.RangeError, match=r"^add: expected a number within int32, got 1099511627776"):
        lw.asarray([1, 2]) + 2**40
    with pytest.raises(lw.RangeError, match=r"^add: expected a number within int32, got an int beyond 64 bits"):
        lw.asarray([1, 2]) + 2**80
    with pytest.raises(lw.RangeError, match=r"^asarray: expected a number within int64, got an int beyond 64 bits"):
        lw.asarray(2**80)


def test_ints_of_any_size_become_floats_next_to_floats():
    x = lw.asarray([1.0, -2.0])
    assert (x * 2**80).tolist() == [2.0**80, -(2.0**81)]
    assert (-(2**80) + x).tolist() == [-(2.0**80)] * 2
    assert (x * 10**400).tolist() == [math.inf, -math.inf]
    assert lw.asarray([2**80, 0.5]).tolist() == [2.0**80, 0.5]
    assert lw.asarray([2**80], dtype=lw.float32).tolist() == [2.0**80]
    assert lw.astype(2**80, lw.float32).item() == 2.0**80
    assert lw.full(1, 10**400, dtype=lw.float32).tolist() == [math.inf]


@pytest.mark.parametrize("function", COMPARISONS)
@pytest.mark.parametrize("number", [2**31, 2**40, -(2**31) - 1, 2**63, -(2**63) - 1, 10**400, -(10**400)])
def test_integers_compare_with_ints_of_any_size(function, number):
    for dtype in (lw.int32, lw.int64):
        values = [lw.iinfo(dtype).min, -1, 0, lw.iinfo(dtype).max]
        x = lw.asarray(values, dtype=dtype)
        assert function(x, number).tolist() == [function(value, number) for value in values]
        assert function(number, x).tolist() == [function(number, value) for value in values]
    assert function(lw.asarray([True]), number).tolist() == [function(True, number)]


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64"])
def test_storage_dtypes_name_astype(dtype):
    other = r" or astype\(x1, lw\.int32\)" if dtype == "int64" else ""
    expected = rf"^add: expected bool, int32 or float32, got {dtype} for x1; convert it with astype\(x1, lw\.float32\)"
    with pytest.raises(lw.DTypeError, match=expected + other + "$"):
        lw.asarray(np.ones(3, dtype)) + 1


def test_a_dtype_without_a_kernel_is_named_with_its_argument():
    with pytest.raises(lw.DTypeError, match=r"^add: .*, got float64 for x2; "):
        lw.add(1, np.ones(3))
    with pytest.raises(
        lw.DTypeError, match=r"^bitwise_and: expected bool or int32, got float32 for x2; .*lw\.int32\)$"
    ):
        lw.bitwise_and([1], 0.5)


def test_in_place_keeps_memory_and_dtype(x, y):
    t = lw.asarray(x.copy())
    same = t
    t += y
    t *= 2
    t -= lw.asarray(y)
    assert t is same
    np.testing.assert_array_equal(np.asarray(t), (x + y) * np.float32(2) - y)


@pytest.mark.parametrize(
    ("dtype", "name", "sign", "value", "result"),
    [
        ("int32", "iadd", "+", 0.5, "float32"),
        ("int32", "itruediv", "/", 2, "float32"),
        ("int32", "itruediv", "/", [2, 2, 2], "float32"),
        ("int32", "imod", "%", 0.5, "float32"),
        ("int32", "ipow", "**", 0.5, "float32"),
        ("bool", "iadd", "+", 1, "int32"),
        ("bool", "imul", "*", 2.0, "float32"),
    ],
)
def test_in_place_refuses_another_dtype(dtype, name, sign, value, result):
    t = lw.asarray([1, 0, 1]).astype(dtype)
    advice = re.escape(f"write x = x {sign} y in place of x {sign}= y")
    with pytest.raises(lw.DTypeError, match=rf"expected .* dtype {dtype}, got {result}; {advice}"):
        getattr(operator, name)(t, value)
    assert t.tolist() == [1, 0, 1]


def test_in_place_division_of_integers_suggests_floor_division():
    t = lw.asarray([7, 8])
    with pytest.raises(lw.DTypeError, match=r"^divide: .*x //= y"):
        t /= 2
    t //= 2
    assert t.tolist() == [3, 4]


def test_integers_have_no_negative_powers():
    t = lw.asarray([1, 2])
    for call in (lambda: t**-1, lambda: lw.pow(t, -2), lambda: lw.pow(2, -1), lambda: t.astype(bool) ** -1):
        with pytest.raises(
            ValueError, match=r"^pow: expected an exponent of at least 0 .*, got -\d; .* -\d\.0, .*astype"
        ):
            call()
    with pytest.raises(ValueError, match=r"^pow: "):
        t **= -1
    assert (t**-1.0).tolist() == [1.0, 0.5]
    assert (t ** lw.asarray([-1, -1])).tolist() == [1, 0]


def test_in_place_on_a_strided_view(x):
    t = lw.asarray(x.copy())
    column = t[:, 1]
    column += 10
    expected = x.copy()
    expected[:, 1] += 10
    np.testing.assert_array_equal(np.asarray(t), expected)


def test_in_place_with_overlapping_operand():
    t = lw.arange(6)
    t[1:] += t[:-1]
    assert t.tolist() == [0, 1, 3, 5, 7, 9]


@pytest.mark.parametrize(
    "function",
    [
        *(operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.imod),
        operator.ipow,
    ],
)
@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (1, 1, 1)])
def test_in_place_does_not_enlarge_the_tensor(function, shape):
    t = lw.ones((3,))
    for other in (lw.ones(shape), np.ones(shape, np.float32), lw.ones(shape).tolist()):
        with pytest.raises(
            lw.ShapeError, match=r": expected a result of the left tensor's shape \(3,\), got \(.*; write"
        ):
            function(t, other)
    bits = lw.ones((3,), dtype=lw.int32)
    for bitwise in (operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift):
        with pytest.raises(lw.ShapeError):
            bitwise(bits, lw.ones(shape, dtype=lw.int32))
    assert t.tolist() == [1, 1, 1]


def test_in_place_does_not_shrink_the_tensor():
    t = lw.ones((2, 2))
    with pytest.raises(lw.ShapeError, match=r"^matmul: expected a result of .* \(2, 2\), got \(2,\)"):
        t @= lw.ones((2,))


@pytest.mark.host
def test_read_only():
    frozen = np.ones(3, np.float32)
    frozen.flags.writeable = False
    t = lw.asarray(frozen)
    assert t.readonly
    with pytest.raises(lw.ReadOnlyError):
        t += 1
    with pytest.raises(lw.ReadOnlyError):
        t[0] = 1


@pytest.mark.parametrize("shape", [(2, 3), (1, 3), (3,), (1, 1, 3)])
def test_broadcast_views_are_read_only(shape):
    x = lw.ones((3,))
    view = lw.broadcast_to(x, shape)
    assert view.readonly
    with pytest.raises(lw.ReadOnlyError):
        view[...] = 2
    assert x.tolist() == [1, 1, 1]


def test_unknown_operands_are_left_to_python():
    t = lw.ones((2,))
    assert (t == None) is False  # noqa: E711 - the point is what == does
    assert (t != "a") is True
    with pytest.raises(TypeError):
        t + object()
    with pytest.raises(TypeError):
        t + None


def test_lists_are_operands():
    assert (lw.asarray([1.0, 2.0]) * [3.0, 4.0]).tolist() == [3.0, 8.0]
    assert ([3.0, 4.0] - lw.asarray([1.0, 2.0])).tolist() == [2.0, 2.0]


def test_matmul_operator(x, y):
    np.testing.assert_allclose(np.asarray(lw.asarray(x) @ lw.asarray(y).T), x @ y.T, rtol=1e-5, atol=1e-6)


def test_pow_operator(x):
    tensor = lw.asarray(x)
    np.testing.assert_allclose(np.asarray(tensor**2), x**2, rtol=3e-7)
    np.testing.assert_allclose(np.asarray(2**tensor), 2**x, rtol=3e-7)
    np.testing.assert_allclose(np.asarray(np.abs(x) ** tensor), np.abs(x) ** x, rtol=3e-7)
    counts = lw.asarray([-3, 0, 46341])
    with pytest.raises(TypeError):
        pow(counts, 2, 5)
    same = counts
    counts **= 2
    assert counts is same
    assert counts.tolist() == [9, 0, 46341**2 - 2**32]


BINARY = {
    "floats": "add sub mul truediv floordiv mod pow matmul lt le eq ne gt ge",
    "ints": "and_ or_ xor lshift rshift",
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in BINARY for name in BINARY[kind].split()])
def test_an_array_on_the_left_gives_a_tensor(kind, name):
    function = getattr(operator, name)
    left, right = np.array([3, 1], kind.replace("floats", "float32").replace("ints", "int32")), [2, 1]
    result = function(left, lw.asarray(right, dtype=str(left.dtype)))
    assert isinstance(result, lw.Tensor)
    assert result.tolist() == function(left, np.array(right, left.dtype)).tolist()


def test_unary(x):
    t = lw.asarray(x)
    np.testing.assert_array_equal(np.asarray(-t), -x)
    np.testing.assert_array_equal(np.asarray(abs(t)), abs(x))
    positive = +t
    np.testing.assert_array_equal(np.asarray(positive), x)
    assert not positive._shares_storage(t)


@pytest.mark.parametrize("function", BITWISE)
def test_masks_combine_as_in_numpy(function, x, y):
    tx, ty = lw.asarray(x), lw.asarray(y)
    result = function(tx > 0, ty < 0.5)
    assert result.dtype == lw.bool
    np.testing.assert_array_equal(np.asarray(result), function(x > 0, y < 0.5))
    np.testing.assert_array_equal(np.asarray(~(tx > 0)), ~(x > 0))
    for array in (function(tx > 0, y < 0.5), function(x > 0, ty < 0.5)):  # reflected operators return tensors too
        assert isinstance(array, lw.Tensor)
        np.testing.assert_array_equal(np.asarray(array), function(x > 0, y < 0.5))
    for flag in (True, False):
        np.testing.assert_array_equal(np.asarray(function(tx > 0, flag)), function(x > 0, flag))
        np.testing.assert_array_equal(np.asarray(function(flag, tx > 0)), function(flag, x > 0))


@pytest.mark.parametrize("function", BITWISE)
def test_bits_of_integers(function):
    a, b = np.random.default_rng(3).integers(-(2**31), 2**31, (2, 7, 5)).astype(np.int32)
    ta, tb = lw.asarray(a), lw.asarray(b)
    assert function(ta, tb).dtype == lw.int32
    np.testing.assert_array_equal(np.asarray(function(ta, tb)), function(a, b))
    np.testing.assert_array_equal(np.asarray(function(a, tb)), function(a, b))
    np.testing.assert_array_equal(np.asarray(function(ta, 12)), function(a, 12))
    np.testing.assert_array_equal(np.asarray(function(-12, ta)), function(-12, a))
    np.testing.assert_array_equal(np.asarray(function(ta, b > 0)), function(a, b > 0))
    np.testing.assert_array_equal(np.asarray(~ta), ~a)
    with pytest.raises(lw.DTypeError, match="float32"):
        function(ta, 0.5)


@pytest.mark.parametrize("function", SHIFTS)
def test_shifts(function):
    a = np.random.default_rng(3).integers(-(2**31), 2**31, (7, 5)).astype(np.int32)
    counts = np.arange(-1, 34, dtype=np.int32).reshape(7, 5)
    ta = lw.asarray(a)
    assert function(ta, 3).dtype == lw.int32
    np.testing.assert_array_equal(np.asarray(function(ta, lw.asarray(counts))), function(a, counts))
    reflected = function(a, lw.asarray(counts))
    assert isinstance(reflected, lw.Tensor)
    np.testing.assert_array_equal(np.asarray(reflected), function(a, counts))
    np.testing.assert_array_equal(np.asarray(function(-12, lw.asarray(counts))), function(np.int32(-12), counts))
    np.testing.assert_array_equal(np.asarray(function(ta > 0, 1)), function((a > 0).astype(np.int32), 1))
    with pytest.raises(lw.DTypeError, match="float32"):
        function(ta, 0.5)


def test_shifts_in_place():
    bits = same = lw.asarray([12, -1])
    bits <<= 2
    bits >>= lw.asarray([1, 3])
    assert bits is same
    assert bits.tolist() == [24, -1]


def test_floor_division_of_integers():
    a, b = np.random.default_rng(4).integers(-20, 20, (2, 9, 9)).astype(np.int32)
    with np.errstate(divide="ignore"):
        expected_values = a // b, a % b, 7 // b, 7 % b
    ta, tb = lw.asarray(a), lw.asarray(b)
    for got, expected in zip((ta // tb, ta % tb, 7 // tb, 7 % tb), expected_values, strict=True):
        assert got.dtype == lw.int32
        np.testing.assert_array_equal(np.asarray(got), expected)
    assert ((ta > 0) // 2).dtype == lw.int32
    same = tb = tb.copy()
    tb //= 3
    tb %= 2
    assert tb is same
    np.testing.assert_array_equal(np.asarray(tb), b // 3 % 2)


def test_divmod(x, y):
    for result, (quotient, remainder) in (
        (divmod(lw.asarray(x), lw.asarray(y)), divmod(x, y)),
        (divmod(x, lw.asarray(y)), divmod(x, y)),
        (divmod(lw.asarray(x), 0.25), divmod(x, np.float32(0.25))),
        (divmod(7, lw.asarray([2, -2])), divmod(7, np.array([2, -2]))),
    ):
        assert isinstance(result, tuple) and all(isinstance(one, lw.Tensor) for one in result)
        np.testing.assert_array_equal(np.asarray(result[0]), quotient)
        np.testing.assert_array_equal(np.asarray(result[1]), remainder)
    with pytest.raises(TypeError):
        divmod(lw.ones(2), None)


def test_rounding_protocols(x):
    np.testing.assert_array_equal(np.asarray(round(lw.asarray(x))), np.rint(x))
    with pytest.raises(lw.ArgumentError, match="expected no digits, got 2"):
        round(lw.ones(3), 2)
    one = lw.asarray([-2.5])
    assert (math.floor(one), math.ceil(one), math.trunc(one)) == (-3, -2, -2)
    with pytest.raises(lw.ArgumentError, match=r"one element, got shape \(3,\)"):
        math.trunc(lw.ones(3))


def test_bitwise_in_place():
    mask = same = lw.asarray([True, True, False, False])
    mask &= lw.asarray([True, False, True, False])
    mask |= np.array([False, False, False, True])
    mask ^= True
    assert mask is same
    assert mask.tolist() == [False, True, True, False]
    bits = lw.asarray([12, -1])
    bits &= 10
    bits |= lw.asarray([1, 0])
    bits ^= 3
    assert bits.tolist() == [10, 9]
    with pytest.raises(lw.DTypeError, match="int32"):
        mask |= 2
    assert mask.tolist() == [False, True, True, False]


def test_numbers_of_one_element():
    assert float(lw.asarray(2.5)) == 2.5
    assert int(lw.asarray([[7]])) == 7
    assert bool(lw.asarray([True]))
    assert [10, 20, 30][lw.asarray(1)] == operator.index(lw.asarray(20, dtype=lw.int64)) == 20
    with pytest.raises(lw.ArgumentError, match=r"one element, got shape \(2,\)"):
        bool(lw.asarray([1, 2]))
    for tensor, got in ((lw.asarray(1.0), r"float32 of shape \(\)"), (lw.asarray([1]), r"int32 of shape \(1,\)")):
        with pytest.raises(TypeError, match=rf"^index: expected a 0-dimensional int32 or int64 tensor, got {got}"):
            operator.index(tensor)


@pytest.mark.parametrize("values", [[3], [1, 2], [[1.5]], [True]])
def test_bytes_are_those_of_the_elements(values):
    tensor = lw.asarray(values)
    assert bytes(tensor) == tensor.tobytes()


def test_membership_compares_all_elements():
    x = lw.asarray([[1, 2], [3, 4]])
    assert 4 in x and 2.0 in x and np.int64(1) in x
    assert not any(one in x for one in (5, 0.5, 2**40, None, "a"))
    assert 0 not in lw.zeros((0, 2)) and 1 in lw.asarray(1)


def test_unhashable():
    with pytest.raises(TypeError):
        hash(lw.ones(1))
