"""Tests the operators of Tensor: promotion with Python scalars, NumPy arrays on either side, updates in place
and comparisons."""

from __future__ import annotations

import math
import operator
import re

import numpy as np
import pytest

import lanewise as lw

COMPARISONS = "lt le eq ne gt ge"
OPERATORS = {
    "float32": f"add sub mul truediv floordiv mod {COMPARISONS}",
    "int32": f"add sub mul floordiv mod and_ or_ xor lshift rshift {COMPARISONS}",
    "bool": f"and_ or_ xor {COMPARISONS}",
}


@pytest.fixture
def x() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((3, 5)).astype(np.float32)


@pytest.fixture
def y() -> np.ndarray:
    return np.random.default_rng(2).standard_normal((3, 5)).astype(np.float32)


def operands(dtype):
    """Returns two arrays of 3 x 5. Of int32, the second has shift counts within 32 bits and beyond, and zero."""
    generator = np.random.default_rng(1)
    if dtype == "int32":
        return generator.integers(-(2**31), 2**31, (3, 5)).astype(dtype), np.arange(-1, 44, 3, dtype).reshape(3, 5)
    first, second = generator.standard_normal((2, 3, 5))
    return (first > 0, second > 0) if dtype == "bool" else (first.astype(dtype), second.astype(dtype))


@pytest.mark.parametrize(("dtype", "name"), [(dtype, each) for dtype in OPERATORS for each in OPERATORS[dtype].split()])
def test_operators_as_in_numpy(dtype, name):
    """With arrays and numbers on either side, and in place."""
    function, (x, y) = getattr(operator, name), operands(dtype)
    tx, ty, number = lw.asarray(x), lw.asarray(y), y[1, 1].item()
    with np.errstate(divide="ignore"):
        expected, with_number = function(x, y), function(x, number)
        pairs = [
            *((function(tx, ty), expected), (function(tx, y), expected), (function(x, ty), expected)),
            *((function(tx, number), with_number), (function(number, tx), function(number, x))),
            (function(tx, y[0]), function(x, y[0])),
            (function(tx[:, ::-2], ty[:, ::-2]), expected[:, ::-2]),
        ]
    for result, right in pairs:
        assert isinstance(result, lw.Tensor)
        np.testing.assert_array_equal(result, right, strict=True)
    if name not in COMPARISONS:
        for other, right in ((ty, expected), (y, expected), (number, with_number)):
            changed = lw.asarray(x.copy())
            assert getattr(operator, "i" + name.strip("_"))(changed, other) is changed
            np.testing.assert_array_equal(changed, right, strict=True)


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


def test_numpy_scalars_alone_keep_their_dtype():
    """A NumPy scalar keeps its dtype if the operation accepts it. One of float64 is a Python float, too."""
    assert lw.add(np.float32(1), np.float32(2)).dtype == lw.float32
    assert lw.abs(np.int64(-1)).dtype == lw.int64
    assert lw.abs(np.array(-1.0)).dtype == lw.float64
    assert lw.abs(np.float16(-1)).dtype == lw.float16
    assert lw.abs(np.uint8(1)).dtype == lw.uint8
    assert (lw.exp(np.int8(0)).dtype, lw.exp(np.int64(0)).dtype) == (lw.float32, lw.float64)
    assert lw.exp(np.float64(0)).dtype == lw.float32
    assert lw.where(True, np.float16(0), np.float16(1)).dtype == lw.float16
    assert lw.asarray(np.int64(1)).dtype == lw.int64


@pytest.mark.parametrize(("dtype", "result"), [("int32", "float32"), ("int64", "float64"), ("bool", "float32")])
def test_divide_of_integers_is_a_float(dtype, result):
    quotient = lw.asarray([1, 1], dtype=dtype) / lw.asarray([1, 1], dtype=dtype)
    assert quotient.dtype == getattr(lw, result)
    assert quotient.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum"])
