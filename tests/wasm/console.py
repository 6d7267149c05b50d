"""Runs Pyodide in a browser's page, or in a worker of that page, and installs lanewise there with micropip from a local
index, as a notebook does. Works with any browser that can open a page and evaluate JavaScript in it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import support
from local_site import LocalSite
from pyodide_runner import ProgramError

from wasm import releases

PAGES = Path(__file__).with_name("browser")
START_SECONDS = 150  # a busy machine takes tens of seconds to compile Pyodide
INSTALL = """
import micropip

micropip.set_index_urls(["{origin}/simple"])
await micropip.install("lanewise")
"""


class PageCrashedError(ProgramError):
    """The browser's process that runs the page has ended."""


class Page(Protocol):
    """A page that shows browser/console.html."""

    def open(self, address: str) -> None:
        """Loads the page at the address, and waits until `window.begin` is defined."""

    def ask(self, question: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Calls `window.begin(question)` and returns `window.outcome` once it is defined: {"result": ...} or
        {"error": ...}. Raises ProgramError if that takes longer than `seconds`."""

    def close(self) -> None:
        """Closes the page."""


class Browser(Protocol):
    """A running browser."""

    backends: frozenset[str]  # lanewise's backends that this browser can run, such as simd128

    def new_page(self) -> Page:
        """Opens an empty page."""

    def close(self) -> None:
        """Closes the browser."""


class Console:
    """One Pyodide that runs programs, one after another."""

    def __init__(self, browser: Browser, site: LocalSite, version: str, *, worker: bool = False) -> None:
        self.browser, self.site, self.pyodide, self.worker = browser, site, version, worker
        self._open()

    def _open(self) -> None:
        try:
            self._boot()
        except (ProgramError, OSError) as error:  # a browser may stop answering while a page starts
            support.note_reopened(f"Pyodide {self.pyodide}", error)
            self.page.close()
            self._boot()

    def _boot(self) -> None:
        self.page = self.browser.new_page()
        self.page.open(f"{self.site.origin}/pages/console.html{'?worker' if self.worker else ''}")
        index = f"{self.site.origin}/pyodide-{self.pyodide}/"
        names = releases.installer(self.pyodide)
        packages = [index + name if name.endswith(".whl") else name for name in names]
        if releases.carries(self.pyodide, "numpy"):
            packages.append("numpy")
        self.version: str = self._ask("start", START_SECONDS, index=index, packages=packages)
        began = time.monotonic()
        self._run("install", INSTALL.format(origin=self.site.origin), {}, START_SECONDS)
        self.install_seconds = time.monotonic() - began

    def run(self, program: Path, *, mounts: Mapping[str, Path] | None = None, timeout: float = 300) -> Any:
        """Runs a program and returns the value of its last expression, which must be convertible to JSON. If the page
        crashes, the program runs once more in a new page, because Chromium sometimes crashes for reasons of its own."""
        arguments = program.name, program.read_text(encoding="utf-8"), mounts or {}, timeout
        try:
            return self._run(*arguments)
        except PageCrashedError as error:
            support.note_reopened(f"Pyodide {self.pyodide}", error)
            self.page.close()
            self._open()
            return self._run(*arguments)

    def close(self) -> None:
        self.page.close()

    def _run(self, name: str, source: str, mounts: Mapping[str, Path], timeout: float) -> Any:
        addresses = {inside: self.site.archive(outside) for inside, outside in mounts.items()}
        try:
            return json.loads(self._ask("run", timeout, source=source, filename=name, mounts=addresses))
        except ProgramError as error:
            raise type(error)(f"{name}: {error}") from None

    def _ask(self, call: str, timeout: float, **argument: Any) -> Any:
        outcome = self.page.ask({"call": call, **argument}, timeout)
        if "error" in outcome:
            raise ProgramError(outcome["error"])
        return outcome["result"]
