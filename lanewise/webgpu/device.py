"""The interface to a WebGPU device. The layers above it do not depend on the WebGPU implementation.

Commands are recorded in lists and submitted together: a submission costs about 100 us, a recorded dispatch about 3 us.
Only `read` waits for the device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

__all__ = ["PARAMETER_BYTES", "Access", "Command", "Copy", "Device", "Dispatch", "Limits"]

PARAMETER_BYTES = 256  # bytes per dispatch; also the largest alignment that an adapter can require of dynamic offsets

Access = Literal["read", "read_write", ""]  # how a shader accesses the buffer of a binding; "" if it does not


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of an adapter, in bytes and workgroups."""

    buffer: int  # maximum bytes of a buffer
    binding: int  # maximum bytes of a buffer that a shader can access
    groups: int  # maximum workgroups along one dimension of a dispatch


class Dispatch(NamedTuple):
    """One dispatch of a pipeline. Its parameters are at `slot` * PARAMETER_BYTES in the submission's parameters."""

    pipeline: Any
    bindings: Any
    slot: int
    groups: tuple[int, int, int]


class Copy(NamedTuple):
    """Copies the first `size` bytes, a multiple of 4, of one buffer to the start of another."""

    source: Any
    target: Any
    size: int


Command = Dispatch | Copy


class Device(Protocol):
    """An opened device. Buffers, pipelines and bindings are opaque objects; sizes and offsets are multiples of 4."""

    limits: Limits

    def buffer(self, size: int) -> Any:
        """Allocates an uninitialized buffer. Raises OutOfMemoryError if there is not enough memory."""
        ...

    def destroy(self, buffer: Any) -> None:
        """Frees a buffer, which no unsubmitted command may use."""
        ...

    def write(self, buffer: Any, offset: int, data: memoryview) -> None:
        """Copies host bytes to a buffer. Commands submitted earlier read the old contents, later ones the new."""
        ...

    def read(self, buffer: Any, offset: int, into: memoryview) -> None:
        """Waits for all submitted commands and copies bytes to the host."""
        ...

    def pipeline(
        self, label: str, source: str, entry: str, access: Sequence[Access], constants: Mapping[str, float]
    ) -> Any:
        """Compiles an entry point of a WGSL module. `access` has an entry per buffer; the parameters are bound last."""
        ...

    def bind(self, pipeline: Any, buffers: Sequence[Any]) -> Any:
        """Binds buffers to the bindings of a pipeline, in order. Ignores the buffers of bindings with access ""."""
        ...

    def submit(self, commands: Sequence[Command], parameters: bytes) -> None:
        """Submits recorded commands. `parameters` has PARAMETER_BYTES for each dispatch among them."""
        ...
