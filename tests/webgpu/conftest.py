"""Opens a device for the tests of WebGPU. Without a device, the tests are skipped with the reason, or fail if
LANEWISE_REQUIRE names wgpu or webgpu."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / each) for each in ("contracts", "tests", "tests/sweep", "tests/webgpu")]


import oracle_file  # noqa: E402
import support  # noqa: E402
from generator import oracle as generated  # noqa: E402
from generator import table  # noqa: E402
from generator.load import load_contracts  # noqa: E402

CONTRACTS = load_contracts(ROOT / "contracts")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs each test that has a `contract` argument once per contract (the description of an operation in contracts/)
    that its @pytest.mark.contracts selects."""
    if "contract" in metafunc.fixturenames:
        selected = filter(metafunc.definition.get_closest_marker("contracts").args[0], CONTRACTS)
        metafunc.parametrize("contract", [pytest.param(each, id=each.operation) for each in selected])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "contracts(predicate): run for each contract for which predicate is true")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    """Records which operations pass, for the support matrix that tests/support.py writes."""
    outcome = yield
    report = outcome.get_result()
    contract = item.callspec.params.get("contract") if hasattr(item, "callspec") else None
    if contract and (report.failed or (report.passed and report.when == "call")):
        support.note(contract.operation, "wgpu", report.passed)


def pytest_sessionfinish(session: pytest.Session) -> None:
    support.save("webgpu")


@pytest.fixture
def oracle(contract, tmp_path: Path) -> oracle_file.Oracle:
    """The contract's test cases with their expected results, generated from the working tree."""
    path = tmp_path / "oracle.bin"
    path.write_bytes(generated.encode(contract, table.signature(CONTRACTS)))
    return oracle_file.read(path)


@pytest.fixture(scope="session")
def executor(tmp_path_factory: pytest.TempPathFactory):
    """An executor on the best adapter, with shaders generated from the contracts in the working tree."""
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
    file = emitted(tmp_path_factory.mktemp("shaders"), CONTRACTS)
    return webgpu.open(devices[0], file)


@pytest.fixture
def gpu(executor):
    """Returns an object that runs kernels on NumPy arrays."""
    from harness import Runner

    return Runner(executor)


@pytest.fixture
def device():
    """A fake device that records calls."""
    from recording import RecordingDevice

    return RecordingDevice()
