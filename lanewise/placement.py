"""Says where tensors are stored, and moves them.

A tensor is committed to a backend if the user placed it there. For operations that have kernels, the extension uses the
backend that their operands are committed to. The functions here place tensors for Tensor.to() and similar methods
(methods.py), creation functions and composed operations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lanewise import _ext, selection
from lanewise._ext import Tensor
from lanewise.backend import backend_of

__all__ = ["call_on", "device_of", "move", "place"]


def device_of(tensor: Tensor) -> str:
    """Returns the name of the device that stores a tensor, for the array API: "cpu", "wgpu", "wgpu:1" or "cuda"."""
    name = tensor._backend_name
    return name if backend_of(name).is_gpu else "cpu"


def move(tensor: Tensor, place: str) -> Tensor:
    """Returns the tensor, committed to `place`: a CPU backend or a device of a GPU backend that is open. Returns the
    tensor itself if it already is, and copies nothing on the device where it is."""
    if tensor.is_committed and tensor._backend_name == place:
        return tensor
    return tensor._place_on(str(place))


def place(tensor: Tensor, device: Any) -> Tensor:
    """Returns the tensor committed to `device`, on its backend if it is there, or unchanged if `device` is None."""
    if device is None:
        return tensor
    current = device_of(tensor)
    chosen = tensor._backend_name if device == current else _open(device)
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
    """Opens a device. Computing on "cpu" needs no other backend than the one that this thread uses on the CPU."""
    return _ext.host_backend() if device == "cpu" else selection.open_place(device)
