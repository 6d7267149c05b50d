"""Fixtures of the WASM tests: the wheels, and the engines that they are tested in."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT), str(ROOT / "tests"), str(Path(__file__).parent)]

import chromium  # noqa: E402
import engines  # noqa: E402
import environment  # noqa: E402
import pyodide_runner  # noqa: E402
import support  # noqa: E402
import webdriver  # noqa: E402
from console import PAGES, Console  # noqa: E402
from local_site import LocalSite  # noqa: E402

from wasm import releases  # noqa: E402

# A script that acts like the wrapper that `pyodide build` puts around emcc: it adds flags after those of the project,
# and links every output that ends in .so as a Python extension.
WRAPPER = """#!/bin/sh
case " $* " in
*" -c "*) set -- "$@" -Oz ;;
*.so\\ *) set -- "$@" -Wl,--fatal-warnings -sSIDE_MODULE=1 -Oz -sSIDE_MODULE=2 -sEXPORTED_FUNCTIONS=_PyInit__ext ;;
esac
exec emcc "$@"
"""
NOTES = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[NOTES] = []


def pytest_sessionfinish(session: pytest.Session) -> None:
    support.save("wasm")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for line in config.stash[NOTES]:
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def notes(request: pytest.FixtureRequest) -> list[str]:
    """Lines to print at the end of the run, with figures that no test checks."""
    return request.config.stash[NOTES]


@pytest.fixture(scope="session", params=sorted(releases.DISTRIBUTIONS))
def pyodide(request: pytest.FixtureRequest) -> Path:
    """The folder of each Pyodide distribution in turn."""
    return engines.distribution(request.param)


@pytest.fixture(scope="session", params=engines.IN_NODE, ids="-".join)
def with_micropip(request: pytest.FixtureRequest) -> Iterator[pyodide_runner.Session]:
    """Each Pyodide distribution in turn, with micropip, in a Node."""
    version, place = request.param
    folder = engines.distribution(version)
    packages = pyodide_runner.installer(folder)
    with closing(pyodide_runner.Session(folder, packages=packages, node=engines.node(place))) as session:
        yield session


@pytest.fixture(scope="session", params=engines.NODES)
def node(request: pytest.FixtureRequest) -> str:
    """The path of each version of Node in turn."""
    return engines.node(request.param)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel for Pyodide: the one that LANEWISE_WHEEL names, or one built as a user builds it, but with the
    tools of the tests' environment."""
    if named := os.environ.get("LANEWISE_WHEEL"):
        return Path(named).resolve()
    return _build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def scalar_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel for engines without SIMD."""
    return _build(tmp_path_factory.mktemp("scalar"), "--only", "scalar")


def _build(folder: Path, *options: str) -> Path:
    command = [sys.executable, str(ROOT / "wasm" / "build.py"), "--no-build-isolation", "--dist", str(folder), *options]
    surroundings = {name: value for name, value in os.environ.items() if name != "CC"}
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        pytest.fail(f"wasm/build.py stopped:\n{done.stdout}{done.stderr}")
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def emcc_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that emcc compiles in an environment like that of `pyodide build`."""
    if shutil.which("emcc") is None:
        engines.absent("emcc is not installed", "emcc")
    folder = tmp_path_factory.mktemp("emcc")
    # The build compiles again if the compiler's path changes, so the path depends on what the wrapper does
    compiler = ROOT / "build" / "emcc" / hashlib.sha256(WRAPPER.encode()).hexdigest()[:16] / "cc"
    compiler.parent.mkdir(parents=True, exist_ok=True)
    compiler.write_text(WRAPPER)
    compiler.chmod(0o755)
    # emcc is a Python program that imports modules from its own folder, which PYTHONSAFEPATH prevents
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    surroundings |= {"CC": str(compiler), "PYODIDE": "1", "_PYTHON_HOST_PLATFORM": "emscripten_5_0_3_wasm32"}
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=surroundings, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        pytest.fail(f"the build with emcc stopped:\n{done.stdout}{done.stderr}")
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session", params=["wheel", "emcc_wheel"])
def any_wheel(request: pytest.FixtureRequest) -> Path:
    """Each wheel in turn: the one compiled by zig, and the one compiled by emcc."""
    path: Path = request.getfixturevalue(request.param)
    return path


@pytest.fixture(scope="session")
def site(wheel: Path) -> Iterator[LocalSite]:
    """A local HTTP server with the Pyodide distributions, and a package index that has the wheel."""
    folders = {f"pyodide-{version}": engines.distribution(version) for version in releases.DISTRIBUTIONS}
    with closing(LocalSite({"pages": PAGES, **folders}, {"lanewise": wheel})) as served:
        yield served


@pytest.fixture(scope="session")
def driver() -> Iterator[chromium.Driver]:
    if chromium.program() is None:
        engines.absent("Chromium is not installed", "chromium")
    with closing(chromium.Driver()) as started:
        yield started


@pytest.fixture(scope="session", name="chromium")
def chromium_browser(driver: chromium.Driver) -> Iterator[chromium.Chromium]:
    with closing(driver.launch()) as browser:
        yield browser


@pytest.fixture(scope="session")
def firefox() -> Iterator[webdriver.Firefox]:
    if environment.program(environment.FIREFOX) is None:
        engines.absent("Firefox is not installed", "firefox")
    with closing(webdriver.Firefox()) as browser:
        yield browser


@pytest.fixture(scope="session")
def webkit() -> Iterator[webdriver.WebKit]:
    if not environment.webkit():
        engines.absent("WebKitGTK with its driver, or Xvfb, is not installed", "webkit")
    with closing(webdriver.WebKit()) as browser:
        yield browser


def _named(engine: engines.Engine, name: str) -> engines.Engine:
    engine.name = name
    return engine


@pytest.fixture(scope="session", params=engines.ENGINES)
def engine(request: pytest.FixtureRequest, wheel: Path) -> Iterator[engines.Engine]:
    """Each engine in turn, which is a Pyodide in Node or in a browser, with lanewise installed."""
    place, _, version = request.param.rpartition("-")
    if place in engines.BROWSERS:
        browser, site = request.getfixturevalue(engines.BROWSERS[place]), request.getfixturevalue("site")
        with closing(Console(browser, site, version, worker=place == "worker")) as console:
            yield _named(engines.BrowserEngine(console), request.param)
        return
    is_emcc = request.param == engines.EMCC
    made = request.getfixturevalue("emcc_wheel") if is_emcc else wheel
    node = engines.node("node" if is_emcc else place)
    with closing(engines.NodeEngine(node, engines.distribution(version), version, made)) as engine:
        yield _named(engine, request.param)
