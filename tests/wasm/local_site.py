"""A local HTTP server for the tests' pages, in any browser. It serves Pyodide's files, a package index with one wheel,
and folders packed as tar files for Pyodide's file system."""

from __future__ import annotations

import hashlib
import html
import io
import tarfile
import threading
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".json": "application/json",
    ".wasm": "application/wasm",  # with this type, browsers compile a module while they download it
}
PACKED = {".py", ".bin", ".json", ".txt"}  # suffixes of the files that `archive` packs


# the headers of cross-origin isolation, without which a page has no shared memory
ISOLATION = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}


class LocalSite:
    """Serves until it is closed; `origin` is its address.

    folders: folders whose files are served, by the first part of the URL's path
    wheels:  the wheel of each package in the index at /simple, by the package's name
    headers: additional HTTP headers
    """

    def __init__(
        self, folders: Mapping[str, Path], wheels: Mapping[str, Path], headers: Mapping[str, str] | None = None
    ) -> None:
        self.folders = dict(folders)
        self.wheels = dict(wheels)
        self.headers = dict(headers or {})
        self.archives: dict[str, bytes] = {}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self.server.daemon_threads = True
        self.origin = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def archive(self, folder: Path) -> str:
        """Packs a folder's files with the suffixes in PACKED into a tar file, and returns the tar file's address.
        Leaves out subfolders whose names start with a dot or an underscore."""
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w") as archive:
            for path in sorted(folder.rglob("*")):
                inside = path.relative_to(folder)
                if path.suffix in PACKED and not any(part[0] in "._" for part in inside.parts[:-1]):
                    archive.add(path, str(inside), recursive=False)
        name = f"{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}.tar"
        self.archives[name] = content.getvalue()
        return f"{self.origin}/archives/{name}"

    def find(self, path: str) -> tuple[str, bytes] | None:
        """Returns the type and content of the resource at a path, or None."""
        first, _, rest = unquote(path).lstrip("/").partition("/")
        if first == "simple":
            return self._index(rest.strip("/"))
        if first == "wheels":
            wheel = next((wheel for wheel in self.wheels.values() if wheel.name == rest), None)
            return ("application/octet-stream", wheel.read_bytes()) if wheel else None
        if first == "archives":
            content = self.archives.get(rest)
            return ("application/x-tar", content) if content is not None else None
        return self._file(first, rest)

    def _index(self, project: str) -> tuple[str, bytes] | None:
        """Returns a project's page in the simple repository API (PEP 503), or None."""
        wheel = self.wheels.get(project)
        if wheel is None:
            return None
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        address = f"{self.origin}/wheels/{quote(wheel.name)}#sha256={digest}"
        link = f'<a href="{html.escape(address)}">{html.escape(wheel.name)}</a>'
        return "text/html", f"<!doctype html><title>{html.escape(project)}</title>{link}".encode()

    def _file(self, first: str, rest: str) -> tuple[str, bytes] | None:
        folder = self.folders.get(first)
        if folder is None:
            return None
        path = (folder / rest).resolve()
        if not path.is_relative_to(folder.resolve()) or not path.is_file():
            return None
        return TYPES.get(path.suffix, "application/octet-stream"), path.read_bytes()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, site: LocalSite, *arguments: object) -> None:
        self.site = site
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        resource = self.site.find(self.path.partition("?")[0])
        kind, content = resource or ("text/plain", b"not found")
        self.send_response(HTTPStatus.OK if resource else HTTPStatus.NOT_FOUND)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        for name, value in self.site.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Prints nothing: the page reports what it could not load."""
