"""Headless Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import environment
from console import PageCrashedError
from pyodide_runner import ProgramError

if TYPE_CHECKING:
    import playwright.sync_api as playwright

# CI runs Chromium as root, which its sandbox refuses; the other flags keep it from opening connections by itself
FLAGS = ("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking")
# WebGPU on the CPU: without these flags, Chromium has navigator.gpu but no adapter on a machine without a GPU
WEBGPU = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")


def program() -> str | None:
    """Returns the browser to run: LANEWISE_CHROMIUM, else the first of environment.CHROMIUM on the path."""
    found = (path for path in map(shutil.which, environment.CHROMIUM) if path)
    return os.environ.get("LANEWISE_CHROMIUM") or next(found, None)


class Driver:
    """Playwright, which starts browsers. A process can have only one Driver."""

    def __init__(self) -> None:
        from playwright.sync_api import sync_playwright

        self.playwright = sync_playwright().start()

    def launch(self, flags: Sequence[str] = (), *, webgpu: bool = False, script: str = "") -> Chromium:
        """Starts a browser. `flags` are for its engine (V8), such as --no-enable-sse4-1. `script` is JavaScript that
        each page runs first."""
        engine = [f"--js-flags={' '.join(flags)}"] if flags else []
        arguments = [*FLAGS, *(WEBGPU if webgpu else ()), *engine]
        return Chromium(self.playwright.chromium.launch(executable_path=program(), args=arguments), script)

    def close(self) -> None:
        self.playwright.stop()


class Chromium:
    """A running browser."""

    backends = frozenset({"simd128", "relaxed_simd"})

    def __init__(self, browser: playwright.Browser, script: str = "") -> None:
        self.browser, self.script = browser, script

    def new_page(self) -> ChromiumPage:
        page = self.browser.new_page()
        if self.script:
            page.add_init_script(self.script)
        return ChromiumPage(page)

    def close(self) -> None:
        self.browser.close()


class ChromiumPage:
    """A tab of Chromium."""

    def __init__(self, page: playwright.Page) -> None:
        self.page = page

    def open(self, address: str) -> None:
        self.page.goto(address)
        self.page.wait_for_function("window.begin !== undefined")

    def ask(self, question: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Calls `window.begin(question)`. Playwright waits for the outcome and notices if the page hangs or crashes."""
        from playwright.sync_api import Error

        try:
            self.page.evaluate("question => window.begin(question)", question)
            self.page.wait_for_function("window.outcome !== undefined", polling=50, timeout=seconds * 1000)
            outcome: dict[str, Any] = self.page.evaluate("window.outcome")
        except Error as error:
            kind = PageCrashedError if "crashed" in error.message else ProgramError
            raise kind(f"no answer from Chromium: {error.message}") from None
        return outcome

    def close(self) -> None:
        self.page.close()
