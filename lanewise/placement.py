"""Says where tensors are stored, and moves them.

A tensor is committed to a backend if the user placed it there. For operations that have kernels, the extension uses the
backend that their operands are committed to. The functions here place tensors for Tensor.to() and similar methods
(methods.py), creation functions and composed operations.
"""

from __future__ import annotations

from typing import Any

from lanewise import _ext, selection
from lanewise._ext import Tensor
from lanewise.backend import Backend
from lanewise.dtypes import DType

__all__ = ["create", "device_of", "move", "place"]


def device_of(tensor: Tensor) -> str:
    """Returns the name of the device that stores a tensor, for the array API: "cpu", "wgpu" or "cuda"."""
    backend = Backend(tensor._backend_name)
    return backend.value if backend.is_gpu else "cpu"


def move(tensor: Tensor, backend: Backend) -> Tensor:
    """Returns the tensor, committed to `backend`, which must be open. Moving between CPU backends copies nothing."""
    return tensor._place_on(backend.value)


def place(tensor: Tensor, device: Any) -> Tensor:
    """Returns the tensor placed on `device`, or unchanged if `device` is None or the tensor's current device."""
    if device is None or device == device_of(tensor):
        return tensor
    return move(tensor, selection.open_backend(device))


def create(kernel: str, shape: Any, dtype: DType, numbers: tuple[Any, ...], device: Any) -> Tensor:
    """Returns what a creation kernel makes, placed on `device` unless that is None. On a GPU, the GPU makes it."""
    backend = None if device is None else selection.open_backend(device)
    if backend is None or not backend.is_gpu:
        return place(_ext.create(kernel, shape, dtype, numbers), device)
    _ext.push_backend(backend.value)
    try:
        return _ext.create(kernel, shape, dtype, numbers)
    finally:
        _ext.pop_backend()
