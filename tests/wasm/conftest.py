"""Fixtures of the WASM tests: the tools in wasm/, and each Pyodide there is to test in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT), str(ROOT / "tests"), str(Path(__file__).parent)]

import pyodide_fixture  # noqa: E402
import pyodide_runner  # noqa: E402
import support  # noqa: E402


def pytest_sessionfinish(session: pytest.Session) -> None:
    support.save("wasm")


def _absent(reason: str) -> None:
    """Skips, or fails where this lane is required (LANEWISE_REQUIRE names its backends, as everywhere)."""
    if "simd128" in os.environ.get("LANEWISE_REQUIRE", "").split(","):
        pytest.fail(reason)
    pytest.skip(reason)


def _fetch(version: str) -> Path:
    if pyodide_runner.node() is None:
        _absent("Node is not installed")
    try:
        return pyodide_fixture.fetch(version)
    except pyodide_fixture.FixtureError as error:
        _absent(f"Pyodide {version} cannot be had: {error}")
        raise


@pytest.fixture(scope="session", params=sorted(pyodide_fixture.DISTRIBUTIONS))
def pyodide(request: pytest.FixtureRequest) -> Path:
    """The folder of a Pyodide distribution: of each one there is."""
    return _fetch(request.param)


@pytest.fixture(scope="session", params=pyodide_fixture.having("micropip"))
def pyodide_with_micropip(request: pytest.FixtureRequest) -> Path:
    """Of each one that carries micropip."""
    return _fetch(request.param)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel for Pyodide, built as a user builds it, with the tools of the tests' environment."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, str(ROOT / "wasm" / "build.py"), "--no-build-isolation", "--dist", str(folder)]
    environment = {name: value for name, value in os.environ.items() if name != "CC"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        pytest.fail(f"wasm/build.py stopped:\n{done.stdout}{done.stderr}")
    (built,) = folder.glob("*.whl")
    return built
