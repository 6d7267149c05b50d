"""Methods of Tensor that are neither operations nor written in C, for placement, copying, pickling, printing and NumPy.

The extension sets these on the type when the package is imported (`_ext.initialize`).
"""

from __future__ import annotations

import sys
import threading
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from lanewise import _ext, printing
from lanewise._ext import Tensor
from lanewise.backends import placement, selection
from lanewise.backends.backend import Backend, backend_of
from lanewise.dtypes import DType
from lanewise.errors import ArgumentError, BackendUnavailableError, LanewiseError, describe, named

if TYPE_CHECKING:
    import numpy

__all__ = ["METHODS", "MISSING", "unread"]

_unread = threading.local()  # `error` is what unread() has noted last


def backend(self: Tensor) -> Backend:
    """The backend that computes with this tensor."""
    return backend_of(self._backend_name)


def backend_type(self: Tensor) -> Backend:
    """Returns the backend that computes with this tensor, as the property `backend` does."""
    return backend_of(self._backend_name)


def device(self: Tensor) -> str:
    """The device that stores the elements: "cpu", "wgpu", or "wgpu:1" for the second GPU that lw.backends() lists."""
    return placement.device_of(self)


@named("to")
def to(self: Tensor, backend: Backend | str, /) -> Tensor:
    """Returns this tensor placed on a backend: itself if it has been placed there, on another device a copy, or else a
    tensor that shares its memory. Calls on the result run on that backend; AUTO does not move them.

    `backend` is a member of lw.Backend or its name, such as "avx2" or "wgpu"; the number of a GPU that lw.backends()
    lists, such as "wgpu:1"; "cpu", "gpu" or "auto" for the best of several; or the name of a graphics API, such as
    "vulkan", for its GPU. The parameter `device` of other functions takes the same.

    >>> import lanewise as lw
    >>> lw.ones(2).to("scalar")
    Tensor([1., 1.], backend=scalar)
    """
    return placement.move(self, selection.open_place(backend))


@named("to_backend")
def to_backend(self: Tensor, backend: Backend | str, /) -> Tensor:
    """Returns this tensor placed on a backend, such as "avx2", "cpu" or "wgpu:1"; an alias of `to`."""
    return placement.move(self, selection.open_place(backend))


@named("to_device")
def to_device(self: Tensor, device: Backend | str, /, *, stream: None = None) -> Tensor:
    """Returns this tensor on a device, as the array API specifies: "cpu", "wgpu", "wgpu:1", or what else to() accepts.
    Copies as to() does. On "cpu", a tensor of the CPU keeps its backend.

    >>> import lanewise as lw
    >>> lw.ones(2).to_device("cpu").device
    'cpu'
    """
    if stream is not None:
        raise ArgumentError(
            f"expected no stream, got {describe(stream)}; leave it out, Lanewise orders its work itself"
        )
    return placement.place(self, device)


@named("__array_namespace__")
def array_namespace(self: Tensor, /, *, api_version: str | None = None) -> ModuleType:
    """Returns the array API namespace of this tensor: the module lanewise."""
    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        raise ArgumentError(f"expected a version of the array API up to 2024.12, got {describe(api_version)}")
    return sys.modules["lanewise"]


@named("numpy", "__array__")
def numpy_array(self: Tensor, /) -> numpy.ndarray[Any, Any]:
    """Returns a NumPy array, which shares the memory of a CPU tensor.

    >>> import lanewise as lw
    >>> lw.arange(3).numpy()
    array([0, 1, 2], dtype=int32)

    Raises ImportError if NumPy is not installed.
    """
    try:
        import numpy
    except ImportError:
        raise ImportError(
            "numpy: NumPy is not installed; pip install numpy, or use tolist(), tobytes() or memoryview(tensor)",
            name="numpy",
        ) from None
    return numpy.asarray(self) if self.dtype.format else _array_of_words(self)


def _array_of_words(self: Tensor) -> numpy.ndarray[Any, Any]:
    """Returns a NumPy array of bfloat16, which the buffer protocol cannot describe: on the same memory, if on the
    CPU."""
    import numpy

    dtype = numpy.dtype(self.dtype)  # raises ImportError without ml_dtypes
    words = _Words()
    words.tensor = placement.place(self, "cpu")
    words.__array_interface__ = _described(words.tensor, "<u2")
    return numpy.asarray(words).view(dtype)


class _Words:
    """A tensor that NumPy sees as one of uint16."""

    tensor: Tensor
    __array_interface__: dict[str, Any]


async def cpu_async(self: Tensor, /) -> Tensor:
    """Returns what to_device("cpu") returns. In a browser, the page runs other tasks until the GPU has computed the
    tensor.

    Works everywhere, also where the browser cannot suspend Python and other ways to read a tensor on WebGPU raise
    DeviceError.

    >>> import asyncio, lanewise as lw
    >>> asyncio.run(lw.arange(3).cpu_async()).tolist()  # in a notebook: (await x.cpu_async()).tolist()
    [0, 1, 2]
    """
    return await _on_cpu(self, "cpu_async")


