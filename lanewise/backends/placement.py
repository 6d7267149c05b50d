"""Says where tensors are stored, and moves them.

A tensor is committed to a backend if the user placed it there. For operations that have kernels, the extension uses the
backend that their operands are committed to. The functions here place tensors for Tensor.to() and similar methods
(methods.py), creation functions and composed operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lanewise import _ext
from lanewise._ext import Tensor
from lanewise.backends import selection
from lanewise.backends.backend import backend_of
from lanewise.errors import ArgumentError

__all__ = ["call_on", "device_of", "move", "place"]


def device_of(tensor: Tensor) -> str:
    """Returns the name of the device that stores a tensor, for the array API: "cpu", "wgpu", "wgpu:1" or "cuda"."""
    return _device_at(tensor._backend_name)


def _device_at(place: str) -> str:
    return place if backend_of(place).is_gpu else "cpu"


def move(tensor: Tensor, place: str) -> Tensor:
    """Returns the tensor, committed to `place`: a CPU backend or a device of a GPU backend that is open. Returns the
    tensor itself if it is committed there already, and a tensor with the same memory if it is on that device."""
    if tensor.is_committed and tensor._backend_name == place:
        return tensor
    return tensor._place_on(str(place))


def place(tensor: Tensor, device: Any, copy: bool | None = None) -> Tensor:
    """Returns the tensor committed to `device`, on its backend if it is there, or unchanged if `device` is None.
    Raises ArgumentError if `copy` is False and the tensor is on another device."""
    if device is None:
        return tensor
    current = device_of(tensor)
    chosen = tensor._backend_name if device == current else _open(device)
    if copy is False and (target := _device_at(chosen)) != current:
        raise ArgumentError(f"expected data on {target} with copy=False, got data on {current}; leave out copy")
    return move(tensor, chosen)


def call_on(device: Any, function: Callable[..., Tensor], *arguments: Any) -> Tensor:
    """Calls a function that makes a tensor, on `device` unless that is None. The tensor is committed to the device."""
    if device is None:
        return function(*arguments)
    _ext.push_backend(_open(device))
    try:
        return function(*arguments)
    finally:
        _ext.pop_backend()


def _open(device: Any) -> str:
    """Opens a device. For "cpu", returns the CPU backend that this thread uses."""
    return _ext.host_backend() if device == "cpu" else selection.open_place(device)
