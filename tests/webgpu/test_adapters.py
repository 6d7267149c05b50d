"""Tests several real adapters in one process: lavapipe, and SwiftShader as Chromium brings it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DRIVERS = [
    next(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"), None),
    next(Path("/usr/lib/chromium").glob("vk_swiftshader_icd.json"), None),
]

PROGRAM = """
import lanewise as lw

names = [device.name for info in lw.backends() if info.name == "wgpu" for device in info.devices]
assert len(names) == 2 and any("llvmpipe" in name for name in names) and any("SwiftShader" in name for name in names)
x = lw.ones(5).to("wgpu:1")
assert (x + 1).tolist() == [2] * 5 and x.device == "wgpu"
assert lw.ones(5, device="wgpu").tolist() == [1] * 5
try:
    lw.ones(5, device="wgpu:0")
    print("two adapters at once")
except lw.BackendError as error:
    print(error)
lw.reset("wgpu:0")
try:
    x.tolist()
    print("tensors survive")
except lw.DeviceError as error:
    print(error)
with lw.use_backend("wgpu:0"):
    assert (lw.ones(5) * 3).tolist() == [3] * 5
try:
    lw.init_backend("wgpu:2")
except lw.BackendUnavailableError as error:
    assert all(name in str(error) for name in names)
    print(error)
"""


@pytest.mark.skipif(None in DRIVERS, reason="needs the Vulkan drivers lavapipe and SwiftShader, the latter of Chromium")
def test_two_adapters_one_after_the_other() -> None:
    environment = {**os.environ, "VK_DRIVER_FILES": os.pathsep.join(map(str, DRIVERS))}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    refused, lost, unknown = done.stdout.splitlines()
    assert (
        'already open on device 1, and a process uses one device per backend at a time; lw.reset("wgpu:0")' in refused
    )
    assert "wgpu was lost: reset() replaced it" in lost
    assert "device 2 does not exist; the devices are [0] " in unknown


@pytest.mark.skipif(None in DRIVERS, reason="needs the Vulkan drivers lavapipe and SwiftShader, the latter of Chromium")
def test_the_environment_names_an_adapter() -> None:
    environment = {**os.environ, "VK_DRIVER_FILES": os.pathsep.join(map(str, DRIVERS)), "LANEWISE_BACKEND": "wgpu:1"}
    program = 'import lanewise as lw\nx = lw.ones(3)\nprint(x.backend, x.sum().item())\nlw.init_backend("wgpu:1")'
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "wgpu 3.0\n"), done.stderr[-2000:]
