"""The landing page in Chromium: what a visitor does there, and waits for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from visit import Visit

if TYPE_CHECKING:
    import playwright.sync_api as playwright

__all__ = ["LandingPage"]

LIMIT = 240_000  # milliseconds for a run of the benchmark, on a busy machine


class LandingPage(Visit):
    """A visit to the landing page."""

    def __init__(self, context: playwright.BrowserContext, address: str) -> None:
        super().__init__(context, address)
        self.page.set_default_timeout(LIMIT)

    def open(self, path: str = "") -> None:
        """Goes to the landing page, or to a fragment of it, and waits until the benchmark can be started."""
        super().open(path)
        self.page.wait_for_function("!document.querySelector('#run').disabled")

    def start(self) -> None:
        self.page.click("#run")

    def measured(self, work: str = "matmul-256") -> int:
        """Waits until a work has been measured on every contestant, and returns the number of its bars."""
        rows = f"figure[data-work='{work}'] g.row"
        self.page.wait_for_function(f"!document.querySelector(\"{rows}[data-state='pending']\")", polling=50)
        return int(self.page.locator(f"{rows}[data-state='measured']").count())

    def finish(self) -> None:
        """Runs the benchmark to its end."""
        self.start()
        ended = "/^(Done|Stopped)/.test(document.querySelector('#status').textContent)"
        self.page.wait_for_function(ended, polling=50)
        assert self.page.inner_text("#status").startswith("Done"), self.page.inner_text("#problem")

    def problem(self) -> str:
        """Waits until the page says that something went wrong, and returns what it says."""
        self.page.wait_for_selector("#problem:not([hidden])")
        return str(self.page.inner_text("#problem"))

    def idle(self) -> bool:
        """Waits until no worker runs; browsers end workers a little after the page does."""
        deadline = time.monotonic() + 30
        while self.page.workers and time.monotonic() < deadline:
            self.page.wait_for_timeout(50)
        return not self.page.workers
