"""Creation functions: full, zeros, ones, empty, their _like variants, arange, linspace, eye, rand, asarray and others.

Most of them have a contract, which defines signature and documentation; the extension passes their calls through
dispatch.py to the functions here. They fill tensors with `_ext.create` (a kernel) or `_ext.from_object` (lists,
buffers). `device` is the array API's argument: "cpu", or what Tensor.to() accepts.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any, Final

from lanewise import _ext, dtypes
from lanewise._ext import Tensor
from lanewise.backends import placement
from lanewise.dtypes import DType, as_dtype
from lanewise.errors import (
    ArgumentError,
    ArgumentTypeError,
    BackendError,
    DTypeError,
    LanewiseError,
    RangeError,
    describe,
    describe_type,
    named,
)
from lanewise.functions.arguments import refuse_split_shape, to_bool, to_int, to_number
from lanewise.typeinfo import INTEGERS, finfo

__all__ = ["asarray", "empty", "empty_like", "from_dlpack", "full_like", "ones_like", "zeros_like"]

Shape = int | Sequence[int]

_COPY: Final = {None: None, True: True, False: False}  # keys are compared with ==, so numpy.True_ is found


def full(shape: Shape, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Tensor:
    """Returns a tensor filled with one value. The default dtype is that of the value."""
    chosen = _dtype_of_value(fill_value) if dtype is None else as_dtype(dtype)
    value = to_number(fill_value)
    if chosen.kind in "iu" and isinstance(value, float):
        raise DTypeError(f"expected a value that fits {chosen}, got {describe(fill_value)}; give an int")
    _check_range(value, chosen)
    return placement.call_on(device, _ext.create, "full", shape, chosen, (value,))


def zeros(shape: Shape, dtype: Any = None, *, device: Any = None) -> Tensor:
    """Returns a tensor of zeros, float32 by default."""
    return _of_one_value(shape, 0, dtype, device)


def ones(shape: Shape, dtype: Any = None, *, device: Any = None) -> Tensor:
    """Returns a tensor of ones, float32 by default."""
    return _of_one_value(shape, 1, dtype, device)


def _of_one_value(shape: Shape, value: int, dtype: Any, device: Any) -> Tensor:
    """Returns a tensor filled with a value that every dtype can hold."""
    chosen = as_dtype(float if dtype is None else dtype)
    return placement.call_on(device, _ext.create, "full", shape, chosen, (value,))


@named("empty")
def empty(shape: Shape, dtype: Any = None, *, device: Any = None) -> Tensor:
    """Returns a tensor to be filled. It holds zeros, never the old contents of its memory.

    >>> import lanewise as lw
    >>> lw.empty((2, 3)).shape
    (2, 3)
    """
    refuse_split_shape("empty", (shape, dtype))
    return zeros(shape, dtype, device=device)


@named("zeros_like")
def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Returns zeros with the shape and dtype of `x`.

    >>> import lanewise as lw
    >>> lw.zeros_like([1, 2, 3])
    Tensor([0, 0, 0])
    """
    return _like(x, 0, dtype, device)


@named("ones_like")
def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Returns ones with the shape and dtype of `x`.

    >>> import lanewise as lw
    >>> lw.ones_like([[0.5, 2.0]])
    Tensor([[1., 1.]])
    """
    return _like(x, 1, dtype, device)


@named("empty_like")
def empty_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Returns a tensor with the shape and dtype of `x`, to be filled. It holds zeros.

    >>> import lanewise as lw
    >>> lw.empty_like(lw.arange(3)).dtype
    lanewise.int32
    """
    return _like(x, 0, dtype, device)


