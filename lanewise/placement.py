"""Says where tensors are stored, and moves them.

A tensor is committed to a backend if the user placed it there. For operations that have kernels, the extension uses the
backend that their operands are committed to. The functions here place tensors for Tensor.to() and similar methods
(methods.py), creation functions and composed operations.
"""

from __future__ import annotations

from typing import Any

from lanewise import _ext, selection
from lanewise._ext import Tensor
from lanewise.backend import backend_of
from lanewise.dtypes import DType

__all__ = ["create", "device_of", "move", "place"]


def device_of(tensor: Tensor) -> str:
    """Returns the name of the device that stores a tensor, for the array API: "cpu", "wgpu", "wgpu:1" or "cuda"."""
    name = tensor._backend_name
    return name if backend_of(name).is_gpu else "cpu"


def move(tensor: Tensor, place: str) -> Tensor:
    """Returns the tensor, committed to `place`: a CPU backend or a device of a GPU backend that is open. Moving between
    CPU backends copies nothing."""
    return tensor._place_on(str(place))


def place(tensor: Tensor, device: Any) -> Tensor:
    """Returns the tensor placed on `device`, or unchanged if `device` is None or the tensor's current device."""
    if device is None or device == device_of(tensor):
        return tensor
    return move(tensor, selection.open_place(device))


def create(kernel: str, shape: Any, dtype: DType, numbers: tuple[Any, ...], device: Any) -> Tensor:
    """Returns what a creation kernel makes, placed on `device` unless that is None. On a GPU, the GPU makes it."""
    chosen = None if device is None else selection.open_place(device)
    if chosen is None or not backend_of(chosen).is_gpu:
        return place(_ext.create(kernel, shape, dtype, numbers), device)
    _ext.push_backend(chosen)
    try:
        return _ext.create(kernel, shape, dtype, numbers)
    finally:
        _ext.pop_backend()
