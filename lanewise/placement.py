"""Where tensors are, and placing them elsewhere.

The extension knows a tensor's backend and whether the user placed it there, and its own calls follow that. The
functions here do the same for Tensor.to() and its relatives (methods.py), creation functions and composed
operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lanewise import selection
from lanewise._ext import Tensor
from lanewise.backend import PRIORITY, Backend
from lanewise.errors import BackendError

__all__ = ["beside", "common", "device_of", "move", "placed"]


def device_of(tensor: Tensor) -> str:
    """The array API's name for where a tensor is: "cpu", "wgpu", "cuda"."""
    backend = Backend(tensor._backend_name)
    return backend.value if backend.is_gpu else "cpu"


def move(tensor: Tensor, backend: Backend) -> Tensor:
    """The tensor, placed on an opened backend by the user. Among CPU backends nothing is copied."""
    return tensor._place_on(backend.value)


def placed(tensor: Tensor, device: Any, operation: str) -> Tensor:
    """A new tensor where `device` says; where `device` is None, or says "cpu" of a host tensor, as it is."""
    if device is None or device == device_of(tensor):
        return tensor
    return move(tensor, selection.open_backend(device, operation))


def beside(tensor: Tensor, other: Tensor, device: Any, operation: str) -> Tensor:
    """A new tensor placed as `other` is, where no device is given."""
    if device is None and other.is_committed:
        return move(tensor, Backend(other._backend_name))
    return placed(tensor, device, operation)


def common(tensors: Sequence[Tensor], operation: str) -> Backend | None:
    """The backend with the lowest priority of those on which the user placed tensors; None without any.

    BackendError inside strict_backends() where there are several. In its own calls, the extension follows the
    same rule.
    """
    chosen = {Backend(tensor._backend_name) for tensor in tensors if tensor.is_committed}
    if len(chosen) > 1 and selection.is_strict():
        raise BackendError(
            f"{operation}: operands are on the backends {' and '.join(sorted(chosen))}; "
            "move one with to(), or leave strict_backends()"
        )
    return max(chosen, key=PRIORITY.index, default=None)