@named("full_like")
def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Returns a tensor with the shape and dtype of `x`, filled with one value.

    >>> import lanewise as lw
    >>> lw.full_like([1.0, 2.0], 7)
    Tensor([7., 7.])
    """
    return _like(x, fill_value, dtype, device)


def _like(x: Any, value: Any, dtype: Any, device: Any) -> Tensor:
    like = tensor_of("x", x)
    return filled_like(like, like.shape, value, dtype, device)


def filled_like(like: Tensor, shape: Shape, value: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Returns a tensor filled with one value, by default with the dtype and backend of `like`."""
    if device is None and like.is_committed:
        device = like._backend_name
    return full(shape, value, like.dtype if dtype is None else dtype, device=device)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None) -> Tensor:
    """Returns evenly spaced values from start up to stop, which is excluded."""
    first, last, distance = (0, start, step) if stop is None else (start, stop, step)
    first, last, distance = to_number(first), to_number(last), to_number(distance)
    if distance == 0:
        raise ArgumentError("expected a step other than 0, got 0")
    if not all(map(math.isfinite, (first, last, distance))):
        raise ArgumentError(f"expected finite numbers, got start {first}, stop {last}, step {distance}")
    whole = all(isinstance(number, int) for number in (first, last, distance))
    count = max(-((first - last) // distance) if whole else math.ceil((last - first) / distance), 0)
    chosen = as_dtype(int if whole else float) if dtype is None else as_dtype(dtype)
    if chosen.kind == "b" or (chosen.kind in "iu" and not whole):
        raise DTypeError(f"expected a dtype that can hold start {first} and step {distance}, got {chosen}; use float32")
    end = first + max(count - 1, 0) * distance
    if whole and dtype is None and not (min(first, end) >= -(2**31) and max(first, end) < 2**31):
        chosen = dtypes.int64
    for value in (first, end) if count else ():
        _check_range(value, chosen)
    if limits := INTEGERS.get(chosen.code):  # in arange(3, 0, -1, dtype="uint8") the step is 255: sums wrap to the
        # right numbers
        distance = (distance - limits.min) % 2**limits.bits + limits.min
    return placement.call_on(device, _ext.create, "arange", int(count), chosen, (first, distance))


def linspace(
    start: Any, stop: Any, num: int, *, dtype: Any = None, endpoint: bool = True, device: Any = None
) -> Tensor:
    """Returns `num` evenly spaced values from start to stop, which is included if `endpoint` is true."""
    start, stop = to_number(start), to_number(stop)
    first, last = float(start), float(stop)
    count = to_int("num", num, minimum=0)
    chosen = as_dtype(float if dtype is None else dtype)
    if chosen.kind != "f":
        raise DTypeError(f"expected a float dtype, got {chosen}; use float32, then astype")
    ends = to_bool("endpoint", endpoint)
    intervals = max(count - 1 if ends else count, 1)
    distance = (last - first) / intervals
    if not (math.isfinite(first) and math.isfinite(distance)):
        raise ArgumentError(f"expected finite start, stop and stop - start, got {first} and {last}")
    result = placement.call_on(device, _ext.create, "arange", count, chosen, (start, distance))
    if ends and count > 1:
        result[count - 1] = stop
    return placement.place(result, device)


def eye(n_rows: int, n_cols: int | None = None, *, k: int = 0, dtype: Any = None, device: Any = None) -> Tensor:
    """Returns a matrix with ones on a diagonal and zeros elsewhere."""
    rows = to_int("n_rows", n_rows, minimum=0)
    columns = rows if n_cols is None else to_int("n_cols", n_cols, minimum=0)
    result = zeros((rows, columns), dtype, device=device)
    row, column = max(-to_int("k", k), 0), max(to_int("k", k), 0)
    length = min(rows - row, columns - column)
    if length > 0:
        first, step = row * columns + column, columns + 1
        result.reshape(-1)[first : first + (length - 1) * step + 1 : step] = 1
    return result


def rand(shape: Shape, *, seed: int | None = None, offset: int = 0, dtype: Any = None, device: Any = None) -> Tensor:
    """Returns uniform random numbers in [0, 1), from the stream of `seed`, or of this process if `seed` is None."""
    chosen = as_dtype(float if dtype is None else dtype)
    if not dtypes.is_half(chosen):
        return _random("rand", shape, seed, offset, chosen, device)
    numbers = _random("rand", shape, seed, offset, dtypes.float32, device)
    steps = 2 / finfo(chosen).eps  # multiples of 1 / steps are exact; rounding to nearest could give 1
    return _ext.astype(_ext.multiply(_ext.floor(_ext.multiply(numbers, steps)), 1 / steps), chosen)


def randn(shape: Shape, *, seed: int | None = None, offset: int = 0, dtype: Any = None, device: Any = None) -> Tensor:
    """Returns normally distributed numbers: those of rand, mapped by the inverse normal distribution function."""
    return _random("randn", shape, seed, offset, as_dtype(float if dtype is None else dtype), device)


def _random(operation: str, shape: Shape, seed: int | None, offset: int, dtype: DType, device: Any) -> Tensor:
    if dtype.kind != "f":
        raise DTypeError(f"expected a float dtype, got {dtype}; for integers, use floor(n * rand(shape)).astype(int)")
    if seed is None:
        if offset:
            raise ArgumentError(f"expected a seed beside offset {offset}, got none; give both")
        # Allocate before advancing the stream: a call with an invalid shape must not use up random numbers.
        size = _ext.allocate(shape, dtypes.float32, ()).size
        words = 2 if dtype is dtypes.float64 else 1  # of the stream, for an element; `offset` counts elements
        seed, position = _stream.advance(words * size + words - 1)
        offset = -(-position // words)
    else:
        for name, value in (("seed", seed), ("offset", offset)):
            if not -(2**63) <= to_int(name, value) < 2**63 or (name == "offset" and value < 0):
                low = "0" if name == "offset" else "-2^63"
                raise ArgumentError(f"expected {name} from {low} to 2^63 - 1, got {value}")
    return placement.call_on(device, _ext.create, operation, shape, dtype, (seed, offset))


class _Stream:
    """The stream of random numbers of this process. Each process has a different stream, even after a fork."""

    def __init__(self) -> None:
        self.restart()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.restart)

    def restart(self) -> None:
        self._lock = threading.Lock()
        self._seed: int | None = None
        self._position = 0

    def advance(self, count: int) -> tuple[int, int]:
        """Reserves the next `count` numbers. Returns the seed and the position of the first."""
        with self._lock:
            if self._seed is None:
                self._seed = int.from_bytes(os.urandom(7), "little")
            position = self._position
            self._position += count
            return self._seed, position


_stream = _Stream()


def reserve_random(count: int) -> tuple[int, int]:
    """Reserves words of the stream of this process. The extension calls this."""
    return _stream.advance(count)


def asarray(obj: Any, dtype: Any = None, *, copy: bool | None = None, device: Any = None) -> Tensor:
    """Returns a tensor from anything that holds numbers, sharing its memory if possible unless `copy` is true."""
    chosen, copies = None if dtype is None else as_dtype(dtype), _parse_copy(copy)
    # reads on the CPU, so that no use_backend() moves the data before it goes to `device`
    reading_device = None if device is None or isinstance(obj, Tensor) else "cpu"
    return placement.place(placement.call_on(reading_device, _from_object, obj, chosen, copies), device, copies)


def _parse_copy(copy: Any) -> bool | None:
    try:
        return _COPY[copy]
    except (KeyError, TypeError):
        raise ArgumentTypeError(f"expected True, False or None for copy, got {describe(copy)}") from None


def tensor_of(name: str, value: Any, *stays: bool) -> Tensor:
    """Returns an operand as a tensor. If that fails, the error names the argument. If `stays`, what is read from the
    host stays there, even if the current backend is a GPU."""
    if isinstance(value, Tensor):
        return value
    try:
        return _from_object(value, None, None, *stays)
    except LanewiseError as error:
        if error.operation == "asarray":
            error.operation = ""
        raise type(error)(f"{name}: {error}") from None


def indices_of(name: str, value: Any) -> Tensor:
    """Returns an operand of indices as a tensor. Those on the host stay there, where the extension can check them."""
    indices = tensor_of(name, value, True)
    if indices.size == 0 and isinstance(value, list | tuple):
        return _ext.astype(indices, dtypes.int32)  # an empty list is read as float32
    return indices


def mask_positions(mask: Tensor) -> Tensor:
    """Returns the row-major positions of the true elements of a mask, or of a small tensor on a GPU, those that are not
    zero. Those of a large one on a GPU may be a view of a tensor with as many elements as the mask."""
    return _ext.mask_indices(mask if mask.ndim == 1 else mask.reshape(-1))


def _from_object(obj: Any, dtype: DType | None, copy: bool | None, *stays: bool) -> Tensor:
    try:
        result = _ext.from_object(obj, dtype, copy, *stays)
    except ArgumentTypeError:
        if not isinstance(obj, list | tuple):
            raise
        result = None
    if result is None:  # obj is a list or tuple of arrays, or of another package's numbers
        return _ext.from_object(_to_lists(obj), dtype, copy, *stays)
    if result is not NotImplemented:
        return result
    if (converted := _readable(obj)) is not None:
        if copy is False:
            raise ArgumentError("copy=False, but these elements have to be converted; leave out copy")
        return _ext.from_object(converted, dtype, None, *stays)
    if hasattr(obj, "__dlpack__"):
        return _ext.from_object(_shared(obj, copy), dtype, copy, *stays)
    if hasattr(obj, "__array__"):
        result = _ext.from_object(obj.__array__(), dtype, copy, *stays)
        if result is not NotImplemented:
            return result
    if hasattr(obj, "__array_interface__"):
        from lanewise import array_interface

        return _ext.from_object(array_interface.read(obj, copy), dtype, None, *stays)
    if sys.platform == "emscripten":
        from lanewise import javascript

        if javascript.is_buffer(obj):
            return _ext.from_object(javascript.from_js(obj, copy), dtype, None, *stays)
    if isinstance(obj, Sequence) and not isinstance(obj, str | bytes):  # a range or a deque, for example
        return _ext.from_object(list(obj), dtype, copy, *stays)
    kinds = "give a tensor, a number, a list, a NumPy array, or an object with the buffer protocol or DLPack"
    hint = "use asarray(list(x))" if hasattr(obj, "__next__") else kinds
    raise ArgumentTypeError(f"expected numbers, got {describe_type(obj)}; {hint}")


def _readable(obj: Any) -> Any:
    """Returns a NumPy array of bfloat16, or one in another byte order, as a tensor or an array that can be read as a
    buffer; None for other objects."""
    dtype: Any = getattr(obj, "dtype", None)
    if getattr(dtype, "name", None) == "bfloat16" and hasattr(obj, "tobytes"):
        native = obj.astype(dtype.newbyteorder("="), copy=False)
        return _ext.from_bytes(native.tobytes(), dtypes.bfloat16, obj.shape)
    return obj.astype(dtype.newbyteorder("=")) if getattr(dtype, "isnative", True) is False else None


def _shared(obj: Any, copy: bool | None) -> Any:
    """Returns a tensor that shares the memory of `obj`, or `obj` as a NumPy array if Lanewise lacks its dtype."""
    try:
        return from_dlpack(obj, copy=False if copy is False else None)  # asarray() copies if `copy` is true
    except DTypeError:
        try:
            return obj.__array__()
        except (AttributeError, ImportError, RuntimeError, TypeError):  # NumPy is missing, or it lacks this dtype, too
            pass
        raise


def _to_lists(value: Any) -> Any:
    """Returns nested lists in which arrays are replaced by lists of Python numbers."""
    if isinstance(value, list | tuple):
        return [_to_lists(one) for one in value]
    return value.tolist() if hasattr(value, "tolist") else value


_DLPACK_CPU = 1


@named("from_dlpack")
def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """Returns a tensor from any array with DLPack support, such as torch's. Shares its memory unless `copy` is true
    or `device` is another device; where `copy` is False, that is an error.

    >>> import lanewise as lw
    >>> lw.from_dlpack(lw.arange(3))
    Tensor([0, 1, 2])
    """
    if hasattr(type(x), "soften_mask") and x.mask.any():
        raise ArgumentTypeError(
            "expected an array without a mask, got a numpy.ma array, whose mask would be lost; call .filled() first"
        )
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise ArgumentTypeError(f"expected an object with __dlpack__, got {describe_type(x)}; use asarray")
    copies = _parse_copy(copy)
    kind, index = x.__dlpack_device__()
    if kind != _DLPACK_CPU:
        raise BackendError(
            f"expected an array on the CPU, got DLPack device ({int(kind)}, {index}); move it to the CPU"
        )
    try:
        capsule = x.__dlpack__(max_version=(1, 0), copy=copies)
    except TypeError:  # exporters older than DLPack 1.0 accept neither keyword
        capsule = x.__dlpack__()
    result = _ext.from_dlpack_capsule(capsule)
    return placement.place(result.copy() if copies else result, device, copies)


def _dtype_of_value(value: Any) -> DType:
    if isinstance(value, bool):
        return dtypes.bool
    if isinstance(value, int):
        return as_dtype(int) if -(2**31) <= value < 2**31 else dtypes.int64
    if isinstance(value, float):
        return as_dtype(float)
    return as_dtype(value.dtype if hasattr(value, "dtype") else float)


def _check_range(value: float, dtype: DType) -> None:
    limits = INTEGERS.get(dtype.code)
    if limits and not limits.min <= value <= limits.max:
        raise RangeError(f"expected a number that fits {dtype}, got {value}; use a wider dtype, or float32")
