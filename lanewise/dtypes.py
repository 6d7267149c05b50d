"""The types of elements: six DType singletons, and the ways users name them.

The extension knows a dtype by its code (lw_dtype of core/include/lanewise.h) and hands these objects out as
`Tensor.dtype`. `as_dtype` is the one place that turns what a user wrote (`lw.float32`, "float32", float,
`np.dtype("float32")`, `np.float32`) into a DType; it recognises NumPy's objects without importing NumPy.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, Final, Literal, final

from lanewise.errors import ArgumentTypeError, DTypeError

__all__ = ["ALL", "DType", "as_dtype", "bool", "code_of", "float16", "float32", "float64", "int32", "int64"]

Kind = Literal["b", "i", "f"]


@final
class DType:
    """The type of a tensor's elements. There are six: bool, int32, int64, float16, float32 and float64.

    A DType equals its name and NumPy's dtype of that name:

    >>> import lanewise as lw
    >>> lw.asarray([1.0, 2.0]).dtype
    lanewise.float32
    >>> lw.float32 == "float32", lw.float32.itemsize
    (True, 4)
    """

    __slots__ = ("code", "format", "itemsize", "kind", "name")

    name: str
    itemsize: int  # bytes
    kind: Kind  # b(ool), i(nteger) or f(loat), as in NumPy
    code: int  # lw_dtype
    format: str  # of the buffer protocol and the struct module

    def __init__(self, code: int, name: str, itemsize: int, kind: Kind, format: str) -> None:
        for field, value in (
            ("code", code),
            ("name", name),
            ("itemsize", itemsize),
            ("kind", kind),
            ("format", format),
        ):
            object.__setattr__(self, field, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"DType: {name} cannot be set; a dtype never changes")

    def __repr__(self) -> str:
        return f"lanewise.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> builtins.bool:
        if isinstance(other, DType):
            return self is other
        if isinstance(other, str):
            return self.name == other
        return _from_numpy(other) is self if _is_numpy_dtype(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Callable[[str], DType], tuple[str]]:
        return _named, (self.name,)


bool: Final = DType(0, "bool", 1, "b", "?")
int32: Final = DType(1, "int32", 4, "i", "i")
int64: Final = DType(2, "int64", 8, "i", "q")
float16: Final = DType(3, "float16", 2, "f", "e")
float32: Final = DType(4, "float32", 4, "f", "f")
float64: Final = DType(5, "float64", 8, "f", "d")

ALL: Final = (bool, int32, int64, float16, float32, float64)  # by code

_NAMES: Final[dict[str, DType]] = {dtype.name: dtype for dtype in ALL} | {
    "bool_": bool,  # NumPy's scalar type before version 2
    "intc": int32,
    "longlong": int64,
    "half": float16,
    "single": float32,
    "double": float64,
}
# Python's own types name what lists of them become.
_PYTHON_TYPES: Final[dict[type, DType]] = {builtins.bool: bool, int: int32, float: float32}


def as_dtype(value: Any, *, operation: str = "dtype") -> DType:
    """The DType that `value` names: a DType, a name, a Python type, or a dtype or scalar type of NumPy's.

    >>> as_dtype("float64"), as_dtype(int)
    (lanewise.float64, lanewise.int32)

    DTypeError where Lanewise has no such dtype; `operation` begins its message.
    """
    if isinstance(value, DType):
        return value
    found: DType | None = None
    if isinstance(value, str):
        found = _NAMES.get(value)
    elif isinstance(value, type) and value in _PYTHON_TYPES:
        found = _PYTHON_TYPES[value]
    elif _is_numpy_dtype(value):
        found = _from_numpy(value)
    elif not isinstance(value, type):
        raise ArgumentTypeError(f"{operation}: {value!r} does not name a dtype; give one of {_listing()}")
    if found is None:
        shown = value.__name__ if isinstance(value, type) else str(value)
        raise DTypeError(f"{operation}: there is no dtype {shown!r}; there are {_listing()}")
    return found


def code_of(operation: str, value: Any) -> int:
    """The lw_dtype that `value` names; the extension's hook."""
    return as_dtype(value, operation=operation).code


def _listing() -> str:
    return ", ".join(dtype.name for dtype in ALL)


def _named(name: str) -> DType:
    """What pickles of a DType call; those of a later version may name one that is not here."""
    return as_dtype(name, operation="unpickling")


def _is_numpy_dtype(value: object) -> builtins.bool:
    """Whether this is a numpy.dtype, or a scalar type such as numpy.float32."""
    if isinstance(value, type):
        return value.__module__ == "numpy"
    return type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "isnative")


def _from_numpy(value: Any) -> DType | None:
    if isinstance(value, type):
        return _NAMES.get(value.__name__)
    if not value.isnative:
        return None
    return _NAMES.get(value.name)
