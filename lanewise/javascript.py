"""Converts tensors from and to JavaScript's typed arrays. Both directions copy the elements.

creation.py calls from_js() for typed arrays, and Tensor.to_js() calls to_js(). Imported in Pyodide only.
"""

from __future__ import annotations

from typing import Any, Final

import js
from pyodide.ffi import JsBuffer

from lanewise import _ext, dtypes
from lanewise._ext import Tensor
from lanewise.dtypes import DType
from lanewise.errors import ArgumentError, DTypeError

__all__ = ["from_js", "is_buffer", "to_js"]

_DTYPES: Final[dict[str, DType]] = {
    "Int8Array": dtypes.int8,
    "Int16Array": dtypes.int16,
    "Int32Array": dtypes.int32,
    "BigInt64Array": dtypes.int64,
    "Uint8ClampedArray": dtypes.uint8,
    "Uint8Array": dtypes.uint8,
    "Uint16Array": dtypes.uint16,
    "Uint32Array": dtypes.uint32,
    "BigUint64Array": dtypes.uint64,
    "Float32Array": dtypes.float32,
    "Float64Array": dtypes.float64,
}
_KNOWN: Final = ", ".join(_DTYPES)
_ARRAYS: Final[dict[DType, str]] = {dtype: name for name, dtype in _DTYPES.items()} | {dtypes.bool: "Uint8Array"}


def is_buffer(obj: object) -> bool:
    """Whether `obj` is a typed array or an ArrayBuffer."""
    return isinstance(obj, JsBuffer)


def from_js(array: Any, copy: bool | None) -> Tensor:
    """Returns a 1-D tensor with the elements of a typed array. Raises DTypeError for types that are not in _KNOWN."""
    name = str(array.constructor.name)
    dtype = _DTYPES.get(name)
    if dtype is None:
        cure = "new Float32Array(buffer)" if name == "ArrayBuffer" else "Float32Array.from(array)"
        raise DTypeError(f"expected one of {_KNOWN}, got a {name}; convert it in JavaScript: {cure}")
    if copy is False:
        raise ArgumentError("expected copy=None or True for JavaScript's memory, got False; leave copy out")
    tensor = _ext.create("full", (array.length,), dtype, (0,))
    if array.length:
        array.assign_to(tensor)
    return tensor


def to_js(tensor: Tensor) -> Any:
    """Returns a typed array with the elements in row-major order."""
    name = _ARRAYS.get(tensor.dtype)
    if name is None:
        raise DTypeError(f"expected a dtype with a typed array in Pyodide, got {tensor.dtype}; use astype(lw.float32)")
    array = getattr(js, name).new(tensor.size)
    if tensor.size:
        array.buffer.assign(tensor if tensor.is_contiguous else tensor.copy())
    return array
