"""Serves a built site for tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path

import serve

__all__ = ["SUBPATH", "running", "serving"]

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
