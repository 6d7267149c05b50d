"""Runs an eighth of the sweep through a second compiler of shaders: SwiftShader, which comes with Chromium. It flushes
denormals, has no float16, and compiles a shader's calls inline. Chromium's WebGPU, on which tests/wasm/test_webgpu.py
runs the oracle's cases of all operations, uses it, too, but makes SPIR-V in another way than wgpu."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import environment
import pytest
import support

ROOT = Path(__file__).resolve().parents[2]
DRIVER = "vk_swiftshader_icd.json"
# Without tests of what a compiler of shaders cannot change: dtypes, names, errors, strides, and where calls run
CHOSEN = "wgpu and not (promotion or weak or aliases or errors or not_writable or extent_1 or without_the_cpu)"
MIN_TESTS = 150  # of an eighth of them
ADAPTER = 'import lanewise as lw; print(*(each.devices[0].name for each in lw.backends() if each.name == "wgpu"))'


@pytest.fixture
def swiftshader() -> dict[str, str]:
    """The environment in which Vulkan has SwiftShader alone."""
    chromium = environment.program(environment.CHROMIUM)
    folders = [Path("/usr/lib/chromium"), *([Path(chromium).resolve().parent] if chromium else [])]
    drivers = [folder / DRIVER for folder in folders if (folder / DRIVER).exists()]
    if not drivers:
        support.absent("Chromium with SwiftShader is not installed", "chromium")
    return {**os.environ, "VK_DRIVER_FILES": str(drivers[0]), "LANEWISE_SWEEP_SHARE": "8"}


def test_an_eighth_of_the_sweep(adapter: None, swiftshader: dict[str, str], tmp_path: Path) -> None:
    asked = subprocess.run([sys.executable, "-c", ADAPTER], env=swiftshader, capture_output=True, text=True, check=True)
    assert "SwiftShader" in asked.stdout
    report = tmp_path / "report.xml"
    words = [sys.executable, "-m", "pytest", "-q", "-k", CHOSEN, f"--junitxml={report}", ROOT / "tests" / "sweep"]
    done = subprocess.run(words, env=swiftshader, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    cases = list(ElementTree.parse(report).iter("testcase"))
    assert sum(case.find("skipped") is None for case in cases) >= MIN_TESTS
