"""Serves a built site for tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import serve

__all__ = ["SUBPATH", "running", "serving", "serving_release"]

SUBPATH = "lanewise"  # GitHub Pages serves a project's site below its name


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[str]:
    """Runs a server and yields its origin."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serving(folder: Path, *, isolated: bool = False) -> Iterator[str]:
    """Serves a site below a path, and yields its address, with a slash at its end."""
    with running(serve.make_server(folder.parent, isolated=isolated)) as origin:
        yield f"{origin}/{folder.name}/"


class _Release(SimpleHTTPRequestHandler):
    """Serves Pyodide's release as its own server does: to pages of any origin."""

    def end_headers(self) -> None:
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Prints nothing."""


@contextmanager
def serving_release(folder: Path) -> Iterator[str]:
    """Serves a release of Pyodide, and yields the URL of its folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Release, directory=str(folder.parent)))
    server.daemon_threads = True
    with running(server) as origin:
        yield f"{origin}/{folder.name}/"
