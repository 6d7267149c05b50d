"""A page in headless Chromium, served from this machine: what measures calls its functions and gets JSON back."""

from __future__ import annotations

import json
import mimetypes
import os
import shutil
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from lanewise.errors import ArgumentError

__all__ = ["Page", "chromium", "opened", "require"]

# In a container Chromium's own sandbox cannot be made; the page loads from this machine alone.
FLAGS = ("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking")
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
LONGEST = 15 * 60 * 1000  # milliseconds for one call of the page

Folders = Mapping[str, Path]  # first part of the URL's path -> folder


class Page:
    """The page, loaded. A call that throws there raises RuntimeError here."""

    def __init__(self, page: Any, address: str) -> None:
        self._page = page
        self._address = address

    def load(self) -> None:
        """A fresh page: nothing of the last one is left."""
        self._page.goto(f"{self._address}/page/index.html")
        self._page.wait_for_function("globalThis.lanewise !== undefined")

    def call(self, function: str, *arguments: object) -> Any:
        """lanewise.<function>(...arguments), awaited."""
        return self._page.evaluate(f"(given) => lanewise.{function}(...given)", list(arguments))

    def ask(self, function: str, request: object = None) -> Any:
        """A function of inside.py, which takes and gives JSON."""
        return json.loads(self.call(function, request))


def chromium() -> str:
    """The browser's program: LANEWISE_CHROMIUM, else what is on the path."""
    program = os.environ.get("LANEWISE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        raise ArgumentError("bench: there is no Chromium; apt-get install chromium, or name one in LANEWISE_CHROMIUM")
    return program


def require() -> None:
    """ArgumentError where the browser or its driver is not installed."""
    chromium()
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        raise ArgumentError(
            "bench: the browser is driven by Playwright, which is not installed; pip install playwright"
        ) from None


@contextmanager
def opened(folders: Folders) -> Iterator[Page]:
    """A page whose files come from these folders. ArgumentError where something is not installed."""
    require()
    from playwright.sync_api import Error, sync_playwright

    with _served(folders) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        try:
            page = browser.new_page()
            page.set_default_timeout(LONGEST)
            page.on("console", lambda message: print(message.text, file=sys.stderr))
            yield Page(page, address)
        except Error as error:
            raise RuntimeError(error.message) from None
        finally:
            browser.close()


@contextmanager
def _served(folders: Folders) -> Iterator[str]:
    handler = partial(_Handler, folders)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    """Files of the folders, read-only. No isolation headers: with them some peers would start threads."""

    protocol_version = "HTTP/1.1"

    def __init__(self, folders: Folders, *arguments: Any) -> None:
        self._folders = folders
        super().__init__(*arguments)

    def do_GET(self) -> None:
        """One file, whole."""
        first, _, rest = self.path.partition("?")[0].lstrip("/").partition("/")
        folder = self._folders.get(first)
        path = None if folder is None else (folder / rest).resolve()
        if folder is None or path is None or not path.is_relative_to(folder.resolve()) or not path.is_file():
            self.send_error(404)
            return
        data = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the page says what it misses."""


# Chromium compiles while it downloads only what has this type, and runs only modules with that one.
_TYPES = {".wasm": "application/wasm", ".mjs": "text/javascript", ".js": "text/javascript"}
