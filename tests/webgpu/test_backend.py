"""Tests how adapters are listed and described, which one is opened, and what is said if there is none, with fake
adapters. Needs no real adapter."""

from __future__ import annotations

import builtins
import os
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from harness import in_process
from recording import FakePlayer

from lanewise.backends import hardware
from lanewise.backends.devices import DeviceInfo
from lanewise.errors import ArgumentError, DeviceError
from lanewise.webgpu import provider

# The type of each adapter and its graphics API, in the order in which wgpu might list them.
ADAPTERS = [
    ("CPU", "Vulkan"),
    ("Quantum", "Vulkan"),
    ("IntegratedGPU", "Metal"),
    ("Unknown", "Vulkan"),
    ("DiscreteGPU", "D3D12"),
    ("VirtualGPU", "Vulkan"),
]
MEMORY = 2**34
# The limits of each adapter: as wgpu writes them, as WebGPU does, and their values.
OFFERED = [
    ("max-buffer-size", "maxBufferSize", 2**30),
    ("max-storage-buffer-binding-size", "maxStorageBufferBindingSize", 2**27),
    ("max-storage-buffers-per-shader-stage", "maxStorageBuffersPerShaderStage", 8),
    ("max-compute-workgroup-storage-size", "maxComputeWorkgroupStorageSize", 2**14),
    ("max-compute-invocations-per-workgroup", "maxComputeInvocationsPerWorkgroup", 256),
    ("max-compute-workgroup-size-x", "maxComputeWorkgroupSizeX", 255),
    ("max-compute-workgroup-size-y", "maxComputeWorkgroupSizeY", 254),
    ("max-compute-workgroup-size-z", "maxComputeWorkgroupSizeZ", 64),
    ("max-compute-workgroups-per-dimension", "maxComputeWorkgroupsPerDimension", 65535),
]


def _adapter(kind: str, api: str) -> SimpleNamespace:
    driver = "version 1.2" if api == "Metal" else ""
    info = {"adapter_type": kind, "device": f"the {kind}", "backend_type": api, "description": driver}
    limits = {"max-texture-dimension-1d": 8192, **{name: value for name, _, value in OFFERED}}
    return SimpleNamespace(info=info, limits=limits, features={"subgroup", "shader-f16", "clip-distances"})


class FakeDesktopPlayer(FakePlayer):
    """A player as desktop.py makes them."""

    max_groups, max_buffer = 7, 4096

    def __init__(self, adapter: Any) -> None:
        super().__init__()
        self.adapter = adapter


