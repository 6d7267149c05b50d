"""Queries about dtypes: limits, kinds, and promotion.

For users, and for operations written in Python. The extension promotes by the same table, and treats Python numbers in
the same way (native/extension/plan/operand.h); tests/package checks that the two agree.
"""

from __future__ import annotations

import builtins
from typing import Any, Final, NamedTuple

from lanewise import dtypes
from lanewise._ext import Tensor
from lanewise._ext import set_default_dtype as _set_default
from lanewise._facts import DTYPES, PROMOTIONS
from lanewise.dtypes import DType, as_dtype
from lanewise.errors import ArgumentError, ArgumentTypeError, DTypeError, named

__all__ = ["can_cast", "finfo", "iinfo", "isdtype", "result_type", "set_default_dtype"]

# The kinds of the array API, each with the letters of DType.kind.
_KINDS: Final = {
    "bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f",
    "complex floating": "c", "numeric": "iufc",
}  # fmt: skip


class FloatInfo(NamedTuple):
    """The limits of a floating-point dtype."""

    dtype: DType
    bits: int
    eps: float  # the distance from 1.0 to the next larger number
    max: float
    min: float
    smallest_normal: float


class IntInfo(NamedTuple):
    """The limits of an integer dtype."""

    dtype: DType
    bits: int
    max: int
    min: int


def _limits(dtype: DType) -> IntInfo:
    bits = 8 * dtype.itemsize
    lowest = -(2 ** (bits - 1)) if dtype.kind == "i" else 0
    return IntInfo(dtype, bits, lowest + 2**bits - 1, lowest)


INTEGERS: Final = {dtype.code: _limits(dtype) for dtype in dtypes.ALL if dtype.kind in "iu"}
_PLAIN: Final = (Tensor, DType, str, builtins.bool, int, float, type)  # these are not NumPy's scalars


def _dtype_of(value: Any) -> DType:
    """Returns the DType that `value` names or, if `value` is an array, the DType of its elements."""
    if not isinstance(value, type) and not isinstance(value, DType | str) and hasattr(value, "dtype"):
        value = value.dtype
    return as_dtype(value)


@named("finfo")
def finfo(dtype: Any, /) -> FloatInfo:
    """Returns the limits of a floating-point dtype, or of the dtype of a tensor.

    >>> import lanewise as lw
    >>> lw.finfo("float32").eps, lw.finfo("float16").max
    (1.1920928955078125e-07, 65504.0)
    """
    dtype = _dtype_of(dtype)
    if dtype.kind != "f":
        raise DTypeError(f"expected a floating-point dtype, got {dtype}; use iinfo for integers")
    *_, fraction_bits = DTYPES[dtype.code]
    lowest_exponent = 2 - 2 ** (8 * dtype.itemsize - fraction_bits - 2)  # of a normal number
    eps = 2.0**-fraction_bits
    largest = (2.0 - eps) * 2.0 ** (1 - lowest_exponent)
    return FloatInfo(dtype, 8 * dtype.itemsize, eps, largest, -largest, 2.0**lowest_exponent)


@named("iinfo")
def iinfo(dtype: Any, /) -> IntInfo:
    """Returns the limits of an integer dtype, or of the dtype of a tensor.

    >>> import lanewise as lw
    >>> lw.iinfo("int32").max
    2147483647
    """
    dtype = _dtype_of(dtype)
    if dtype.kind not in "iu":
        hint = "; use finfo for floating-point dtypes" if dtype.kind == "f" else ""
        raise DTypeError(f"expected an integer dtype, got {dtype}{hint}")
    return INTEGERS[dtype.code]


