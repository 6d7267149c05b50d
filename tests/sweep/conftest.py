"""The sweep: tests every operation that has a contract, in every dtype, on every backend that this machine supports.

The list of backends comes from lanewise.backends(). At the end of the run, tests/support.py writes the outcome to
build/reports/support.md, where an operation gets a tick only if all of its tests on a backend passed in that run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import ml_dtypes  # noqa: F401  registers bfloat16
import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[2]
SHARE = int(os.environ.get("LANEWISE_SWEEP_SHARE", "1"))  # one test in so many runs (support.share)
sys.path[:0] = [str(ROOT / "contracts"), str(ROOT / "tests"), str(Path(__file__).parent)]

import oracle_file  # noqa: E402
import support  # noqa: E402
from generator.schema import Contract  # noqa: E402
from tested import BACKENDS, CONTRACTS, GPUS, HOSTS, Compared, oracle_of  # noqa: E402

import lanewise as lw  # noqa: E402


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrizes tests by contract, dtype and backend; the mark `contracts` selects contracts by a predicate."""
    if "contract" in metafunc.fixturenames:
        mark = metafunc.definition.get_closest_marker("contracts")
        chosen = [contract for contract in CONTRACTS if mark is None or mark.args[0](contract)]
        if "dtype" in metafunc.fixturenames:
            pairs = [(contract, dtype) for contract in chosen for dtype in contract.computed]
            names = [f"{contract.operation}-{dtype}" for contract, dtype in pairs]
            metafunc.parametrize(("contract", "dtype"), pairs, ids=names)
        else:
            metafunc.parametrize("contract", chosen, ids=[contract.operation for contract in chosen])
    for name, backends in (("backend", BACKENDS), ("host", HOSTS), ("gpu", GPUS)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, backends, ids=[backend.value for backend in backends], indirect=True)


def _selected(request: pytest.FixtureRequest) -> Iterator[lw.Backend]:
    """Each available backend in turn, selected by use_backend() while the test runs; those of the CPU alone for the
    name `host`, GPUs alone for `gpu`."""
    with lw.use_backend(request.param):
        yield request.param


backend, host, gpu = (pytest.fixture(_selected, name=name) for name in ("backend", "host", "gpu"))


@pytest.fixture
def oracle(contract: Contract) -> oracle_file.Oracle:
    """The cases of the contract: inputs, and the expected result of each."""
    return oracle_of(contract.operation)


COMPARED = pytest.StashKey[Compared]()


@pytest.fixture
def compared(request: pytest.FixtureRequest) -> Compared:
    """The dtypes in which the test compares results of the contract: it adds them for the support matrix."""
    found: Compared = request.node.stash.setdefault(COMPARED, Compared())
    return found


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Records the outcome of each operation, backend and dtype for the support matrix."""
    outcome = yield
    callspec = getattr(item, "callspec", None)
    params = callspec.params if callspec else {}
    backend = params.get("backend", params.get("host", params.get("gpu")))
    report = outcome.get_result()
    if backend and "contract" in params and (report.failed or (report.passed and report.when == "call")):
        found = item.stash.get(COMPARED, Compared())
        support.note(params["contract"].operation, backend.value, report.passed, found.dtypes, found.left)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Selects LANEWISE_SWEEP_SHARE of the tests, the same in every run: by a hash of their names."""
    if SHARE > 1:
        chosen = set(support.share((item.nodeid for item in items), 0, SHARE))
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in chosen])
        items[:] = [item for item in items if item.nodeid in chosen]


def pytest_sessionfinish(session: pytest.Session) -> None:
    if SHARE == 1:  # a part says nothing about whole operations
        support.save("sweep")


def pytest_configure(config: pytest.Config) -> None:
    settings.register_profile("sweep", settings.get_profile("lanewise"), max_examples=150)
    settings.load_profile("sweep")
    config.addinivalue_line("markers", "contracts(predicate): only contracts for which the predicate is true")
