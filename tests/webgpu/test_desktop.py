"""Tests, with a made-up list of adapters, that lanewise/webgpu/desktop.py leaves out OpenGL. Needs no adapter."""

from __future__ import annotations

from types import SimpleNamespace

import pytest


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
