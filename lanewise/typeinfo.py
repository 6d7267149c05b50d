"""What can be asked about dtypes: their limits, their kind, and the dtype in which several meet.

Pure Python beside dtypes.py, for users and for lanewise's own Python side. The extension applies the same
promotion on the hot path (native/extension/operand.h); tests/package checks that both agree.
"""

from __future__ import annotations

import builtins
from typing import Any, Final, NamedTuple

from lanewise import dtypes
from lanewise._ext import Tensor
from lanewise.dtypes import DType, as_dtype
from lanewise.errors import ArgumentError, ArgumentTypeError, DTypeError

__all__ = ["can_cast", "finfo", "iinfo", "isdtype", "result_type"]

# By float dtype: the bits of the fraction, and the smallest exponent of a normal number.
_FLOATS: Final = {dtypes.float16: (10, -14), dtypes.float32: (23, -126), dtypes.float64: (52, -1022)}

_KINDS: Final[dict[str, tuple[DType, ...]]] = {
    "bool": (dtypes.bool,),
    "signed integer": (dtypes.int32, dtypes.int64),
    "unsigned integer": (),
    "integral": (dtypes.int32, dtypes.int64),
    "real floating": (dtypes.float16, dtypes.float32, dtypes.float64),
    "complex floating": (),
    "numeric": (dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64),
}


class FloatInfo(NamedTuple):
    """The limits of a floating-point dtype."""

    dtype: DType
    bits: int
    eps: float  # from 1.0 to the next larger number
    max: float
    min: float
    smallest_normal: float


class IntInfo(NamedTuple):
    """The limits of an integer dtype."""

    dtype: DType
    bits: int
    max: int
    min: int


def _dtype_of(value: Any, operation: str) -> DType:
    """A dtype from a dtype, or from something that has one."""
    if not isinstance(value, type) and not isinstance(value, DType | str) and hasattr(value, "dtype"):
        value = value.dtype
    return as_dtype(value, operation=operation)


def finfo(dtype: Any, /) -> FloatInfo:
    """The limits of a floating-point dtype, or of a tensor's.

    >>> import lanewise as lw
    >>> lw.finfo("float32").eps, lw.finfo("float16").max
    (1.1920928955078125e-07, 65504.0)
    """
    found = _dtype_of(dtype, "finfo")
    if found not in _FLOATS:
        raise DTypeError(f"finfo: {found} is no floating-point dtype; use iinfo for integers")
    fraction_bits, lowest_exponent = _FLOATS[found]
    eps = 2.0**-fraction_bits
    largest = (2.0 - eps) * 2.0 ** (1 - lowest_exponent)
    return FloatInfo(found, 8 * found.itemsize, eps, largest, -largest, 2.0**lowest_exponent)


def iinfo(dtype: Any, /) -> IntInfo:
    """The limits of an integer dtype, or of a tensor's.

    >>> import lanewise as lw
    >>> lw.iinfo("int32").max
    2147483647
    """
    found = _dtype_of(dtype, "iinfo")
    if found.kind != "i":
        raise DTypeError(f"iinfo: {found} is no integer dtype; use finfo for floating-point ones")
    bits = 8 * found.itemsize
    return IntInfo(found, bits, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)))


def isdtype(dtype: Any, kind: str | DType | tuple[str | DType, ...]) -> builtins.bool:
    """Whether a dtype is of a kind: "bool", "signed integer", "integral", "real floating", "numeric" and so
    on, a dtype, or a tuple of these.

    >>> import lanewise as lw
    >>> lw.isdtype("float16", "real floating"), lw.isdtype("int32", ("bool", "real floating"))
    (True, False)
    """
    found = as_dtype(dtype, operation="isdtype")
    if isinstance(kind, tuple):
        return any(isdtype(found, one) for one in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return found in _KINDS[kind]
    if isinstance(kind, str):
        raise ArgumentError(f"isdtype: there is no kind {kind!r}; there are {', '.join(map(repr, _KINDS))}")
    return found is as_dtype(kind, operation="isdtype")


def _softened(values: tuple[Any, ...]) -> list[Any]:
    """NumPy's numbers as Python's where something stronger is among the values."""
    arrays = [hasattr(value, "__array__") and not isinstance(value, Tensor | type) for value in values]
    numbers = [is_array and getattr(value, "ndim", 1) == 0 for value, is_array in zip(values, arrays, strict=True)]
    paired = list(zip(values, numbers, strict=True))
    if all(number or isinstance(value, builtins.bool | int | float) for value, number in paired):
        return list(values)
    return [value.item() if number else value for value, number in paired]


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype in which arrays, dtypes and Python scalars meet.

    The order is bool, int32, int64, float16, float32, float64: the later one wins. Python scalars are weak:
    they only decide where nothing else is of their kind. So are NumPy's, and arrays without dimensions, beside others.

    >>> import lanewise as lw
    >>> lw.result_type("int32", "float32"), lw.result_type("float16", 2.5), lw.result_type("int32", True)
    (lanewise.float32, lanewise.float16, lanewise.int32)
    """
    strong: DType | None = None
    weak: DType | None = None
    for value in _softened(arrays_and_dtypes):
        if isinstance(value, builtins.bool | int | float):
            scalar = as_dtype(builtins.bool if isinstance(value, builtins.bool) else _number_type(value))
            weak = scalar if weak is None else max(weak, scalar, key=_code)
        else:
            dtype = _dtype_of(value, "result_type")
            strong = dtype if strong is None else max(strong, dtype, key=_code)
    if strong is None and weak is None:
        raise ArgumentTypeError("result_type: nothing was given; give at least one array, dtype or number")
    if strong is None or weak is None:
        return strong or weak or dtypes.float32
    if weak.kind == "f" and strong.kind == "f":
        return strong
    if weak.kind == "f" and strong is dtypes.int64:
        return dtypes.float64  # it holds more of them
    return max(strong, weak, key=_code)


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether promotion alone turns one dtype into the other.

    >>> import lanewise as lw
    >>> lw.can_cast("int32", "float32"), lw.can_cast("float32", "int32")
    (True, False)
    """
    target = as_dtype(to, operation="can_cast")
    return result_type(_dtype_of(from_, "can_cast"), target) is target


def _number_type(value: float) -> type:
    return int if isinstance(value, int) else float


def _code(dtype: DType) -> int:
    return dtype.code
