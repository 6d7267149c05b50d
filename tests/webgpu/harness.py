"""Runs kernels on NumPy arrays, on a WebGPU device, through the executor. The layouts (shapes and strides that a kernel
receives) are like those that the extension passes to CPU kernels, except that no dimensions are merged."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lanewise.webgpu.buffers import DeviceBuffer
from lanewise.webgpu.executor import WebGpuExecutor

POISON = 0xA5  # the value of every byte of an output before a launch
GUARD = 64  # bytes of poison before and after each output

Operand = tuple[DeviceBuffer, int]


class Runner:
    """Moves arrays to and from an executor's device, and launches kernels on them."""

    def __init__(self, executor: WebGpuExecutor) -> None:
        self.executor = executor

    def upload(self, array: np.ndarray) -> Operand:
        """Uploads the bytes that an array spans. Returns the buffer, and the offset of the first element."""
        if not array.size:
            return self.executor.allocate(0), 0
        low, high = np.lib.array_utils.byte_bounds(array)
        first = array.__array_interface__["data"][0]
        data = memoryview((np.ctypeslib.ctypes.c_char * (high - low)).from_address(low)).cast("B")
        buffer = self.executor.allocate(high - low)
        self.executor.upload(buffer, data)
        return buffer, first - low

    def poisoned(self, nbytes: int) -> Operand:
        """Returns a poisoned buffer for a result between two guards, and the offset of the result."""
        buffer = self.executor.allocate(nbytes + 2 * GUARD)
        self.executor.upload(buffer, memoryview(bytes([POISON]) * (nbytes + 2 * GUARD)))
        return buffer, GUARD

    def download(self, operand: Operand, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
        """Downloads a result and returns it. Asserts that the guards around it are intact."""
        nbytes = math.prod(shape) * dtype.itemsize
        into = np.empty(nbytes + 2 * GUARD, np.uint8)
        self.executor.download(operand[0], memoryview(into))
        guards = np.concatenate([into[:GUARD], into[GUARD + nbytes :]])
        assert (guards == POISON).all(), "the kernel wrote outside its result"
        return into[GUARD : GUARD + nbytes].view(dtype).reshape(shape)

    def start(
        self,
        kernel: str,
        kind: str,
        layout: Mapping[str, Any],
        inputs: Sequence[np.ndarray | None],
        shape: Sequence[int],
        dtype: np.dtype,
        parameters: Sequence[float] = (),
    ) -> Callable[[], np.ndarray]:
        """Launches a kernel with a row-major result. Returns a function that waits for the result and returns it."""
        out = self.poisoned(math.prod(shape) * dtype.itemsize)
        operands = [(None, 0) if each is None else self.upload(each) for each in inputs]
        self.executor.launch(kernel, kind, layout, operands, [out], parameters)
        return lambda: self.download(out, shape, dtype)

    def run(self, *arguments: Any) -> np.ndarray:
        """Launches a kernel and returns its result."""
        return self.start(*arguments)()

    def elementwise(
        self,
        kernel: str,
        inputs: Iterable[np.ndarray],
        dtype: Any,
        parameters: Sequence[float] = (),
        kind="elementwise",
    ) -> np.ndarray:
        """Runs an elementwise or cast kernel, with inputs broadcast as in NumPy."""
        views = np.broadcast_arrays(*inputs) if len(inputs := list(inputs)) > 1 else inputs
        shape, dtype = views[0].shape, np.dtype(dtype)
        layout = strided_layout(shape, [view.strides for view in views], dtype.itemsize)
        return self.run(kernel, kind, layout, views, shape, dtype, parameters)

    def reduction(
        self,
        kernel: str,
        x: np.ndarray,
        axes: Sequence[int],
        dtype: Any,
        parameters: Sequence[float] = (),
        kind: str = "reduction",
    ) -> np.ndarray:
        """Runs a reduction over axes, without keepdims."""
        kept = [axis for axis in range(x.ndim) if axis not in axes]
        moved = x.transpose([*kept, *axes])
        shape, dtype = moved.shape[: len(kept)], np.dtype(dtype)
        strides = [*_row_major(shape, dtype.itemsize), *([0] * len(axes))]
        layout = {
            "ndim": x.ndim,
            "inner": len(axes),
            "shape": [*moved.shape],
            "strides": [[*moved.strides], strides],
        }
        return self.run(kernel, kind, layout, [moved], shape, dtype, parameters)

    def matrix(
        self, kernel: str, a: np.ndarray, b: np.ndarray, vectors: Sequence[np.ndarray | None] = (), parameters=()
    ) -> np.ndarray:
        """Runs a matrix product. `vectors` are further inputs of length n, such as a bias."""
        m, k = a.shape[-2:]
        n = b.shape[-1]
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = np.broadcast_to(a, (*batch, m, k)), np.broadcast_to(b, (*batch, k, n))
        shape = (*batch, m, n)
        strides = [a.strides, b.strides, *((0,) * len(batch) + (0, 4) for _ in vectors), tuple(_row_major(shape, 4))]
        layout = {
            "batch_ndim": len(batch),
            "batch_shape": [*batch],
            "batch_strides": [[*each[:-2]] for each in strides],
            "m": m,
            "n": n,
            "k": k,
            "row_strides": [each[-2] for each in strides],
            "column_strides": [each[-1] for each in strides],
        }
        return self.run(kernel, "matrix", layout, [a, b, *vectors], shape, np.dtype(np.float32), parameters)


def strided_layout(shape: Sequence[int], strides: Iterable[Sequence[int]], item_bytes: int) -> Mapping[str, Any]:
    """Returns the members of lw_layout for inputs with these strides and a row-major result."""
    rows = [[*each] for each in strides]
    return {"ndim": len(shape), "inner": 0, "shape": [*shape], "strides": [*rows, _row_major(shape, item_bytes)]}


def _row_major(shape: Sequence[int], item_bytes: int) -> list[int]:
    return [item_bytes * math.prod(shape[d + 1 :]) for d in range(len(shape))]


class lw_layout(ctypes.Structure):  # noqa: N801 - as in lanewise.h
    """The C struct of a strided layout."""

    _fields_ = (
        ("ndim", ctypes.c_int32),
        ("inner", ctypes.c_int32),
        ("shape", ctypes.c_int64 * 8),
        ("strides", ctypes.c_int64 * 8 * 5),
    )


class lw_matrix_layout(ctypes.Structure):  # noqa: N801
    """The C struct of a layout of matrices."""

    _fields_ = (
        ("batch_ndim", ctypes.c_int32),
        ("batch_shape", ctypes.c_int64 * 8),
        ("batch_strides", ctypes.c_int64 * 8 * 5),
        ("m", ctypes.c_int64),
        ("n", ctypes.c_int64),
        ("k", ctypes.c_int64),
        ("row_strides", ctypes.c_int64 * 5),
        ("column_strides", ctypes.c_int64 * 5),
    )


def layout_of(struct: str, content: bytes) -> Mapping[str, Any]:
    """Decodes the bytes of a C struct to the mapping that Executor.launch() takes as `layout`."""
    layout = {"lw_layout": lw_layout, "lw_matrix_layout": lw_matrix_layout}[struct].from_buffer_copy(content)
    return {name: _plain(getattr(layout, name)) for name, _ in layout._fields_}


def parameters_of(contract: Any, scalars: bytes) -> list[float]:
    """Decodes a kernel's parameters, an array of lw_scalar, to numbers."""
    types = ["d" if each.type == "float" else "q" for each in contract.kernel_parameters]
    return list(struct.unpack(f"<{''.join(types)}", scalars))


def _plain(value: Any) -> Any:
    return value if isinstance(value, int) else [_plain(each) for each in value]


def emitted(folder: Path, contracts: Sequence[Any]) -> Path:
    """Writes the WGSL modules generated from the contracts in the working tree into a file, and returns its path."""
    from generator import wgsl

    ((name, text),) = wgsl.pack(wgsl.emit(contracts)).items()
    path = folder / name
    path.write_text(text)
    return path