async def _on_cpu(self: Tensor, operation: str) -> Tensor:
    try:
        if sys.platform == "emscripten" and backend_of(self._backend_name).is_gpu:
            from lanewise.webgpu import browser

            return await browser.fetch(self)
        return placement.place(self, "cpu")
    except LanewiseError as error:
        error.operation = operation
        raise


async def numpy_array_async(self: Tensor, /) -> numpy.ndarray[Any, Any]:
    """Returns what numpy() returns, as a NumPy array of the tensor that cpu_async() returns.

    >>> import asyncio, lanewise as lw
    >>> asyncio.run(lw.arange(3).numpy_async())
    array([0, 1, 2], dtype=int32)
    """
    array = numpy_array(await _on_cpu(self, "numpy_async"))
    if backend_of(self._backend_name).is_gpu:
        array.flags.writeable = False  # as with numpy(): nobody would see what is written
    return array


def unread(error: BaseException) -> None:
    """Notes why the buffer protocol could not read a tensor on a GPU, and which call asked for it.

    NumPy ignores errors of the buffer protocol, and calls __array__() next, which raises a copy of this one. The error
    itself would keep the caller's variables alive."""
    frame = sys._getframe(1)
    copy = type(error).__new__(type(error), *error.args)
    vars(copy).update(vars(error))
    _unread.error = id(frame), frame.f_lasti, copy


@named("__array__")
def array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray[Any, Any]:
    """Returns a NumPy array, for callers of __array__ that do not use the buffer protocol."""
    import numpy

    if noted := vars(_unread).pop("error", None):
        frame = sys._getframe(2)  # of the call that named() wraps
        if noted[:2] == (id(frame), frame.f_lasti):
            raise noted[2]
    if copy is False and backend_of(self._backend_name).is_gpu:
        raise ArgumentError("expected a tensor on the CPU with copy=False, got one on a GPU; leave out copy")
    shared = numpy.asarray(memoryview(self)) if self.dtype.format else _array_of_words(self)
    if dtype is None or shared.dtype == dtype:
        return shared.copy() if copy else shared
    if copy is False:
        raise ArgumentError(f"expected dtype {self.dtype} with copy=False, got {dtype}; leave out copy")
    return shared.astype(dtype)


def array_interface(self: Tensor) -> dict[str, Any]:
    """The memory of the tensor, described by NumPy's array interface. A tensor on a GPU does not have it, and neither
    has one of bfloat16, which the interface cannot name: NumPy calls __array__() instead."""
    if not self.dtype.format:
        raise AttributeError("the array interface has no code for bfloat16; use numpy()")
    return _described(self, f"{'|' if self.itemsize == 1 else '<'}{self.dtype.kind}{self.itemsize}")


def _described(self: Tensor, typestr: str) -> dict[str, Any]:
    """Returns the array interface for the memory of a tensor, whose elements are of the type `typestr`."""
    return {
        "version": 3,
        "shape": self.shape,
        "typestr": typestr,
        "data": (self._data_pointer(), self.readonly),
        "strides": self.strides,
    }


@named("to_js")
def to_js(self: Tensor, /) -> Any:
    """Returns a JavaScript typed array of the elements, in row-major order. Available in Pyodide only.

    float32 becomes Float32Array, uint8 Uint8Array, int64 BigInt64Array and so on, and bool Uint8Array. Raises
    DTypeError for float16 and bfloat16, which Pyodide has no typed arrays for.
    """
    if sys.platform == "emscripten":
        from lanewise import javascript

        return javascript.to_js(self)
    raise BackendUnavailableError("expected Python in Pyodide, got one without JavaScript; use numpy() or tolist()")


def array_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
    """Runs a NumPy ufunc on arrays that share the tensors' memory. Exception: a binary operator with no tensor on
    the left, such as `array + tensor`, runs Lanewise's operation. NumPy runs `array += tensor`, which passes `out`."""
    operation = _OPERATORS.get(ufunc.__name__) if method == "__call__" and not keywords else None
    if operation and not isinstance(inputs[0], Tensor):
        return operation(*inputs)
    return _with_arrays(getattr(ufunc, method), inputs, keywords)


def array_function(self: Tensor, function: Any, types: Any, inputs: Any, keywords: Any) -> Any:
    """Runs a NumPy function that is not a ufunc, such as np.mean, on arrays that share the tensors' memory."""
    return _with_arrays(function, inputs, keywords)


def _with_arrays(function: Any, inputs: Any, keywords: dict[str, Any]) -> Any:
    """Calls a NumPy function with arrays in place of tensors. Returns the tensor itself if it was passed as `out`."""
    converted = _arrays(keywords)
    out = keywords.get("out")
    outs = out if isinstance(out, tuple) else (out,)
    arrays = tuple(_array_for_out(one) for one in outs)
    if out is not None:
        converted["out"] = arrays if isinstance(out, tuple) else arrays[0]
    result = function(*_arrays(inputs), **converted)
    for one, array in zip(outs, arrays, strict=True):
        if isinstance(one, Tensor) and one.backend.is_gpu:
            one[...] = array
    tensor_by_array = {id(array): tensor for tensor, array in zip(outs, arrays, strict=True) if array is not None}
    if isinstance(result, tuple):
        return tuple(tensor_by_array.get(id(one), one) for one in result)
    return tensor_by_array.get(id(result), result)


