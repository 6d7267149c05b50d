"""The provider of WebGPU for registry.py. It imports the package wgpu when it is first asked for adapters."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, Final

from lanewise import _ext
from lanewise.devices import DeviceInfo
from lanewise.errors import ArgumentError, BackendUnavailableError, DeviceError, named

__all__ = ["WebGpu"]

# The types of WebGPU adapters, best first. "CPU" is a software adapter, which AUTO never chooses.
_TYPES: Final = ("DiscreteGPU", "IntegratedGPU", "VirtualGPU", "Unknown", "CPU")


class WebGpu:
    """The provider of the backend wgpu."""

    def __init__(self) -> None:
        self._process = 0  # the process that listed the adapters

    def missing(self) -> str:
        """Returns why this machine has no adapter, "" if it has one."""
        if sys.platform == "emscripten":
            return "tensors on WebGPU in a browser come in a later version"
        try:
            return "" if self._adapters() else "wgpu finds no adapter; install a driver for Vulkan, Metal or Direct3D 12"
        except ImportError as error:
            return f"the package wgpu cannot be imported ({error}); pip install 'lanewise[gpu]'"

    def devices(self) -> Sequence[DeviceInfo]:
        """Returns the adapters, best first."""
        return [_describe(index, adapter) for index, adapter in enumerate(self._adapters())]

    def open(self, device: DeviceInfo | None) -> None:
        """Opens a device on an adapter, the first one if `device` is None."""
        from lanewise.webgpu.desktop import Player

        adapters = self._adapters()
        if self._process != os.getpid():
            raise DeviceError("this process is a fork of one that uses wgpu, whose drivers do not survive it; use spawn")
        index = device.index if device else 0
        if index >= len(adapters):
            raise BackendUnavailableError(f"expected one of {len(adapters)} adapters, got number {index}")
        player = Player(adapters[index])
        _ext.open_webgpu(player, player.max_groups, player.max_buffer, _budget())

    def _adapters(self) -> list[Any]:
        from lanewise.webgpu import desktop

        self._process = self._process or os.getpid()
        return sorted(desktop.adapters(), key=lambda adapter: _rank(adapter.info["adapter_type"]))


def _rank(adapter_type: str) -> int:
    return _TYPES.index(adapter_type) if adapter_type in _TYPES else _TYPES.index("Unknown")


def _describe(index: int, adapter: Any) -> DeviceInfo:
    """Describes an adapter. Its memory size is the CPU's if the two share memory, else 0: WebGPU reports no size."""
    info = adapter.info
    shared = info["adapter_type"] in ("IntegratedGPU", "CPU")
    total, free = 0, None
    if shared:
        from lanewise import hardware

        total, free = hardware.total_memory(), hardware.free_memory()
    return DeviceInfo(
        index=index,
        name=info["device"],
        total_memory=total,
        free_memory=free,
        unified_memory=shared,
        api=info["backend_type"].lower().replace("d3d12", "dx12"),
        software=info["adapter_type"] == "CPU",
    )


@named("LANEWISE_WGPU_MEMORY")
def _budget() -> int:
    """Returns the number of bytes that tensors on WebGPU may use, 0 for no limit but the device's."""
    text = os.environ.get("LANEWISE_WGPU_MEMORY", "").strip()
    if text and not (text.isdecimal() and len(text) < 19 and int(text)):
        raise ArgumentError(f"expected a positive number of bytes, got {text!r:.60}")
    return int(text or 0)
