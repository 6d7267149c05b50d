"""Fixtures of the site's tests: the built site, a server for it, and pages of Chromium. A test fails if its page writes
an error to the console or asks another server for anything."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import playwright.sync_api as playwright

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
sys.path += [str(ROOT), str(SITE), str(ROOT / "tests"), str(ROOT / "tests" / "wasm"), str(Path(__file__).parent)]

import chromium  # noqa: E402
import distribution  # noqa: E402
from served import SUBPATH, serving, serving_release  # noqa: E402
from support import absent  # noqa: E402
from visit import Visit  # noqa: E402

from wasm import releases  # noqa: E402

MATRIX = Path(__file__).with_name("matrix.md")
BUILD_SECONDS = 900  # on a busy machine, with all packages to download


def build_site(folder: Path, *options: str) -> str:
    """Builds a site with the support matrix matrix.md by site/build.py, and returns what that prints."""
    command = [sys.executable, str(SITE / "build.py"), "--no-build-isolation"]
    command += ["--support", str(MATRIX), "--dist", str(folder), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    if done.returncode:
        pytest.fail(f"site/build.py stopped:\n{done.stdout}{done.stderr}")
    return done.stdout


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site with the support matrix matrix.md: the one that LANEWISE_SITE names, or one that
    site/build.py makes. The matrix of the tests would not do: other tests change it while these run."""
    if named := os.environ.get("LANEWISE_SITE"):
        return Path(named).resolve()
    folder = tmp_path_factory.mktemp("site") / SUBPATH
    build_site(folder)
    return folder


@pytest.fixture(scope="session")
def release() -> Iterator[str]:
    """The URL of the checked release of Pyodide on another server."""
    with serving_release(releases.fetch(distribution.VERSION)) as url:
        yield url


@pytest.fixture(scope="session")
def published(site: Path, release: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a second site, which has replaced another one and whose pages load Pyodide from `release`, and what
    its build printed."""
    folder = tmp_path_factory.mktemp("published") / SUBPATH
    shutil.copytree(site / "wheels", folder / "wheels")
    shutil.copy(site / "config.json", folder)
    (folder / "removed.html").touch()
    return folder, build_site(folder, "--pyodide", release)


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """The address of the served site, with a slash at its end."""
    with serving(site) as found:
        yield found


@pytest.fixture(scope="session")
def driver() -> Iterator[chromium.Driver]:
    """Playwright, of which a process can have only one."""
    if chromium.program() is None:
        absent("Chromium is not installed", "chromium")
    with closing(chromium.Driver()) as started:
        yield started


@pytest.fixture(scope="session")
def browser(driver: chromium.Driver) -> Iterator[playwright.Browser]:
    """Chromium, with WebGPU on the CPU."""
    with closing(driver.launch(webgpu=True)) as launched:
        yield launched.browser


@pytest.fixture(scope="session")
def plain_browser(driver: chromium.Driver) -> Iterator[playwright.Browser]:
    """Chromium without an adapter for WebGPU."""
    with closing(driver.launch()) as launched:
        yield launched.browser


@pytest.fixture
def visit(browser: playwright.Browser, address: str) -> Iterator[Visit]:
    """A page of a browser without stored data. The test fails if the page logs errors or asks another server."""
    with closing(Visit(browser.new_context(), address)) as opened:
        yield opened
        assert opened.errors == []
        assert opened.foreign == []
