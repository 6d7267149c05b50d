"""A device for the tests of WebGPU; where there is none they are skipped with the reason, or fail where
LANEWISE_REQUIRE names wgpu."""

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
    """Tests that take `contract` run for those that @pytest.mark.contracts chooses."""
    if "contract" in metafunc.fixturenames:
        chosen = filter(metafunc.definition.get_closest_marker("contracts").args[0], CONTRACTS)
        metafunc.parametrize("contract", [pytest.param(each, id=each.operation) for each in chosen])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "contracts(predicate): only contracts for which this holds")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    """Notes for the support matrix what became of each operation."""
    outcome = yield
    report = outcome.get_result()
    contract = item.callspec.params.get("contract") if hasattr(item, "callspec") else None
    if contract and (report.failed or (report.passed and report.when == "call")):
        support.note(contract.operation, "wgpu", report.passed)


def pytest_sessionfinish(session: pytest.Session) -> None:
    support.save("webgpu")


@pytest.fixture
def oracle(contract, tmp_path: Path) -> oracle_file.Oracle:
    """The cases of the contract, as it is in the tree."""
    path = tmp_path / "oracle.bin"
    path.write_bytes(generated.encode(contract, table.signature(CONTRACTS)))
    return oracle_file.read(path)


@pytest.fixture(scope="session")
def executor(tmp_path_factory: pytest.TempPathFactory):
    """An executor on the best adapter, with shaders made from the contracts as they are."""
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
    """The way of NumPy arrays to kernels."""
    from harness import Runner

    return Runner(executor)
