"""Launches kernels on a WebGPU device: implements lanewise.devices.Executor.

`launch` records commands, which are submitted together: when there are many, or before a transfer that needs them.
WebGPU does not allow binding one buffer both as read and as read_write. If the result shares its buffer with an input,
the executor copies the input, or launches the kernel's in-place entry point if the result is exactly the first input.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from lanewise.devices import DeviceInfo
from lanewise.errors import ArgumentError, BackendError
from lanewise.webgpu import layouts, shaders
from lanewise.webgpu.buffers import DeviceBuffer, Pool
from lanewise.webgpu.device import Access, Command, Copy, Device, Dispatch
from lanewise.webgpu.shaders import Shader

__all__ = ["WebGpuExecutor"]

BATCH: Final = 64  # number of recorded commands that triggers a submission
BINDINGS: Final = 4096  # maximum number of bind groups kept for later launches with the same buffers
GROUP: Final = 256  # invocations in a workgroup of an elementwise kernel
TILE: Final = 64  # rows and columns of a matrix tile
_NO_CONSTANTS: Final[Mapping[str, int]] = {}

Operand = tuple[DeviceBuffer, int]  # a buffer, and the byte offset of the first element


class WebGpuExecutor:
    """An executor on one device. Thread-safe."""

    def __init__(self, device: Device, info: DeviceInfo, file: Path = shaders.FILE) -> None:
        self.device = info
        self._gpu = device
        self._file = file
        self._lock = threading.RLock()
        self._pool = Pool(device, _budget(), self._settle)
        self._commands: list[Command] = []
        self._parameters = bytearray()
        self._slots = 0
        self._busy: set[int] = set()  # ids of the handles that recorded commands use
        self._pipelines: dict[tuple[str, str, tuple[tuple[str, int], ...]], Any] = {}
        self._bindings: dict[tuple[Any, ...], Any] = {}

    def allocate(self, nbytes: int) -> DeviceBuffer:
        """Returns a new, uninitialized buffer."""
        with self._lock:
            return self._pool.allocate(nbytes)

    def upload(self, buffer: DeviceBuffer, data: memoryview) -> None:
        """Copies contiguous host bytes to the start of a buffer."""
        data = data.cast("B")
        with self._lock:
            if id(buffer.handle) in self._busy:  # without this, the write would run before the recorded commands
                self.flush()
            whole = data.nbytes // 4 * 4
            if whole:
                self._gpu.write(buffer.handle, 0, data[:whole])
            if whole < data.nbytes:
                self._gpu.write(buffer.handle, whole, memoryview(bytes(data[whole:]).ljust(4, b"\0")))

    def download(self, buffer: DeviceBuffer, into: memoryview) -> None:
        """Waits for launched kernels, then copies the start of a buffer to contiguous host bytes."""
        into = into.cast("B")
        if not into.nbytes:
            return
        with self._lock:
            self.flush()
            if into.nbytes % 4 == 0:
                self._gpu.read(buffer.handle, 0, into)
                return
            padded = memoryview(bytearray(-(-into.nbytes // 4) * 4))
            self._gpu.read(buffer.handle, 0, padded)
            into[:] = padded[: into.nbytes]

    def flush(self) -> None:
        """Submits recorded commands without waiting for them."""
        with self._lock:
            if self._commands:
                commands, parameters = self._commands, bytes(self._parameters)
                self._commands, self._parameters, self._slots = [], bytearray(), 0
                self._busy.clear()
                self._gpu.submit(commands, parameters)

    def launch(
        self,
        kernel: str,
        kind: str,
        layout: Mapping[str, Any],
        inputs: Sequence[tuple[DeviceBuffer | None, int]],
        outputs: Sequence[Operand],
        parameters: Sequence[float],
    ) -> None:
        """Launches a kernel. `layout` has the fields of the C struct for `kind`; an absent input has the buffer None.

        Raises BackendError if the kernel has no shader or `kind` is unsupported, DeviceError if the launch fails.
        """
        shader = shaders.load(self._file, kernel, kind)
        absent = sum(1 << position for position, (buffer, _) in enumerate(inputs) if buffer is None)
        operands = [(buffer, at) if buffer is not None else (_present(inputs), 0) for buffer, at in inputs]
        if len(operands) != shader.inputs:
            raise ArgumentError(f"{kernel}: expected {shader.inputs} inputs, got {len(operands)}")
        with self._lock:
            if kind in ("elementwise", "cast"):
                self._elementwise(shader, layout, operands, outputs[0], parameters)
            elif kind in ("reduction", "index_reduction"):
                self._reduction(shader, layout, operands, outputs[0], parameters)
            elif kind == "matrix":
                self._matrix(shader, layout, operands, outputs[0], parameters, absent)
            else:
                raise BackendError(
                    f"{kernel}: wgpu does not support kernels of kind {kind}; move the operands to the CPU with .to()"
                )
            if len(self._commands) >= BATCH:
                self.flush()

    def _elementwise(
        self, shader: Shader, layout: Mapping[str, Any], inputs: list[Operand], out: Operand, scalars: Sequence[float]
    ) -> None:
        strided = layouts.Strided(shader.kernel, layout, len(inputs) + 1)
        if not strided.count:
            return
        in_place = (
            shader.in_place
            and inputs[0][0].handle is out[0].handle
            and inputs[0][1] == out[1]
            and strided.strides[0] == strided.strides[-1]
        )
        buffers = self._unaliased(inputs, out, keep=in_place)
        access: list[Access] = [*_reads(inputs), "read_write"]
        if in_place:
            access[0] = ""
        packed = strided.fills_words(len(inputs), out[1], shader.item_bytes)
        offsets = [at for _, at in inputs] + [out[1]]
        per_invocation = max(1, 4 // shader.item_bytes)
        groups = self._groups(-(-strided.count // (GROUP * per_invocation)))
        self._record(
            shader,
            "in_place" if in_place else "main",
            access,
            [*buffers, out[0]],
            strided.parameters(offsets, scalars, packed),
            (groups, 1, 1),
            {"lw_ndim": strided.ndim},
        )

    def _reduction(
        self, shader: Shader, layout: Mapping[str, Any], inputs: list[Operand], out: Operand, scalars: Sequence[float]
    ) -> None:
        strided = layouts.Strided(shader.kernel, layout, len(inputs) + 1)
        if not strided.count:
            return
        buffers = self._unaliased(inputs, out)
        values = strided.parameters([*(at for _, at in inputs), out[1]], scalars, packed=False)
        rows = self._groups(strided.count), 1, 1
        reads: list[Access] = list(_reads(inputs))
        unused: list[Access] = [""] * len(inputs)
        if strided.blocks == 1:
            self._record(shader, "main", (*reads, "read_write", ""), (*buffers, out[0], None), values, rows)
            return
        units = strided.count * strided.blocks
        scratch = self._pool.allocate(units * shader.scratch_bytes)
        blocks = self._groups(units), 1, 1
        self._record(shader, "blocks", (*reads, "", "read_write"), (*buffers, None, scratch), values, blocks)
        none = [None] * len(inputs)
        self._record(shader, "combine", (*unused, "read_write", "read_write"), (*none, out[0], scratch), values, rows)

    def _matrix(
        self,
        shader: Shader,
        layout: Mapping[str, Any],
        inputs: list[Operand],
        out: Operand,
        scalars: Sequence[float],
        absent: int,
    ) -> None:
        offsets = [at for _, at in inputs] + [out[1]]
        values, batch = layouts.matrix_parameters(shader.kernel, layout, offsets, scalars, absent)
        if not batch * layout["m"] * layout["n"]:
            return
        buffers = self._unaliased(inputs, out)
        columns, rows = self._groups(-(-layout["n"] // TILE)), self._groups(-(-layout["m"] // TILE))
        access: list[Access] = [*_reads(inputs), "read_write"]
        self._record(shader, "main", access, [*buffers, out[0]], values, (columns, rows, self._groups(batch)))

    def _unaliased(self, inputs: list[Operand], out: Operand, keep: bool = False) -> list[DeviceBuffer]:
        """Returns the inputs' buffers, replacing the result's buffer by a copy (except as input 0 if `keep`)."""
        buffers = [buffer for buffer, _ in inputs]
        shared = [buffer.handle is out[0].handle for buffer in buffers]
        if keep:
            shared[0] = False
        if any(shared):
            copy = self._pool.allocate(out[0].size)
            self._commands.append(Copy(out[0].handle, copy.handle, copy.capacity))
            self._busy.add(id(copy.handle))
            return [copy if is_out else buffer for buffer, is_out in zip(buffers, shared, strict=True)]
        return buffers

    def _record(
        self,
        shader: Shader,
        entry: str,
        access: Sequence[Access],
        buffers: Sequence[DeviceBuffer | None],
        parameters: bytes,
        groups: tuple[int, int, int],
        constants: Mapping[str, int] = _NO_CONSTANTS,
    ) -> None:
        name = (shader.kernel, entry, tuple(constants.items()))
        pipeline = self._pipelines.get(name)
        if pipeline is None:
            pipeline = self._gpu.pipeline(shader.kernel, shader.source, entry, access, constants)
            self._pipelines[name] = pipeline
        handles = [buffer.handle if buffer and use else None for buffer, use in zip(buffers, access, strict=True)]
        key = (*name, *map(id, handles))
        bindings = self._bindings.get(key)
        if bindings is None:
            if len(self._bindings) >= BINDINGS:
                self._bindings.clear()
            bindings = self._bindings[key] = self._gpu.bind(pipeline, handles)
        self._commands.append(Dispatch(pipeline, bindings, self._slots, groups))
        self._parameters += parameters
        self._slots += 1
        self._busy.update(id(handle) for handle in handles if handle is not None)

    def _groups(self, count: int) -> int:
        """Returns `count`, but at most the device's limit of workgroups; shaders loop over the remaining work."""
        return min(count, self._gpu.limits.groups)

    def _settle(self) -> None:
        self.flush()
        self._bindings.clear()


def _reads(inputs: Sequence[Operand]) -> Iterator[Access]:
    return ("read" for _ in inputs)


def _present(inputs: Sequence[tuple[DeviceBuffer | None, int]]) -> DeviceBuffer:
    """Returns the buffer of the first input that is present, to bind in place of absent ones."""
    for buffer, _ in inputs:
        if buffer is not None:
            return buffer
    raise ArgumentError("launch: expected at least one input with a buffer, got none")


def _budget() -> int | None:
    text = os.environ.get("LANEWISE_WGPU_MEMORY", "").strip()
    if not text:
        return None
    if text.isdecimal():
        return int(text)
    raise ArgumentError(f"LANEWISE_WGPU_MEMORY: expected a number of bytes, got {text!r}")
