"""The description of a device for users. registry.py lists devices and opens them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

__all__ = ["GIGABYTE", "LIMITS", "DeviceInfo", "Unsettled"]

GIGABYTE = 1024**3

# WebGPU's limits that concern compute shaders
LIMITS: Final = (
    "maxBufferSize", "maxStorageBufferBindingSize", "maxStorageBuffersPerShaderStage", "maxComputeWorkgroupStorageSize",
    "maxComputeInvocationsPerWorkgroup", "maxComputeWorkgroupSizeX", "maxComputeWorkgroupSizeY",
    "maxComputeWorkgroupSizeZ", "maxComputeWorkgroupsPerDimension",
)  # fmt: skip


class DeviceInfo(NamedTuple):
    """One device of a backend. Memory is in bytes. Unknown fields are None; an unknown total_memory is 0.

    `limits` and `features` are what a WebGPU adapter offers to any program, under WebGPU's names; they are empty for
    CPUs. Lanewise itself needs no feature.

    >>> import lanewise as lw
    >>> gpu = lw.DeviceInfo(0, "GPU", limits={"maxBufferSize": 2**30}, features=("shader-f16",))
    >>> gpu.limits["maxBufferSize"], "shader-f16" in gpu.features
    (1073741824, True)
    """

    index: int  # type: ignore[assignment] # hides tuple.index
    name: str
    total_memory: int = 0
    free_memory: int | None = None
    compute_capability: str | None = None
    unified_memory: bool = False
    api: str | None = None  # for WebGPU adapters only: vulkan, metal, dx12 or opengl
    software: bool = False  # the adapter runs on the CPU; AUTO never chooses it
    type: str | None = None  # for WebGPU adapters only: discrete, integrated, virtual or software; None if unknown
    driver: str | None = None  # the driver and its version
    limits: Mapping[str, int] = {}
    features: tuple[str, ...] = ()
    reason: str | None = None  # why it could not be opened, when that was last tried

    def __hash__(self) -> int:
        return hash(self[:2])  # limits have no hash

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
        if self.type or self.software:
            details.append(self.type or "software")
        if self.driver:
            details.append(self.driver)
        memory = f": {self.total_memory / GIGABYTE:.2f} GB" if self.total_memory else ""
        refusal = f": ✗ {self.reason}" if self.reason else ""
        return f"[{self.index}] {self.name}{memory}" + (f" ({', '.join(details)})" if details else "") + refusal


class Unsettled(str):
    """A provider's reason why a backend is missing that may be gone at the next call; others are final."""

    __slots__ = ()
