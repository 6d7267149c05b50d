"""Implements the device interface on wgpu-py, for Vulkan, Metal and Direct3D 12."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import wgpu

from lanewise.errors import DeviceError, OutOfMemoryError
from lanewise.webgpu.device import PARAMETER_BYTES, Access, Command, Copy, Limits

__all__ = ["SLOTS", "DesktopDevice", "adapters"]

SLOTS = 256  # maximum number of dispatches in one submission


@functools.cache
def adapters() -> tuple[Any, ...]:
    """Returns the adapters of wgpu except those of OpenGL, which offer the same hardware with fewer features."""
    with contextlib.suppress(RuntimeError):  # raised if the process already has a wgpu instance
        from wgpu.backends.wgpu_native import extras

        extras.set_instance_extras(backends=["Vulkan", "Metal", "DX12"])
    every = wgpu.gpu.enumerate_adapters_sync()
    return tuple(adapter for adapter in every if adapter.info["backend_type"] != "OpenGL")


@contextlib.contextmanager
def _translate_errors(action: str) -> Iterator[None]:
    try:
        yield
    except wgpu.GPUOutOfMemoryError as error:
        raise OutOfMemoryError(f"wgpu: out of memory when {action}; free tensors on this device") from error
    except wgpu.GPUError as error:
        raise DeviceError(f"wgpu: error when {action}: {error}") from error


class DesktopDevice:
    """Implements Device with wgpu-py."""

    def __init__(self, adapter: Any) -> None:
        limits = adapter.limits
        names = ("max-buffer-size", "max-storage-buffer-binding-size")
        with _translate_errors(f"opening {adapter.info['device']}"):
            self._device = adapter.request_device_sync(required_limits={name: limits[name] for name in names})
        self.limits = Limits(
            buffer=limits["max-buffer-size"],
            binding=limits["max-storage-buffer-binding-size"],
            groups=self._device.limits["max-compute-workgroups-per-dimension"],
        )
        self._queue = self._device.queue
        self._modules: dict[str, Any] = {}
        self._layouts: dict[tuple[Access, ...], Any] = {}
        self._parameters = self._device.create_buffer(
            size=SLOTS * PARAMETER_BYTES, usage=wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST
        )

    def buffer(self, size: int) -> Any:
        """Allocates a buffer."""
        usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST
        with _translate_errors(f"allocating {size} bytes"):
            return self._device.create_buffer(size=size, usage=usage)

    def destroy(self, buffer: Any) -> None:
        """Frees a buffer."""
        buffer.destroy()

    def write(self, buffer: Any, offset: int, data: memoryview) -> None:
        """Copies bytes from the host to the device."""
        with _translate_errors(f"writing {data.nbytes} bytes"):
            self._queue.write_buffer(buffer, offset, data)

    def read(self, buffer: Any, offset: int, into: memoryview) -> None:
        """Waits for submitted commands and copies bytes from the device to the host."""
        with _translate_errors(f"reading {into.nbytes} bytes"):
            into[:] = self._queue.read_buffer(buffer, offset, into.nbytes).cast("B")

    def pipeline(
        self, label: str, source: str, entry: str, access: Sequence[Access], constants: Mapping[str, float]
    ) -> Any:
        """Compiles an entry point. A module is parsed once for all of its entry points."""
        with _translate_errors(f"compiling {label}"):
            if label not in self._modules:
                self._modules[label] = self._device.create_shader_module(label=label, code=source)
            layout = self._device.create_pipeline_layout(bind_group_layouts=[self._layout(tuple(access))])
            stage = {"module": self._modules[label], "entry_point": entry, "constants": dict(constants)}
            pipeline = self._device.create_compute_pipeline(label=label, layout=layout, compute=stage)
        return pipeline, tuple(access)

    def bind(self, pipeline: Any, buffers: Sequence[Any]) -> Any:
        """Creates a bind group."""
        access: tuple[Access, ...] = pipeline[1]
        entries = [
            {"binding": position, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
            for position, (use, buffer) in enumerate(zip(access, buffers, strict=True))
            if use
        ]
        parameters = {"buffer": self._parameters, "offset": 0, "size": PARAMETER_BYTES}
        entries.append({"binding": len(access), "resource": parameters})
        with _translate_errors("binding buffers"):
            return self._device.create_bind_group(layout=self._layout(access), entries=entries)

    def submit(self, commands: Sequence[Command], parameters: bytes) -> None:
        """Submits the commands in one command buffer, in which consecutive dispatches share a compute pass."""
        with _translate_errors("submitting work"):
            if parameters:
                self._queue.write_buffer(self._parameters, 0, parameters)
            encoder = self._device.create_command_encoder()
            running = current = None
            for command in commands:
                if isinstance(command, Copy):
                    if running:
                        running.end()
                        running = current = None
                    encoder.copy_buffer_to_buffer(command.source, 0, command.target, 0, command.size)
                    continue
                running = running or encoder.begin_compute_pass()
                if command.pipeline is not current:
                    current = command.pipeline
                    running.set_pipeline(current[0])
                running.set_bind_group(0, command.bindings, [command.slot * PARAMETER_BYTES])
                running.dispatch_workgroups(*command.groups)
            if running:
                running.end()
            self._queue.submit([encoder.finish()])

    def _layout(self, access: tuple[Access, ...]) -> Any:
        if access not in self._layouts:
            kinds = {"read": "read-only-storage", "read_write": "storage"}
            entries: list[dict[str, Any]] = [
                {"binding": position, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kinds[use]}}
                for position, use in enumerate(access)
                if use
            ]
            parameters = {"type": "uniform", "has_dynamic_offset": True, "min_binding_size": PARAMETER_BYTES}
            entries.append({"binding": len(access), "visibility": wgpu.ShaderStage.COMPUTE, "buffer": parameters})
            self._layouts[access] = self._device.create_bind_group_layout(entries=entries)
        return self._layouts[access]
