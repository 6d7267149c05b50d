"""Tests that lanewise/webgpu/desktop.py leaves OpenGL out of a made-up list of adapters, and that a destroyed buffer of
a real device cannot be used."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from lanewise.errors import BackendError
from lanewise.webgpu.executor import WebGpuExecutor


def test_opengl_is_neither_started_nor_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    wgpu = pytest.importorskip("wgpu")
    extras = pytest.importorskip("wgpu.backends.wgpu_native.extras")
    from lanewise.webgpu import desktop

    started: list[str] = []
    vulkan, opengl = (SimpleNamespace(info={"backend_type": name}) for name in ("Vulkan", "OpenGL"))
    monkeypatch.setattr(extras, "set_instance_extras", lambda *, backends: started.extend(backends))
    monkeypatch.setattr(wgpu.gpu, "enumerate_adapters_sync", lambda: [opengl, vulkan])
    assert desktop.adapters.__wrapped__() == (vulkan,)
    assert started == ["Vulkan", "Metal", "DX12"]


def test_a_destroyed_buffer_cannot_be_used(executor: WebGpuExecutor) -> None:
    device = executor._gpu
    buffer = device.buffer(256)
    device.write(buffer, 0, memoryview(bytes(256)))
    device.destroy(buffer)
    with pytest.raises(BackendError, match="destroyed"):
        device.write(buffer, 0, memoryview(bytes(256)))