@pytest.fixture(autouse=True)
def desktop(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Replaces lanewise.webgpu.desktop with a fake module, which offers ADAPTERS."""
    import lanewise.webgpu

    fake: Any = ModuleType("lanewise.webgpu.desktop")
    fake.adapters = lambda: tuple(_adapter(*each) for each in ADAPTERS)
    fake.Player = FakeDesktopPlayer
    monkeypatch.setitem(sys.modules, "lanewise.webgpu.desktop", fake)
    monkeypatch.setattr(lanewise.webgpu, "desktop", fake, raising=False)
    monkeypatch.setattr(provider, "_players", {})
    monkeypatch.setattr(hardware, "total_memory", lambda: MEMORY)
    monkeypatch.setattr(hardware, "free_memory", lambda: MEMORY // 2)
    for variable in ("LANEWISE_WGPU_MEMORY", "LANEWISE_FUSE"):
        monkeypatch.delenv(variable, raising=False)
    return fake


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Records the arguments of open_webgpu()."""
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(provider, "_ext", SimpleNamespace(open_webgpu=lambda *arguments: calls.append(arguments)))
    return calls


def test_adapters_are_listed_best_first_and_described() -> None:
    shared: dict[str, Any] = {"total_memory": MEMORY, "free_memory": MEMORY // 2, "unified_memory": True}
    assert provider.missing() == ""
    expected = [
        DeviceInfo(0, "the DiscreteGPU", api="dx12", type="discrete"),
        DeviceInfo(1, "the IntegratedGPU", api="metal", type="integrated", driver="version 1.2", **shared),
        DeviceInfo(2, "the VirtualGPU", api="vulkan", type="virtual"),
        DeviceInfo(3, "the Quantum", api="vulkan"),
        DeviceInfo(4, "the Unknown", api="vulkan"),
        DeviceInfo(5, "the CPU", api="vulkan", software=True, type="software", **shared),
    ]
    limits = {name: value for _, name, value in OFFERED}
    features = ("clip-distances", "shader-f16", "subgroups")
    assert provider.devices() == [device._replace(limits=limits, features=features) for device in expected]


@pytest.mark.parametrize("index", [None, 0, 5])
def test_the_adapter_that_was_listed_is_opened(opened: list[tuple[Any, ...]], index: int | None) -> None:
    device = provider.devices()[index or 0]
    provider.open(None if index is None else device)
    ((name, player, groups, buffer, budget, cache, fuses),) = opened
    assert name == (f"wgpu:{index}" if index else "wgpu")
    assert player.adapter.info["device"] == device.name
    assert (groups, buffer, fuses) == (7, 4096, True)
    assert budget == (MEMORY if device.unified_memory else 0)
    assert cache == (MEMORY // 16 if device.unified_memory else 4 * 2**30)


def test_the_device_that_is_replaced_is_closed(opened: list[tuple[Any, ...]]) -> None:
    provider.open(None)
    provider.open(provider.devices()[1])
    provider.open(None)
    assert [player.is_closed for _, player, *_ in opened] == [True, False, False]


@pytest.mark.parametrize(("text", "fuses"), [("", True), ("0", False), (" off", False), ("1", True)])
def test_chains_can_be_switched_off(
    monkeypatch: pytest.MonkeyPatch, opened: list[tuple[Any, ...]], text: str, fuses: bool
) -> None:
    monkeypatch.setenv("LANEWISE_FUSE", text)
    provider.open(None)
    assert opened[0][6] is fuses
    monkeypatch.setenv("LANEWISE_FUSE", "2")
    with pytest.raises(ArgumentError, match="LANEWISE_FUSE: expected 1 or 0, got '2'"):
        provider.open(None)


@pytest.mark.parametrize("text", ["", " ", "1", " 123456789012 "])
def test_the_budget(monkeypatch: pytest.MonkeyPatch, opened: list[tuple[Any, ...]], text: str) -> None:
    monkeypatch.setenv("LANEWISE_WGPU_MEMORY", text)
    provider.open(None)
    assert opened[0][4] == int(text.strip() or 0)


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "1e9", "1 GB", "many", "9" * 19])
def test_a_budget_that_is_no_number_of_bytes(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("LANEWISE_WGPU_MEMORY", text)
    with pytest.raises(ArgumentError, match="LANEWISE_WGPU_MEMORY: expected a positive number of bytes, got '"):
        provider.open(None)


def test_without_adapters(desktop: Any) -> None:
    desktop.adapters = lambda: ()
    assert provider.missing() == "wgpu finds no adapter; install a driver for Vulkan, Metal or Direct3D 12"
    assert provider.devices() == []


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    import lanewise.webgpu

    monkeypatch.delitem(sys.modules, "lanewise.webgpu.desktop")
    monkeypatch.delattr(lanewise.webgpu, "desktop")
    load = builtins.__import__

    def refuse(name: str, *arguments: Any) -> Any:
        if name.partition(".")[0] == "wgpu":
            raise ImportError("No module named 'wgpu'")
        return load(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", refuse)
    expected = "the package wgpu cannot be imported (No module named 'wgpu'); pip install 'lanewise[gpu]'"
    assert provider.missing() == expected


class FakePage(FakePlayer):
    """A player as browser.py makes them."""

    max_groups, max_buffer = 9, 1024


def test_a_browser_has_a_module_of_its_own(
    monkeypatch: pytest.MonkeyPatch, opened: list[tuple[Any, ...]], desktop: Any
) -> None:
    """The device that reset() replaces is closed."""
    import lanewise.webgpu

    fake: Any = ModuleType("lanewise.webgpu.browser")
    found = [DeviceInfo(0, "the browser's")]
    fake.missing, fake.is_pending, fake.devices = (lambda: "no adapter"), (lambda: True), (lambda: found)
    fake.MAX_BUFFER, fake.CACHE_LIMIT, fake.open_player = 2**31 - 4, 2**30, FakePage
    monkeypatch.setitem(sys.modules, "lanewise.webgpu.browser", fake)
    monkeypatch.setattr(lanewise.webgpu, "browser", fake, raising=False)
    assert not provider.is_pending()
    desktop.adapters = None
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert (provider.missing(), provider.devices(), provider.is_pending()) == ("no adapter", found, True)
    provider.open(None)
    provider.open(None)
    (name, first, *limits), (_, second, *others) = opened
    assert name == "wgpu" and limits == others == [9, 1024, 0, 2**30, True]
    assert (first.is_closed, second.is_closed) == (True, False)


def test_the_child_of_a_fork_cannot_open_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    provider.devices()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(DeviceError, match="this process is a fork of one that uses wgpu"):
        provider.open(None)


PROGRAM = """
import sys
import lanewise as lw
assert not any(name.partition(".")[0] == "wgpu" for name in sys.modules), "importing lanewise imports wgpu"
try:
    lw.init_backend("wgpu")
except lw.LanewiseError as error:
    print(type(error).__name__, error)
print("wgpu" in sys.modules)
"""


def test_without_gpus_by_request() -> None:
    """LANEWISE_FORCE_CPU keeps WebGPU out. The package wgpu is then never imported."""
    message, imported = in_process(PROGRAM, LANEWISE_FORCE_CPU="1")
    assert message.startswith("BackendUnavailableError") and "LANEWISE_FORCE_CPU keeps GPUs out; unset it" in message
    assert imported == "False"
