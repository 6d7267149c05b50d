"""Serves the built site on this machine:

python site/serve.py               at http://localhost:8000/
python site/serve.py --isolated    with the two headers of cross-origin isolation, which allow shared memory
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

LAST_PORT = 65535
DIST = Path(__file__).resolve().parent / "dist"
ISOLATION = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}


class Handler(SimpleHTTPRequestHandler):
    """Serves files with the types that pages need, and with additional headers."""

    protocol_version = "HTTP/1.1"
    # the system's table of types may lack these, and browsers refuse modules with another type
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".json": "application/json",
        ".ipynb": "application/json",
        ".svg": "image/svg+xml",
        ".wasm": "application/wasm",  # with this type, browsers compile a module while they download it
        ".whl": "application/zip",
    }

    def __init__(self, *arguments: Any, headers: dict[str, str], **options: Any) -> None:
        self.additional = headers
        super().__init__(*arguments, **options)

    def end_headers(self) -> None:
        """Adds the headers. `no-cache` makes browsers ask whether a file has changed since the last build."""
        for name, value in {"Cache-Control": "no-cache", **self.additional}.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        """Prints nothing: the browser shows what it could not load."""


def make_server(folder: Path, port: int = 0, *, isolated: bool = False) -> ThreadingHTTPServer:
    """Returns a server of this folder, which the caller runs. Port 0 chooses a free one."""
    handler = partial(Handler, directory=str(folder), headers=ISOLATION if isolated else {})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    return server


def _port(text: str) -> int:
    """Returns the number of a port, for argparse."""
    if not text.isdecimal() or int(text) > LAST_PORT:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to {LAST_PORT}, got {text}")
    return int(text)


def main() -> None:
    """Serves the site until it is interrupted."""
    parser = argparse.ArgumentParser(description="Serves site/dist on this machine.")
    parser.add_argument("--dist", type=Path, default=DIST, help="folder of the site (default: site/dist)")
    parser.add_argument("--port", type=_port, default=8000, help="0 chooses a free one (default: 8000)")
    parser.add_argument("--isolated", action="store_true", help="send the headers of cross-origin isolation")
    arguments = parser.parse_args()
    if not (arguments.dist / "config.json").exists():
        sys.exit(f"site/serve.py: expected a built site in {arguments.dist}, found none; run python site/build.py")
    try:
        serving = make_server(arguments.dist, arguments.port, isolated=arguments.isolated)
    except OSError as error:
        sys.exit(f"site/serve.py: port {arguments.port}: {error.strerror}; choose another one with --port")
    print(f"http://localhost:{serving.server_address[1]}/ (lab at lite/lab/); Ctrl+C stops it", flush=True)
    try:
        serving.serve_forever()
    except KeyboardInterrupt:
        serving.server_close()


if __name__ == "__main__":
    main()
