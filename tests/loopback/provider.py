"""Makes the device loopback available as the backend wgpu. Needs the package that loopback.py builds."""

from __future__ import annotations

from lanewise import _ext
from lanewise.backends import registry
from lanewise.backends.backend import Backend
from lanewise.backends.devices import DeviceInfo


class Loopback:
    """The provider of loopback, which takes the place of WebGPU's."""

    def missing(self) -> str:
        """Returns "", because the device is part of the build."""
        return ""

    def devices(self) -> list[DeviceInfo]:
        """Returns the device."""
        return [DeviceInfo(0, "loopback", 1 << 34, 1 << 34)]

    def open(self, device: DeviceInfo | None) -> None:
        """Opens a new device."""
        _ext.open_loopback()


def register() -> None:
    """Replaces the provider of WebGPU. Must be called before the backend wgpu is opened."""
    registry.register(Backend.WGPU, Loopback())
