"""A page of Chromium that records what no page of the site may do: errors in the console, requests to other servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import support

if TYPE_CHECKING:
    import playwright.sync_api as playwright

# Playwright waits without limit for a promise, so the script's promise is not returned to it
BEGIN = """([script, argument]) => {
    window.lanewiseTest = undefined;
    Promise.resolve(eval(script)(argument)).then(
        (value) => { window.lanewiseTest = { value: value === undefined ? null : value }; },
        (error) => { window.lanewiseTest = { error: String(error && error.stack || error) }; },
    );
}"""
LOCAL = ("data:", "blob:", "about:")


class Visit:
    """A page, and what it did: `errors` and all `messages` in the console, and `requests`, those of its workers too."""

    def __init__(self, context: playwright.BrowserContext, address: str) -> None:
        self.context, self.address = context, address
        self.errors: list[str] = []
        self.messages: list[str] = []
        self.requests: list[str] = []
        context.on("request", lambda request: self.requests.append(request.url))
        context.on("console", self._note)
        context.on("weberror", lambda error: self.errors.append(str(error.error)))
        self.page = context.new_page()

    def _note(self, message: playwright.ConsoleMessage) -> None:
        self.messages.append(f"{message.type}: {message.text}")
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    @property
    def foreign(self) -> list[str]:
        """The requests to other servers."""
        parts = urlsplit(self.address)
        return [url for url in self.requests if not url.startswith((f"{parts.scheme}://{parts.netloc}/", *LOCAL))]

    def open(self, path: str = "") -> None:
        """Goes to a page of the site."""
        self.page.goto(self.address + path)

    def ask(self, script: str, argument: object = None, *, seconds: float) -> Any:
        """Calls an asynchronous function, given as JavaScript, and returns its result."""
        self.page.evaluate(BEGIN, [script, argument])
        # Without `polling`, Playwright would look in each frame, and so make the page draw frames all the time
        self.page.wait_for_function("window.lanewiseTest !== undefined", polling=50, timeout=seconds * 1000)
        outcome = self.page.evaluate("window.lanewiseTest")
        assert "error" not in outcome, outcome["error"]
        return outcome["value"]

    def boot(self, path: str, steps: Sequence[tuple[str, object]], *, seconds: float, is_open: bool = False) -> None:
        """Goes to a page, unless it is open, and calls asynchronous functions, given as JavaScript with their argument.
        If one takes longer than `seconds`, goes to the page once more, prints what the page wrote to the console, and
        forgets its errors."""
        from playwright.sync_api import TimeoutError

        try:
            self._boot("" if is_open else path, steps, seconds)
        except TimeoutError as error:
            support.note_reopened(path, error)
            print(*self.messages[-40:], sep="\n")
            self.errors.clear()
            self._boot(path, steps, seconds)

    def _boot(self, path: str, steps: Sequence[tuple[str, object]], seconds: float) -> None:
        if path:
            self.open(path)
        for script, argument in steps:
            self.ask(script, argument, seconds=seconds)

    def close(self) -> None:
        self.context.close()
