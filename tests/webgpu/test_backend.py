"""Tests how adapters are listed and described, and which one is opened, with fake adapters. Needs no real adapter."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from lanewise import hardware, webgpu
from lanewise.devices import DeviceInfo
from lanewise.errors import BackendError, BackendUnavailableError
from lanewise.webgpu import shaders

# The type of each adapter and its graphics API, in the order in which wgpu might list them.
ADAPTERS = [
    ("CPU", "Vulkan"),
    ("Quantum", "Vulkan"),
    ("IntegratedGPU", "Metal"),
    ("Unknown", "Vulkan"),
    ("DiscreteGPU", "D3D12"),
    ("VirtualGPU", "Vulkan"),
]


def _adapter(kind: str, api: str) -> SimpleNamespace:
    return SimpleNamespace(info={"adapter_type": kind, "device": f"the {kind}", "backend_type": api})


@pytest.fixture(autouse=True)
def desktop(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Replaces lanewise.webgpu.desktop with a fake module, which offers ADAPTERS and records those that are opened."""
    fake: Any = ModuleType("lanewise.webgpu.desktop")
    fake.adapters = lambda: tuple(_adapter(*each) for each in ADAPTERS)
    fake.opened = []
    fake.DesktopDevice = fake.opened.append
    monkeypatch.setitem(sys.modules, "lanewise.webgpu.desktop", fake)
    monkeypatch.setattr(webgpu, "desktop", fake, raising=False)
    monkeypatch.setattr(hardware, "total_memory", lambda: 2**34)
    monkeypatch.setattr(hardware, "free_memory", lambda: 2**33)
    return fake


def test_adapters_are_listed_best_first_and_described() -> None:
    shared: dict[str, Any] = {"total_memory": 2**34, "free_memory": 2**33, "unified_memory": True}
    assert webgpu.devices() == [
        DeviceInfo(0, "the DiscreteGPU", api="dx12"),
        DeviceInfo(1, "the IntegratedGPU", api="metal", **shared),
        DeviceInfo(2, "the VirtualGPU", api="vulkan"),
        DeviceInfo(3, "the Quantum", api="vulkan"),
        DeviceInfo(4, "the Unknown", api="vulkan"),
        DeviceInfo(5, "the CPU", api="vulkan", software=True, **shared),
    ]


@pytest.mark.parametrize("index", [0, 5])
def test_the_adapter_that_was_listed_is_opened(desktop: Any, index: int) -> None:
    device = webgpu.devices()[index]
    assert webgpu.open(device).device is device
    (adapter,) = desktop.opened
    assert adapter.info["device"] == device.name


@pytest.mark.parametrize(("file", "used"), [(None, "built.wgsl"), (Path("given.wgsl"), "given.wgsl")])
def test_shaders_are_those_of_the_build_or_of_a_given_file(
    monkeypatch: pytest.MonkeyPatch, file: Path | None, used: str
) -> None:
    monkeypatch.setattr(shaders, "FILE", Path("built.wgsl"))
    executor = webgpu.open(webgpu.devices()[0], file)
    with pytest.raises(BackendError, match=f"build the package: {used} is missing"):
        executor.launch("abs_float32", "elementwise", {}, [], [], [])


def test_a_browser_has_no_adapters_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")
    with pytest.raises(BackendUnavailableError, match="in the browser yet; use simd128"):
        webgpu.devices()
