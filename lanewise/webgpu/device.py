"""The thin interface to a WebGPU device: everything above it is shared by desktop and browser.

Commands are recorded in lists and handed over together: encoding and submitting costs about 100 us, a recorded dispatch
about 3. Nothing waits but `read`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

__all__ = ["PARAMETER_BYTES", "Access", "Command", "Copy", "Device", "Dispatch", "Limits"]

PARAMETER_BYTES = 256  # of one dispatch: also the largest alignment that an adapter asks of an offset

Access = Literal["read", "read_write", ""]  # how a shader uses the buffer at a binding; "" where it has none


@dataclass(frozen=True, slots=True)
class Limits:
    """What an adapter allows, in bytes and workgroups."""

    buffer: int
    binding: int  # of one buffer, as a shader sees it
    groups: int  # along one dimension of a dispatch


class Dispatch(NamedTuple):
    """One run of a pipeline; the parameters are at `slot` * PARAMETER_BYTES of those of its list."""

    pipeline: Any
    bindings: Any
    slot: int
    groups: tuple[int, int, int]


class Copy(NamedTuple):
    """Copies the first `size` bytes of one buffer to the start of another; a multiple of 4."""

    source: Any
    target: Any
    size: int


Command = Dispatch | Copy


class Device(Protocol):
    """An opened device. Buffers, pipelines and bindings are objects of its own; sizes are multiples of 4."""

    limits: Limits

    def buffer(self, size: int) -> Any:
        """New memory, of any content. OutOfMemoryError where there is none."""
        ...

    def destroy(self, buffer: Any) -> None:
        """Frees a buffer that no recorded command uses any more."""
        ...

    def write(self, buffer: Any, offset: int, data: memoryview) -> None:
        """Writes host bytes; submitted commands see the old ones, later commands the new."""
        ...

    def read(self, buffer: Any, offset: int, into: memoryview) -> None:
        """Waits for all that was submitted, and copies bytes to the host."""
        ...

    def pipeline(
        self, label: str, source: str, entry: str, access: Sequence[Access], constants: Mapping[str, float]
    ) -> Any:
        """Compiles an entry of a WGSL module whose bindings are `access`, then the parameters."""
        ...

    def bind(self, pipeline: Any, buffers: Sequence[Any]) -> Any:
        """Buffers for the bindings of a pipeline, in order; those without access are skipped."""
        ...

    def submit(self, commands: Sequence[Command], parameters: bytes | bytearray) -> None:
        """Starts recorded commands; `parameters` are those of its dispatches one after another."""
        ...
