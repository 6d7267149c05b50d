"""Lists the WebGPU adapters of this machine and opens one. The package wgpu is imported at the first call."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanewise.devices import DeviceInfo
from lanewise.errors import BackendUnavailableError

if TYPE_CHECKING:
    from lanewise.webgpu.executor import WebGpuExecutor

__all__ = ["devices", "open"]

# The types of WebGPU adapters, best first. "CPU" is a software adapter, which AUTO never chooses.
_TYPES = ("DiscreteGPU", "IntegratedGPU", "VirtualGPU", "Unknown", "CPU")


def devices() -> list[DeviceInfo]:
    """Returns the adapters, best first. Raises BackendUnavailableError if WebGPU itself is not available."""
    return [_describe(index, adapter) for index, adapter in enumerate(_adapters())]


def open(device: DeviceInfo, shaders: Path | None = None) -> WebGpuExecutor:
    """Returns an executor on one of devices(), with the shaders in the file `shaders`, by default the build's."""
    adapter = _adapters()[device.index]
    from lanewise.webgpu.desktop import DesktopDevice
    from lanewise.webgpu.executor import WebGpuExecutor
    from lanewise.webgpu.shaders import FILE

    return WebGpuExecutor(DesktopDevice(adapter), device, shaders or FILE)


def _adapters() -> list[Any]:
    if sys.platform == "emscripten":
        raise BackendUnavailableError("WebGPU is not available in the browser yet; use simd128")
    try:
        from lanewise.webgpu import desktop
    except ImportError as error:
        raise BackendUnavailableError(
            f"cannot import the package wgpu ({error}); pip install 'lanewise[webgpu]'"
        ) from error
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
