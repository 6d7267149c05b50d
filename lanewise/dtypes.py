"""The types of elements: a DType for each, and the names that stand for them.

The extension identifies a dtype by its code (lw_dtype of lanewise_facts.h) and returns these objects as
`Tensor.dtype`. Every dtype argument (`lw.float32`, "float32", float, `np.dtype("float32")`, `np.float32`) goes through
as_dtype(), which recognizes NumPy's objects without importing NumPy.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable
from typing import Any, Final, final

from lanewise._facts import DTYPES
from lanewise.errors import ArgumentTypeError, DTypeError, describe, named

__all__ = [
    "ALL", "BY_NAME", "CODES", "PYTHON_TYPES", "DType", "as_dtype", "bfloat16", "bool", "code_of", "float16", "float32",
    "float64", "int8", "int16", "int32", "int64", "is_half", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip


@final
class DType:
    """The type of a tensor's elements: bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32 or float64.

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
    kind: str  # b(ool), i(nteger), u(nsigned integer) or f(loat), as in NumPy
    code: int  # value of the enum lw_dtype in lanewise_facts.h
    format: str  # format character in the buffer protocol and the struct module; empty for bfloat16

    def __init__(self, code: int, name: str, itemsize: int, kind: str, format: str) -> None:
        for field, value in (
            ("code", code),
            ("name", name),
            ("itemsize", itemsize),
            ("kind", kind),
            ("format", format),
        ):
            object.__setattr__(self, field, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"DType: cannot set {name}; a dtype never changes")

    def __repr__(self) -> str:
        return f"lanewise.{self.name}"

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> builtins.bool:
        if isinstance(other, DType):
            return self is other
        if isinstance(other, str):
            return self.name == other
        if not _is_numpy_dtype(other) or not getattr(other, "isnative", True):
            return NotImplemented
        return _from_numpy(other) is self

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def __numpy_dtype__(self) -> Any:
        """What numpy.dtype() returns for it. That of bfloat16 comes from the package ml_dtypes."""
        import numpy

        return numpy.dtype(_ml_dtypes().bfloat16 if self is bfloat16 else self.name)

    dtype = __numpy_dtype__  # for NumPy before 2.4

    def __reduce__(self) -> tuple[Callable[[str], DType], tuple[str]]:
        return _unpickled, (self.name,)


# In the order of `code`
ALL: Final = tuple(DType(code, name, size, kind, format) for code, (name, size, kind, format, _) in enumerate(DTYPES))
BY_NAME: Final = {dtype.name: dtype for dtype in ALL}
bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64 = map(
    BY_NAME.__getitem__,
    ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
     "float16", "bfloat16", "float32", "float64"),
)  # fmt: skip

_NAMES: Final[dict[str, DType]] = BY_NAME | {
    "bool_": bool,  # the name of NumPy 1's scalar type
    "byte": int8,
    "ubyte": uint8,
    "short": int16,
    "ushort": uint16,
    "intc": int32,
    "uintc": uint32,
    "longlong": int64,
    "ulonglong": uint64,
    "half": float16,
    "single": float32,
    "double": float64,
}
# The dtypes of tensors made from lists of these Python types; ints that exceed int32 make int64.
PYTHON_TYPES: Final[dict[type, DType]] = {builtins.bool: bool, int: int32, float: float32}
CODES: Final = {f"{dtype.kind}{dtype.itemsize}": dtype for dtype in ALL if dtype.format}
_CODE: Final = re.compile(f"[<>=|]?({'|'.join(CODES)})")  # NumPy's short names, such as "<f4"


def is_half(dtype: DType) -> builtins.bool:
    """Whether a dtype is a float of 2 bytes, which is computed as float32."""
    return dtype.kind == "f" and dtype.itemsize == 2


def as_dtype(value: Any) -> DType:
    """Returns the DType for a DType, a name, a Python type, or a dtype or scalar type of NumPy.

    >>> as_dtype("float64"), as_dtype(int)
    (lanewise.float64, lanewise.int32)

    Raises DTypeError for an unknown name or type, ArgumentTypeError for other values.
    """
    if isinstance(value, DType):
        return value
    dtype: DType | None = None
    if isinstance(value, str):
        code = None if value in _NAMES else _CODE.fullmatch(value)
        dtype = CODES[code[1]] if code else _NAMES.get(value)
    elif isinstance(value, type) and value in PYTHON_TYPES:
        dtype = PYTHON_TYPES[value]
    elif _is_numpy_dtype(value):
        dtype = _from_numpy(value)
    elif not isinstance(value, type):
        raise ArgumentTypeError(f"expected a dtype, got {describe(value)}; give one of {_names()}")
    if dtype is None:
        shown = value.__name__ if isinstance(value, type) else str(value)
        raise DTypeError(f"there is no dtype {shown!r}; give one of {_names()}")
    return dtype


def code_of(value: Any) -> int:
    """Returns the code (lw_dtype) of a dtype argument, for the extension."""
    return as_dtype(value).code


def _names() -> str:
    return ", ".join(dtype.name for dtype in ALL)


@named("unpickling")
def _unpickled(name: str) -> DType:
    """Unpickles a DType. Raises DTypeError for one that this version of Lanewise lacks."""
    return as_dtype(name)


def _is_numpy_dtype(value: object) -> builtins.bool:
    """Whether `value` is a numpy.dtype, or a scalar type such as numpy.float32."""
    if isinstance(value, type):
        return value.__module__ in ("numpy", "ml_dtypes")
    return type(value).__module__.partition(".")[0] == "numpy" and hasattr(value, "isnative")


def _from_numpy(value: Any) -> DType | None:
    return _NAMES.get(value.__name__ if isinstance(value, type) else value.name)


def _ml_dtypes() -> Any:
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError(
            "NumPy has no bfloat16; pip install ml_dtypes, or convert the tensor with astype(lw.float32)",
            name="ml_dtypes",
        ) from None
    return ml_dtypes
