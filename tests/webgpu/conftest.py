"""Opens the device for the tests of WebGPU: a real one, or a fake one that only records (recording.py). Tests of a real
device are skipped with the reason if there is none, or fail if LANEWISE_REQUIRE names wgpu or webgpu."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / each) for each in ("contracts", "tests", "tests/sweep", "tests/webgpu")]

import support  # noqa: E402
from generator.load import load_contracts  # noqa: E402
from harness import Runner  # noqa: E402
from openers import Switch  # noqa: E402
from recording import FakePlayer  # noqa: E402

from lanewise.errors import BackendUnavailableError  # noqa: E402

CONTRACTS = load_contracts(ROOT / "contracts")
SWITCH = Switch()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs each test that has a `contract` argument once per contract (the description of an operation in contracts/)
    that its @pytest.mark.contracts selects."""
    if "contract" in metafunc.fixturenames:
        selected = filter(metafunc.definition.get_closest_marker("contracts").args[0], CONTRACTS)
        metafunc.parametrize("contract", [pytest.param(each, id=each.operation) for each in selected])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "contracts(predicate): run for each contract for which predicate is true")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Crosses out operations whose tests fail here, in the support matrix. The sweep ticks the others."""
    outcome = yield
    contract = item.callspec.params.get("contract") if hasattr(item, "callspec") else None
    if contract and outcome.get_result().failed:
        support.note(contract.operation, "wgpu", False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    support.save("webgpu")


@pytest.fixture(scope="session")
def adapter() -> None:
    """Makes a test depend on an adapter: opens it once to find out."""
    required = {"wgpu", "webgpu"} & set(os.environ.get("LANEWISE_REQUIRE", "").split(","))
    try:
        SWITCH.use(None)
    except BackendUnavailableError as error:
        (pytest.fail if required else pytest.skip)(str(error))


@pytest.fixture
def switch() -> Switch:
    """Chooses what the backend wgpu is opened on."""
    return SWITCH


@pytest.fixture
def gpu(adapter: None) -> Runner:
    """Runs operations on the real device."""
    if SWITCH.opener is not None:
        SWITCH.use(None)
    return Runner()


@pytest.fixture
def fake() -> FakePlayer:
    """A new device that records what it is asked for. It allows 100 workgroups along each dimension of a dispatch."""
    player = FakePlayer()
    SWITCH.use(player.open)
    return player