@named("isdtype")
def isdtype(dtype: Any, kind: str | DType | tuple[str | DType, ...]) -> builtins.bool:
    """Returns whether a dtype is of a kind.

    A kind is a name such as "bool", "integral", "real floating" or "numeric", a dtype, or a tuple of these.

    >>> import lanewise as lw
    >>> lw.isdtype("float16", "real floating"), lw.isdtype("int32", ("bool", "real floating"))
    (True, False)
    """
    dtype = as_dtype(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return dtype.kind in _KINDS[kind]
    if isinstance(kind, str):
        raise ArgumentError(f"expected one of {', '.join(map(repr, _KINDS))}, got {kind!r}")
    return dtype is as_dtype(kind)


def _weaken_numpy_scalars(values: tuple[Any, ...]) -> list[Any]:
    """Replaces NumPy scalars and 0-dimensional arrays by Python scalars, unless the values are nothing but scalars."""
    if all(isinstance(value, _PLAIN) for value in values):
        return list(values)
    arrays = [hasattr(value, "__array__") and not isinstance(value, Tensor | type) for value in values]
    numbers = [is_array and getattr(value, "ndim", 1) == 0 for value, is_array in zip(values, arrays, strict=True)]
    paired = list(zip(values, numbers, strict=True))
    if all(number or isinstance(value, builtins.bool | int | float) for value, number in paired):
        return list(values)
    return [value.item() if number else value for value, number in paired]


@named("result_type")
def result_type(*arrays_and_dtypes: Any) -> DType:
    """Returns the dtype that arrays, dtypes and Python scalars are promoted to.

    Promotion is that of the array API standard; bool and another dtype give that dtype, an integer and a float that
    float. Weak scalars (Python's, and NumPy's if given with an array or dtype) widen no dtype of their own kind.
    Integers and a weak float give the default float, those of 64 bits float64.

    >>> import lanewise as lw
    >>> lw.result_type("int32", "float32"), lw.result_type("float16", 2.5), lw.result_type("int32", True)
    (lanewise.float32, lanewise.float16, lanewise.int32)
    """
    strong: DType | None = None
    weak: type | None = None
    for value in _weaken_numpy_scalars(arrays_and_dtypes):
        if isinstance(value, builtins.bool | int | float):
            kinds = (builtins.bool, int, float)
            weak = max(weak or builtins.bool, next(one for one in kinds if isinstance(value, one)), key=kinds.index)
        else:
            dtype = _dtype_of(value)
            strong = dtype if strong is None else _promoted(strong, dtype)
    if strong is None and weak is None:
        raise ArgumentTypeError("expected at least one array, dtype or number, got none")
    if strong is None or weak is None:
        return strong or as_dtype(weak)
    if weak is float and strong.kind != "f":
        return dtypes.float64 if strong.itemsize == 8 else as_dtype(float)
    return as_dtype(int) if weak is int and strong is dtypes.bool else strong


@named("can_cast")
def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Returns whether promotion may convert the first dtype to the second.

    >>> import lanewise as lw
    >>> lw.can_cast("int32", "float32"), lw.can_cast("float32", "int32")
    (True, False)
    """
    target = as_dtype(to).code
    return PROMOTIONS[_dtype_of(from_).code][target] == target


def _promoted(a: DType, b: DType) -> DType:
    code = PROMOTIONS[a.code][b.code]
    if code < 0:
        raise DTypeError(f"expected dtypes that promote to one, got {a} and {b}; convert one of them with astype")
    return dtypes.ALL[code]


@named("set_default_dtype")
def set_default_dtype(dtype: Any, /) -> None:
    """Sets the dtype of tensors made from Python's floats (float32 or float64) or ints (int32 or int64), and of what
    follows it: creation functions without a dtype, quotients and means of integers, sums of shorter integers. Holds for
    the process.

    >>> import lanewise as lw
    >>> lw.set_default_dtype(lw.float64)
    >>> lw.asarray([0.5]).dtype
    lanewise.float64
    >>> lw.set_default_dtype("float32")

    Raises DTypeError for other dtypes.
    """
    chosen = as_dtype(dtype)
    if chosen not in (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64):
        raise DTypeError(f"expected int32, int64, float32 or float64, got {chosen}")
    dtypes.PYTHON_TYPES[float if chosen.kind == "f" else int] = chosen
    _set_default(chosen)
