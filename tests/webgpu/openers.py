"""Chooses what the backend wgpu is opened on: the adapter that users get, or a player that a test made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import lanewise as lw
from lanewise import _ext
from lanewise.backends import registry
from lanewise.backends.backend import Backend
from lanewise.backends.devices import DeviceInfo
from lanewise.errors import BackendUnavailableError
from lanewise.webgpu import provider


class Switch:
    """The provider of the backend wgpu for these tests. While `opener` is None, it does what WebGPU's own does."""

    def __init__(self) -> None:
        self.opener: Callable[[], None] | None = None
        self._is_open = False
        registry.register(Backend.WGPU, self)

    def missing(self) -> str:
        """Returns "", as tests with a fake player need no adapter. open() says what is missing."""
        return ""

    def devices(self) -> Sequence[DeviceInfo]:
        """Returns WebGPU's devices, or a made-up one if there are none."""
        return [DeviceInfo(0, "made up")] if provider.missing() else provider.devices()

    def open(self, device: DeviceInfo | None) -> None:
        """Opens a new device."""
        if self.opener:
            self.opener()
            return
        reason = provider.missing()
        if reason:
            raise BackendUnavailableError(reason)
        provider.open(device)

    def use(self, opener: Callable[[], None] | None) -> None:
        """Opens the backend by calling `opener`, in place of the device that it has. Tensors on that one are lost."""
        self.opener = opener
        if self._is_open:
            lw.reset("wgpu")
        else:
            lw.init_backend("wgpu")
        self._is_open = True


def real_player() -> Any:
    """Returns a player on the first adapter."""
    from lanewise.webgpu.desktop import Player, adapters

    return Player(adapters()[0])


def open_player(
    player: Any, groups: int, buffer: int = 0, budget: int = 0, cache: int = 2**28, fuses: bool = False
) -> None:
    """Makes a player that of the backend wgpu. The numbers are limits: of workgroups along each dimension of a
    dispatch, of the bytes of a buffer, of all buffers, and of freed memory that is kept. A buffer, or all of them, has
    no limit if the number is 0."""
    _ext.open_webgpu("wgpu", player, groups, buffer, budget, cache, fuses)