def _array_for_out(out: Any) -> Any:
    """Returns the array that a NumPy function writes in place of `out`: for a tensor on a GPU, a copy."""
    array = _arrays(out)
    return array.copy() if isinstance(out, Tensor) and out.backend.is_gpu and not out.readonly else array


def _arrays(value: Any) -> Any:
    """Returns arguments with each tensor replaced by an array that shares its memory."""
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, dict):
        return {name: _arrays(one) for name, one in value.items()}
    return type(value)(_arrays(one) for one in value) if type(value) in (list, tuple) else value


def _divmod(x1: Any, x2: Any) -> tuple[Tensor, Tensor]:
    return _ext.floor_divide(x1, x2), _ext.remainder(x1, x2)


# Lanewise's function for each NumPy ufunc of a binary operator. Most have the same name in both.
_OPERATORS: Final = {
    **{
        name: getattr(_ext, name)
        for name in (
            *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "matmul"),
            *("bitwise_and", "bitwise_or", "bitwise_xor"),
            *("less", "less_equal", "equal", "not_equal", "greater", "greater_equal"),
        )
    },
    "left_shift": _ext.bitwise_left_shift,
    "right_shift": _ext.bitwise_right_shift,
    "power": _ext.pow,
    "divmod": _divmod,
}


@named("format")
def format_item(self: Tensor, specification: str) -> str:
    """Formats a tensor. A format specification, as in f"{tensor:.2f}", requires a tensor with one element."""
    if not specification:
        return str(self)
    if self.size != 1:
        raise ArgumentError(
            f"expected one element for {specification!r}, got shape {self.shape}; "
            "use printoptions(precision=...) for several"
        )
    return format(self.item(), specification)


@named("round")
def rounded(self: Tensor, ndigits: int | None = None, /) -> Tensor:
    """Rounds each element to the nearest whole number, halves to the even one: round(tensor)."""
    if ndigits is not None and ndigits != 0:
        raise ArgumentError(f"expected 0 digits, got {describe(ndigits)}; for 2 digits, write round(x * 100) / 100")
    return _ext.round(self)


def truncated(self: Tensor, /) -> int:
    """Implements math.trunc for a tensor with one element; math.floor and math.ceil use __float__ instead."""
    return int(self)


def shallow_copy(self: Tensor) -> Tensor:
    """Copies the elements for copy.copy(tensor), as NumPy does."""
    return self.copy()


def deep_copy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """Copies the elements for copy.deepcopy(tensor)."""
    return self.copy()


def reduce(self: Tensor) -> tuple[Any, ...]:
    """Returns what pickle stores: bytes, dtype and shape. The backend is left out; another machine may not have it."""
    return _from_pickle, (self.tobytes(), self.dtype, self.shape)


def _from_pickle(data: bytes, dtype: DType, shape: tuple[int, ...]) -> Tensor:
    return _ext.from_bytes(data, dtype, shape)


class _Missing:
    """Raises an error with a hint for an attribute that only other libraries' tensors have. Each name in MISSING has
    such a descriptor, because a Tensor.__getattr__ would slow down access to all attributes."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: Tensor | None, owner: type) -> None:
        from lanewise.other_names import attribute_suggestion

        hint = attribute_suggestion(self._name)
        raise AttributeError(f"'lanewise.Tensor' object has no attribute {self._name!r}{hint}", name=self._name)


def directory(self: Tensor) -> list[str]:
    """Returns what dir(tensor) lists: all attributes except the names in MISSING."""
    return sorted({*object.__dir__(self)} - {*MISSING.split()})


MISSING: Final = (
    "add_ clone contiguous cpu cuda detach diagonal dim div_ double eq expand float ge gt half int le long lt "
    "masked_fill mul_ ne numel permute requires_grad sub_ swapaxes trace type view"
)
METHODS: Final[dict[str, Any]] = {
    **{name: _Missing(name) for name in MISSING.split()},
    "__array__": array,
    "__array_function__": array_function,
    "__array_ufunc__": array_ufunc,
    "__array_interface__": property(array_interface),
    "__array_namespace__": array_namespace,
    "__array_priority__": 1000,  # for packages that check it, such as scipy.sparse
    "__copy__": shallow_copy,
    "__deepcopy__": deep_copy,
    "__dir__": directory,
    "__format__": format_item,
    "__reduce__": reduce,
    "__repr__": printing.tensor_repr,
    "__round__": rounded,
    "__str__": printing.tensor_str,
    "__trunc__": truncated,
    "_repr_html_": printing.tensor_html,
    "_repr_mimebundle_": printing.tensor_bundle,
    "backend": property(backend),
    "backend_type": backend_type,
    "cpu_async": cpu_async,
    "device": property(device),
    "numpy": numpy_array,
    "numpy_async": numpy_array_async,
    "to": to,
    "to_backend": to_backend,
    "to_device": to_device,
    "to_js": to_js,
}
