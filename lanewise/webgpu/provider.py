"""The provider of WebGPU: the functions of registry.Provider. The package wgpu is imported at their first call."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from typing import Any, Final

from lanewise import _ext
from lanewise.backends import libraries, registry
from lanewise.backends.backend import Backend, place_of
from lanewise.backends.devices import GIGABYTE, LIMITS, DeviceInfo
from lanewise.errors import ArgumentError, DeviceError, named

__all__ = ["devices", "is_pending", "missing", "open", "prepare"]

# The types of WebGPU adapters, best first. "CPU" is a software adapter, which AUTO never chooses.
_TYPES: Final = {
    "DiscreteGPU": "discrete", "IntegratedGPU": "integrated", "VirtualGPU": "virtual", "Unknown": None,
    "CPU": "software",
}  # fmt: skip

# Bytes of freed memory that are kept if the adapter has memory of its own, whose size WebGPU does not tell; otherwise,
# that is a sixteenth of the CPU's. When memory runs out, freed memory is given back first.
CACHE_LIMIT: Final = 4 * GIGABYTE

_listed_in = 0  # the process that first listed the adapters
_players: dict[int, Any] = {}  # those of the devices in use, by the numbers of the adapters


def missing() -> str:
    """Returns why this machine has no adapter or no shaders, "" if it has both."""
    if reason := libraries.damage(Backend.WGPU):
        return reason
    if sys.platform == "emscripten":
        from lanewise.webgpu import browser

        return browser.missing()
    try:
        found = _adapters()
    except ImportError as error:
        return f"the package wgpu cannot be imported ({error}); pip install 'lanewise[gpu]'"
    return "" if found else "wgpu finds no adapter; install a driver for Vulkan, Metal or Direct3D 12"


def devices() -> Sequence[DeviceInfo]:
    """Returns the adapters, best first."""
    if sys.platform == "emscripten":
        from lanewise.webgpu import browser

        return browser.devices()
    return [_describe(index, adapter) for index, adapter in enumerate(_adapters())]


def open(device: DeviceInfo | None) -> None:
    """Opens a device on an adapter, the first one if `device` is None. Closes the device that it replaces."""
    number = device.index if device else 0
    before = _players.get(number)
    player, budget, cache_limit = _open_in_browser() if sys.platform == "emscripten" else _open_on_desktop(device)
    if _players.get(number) is not before:  # another task opened a device while this one waited for the browser
        player.close()
        return
    place = place_of(Backend.WGPU, number)
    fuses = registry.switch("LANEWISE_FUSE", default=True)  # whether chains of elementwise kernels run as one
    _ext.open_webgpu(place, player, player.max_groups, player.max_buffer, budget, cache_limit, fuses)
    if before:
        before.close()
    _players[number] = player


def is_pending() -> bool:
    """Whether prepare() has to be awaited before open(), because Python cannot wait for the browser."""
    if sys.platform == "emscripten":
        from lanewise.webgpu import browser

        return browser.is_pending()
    return False


async def prepare(*, opening: bool) -> None:
    """Does what missing() and, if `opening`, open() have to wait for in a browser."""
    if sys.platform == "emscripten":
        from lanewise.webgpu import browser

        await browser.prepare(opening=opening)


def _open_in_browser() -> tuple[Any, int, int]:
    """Returns a new player, the limit of its memory, and that of freed memory that is kept."""
    from lanewise.webgpu import browser

    return browser.open_player(), min(_budget(0), browser.MAX_BUFFER), browser.CACHE_LIMIT


def _open_on_desktop(device: DeviceInfo | None) -> tuple[Any, int, int]:
    """Does the same on an adapter."""
    from lanewise.webgpu.desktop import Player

    found = _adapters()
    if _listed_in != os.getpid():
        raise DeviceError("this process is a fork of one that uses wgpu, whose drivers do not survive that; spawn it")
    adapter = found[device.index if device else 0]
    shared = _describe(0, adapter).total_memory
    return Player(adapter), _budget(shared), shared // 16 if shared else CACHE_LIMIT


def _adapters() -> list[Any]:
    global _listed_in
    from lanewise.webgpu import desktop

    _listed_in = _listed_in or os.getpid()
    return sorted(desktop.adapters(), key=lambda adapter: _rank(adapter.info["adapter_type"]))


def _rank(adapter_type: str) -> int:
    return [*_TYPES].index(adapter_type if adapter_type in _TYPES else "Unknown")


def _describe(index: int, adapter: Any) -> DeviceInfo:
    """Describes an adapter. Its memory size is the CPU's if the two share memory, else 0: WebGPU reports no size."""
    info = adapter.info
    shared = info["adapter_type"] in ("IntegratedGPU", "CPU")
    total, free = 0, None
    if shared:
        from lanewise.backends import hardware

        total, free = hardware.total_memory(), hardware.free_memory()
    return DeviceInfo(
        index=index,
        name=info["device"],
        total_memory=total,
        free_memory=free,
        unified_memory=shared,
        api=info["backend_type"].lower().replace("d3d12", "dx12"),
        software=info["adapter_type"] == "CPU",
        type=_TYPES.get(info["adapter_type"]),
        driver=info.get("description") or info.get("vendor") or None,
        limits={name: adapter.limits[_hyphenated(name)] for name in LIMITS},
        features=tuple(sorted("subgroups" if name == "subgroup" else name for name in adapter.features)),
    )


def _hyphenated(name: str) -> str:
    """Returns how wgpu writes the name of a limit: max-buffer-size for maxBufferSize."""
    return re.sub("[A-Z]", lambda letter: f"-{letter[0].lower()}", name)


@named("LANEWISE_WGPU_MEMORY")
def _budget(shared: int) -> int:
    """Returns the number of bytes that tensors on WebGPU may use, 0 for no limit but the device's. By default, that is
    the size of the memory that the adapter shares with the CPU: systems grant more, until a process uses it."""
    text = os.environ.get("LANEWISE_WGPU_MEMORY", "").strip()
    if text and not (text.isdecimal() and len(text) < 19 and int(text)):
        raise ArgumentError(f"expected a positive number of bytes, got {text!r:.60}")
    return int(text or shared)