@pytest.mark.parametrize("first", ["bool", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("second", ["int64", "float64"])
def test_dtypes_of_arithmetic(name, first, second):
    """Mixed dtypes compute in the one that they promote to; an integer beside a float has that float's dtype."""
    x1, x2 = (lw.asarray(np.arange(5) % 2, dtype=dtype) for dtype in (first, second))
    result = getattr(lw, name)(x1, x2)
    assert result.dtype == lw.result_type(x1, x2)
    expected = getattr(np, name)(*(np.asarray(x).astype(result.dtype.name) for x in (x1, x2)))
    assert np.array_equal(np.asarray(result), expected)


@pytest.mark.parametrize(
    ("number", "got"),
    [(2**40, "1099511627776"), (2**80, "an int beyond 64 bits"), (np.int64(2**40), "1099511627776"),
     (np.uint64(2**63), "9223372036854775808")],
)  # fmt: skip
def test_int_that_does_not_fit_is_refused(number, got):
    with pytest.raises(lw.RangeError, match=f"^add: expected a number within int32, .*got {got}"):
        lw.asarray([1, 2]) + number
    assert (lw.asarray([1, 2]) < number).tolist() == [True, True]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("exponent", [2, 2.0, -1.0, np.float64(2)])
def test_simple_powers(dtype, exponent):
    """x ** 2 is a product and x ** -1 a quotient, in the dtype and with the special values of any other power."""
    x = lw.asarray(np.array([0, 1, 3, 200], "uint8")).astype(dtype)
    if dtype.startswith("float"):
        x = lw.concat([x, lw.asarray([-0.0, np.inf, -np.inf, np.nan], dtype=dtype)])
    power, general = x**exponent, x ** lw.full(x.shape, int(exponent), dtype=(x**exponent).dtype)
    assert power.dtype == general.dtype == (x**1.5 if isinstance(exponent, float) else x**3).dtype
    np.testing.assert_allclose(*(np.asarray(each.astype("float64")) for each in (power, general)), rtol=1e-3)
    assert np.array_equal(np.signbit(np.asarray(power.astype("float64"))[:-1]),
                          np.signbit(np.asarray(general.astype("float64"))[:-1]))  # fmt: skip
    y = x.astype(power.dtype)
    y **= exponent
    assert np.array_equal(np.asarray(y.astype("float64")), np.asarray(power.astype("float64")), equal_nan=True)


def test_ints_of_any_size_become_floats_next_to_floats():
    x = lw.asarray([1.0, -2.0])
    assert (x * 2**80).tolist() == [2.0**80, -(2.0**81)]
    assert (x * np.uint64(2**63)).tolist() == [2.0**63, -(2.0**64)]
    assert (-(2**80) + x).tolist() == [-(2.0**80)] * 2
    assert (x * 10**400).tolist() == [math.inf, -math.inf]
    assert lw.asarray([2**80, 0.5]).tolist() == [2.0**80, 0.5]
    assert lw.asarray([2**80], dtype=lw.float32).tolist() == [2.0**80]
    assert lw.astype(2**80, lw.float32).item() == 2.0**80
    assert lw.full(1, 10**400, dtype=lw.float32).tolist() == [math.inf]


def test_a_dtype_without_a_kernel_is_named_with_its_argument():
    dtypes = "bool, int8, int16, int32, int64, uint8, uint16, uint32 or uint64"
    expected = rf"^bitwise_invert: expected {dtypes}, got float16 for x; convert it with astype\(x, lw\.int32\)$"
    with pytest.raises(lw.DTypeError, match=expected):
        lw.bitwise_invert(np.ones(3, "float16"))
    with pytest.raises(lw.DTypeError, match=rf"^bitwise_and: expected {dtypes}, got float32 for x2; .*lw\.int32\)$"):
        lw.bitwise_and([1], 0.5)


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
        ("bool", "ior", "|", 2, "int32"),
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


def test_matmul_operator(x, y):
    for result in (lw.asarray(x) @ lw.asarray(y).T, x @ lw.asarray(y).T):
        assert isinstance(result, lw.Tensor)
        np.testing.assert_allclose(result, x @ y.T, rtol=1e-5, atol=1e-6)


def test_pow_operator(x):
    tensor = lw.asarray(x)
    np.testing.assert_allclose(np.asarray(tensor**2), x**2, rtol=3e-7)
    np.testing.assert_allclose(np.asarray(2**tensor), 2**x, rtol=3e-7)
    on_the_right = np.abs(x) ** tensor
    assert isinstance(on_the_right, lw.Tensor)
    np.testing.assert_allclose(on_the_right, np.abs(x) ** x, rtol=3e-7)
    counts = lw.asarray([-3, 0, 46341])
    with pytest.raises(TypeError):
        pow(counts, 2, 5)
    same = counts
    counts **= 2
    assert counts is same
    assert counts.tolist() == [9, 0, 46341**2 - 2**32]


def test_unary(x):
    t = lw.asarray(x)
    np.testing.assert_array_equal(np.asarray(-t), -x)
    np.testing.assert_array_equal(np.asarray(abs(t)), abs(x))
    np.testing.assert_array_equal(~(t > 0), ~(x > 0), strict=True)
    np.testing.assert_array_equal(~t.astype(int), ~x.astype(np.int32), strict=True)
    positive = +t
    np.testing.assert_array_equal(np.asarray(positive), x)
    assert not positive._shares_storage(t)


@pytest.mark.parametrize("name", ["and_", "or_", "xor", "lshift", "rshift"])
def test_bits_of_several_dtypes(name):
    """Bools count as int32 beside int32, and where they are shifted; floats have no bits."""
    function = getattr(operator, name)
    ints, bools = np.array([-5, 3, 2**31 - 1], np.int32), np.array([True, False, True])
    np.testing.assert_array_equal(function(lw.asarray(ints), bools), function(ints, bools), strict=True)
    if "shift" in name:
        shifted = function(lw.asarray(bools), 1)
        np.testing.assert_array_equal(shifted, function(bools.astype(np.int32), 1), strict=True)
    with pytest.raises(lw.DTypeError, match="float32"):
        function(lw.asarray(ints), 0.5)


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
    with pytest.raises(lw.ArgumentError, match="expected 0 digits, got 2"):
        round(lw.ones(3), 2)
    one = lw.asarray([-2.5])
    assert (math.floor(one), math.ceil(one), math.trunc(one)) == (-3, -2, -2)
    with pytest.raises(lw.ArgumentError, match=r"one element, got shape \(3,\)"):
        math.trunc(lw.ones(3))


def test_numbers_of_one_element():
    assert float(lw.asarray(2.5)) == 2.5
    assert int(lw.asarray([[7]])) == 7
    assert bool(lw.asarray([True]))
    assert [10, 20, 30][lw.asarray(1)] == operator.index(lw.asarray(20, dtype=lw.int64)) == 20
    with pytest.raises(lw.ArgumentError, match=r"one element, got shape \(2,\)"):
        bool(lw.asarray([1, 2]))
    for tensor, got in ((lw.asarray(1.0), r"float32 of shape \(\)"), (lw.asarray([1]), r"int32 of shape \(1,\)")):
        with pytest.raises(TypeError, match=rf"^index: expected a 0-dimensional integer tensor, got {got}"):
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
