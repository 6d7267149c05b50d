"""A page in headless Chromium, served from this machine, whose functions take and return JSON.

Modules of tests/wasm find the browser and serve the page's files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from lanewise.errors import ArgumentError

TESTS = Path(__file__).resolve().parents[2]
sys.path += [str(TESTS), str(TESTS / "wasm")]  # modules there are not in a package

import chromium  # noqa: E402
from local_site import ISOLATION, LocalSite  # noqa: E402

LONGEST = 15 * 60 * 1000  # the limit for one call of a function of the page, in milliseconds
LOADING, POLL = 60_000, 10  # milliseconds: the limit for loading the page, and the time between two looks at it

Folders = Mapping[str, Path]  # first part of the URL's path -> folder


class PageError(RuntimeError):
    """The page threw an error or crashed."""


class Page:
    """Calls functions of the page. An exception thrown in the page becomes a PageError."""

    def __init__(self, browser: Any, address: str, *, in_worker: bool) -> None:
        self._browser = browser
        self._page: Any = None
        self._address = address
        self._in_worker = in_worker
        self._program: Any = None  # the page, or the web worker that has its functions

    def load(self) -> None:
        """Loads the page in a new tab, in place of the one before, which may have crashed."""
        if self._page is not None:
            self._page.close()
        self._page = self._browser.new_page()
        self._page.set_default_timeout(LONGEST)
        self._page.on("console", lambda message: print(message.text, file=sys.stderr))
        if self._in_worker:
            with self._page.expect_worker() as started:
                self._page.goto(f"{self._address}/page/worker.html")
            self._program = started.value
        else:
            self._page.goto(f"{self._address}/page/index.html")
            self._program = self._page
        for _ in range(LOADING // POLL):
            if self._evaluate("globalThis.lanewise !== undefined"):
                return
            self._page.wait_for_timeout(POLL)
        raise PageError(f"page.mjs has not run to its end within {LOADING // 1000} s")

    def call(self, function: str, *arguments: object) -> Any:
        """Calls lanewise.<function>(...arguments) and awaits the result."""
        return self._evaluate(f"(given) => lanewise.{function}(...given)", list(arguments))

    def ask(self, function: str, request: object = None) -> Any:
        """Calls a function of inside.py, which takes and returns JSON."""
        return json.loads(self.call(function, request))

    def _evaluate(self, expression: str, argument: object = None) -> Any:
        from playwright.sync_api import Error

        try:
            return self._program.evaluate(expression, argument)
        except Error as error:
            raise PageError(error.message) from None


def require() -> None:
    """Raises ArgumentError if the browser or its driver is not installed."""
    if chromium.program() is None:
        raise ArgumentError("bench: Chromium is not installed; apt-get install chromium, or set LANEWISE_CHROMIUM")
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        raise ArgumentError(
            "bench: Playwright, which drives the browser, is not installed; pip install playwright"
        ) from None


@contextmanager
def opened(folders: Folders, *, webgpu: bool = False, in_worker: bool = False) -> Iterator[Page]:
    """Starts Chromium with a page to load, and serves `folders` to it.

    With `webgpu`, the page has WebGPU. With `in_worker`, its functions run in a web worker, as a notebook's kernel in
    JupyterLite does, and the page is cross-origin isolated: libraries may use further web workers as threads, and some
    do so without being asked. Raises ArgumentError as `require` does.
    """
    require()
    headers = ISOLATION if in_worker else {}
    with (
        closing(LocalSite(folders, {}, headers)) as site,
        closing(chromium.Driver()) as driver,
        closing(driver.launch(webgpu=webgpu)) as started,
    ):
        yield Page(started.browser, site.origin, in_worker=in_worker)
