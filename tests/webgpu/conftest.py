"""A device for the tests of WebGPU; where there is none they are skipped with the reason, or fail where
LANEWISE_REQUIRE names wgpu."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "contracts"), str(ROOT / "tests" / "webgpu")]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests that take `kernel` run for each kernel of the kinds they name with @pytest.mark.kinds."""
    if "kernel" in metafunc.fixturenames:
        from generator.load import load_contracts

        kinds = metafunc.definition.get_closest_marker("kinds").args
        rows = [
            pytest.param((contract, kernel), id=kernel.name)
            for contract in load_contracts(ROOT / "contracts")
            for kernel in contract.kernels
            if contract.kind.name in kinds
        ]
        metafunc.parametrize("kernel", rows)


def pytest_configure(config: pytest.Config) -> None:
    """Declares the marker."""
    config.addinivalue_line("markers", "kinds(*names): the kinds whose kernels a test runs for")


@pytest.fixture(scope="session")
def executor(tmp_path_factory: pytest.TempPathFactory):
    """An executor on the best adapter, with shaders made from the contracts as they are."""
    from generator.load import load_contracts
    from harness import emitted

    from lanewise import webgpu
    from lanewise.errors import LanewiseError

    required = {"wgpu", "webgpu"} & set(os.environ.get("LANEWISE_REQUIRE", "").split(","))
    try:
        devices = webgpu.devices()
        reason = "" if devices else "no WebGPU adapter"
    except LanewiseError as error:
        reason = str(error)
    if reason:
        (pytest.fail if required else pytest.skip)(reason)
    folder = emitted(tmp_path_factory.mktemp("shaders"), load_contracts(ROOT / "contracts"))
    return webgpu.open(devices[0], folder)


@pytest.fixture
def gpu(executor):
    """The way of NumPy arrays to kernels."""
    from harness import Runner

    return Runner(executor)
