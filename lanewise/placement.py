"""Where tensors are, and moving them: between CPU backends without a copy, to and from GPUs with one.

The extension knows a tensor's backend and whether the user placed it there. The functions here serve
Tensor.to() and its relatives (methods.py), the slow path of calls (dispatch.py), creation functions and
composed operations; `allocate` and `launch` are the extension's hooks for tensors that live on a GPU.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from lanewise import _ext, registry, selection
from lanewise._ext import Tensor
from lanewise.backend import PRIORITY, Backend
from lanewise.devices import Executor
from lanewise.errors import BackendError, BackendUnavailableError

__all__ = ["allocate", "beside", "common", "device_of", "launch", "move", "on_host", "placed", "to_host"]


def device_of(tensor: Tensor) -> str:
    """The array API's name for where a tensor is: "cpu", "wgpu", "cuda"."""
    backend = Backend(tensor._backend_name)
    return backend.value if backend.is_gpu else "cpu"


def move(tensor: Tensor, backend: Backend) -> Tensor:
    """The tensor, placed on an opened backend by the user."""
    if tensor.is_committed and tensor._backend_name == backend.value:
        return tensor
    host = to_host(tensor)
    return _upload(host, backend) if backend.is_gpu else host._place_on(backend.value)


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


def to_host(tensor: Tensor) -> Tensor:
    """The tensor itself, or, of a GPU's, a copy in the host's memory."""
    backend = Backend(tensor._backend_name)
    return _download(tensor, backend) if backend.is_gpu else tensor


def common(tensors: Sequence[Tensor], operation: str) -> Backend | None:
    """The backend with the lowest priority of those on which the user placed tensors; None without any.

    BackendError inside strict_backends() where there are several. In its own calls, the extension follows
    the same rule.
    """
    chosen = {Backend(tensor._backend_name) for tensor in tensors if tensor.is_committed}
    if len(chosen) > 1 and selection.is_strict():
        raise BackendError(
            f"{operation}: operands are on the backends {' and '.join(sorted(chosen))}; "
            "move one with to(), or leave strict_backends()"
        )
    return max(chosen, key=PRIORITY.index, default=None)


@contextmanager
def on_host() -> Iterator[None]:
    """Lets the extension make host tensors although use_backend() names a GPU."""
    if not Backend(_ext.current_backend()).is_gpu:
        yield
        return
    _ext.push_backend(selection.open_backend("cpu", "use_backend").value)
    try:
        yield
    finally:
        _ext.pop_backend()


def allocate(backend: str, nbytes: int) -> Any:
    """The extension's hook: memory for a result, an object that frees it when it dies."""
    return _executor(Backend(backend)).allocate(nbytes)


def launch(
    backend: str,
    kernel: str,
    kind: str,
    layout: Mapping[str, Any],
    inputs: Sequence[tuple[Any, int]],
    outputs: Sequence[tuple[Any, int]],
    parameters: Sequence[float],
) -> None:
    """The extension's hook: runs a kernel on buffers, each with the byte offset of its first element."""
    _executor(Backend(backend)).launch(kernel, kind, layout, inputs, outputs, parameters)


def _executor(backend: Backend) -> Executor:
    executor = registry.executor(backend)
    if executor is None:
        raise BackendUnavailableError(f"{backend}: it computes in the host's memory and has no executor")
    return executor


def _upload(tensor: Tensor, backend: Backend) -> Tensor:
    executor = _executor(backend)
    rows = tensor if tensor.is_contiguous else tensor.copy()
    buffer = executor.allocate(rows.nbytes)
    if rows.nbytes:
        executor.upload(buffer, memoryview(rows.tobytes()))
    made: Tensor = _ext.device_tensor(  # type: ignore[attr-defined]
        backend.value, buffer, rows.dtype, rows.shape
    )
    return made


def _download(tensor: Tensor, backend: Backend) -> Tensor:
    executor = _executor(backend)
    rows = tensor if tensor.is_contiguous else tensor.copy()
    buffer, offset = _ext.device_buffer(rows)  # type: ignore[attr-defined]
    content = bytearray(offset + rows.nbytes)
    if rows.nbytes:
        executor.download(buffer, memoryview(content))
    with on_host():
        return _ext.from_bytes(memoryview(content)[offset:], rows.dtype, rows.shape)
