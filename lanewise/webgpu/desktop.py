"""WebGPU on the desktop: the adapters of the package wgpu, and the player of recorded dispatches on one of them.

native/extension/webgpu/recorder.c calls the player. What is called for every dispatch goes straight to the C library of
wgpu, because its Python wrappers take longer than the calls: 64 dispatches at once cost about 10 us each, and 15
through wrappers.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import struct
import tempfile
import threading
import time
from collections.abc import Iterator
from typing import Any, Final

import wgpu
from wgpu.backends.wgpu_native import _api as native

from lanewise.errors import DeviceError, OutOfMemoryError
from lanewise.webgpu import chains, compiling, shaders

__all__ = ["Player", "adapters"]

DISPATCH: Final = struct.Struct("<16I")  # lw_dispatch of recorder.h
PIPELINE_BYTES: Final = 16  # the first members of lw_dispatch, which select a pipeline
BUFFERS: Final = slice(32, 64)  # the last member
PARAMETER_BYTES: Final = 256  # of a dispatch
BATCH: Final = 64  # maximum number of dispatches in a batch
MAX_BIND_GROUPS: Final = 4096  # kept for later dispatches with the same buffers
STAGING_BYTES: Final = 1 << 20  # size of the buffer that reads of at most this size share
SPIN_SECONDS: Final = 1e-3  # how long a read polls without a pause; short ones return sooner that way
PAUSE_SECONDS: Final = 1e-4

_lib, _ffi = native.lib, native.ffi
_LOST: Final = re.compile(r"\blost\b", re.IGNORECASE)
_NO_MEMORY: Final = "Not enough memory left"  # wgpu says so in a validation error


@functools.cache
def adapters() -> tuple[Any, ...]:
    """Returns the adapters of wgpu except those of OpenGL, which offer the same hardware with fewer features."""
    with contextlib.suppress(RuntimeError):  # raised if the process already has a wgpu instance
        from wgpu.backends.wgpu_native import extras

        extras.set_instance_extras(backends=["Vulkan", "Metal", "DX12"])
    with _runtime_folder():
        every = wgpu.gpu.enumerate_adapters_sync()
    return tuple(adapter for adapter in every if adapter.info["backend_type"] != "OpenGL")


@contextlib.contextmanager
def _runtime_folder() -> Iterator[None]:
    """Sets XDG_RUNTIME_DIR if it is not set. Without it, drivers that look for a Wayland display print errors."""
    if "XDG_RUNTIME_DIR" in os.environ:
        yield
        return
    os.environ["XDG_RUNTIME_DIR"] = tempfile.gettempdir()
    try:
        yield
    finally:
        del os.environ["XDG_RUNTIME_DIR"]


class Player:
    """Creates buffers on a device, copies from and to them, and runs dispatches. The extension holds `lock` while it
    calls any method but create()."""

    def __init__(self, adapter: Any) -> None:
        self.lost = ""  # why the device is lost, "" while it is not
        self.lock = threading.RLock()
        self._name: str = adapter.info["device"]
        self._compiling = 0.0  # seconds that creating pipelines took since the last read
        limits = adapter.limits
        names = ("max-buffer-size", "max-storage-buffer-binding-size", "max-compute-workgroup-storage-size")
        with self._translated(f"opening {self._name}"):
            self._device = adapter.request_device_sync(required_limits={name: limits[name] for name in names})
        self.max_groups: int = self._device.limits["max-compute-workgroups-per-dimension"]
        self.max_buffer: int = min(limits[name] for name in names[:2]) // 16 * 16  # whole vectors
        self.max_workgroup_bytes: int = self._device.limits["max-compute-workgroup-storage-size"]
        # Lavapipe silently ends the loops of an invocation after this many rounds. 0 means no limit.
        self.max_rounds = 1 << 16 if "llvmpipe" in self._name else 0
        self.compiles_tiles = compiling.compiles_tiles(self._name)
        self._queue = self._device.queue
        self._buffers: dict[int, Any] = {}
        self._pipelines: dict[bytes, tuple[Any, tuple[int, int]]] = {}
        self._modules: dict[int, tuple[shaders.Shader, Any]] = {}
        self._layouts: dict[tuple[int, int], Any] = {}
        self._bind_groups: dict[tuple[tuple[int, int], bytes], Any] = {}
        self._staging: Any = None
        self._encoder: Any = None  # of dispatches that the next read submits, with its copy
        self._interrupted: list[tuple[list[int], Any, Any]] = []  # what wgpu uses until it has ended a mapping
        self._parameters = self._device.create_buffer(
            size=BATCH * PARAMETER_BYTES, usage=wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST
        )
        # bound where a dispatch has no buffer
        self._unread, self._unwritten = (
            self._device.create_buffer(size=16, usage=wgpu.BufferUsage.STORAGE) for _ in range(2)
        )

    def create(self, number: int, size: int) -> None:
        """Creates the buffer with this number. Raises OutOfMemoryError."""
        usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
        with self._translated(f"allocating {size} bytes"):
            self._buffers[number] = self._device.create_buffer(size=size, usage=usage)

    def destroy(self, number: int) -> None:
        """Destroys a buffer, which no dispatch uses that is still to be played."""
        with _captured():  # what a read was to submit, but failed before
            self._submit_encoder()
        self._bind_groups.clear()  # bind groups refer to buffers
        self._buffers.pop(number).destroy()

    def write(self, number: int, offset: int, data: memoryview) -> None:
        """Copies bytes from the host to a buffer. Offset and size are multiples of 4."""
        with self._translated(f"writing {data.nbytes} bytes"), _captured(), _ffi.from_buffer(data) as source:
            self._submit_encoder()
            _lib.wgpuQueueWriteBuffer(
                self._queue._internal, self._buffers[number]._internal, offset, source, data.nbytes
            )

    def read(self, number: int, offset: int, into: memoryview) -> None:
        """Waits for all dispatches, and copies bytes of a buffer to the host. Offset and size are multiples of 4."""
        size = into.nbytes
        with self._translated(f"reading {size} bytes"):
            if not self._encoder:
                self._check_loss()
            staging = self._staging if self._staging and size <= STAGING_BYTES else self._new_staging(size)
            self._staging = None  # an exception leaves a buffer that cannot be mapped again
            with _captured():
                encoder, self._encoder = self._encoder or self._new_encoder(), None
                source = self._buffers[number]._internal
                _lib.wgpuCommandEncoderCopyBufferToBuffer(encoder, source, offset, staging._internal, 0, size)
                # Some drivers compile kernels only when they run.
                with compiling.noted(self._name, self._compiling) if self._compiling else contextlib.nullcontext():
                    self._submit(encoder)
                    self._map(staging, size)
                self._compiling = 0.0
                mapped = _lib.wgpuBufferGetConstMappedRange(staging._internal, 0, size)
                into[:] = _ffi.buffer(mapped, size)
                _lib.wgpuBufferUnmap(staging._internal)
        if size <= STAGING_BYTES:
            self._staging = staging
        else:
            staging.destroy()

    def play(self, dispatches: bytes, parameters: bytes, is_read_next: int = 0) -> list[tuple[int, str]]:
        """Submits recorded dispatches. Returns the positions of those that cannot run, with the reasons. If a read is
        next, leaves it to submit them: to submit twice takes 20 us more."""
        failures: list[tuple[int, str]] = []
        steps = []
        for position in range(len(dispatches) // DISPATCH.size):
            dispatch = dispatches[position * DISPATCH.size : (position + 1) * DISPATCH.size]
            try:
                pipeline, layout = self._pipelines.get(dispatch[:PIPELINE_BYTES]) or self._pipeline(dispatch)
                group = self._bind_groups.get((layout, dispatch[BUFFERS])) or self._bind(layout, dispatch[BUFFERS])
            except DeviceError as error:
                failures.append((position, str(error)))
                continue
            steps.append((pipeline, group, position, dispatch))  # keeps a group that _bind() drops meanwhile
        with self._translated("submitting work"):
            with _captured():
                self._submit_encoder()
            self._write_parameters(parameters)
            with _captured():
                self._encoder = self._encode(steps)
                if not is_read_next:
                    self._submit_encoder()
        return failures

    def _write_parameters(self, parameters: bytes) -> None:
        with _captured(), _ffi.from_buffer(parameters) as source:
            _lib.wgpuQueueWriteBuffer(self._queue._internal, self._parameters._internal, 0, source, len(parameters))

    def _check_loss(self) -> None:
        """Raises an error if the device is lost. Otherwise, submitting work would end the process."""
        self._write_parameters(bytes(4))

    def _new_encoder(self) -> Any:
        return _lib.wgpuDeviceCreateCommandEncoder(self._device._internal, _ffi.NULL)

    def _encode(self, steps: list[tuple[Any, Any, int, bytes]]) -> Any:
        encoder = self._new_encoder()
        running = _lib.wgpuCommandEncoderBeginComputePass(encoder, _ffi.NULL)
        current, offset = None, _ffi.new("uint32_t[1]")
        for pipeline, group, position, dispatch in steps:
            if pipeline is not current:
                _lib.wgpuComputePassEncoderSetPipeline(running, pipeline._internal)
                current = pipeline
            offset[0] = position * PARAMETER_BYTES
            _lib.wgpuComputePassEncoderSetBindGroup(running, 0, group._internal, 1, offset)
            _lib.wgpuComputePassEncoderDispatchWorkgroups(running, *DISPATCH.unpack(dispatch)[4:7])
        _lib.wgpuComputePassEncoderEnd(running)
        _lib.wgpuComputePassEncoderRelease(running)
        return encoder

    def _submit_encoder(self) -> None:
        """Submits the dispatches that are still to be submitted, if there are any."""
        encoder, self._encoder = self._encoder, None
        if encoder:
            self._submit(encoder)

    def _submit(self, encoder: Any) -> None:
        commands = _ffi.new("WGPUCommandBuffer[1]", [_lib.wgpuCommandEncoderFinish(encoder, _ffi.NULL)])
        _lib.wgpuCommandEncoderRelease(encoder)
        _lib.wgpuQueueSubmit(self._queue._internal, 1, commands)
        _lib.wgpuCommandBufferRelease(commands[0])

    def _new_staging(self, size: int) -> Any:
        usage = wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.MAP_READ
        return self._device.create_buffer(size=max(size, STAGING_BYTES), usage=usage)

    def _map(self, staging: Any, size: int) -> None:
        """Maps a buffer, and so waits for all submitted work. Ctrl-C ends the wait."""
        statuses: list[int] = []
        messages: list[str] = []

        @_ffi.callback("void(WGPUMapAsyncStatus, WGPUStringView, void *, void *)")  # type: ignore[untyped-decorator]
        def mapped(status: int, message: Any, _first: Any, _second: Any) -> None:
            messages.append(native.from_c_string_view(message))
            statuses.append(status)

        info = _ffi.new(
            "WGPUBufferMapCallbackInfo *", {"mode": _lib.WGPUCallbackMode_AllowProcessEvents, "callback": mapped}
        )
        _lib.wgpuBufferMapAsync(staging._internal, _lib.WGPUMapMode_Read, 0, size, info[0])
        began = time.perf_counter()
        try:
            while not statuses:
                _lib.wgpuDevicePoll(self._device._internal, False, _ffi.NULL)
                if not statuses and time.perf_counter() - began > SPIN_SECONDS:
                    time.sleep(PAUSE_SECONDS)
        except BaseException:
            self._interrupted.append((statuses, mapped, staging))
            raise
        self._interrupted = [each for each in self._interrupted if not each[0]]
        if statuses[0] != _lib.WGPUMapAsyncStatus_Success:
            raise wgpu.GPUError(messages[0] or f"mapping a buffer failed with status {statuses[0]}")

    def compile(self, number: int, key: bytes) -> bool:
        """Compiles the kernel of a chain, for dispatches of this number. Returns True: they can be played."""
        self._parse(number, chains.compose(key))
        self._pipeline(struct.pack("<4I", number, 0, 0, 0))
        return True

    def discard(self, number: int) -> None:
        """Drops the kernel of a chain, which no dispatch uses that is still to be played."""
        self._modules.pop(number, None)
        self._pipelines.pop(struct.pack("<4I", number, 0, 0, 0), None)

    def _parse(self, kernel: int, shader: shaders.Shader) -> None:
        with self._translated(f"compiling {shader.kernel}"):
            module = self._device.create_shader_module(label=shader.kernel, code=shader.source)
        self._modules[kernel] = shader, module

    def _pipeline(self, dispatch: bytes) -> tuple[Any, tuple[int, int]]:
        """Compiles the pipeline that a dispatch needs. A module is parsed once for all of its pipelines."""
        began = time.perf_counter()
        kernel, entry, sources, variant = struct.unpack_from("<4I", dispatch)
        if kernel not in self._modules:
            self._parse(kernel, shaders.load(kernel))
        shader = self._modules[kernel][0]
        layout = (shader.inputs, shader.outputs)
        constants = {"lw_sources": sources, **dict.fromkeys(shaders.VARIANTS, variant)}
        with compiling.noted(self._name, self._compiling), self._translated(f"compiling {shader.kernel}"):
            stage = {
                "module": self._modules[kernel][1],
                "entry_point": shaders.ENTRIES[entry],
                "constants": {name: value for name, value in constants.items() if f"override {name}:" in shader.source},
            }
            whole = self._device.create_pipeline_layout(bind_group_layouts=[self._layout(layout)])
            pipeline = self._device.create_compute_pipeline(label=shader.kernel, layout=whole, compute=stage)
        self._pipelines[dispatch[:PIPELINE_BYTES]] = pipeline, layout
        self._compiling += time.perf_counter() - began
        return pipeline, layout

    def _layout(self, layout: tuple[int, int]) -> Any:
        """Returns the layout of the bindings of modules with so many inputs and outputs."""
        if layout not in self._layouts:
            inputs, outputs = layout
            kinds = ["read-only-storage"] * inputs + ["storage"] * outputs
            buffers: list[dict[str, Any]] = [{"type": kind} for kind in kinds]
            buffers.append({"type": "uniform", "has_dynamic_offset": True, "min_binding_size": PARAMETER_BYTES})
            entries = [
                {"binding": position, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": buffer}
                for position, buffer in enumerate(buffers)
            ]
            self._layouts[layout] = self._device.create_bind_group_layout(entries=entries)
        return self._layouts[layout]

    def _bind(self, layout: tuple[int, int], numbers: bytes) -> Any:
        """Creates a bind group for the buffers with these numbers; 0 stands for no buffer."""
        inputs, outputs = layout
        buffers = [
            self._buffers[number] if number else self._unread if position < inputs else self._unwritten
            for position, number in enumerate(struct.unpack("<8I", numbers)[: inputs + outputs])
        ]
        resources = [{"buffer": buffer, "offset": 0, "size": buffer.size} for buffer in buffers]
        resources.append({"buffer": self._parameters, "offset": 0, "size": PARAMETER_BYTES})
        entries = [{"binding": position, "resource": resource} for position, resource in enumerate(resources)]
        if len(self._bind_groups) >= MAX_BIND_GROUPS:
            self._bind_groups.clear()
        with self._translated("binding buffers"):
            group = self._device.create_bind_group(layout=self._layout(layout), entries=entries)
        self._bind_groups[layout, numbers] = group
        return group

    def close(self) -> None:
        """Destroys the device, with all of its buffers."""
        self.lost = self.lost or "it was closed"
        self._device.destroy()
        for name in [name for name in vars(self) if name not in ("lost", "lock")]:  # what keeps the device alive
            delattr(self, name)

    @contextlib.contextmanager
    def _translated(self, action: str) -> Iterator[None]:
        """Raises errors of wgpu as Lanewise's. Notes a loss of the device."""
        try:
            yield
        except (wgpu.GPUError, RuntimeError) as error:
            text = " ".join(str(error).split())
            if isinstance(error, wgpu.GPUOutOfMemoryError) or _NO_MEMORY in text:
                raise OutOfMemoryError(f"out of memory when {action}") from error
            if _LOST.search(text):
                self.lost = self.lost or text
            raise DeviceError(f"error when {action}: {text}") from error


@contextlib.contextmanager
def _captured() -> Iterator[None]:
    """Raises an error that calls of the C library report inside the block."""
    native.error_handler.capture("lanewise")
    try:
        yield
    finally:
        caught = native.error_handler.release("lanewise")
    if caught:
        kind, message = caught
        raise _ERRORS.get(kind, wgpu.GPUError)(message)


_ERRORS: Final = {"OutOfMemory": wgpu.GPUOutOfMemoryError, "Validation": wgpu.GPUValidationError}
