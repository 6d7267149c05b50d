"""Devices: the description for users (DeviceInfo), and the interface that runs kernels on a device (Executor).

registry.py lists devices and opens them. In this version, only lanewise.webgpu implements Executor. Users and tests
call that executor directly: operations do not use it, and tensors are always stored in host memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

__all__ = ["GIGABYTE", "DeviceInfo", "Executor"]

GIGABYTE = 1024**3


class DeviceInfo(NamedTuple):
    """One device of a backend. Memory is in bytes. Unknown fields are None; an unknown total_memory is 0."""

    index: int  # type: ignore[assignment] # hides tuple.index
    name: str
    total_memory: int = 0
    free_memory: int | None = None
    compute_capability: str | None = None
    unified_memory: bool = False
    api: str | None = None  # for WebGPU adapters only: vulkan, metal, dx12 or opengl
    software: bool = False  # the adapter runs on the CPU; AUTO never chooses it

    def __str__(self) -> str:
        """`[0] name: X.XX GB (Y.YY GB free, further properties)`, in units of 2^30 bytes."""
        details = []
        if self.free_memory is not None:
            details.append(f"{self.free_memory / GIGABYTE:.2f} GB free")
        if self.unified_memory:
            details.append("unified memory")
        if self.compute_capability:
            details.append(f"compute capability {self.compute_capability}")
        if self.api:
            details.append(self.api)
        if self.software:
            details.append("software")
        memory = f": {self.total_memory / GIGABYTE:.2f} GB" if self.total_memory else ""
        return f"[{self.index}] {self.name}{memory}" + (f" ({', '.join(details)})" if details else "")


class Executor(Protocol):
    """Runs kernels on one opened device, which has its own memory.

    A buffer is an opaque object; deleting it releases its memory. `launch` may return before the work is done; only
    `download` waits for it.
    """

    device: DeviceInfo

    def allocate(self, nbytes: int) -> Any:
        """Returns a new buffer. Raises OutOfMemoryError if the device has too little memory."""
        ...

    def upload(self, buffer: Any, data: memoryview) -> None:
        """Copies contiguous host bytes to the start of a buffer."""
        ...

    def download(self, buffer: Any, into: memoryview) -> None:
        """Waits for all launched work, then copies the start of a buffer into contiguous host bytes."""
        ...

    def launch(
        self,
        kernel: str,
        kind: str,
        layout: Mapping[str, Any],
        inputs: Sequence[tuple[Any, int]],
        outputs: Sequence[tuple[Any, int]],
        parameters: Sequence[float],
    ) -> None:
        """Runs a kernel such as `exp_float32`, whose `kind` (contracts/kinds.yaml) is `elementwise`.

        `layout` has the fields of that kind's struct in core/include/lanewise.h, as ints and nested lists. Operands are
        pairs of a buffer and the byte offset of the first element, (None, 0) for an optional input that is absent.
        """
        ...
