"""What a device is: to the user (DeviceInfo), and to the dispatch (Executor).

registry.py lists devices and opens them; dispatch.py moves tensors to and from them through an Executor, and
the extension launches kernels on them through it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

__all__ = ["GIGABYTE", "DeviceInfo", "Executor"]

GIGABYTE = 1024**3


class DeviceInfo(NamedTuple):
    """One device of a backend. Memory is in bytes; what cannot be known is None, total_memory 0."""

    index: int  # type: ignore[assignment] # in place of tuple.index
    name: str
    total_memory: int = 0
    free_memory: int | None = None
    compute_capability: str | None = None
    unified_memory: bool = False
    api: str | None = None  # of a WebGPU adapter: vulkan, metal, dx12, opengl
    software: bool = False  # the adapter runs on the CPU; AUTO never chooses it

    def __str__(self) -> str:
        """`[0] name: X.XX GB (Y.YY GB free)`, GB being 2^30 bytes."""
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
    """What a backend with memory of its own does for tensors. One stands for one opened device.

    A buffer is any object of the executor's; its memory is released when the object is. `launch` may return
    before the work is done; only `download` waits for it.
    """

    device: DeviceInfo

    def allocate(self, nbytes: int) -> Any:
        """A new buffer. OutOfMemoryError where the device has no room."""
        ...

    def upload(self, buffer: Any, data: memoryview) -> None:
        """Copies contiguous host bytes to the start of a buffer."""
        ...

    def download(self, buffer: Any, into: memoryview) -> None:
        """Waits for what was launched, and copies the start of a buffer into contiguous host bytes."""
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
        """Runs a kernel of the table, `exp_float32` say, of a kind of contracts/kinds.yaml.

        `layout` has the fields of that kind's struct in core/include/lanewise.h as ints and nested lists;
        operands are pairs of a buffer and the byte offset of their first element, (None, 0) for an input left
        out.
        """
        ...
