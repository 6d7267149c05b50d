"""Runs Python programs inside Pyodide in headless Chromium, in a page or in a worker, with lanewise installed there by
micropip from a local index, as a user's notebook installs it."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import environment
import pyodide_fixture
from local_site import LocalSite
from pyodide_runner import ProgramError

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PAGES = Path(__file__).with_name("browser")
INSTALL = """
import micropip

micropip.set_index_urls(["{origin}/simple"])
await micropip.install("lanewise")
"""
# Debian's own browser, run by root in CI: it has no sandbox there, and must not look for anything outside
FLAGS = ("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking")


def program() -> str | None:
    """The browser to run: LANEWISE_CHROMIUM, else the first of Chromium's names on the path."""
    found = (path for path in map(shutil.which, environment.CHROMIUM) if path)
    return os.environ.get("LANEWISE_CHROMIUM") or next(found, None)


class Chromium:
    """Playwright's driver, which starts browsers; there can be one at a time."""

    def __init__(self) -> None:
        from playwright.sync_api import sync_playwright

        self.playwright = sync_playwright().start()

    def launch(self, flags: Sequence[str] = ()) -> Browser:
        """A running browser. `flags` are for its engine (V8), such as --no-enable-sse4-1."""
        engine = [f"--js-flags={' '.join(flags)}"] if flags else []
        return self.playwright.chromium.launch(executable_path=program(), args=[*FLAGS, *engine])

    def close(self) -> None:
        self.playwright.stop()


class PageCrashedError(ProgramError):
    """The process of the page has ended, as Chromium's own did once while the tests ran."""


class Console:
    """A Pyodide in a page of its own, or in a worker of that page, with lanewise."""

    def __init__(self, browser: Browser, site: LocalSite, version: str, *, worker: bool) -> None:
        self.site = site
        self._place = browser, version, worker
        self._open(*self._place)

    def _open(self, browser: Browser, version: str, worker: bool) -> None:
        self.page: Page = browser.new_page()
        self.page.goto(f"{self.site.origin}/pages/console.html{'?worker' if worker else ''}")
        self.page.wait_for_function("window.begin !== undefined")
        index = f"{self.site.origin}/pyodide-{version}/"
        packages = [index + each if each.endswith(".whl") else each for each in pyodide_fixture.installer(version)]
        if pyodide_fixture.carries(version, "numpy"):
            packages.append("numpy")
        self.version: str = self._ask("start", 120, index=index, packages=packages)
        began = time.monotonic()
        self._run("install", INSTALL.format(origin=self.site.origin), {}, 120)
        self.install_seconds = time.monotonic() - began

    def run(self, program: Path, *, mounts: Mapping[str, Path] | None = None, timeout: float = 300) -> Any:
        """The value of the program's last expression, which must be JSON. A page that crashes is opened anew, once."""
        words = program.name, program.read_text(encoding="utf-8"), mounts or {}, timeout
        try:
            return self._run(*words)
        except PageCrashedError as error:
            print(f"once more in a new page: {error}")
            self.page.close()
            self._open(*self._place)
            return self._run(*words)

    def close(self) -> None:
        self.page.close()

    def _run(self, name: str, source: str, mounts: Mapping[str, Path], timeout: float) -> Any:
        urls = {inside: self.site.archive(outside) for inside, outside in mounts.items()}
        try:
            return json.loads(self._ask("run", timeout, source=source, filename=name, mounts=urls))
        except ProgramError as error:
            raise type(error)(f"{name}: {error}") from None

    def _ask(self, call: str, timeout: float, **argument: Any) -> Any:
        """Waits in the browser's driver, which notices a page that hangs or dies."""
        from playwright.sync_api import Error

        try:
            self.page.evaluate("question => window.begin(question)", {"call": call, **argument})
            self.page.wait_for_function("window.outcome !== undefined", polling=50, timeout=timeout * 1000)
            outcome = self.page.evaluate("window.outcome")
        except Error as error:
            kind = PageCrashedError if "crashed" in error.message else ProgramError
            raise kind(f"no answer from Chromium: {error.message}") from None
        if "error" in outcome:
            raise ProgramError(outcome["error"])
        return outcome["result"]
