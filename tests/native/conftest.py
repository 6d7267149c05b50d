"""Fixtures of the native tests. The runner is a C program that runs kernels on the oracle's cases (generated inputs
with expected results); fixtures return its reports for each instruction set."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from native import compiler
from native.targets import host

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(Path(__file__).parent), str(TESTS), str(TESTS.parent / "contracts")]

import arm_python  # noqa: E402
import support  # noqa: E402
from oracle_runner import Report, commands, compile_runner, neon_command, run  # noqa: E402


@pytest.fixture(scope="session")
def absent() -> Callable[[str, str], None]:
    """Skips a test of a backend for a given reason, or fails it if LANEWISE_REQUIRE names the backend."""

    def skip(backend: str, reason: str) -> None:
        if backend in os.environ.get("LANEWISE_REQUIRE", "").split(","):
            pytest.fail(f"{backend} is required here: {reason}")
        pytest.skip(reason)

    return skip


@pytest.fixture(scope="session")
def runner() -> Path:
    """The runner, which loads one of the kernel libraries. Its own code is built for the target's oldest processor."""
    return compile_runner(host(), compiler.choose())


@pytest.fixture(scope="session")
def neon(absent: Callable[[str, str], None], reports: dict[str, Report]) -> Report:
    """The runner's report on NEON, which is emulated unless this is an ARM machine."""
    if host().name == "aarch64-linux":
        return reports["neon"]
    if missing := arm_python.missing():
        absent("neon", f"{missing} is not installed")
    return run(neon_command(arm_python.qemu()))


@pytest.fixture(scope="session")
def reports(runner: Path) -> dict[str, Report]:
    """The runner's reports on all instruction sets that this processor supports."""
    return {name: run(command) for name, command in commands(runner).items()}


@pytest.fixture(autouse=True, scope="session")
def _zig_alone() -> Iterator[None]:
    """Clears environment variables that would change the compiler or the flags with which tests compile."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS"):
            patch.delenv(name, raising=False)
        yield


def pytest_sessionfinish(session: pytest.Session) -> None:
    support.save("native")
