"""Lists the engines that the WASM tests run in: releases of Pyodide in Node or a browser. The fixture `engine` gives
each in turn.

Each release runs in a page of Chromium, the oldest and the newest one in the system's Node; the newest also in a newer
Node, in a worker and in Firefox, the oldest in WebKit. tests/site runs the oldest in workers, on the landing page and
in the lab.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, Protocol

import pyodide_runner
from console import Console
from support import absent, share

from wasm import build, releases

RELAXED_SINCE = 21  # the first version of Node with relaxed SIMD by default
NODES = {"node": pyodide_runner.node, "newer-node": pyodide_runner.newer_node}
BROWSERS = {"page": "chromium", "worker": "chromium", "firefox": "firefox", "webkit": "webkit"}  # place -> fixture
PLACES = {
    "0.27.7": ("node", "page", "webkit"),
    "0.29.5": ("page",),
    "314.0.7": (*NODES, "page", "worker", "firefox"),
}
NEWEST = max(PLACES)  # the newest release that all browsers run
EMCC = f"emcc-{NEWEST}"  # it runs in the system's Node, with the wheel compiled by emcc
ENGINES = [*(f"{place}-{version}" for version, places in PLACES.items() for place in places), EMCC]
# Engines that run all operations, on both libraries compiled by zig and on the one compiled by emcc. Each of
# the others runs a share of the operations, and together they run all of them.
WHOLE = ("newer-node-314.0.7", EMCC)
SHARED = [name for name in ENGINES if name not in WHOLE]

# One engine of each kind, for programs that take long and whose results depend on no release of Pyodide
KINDS = ("node-0.27.7", "worker-314.0.7", "webkit-0.27.7", "firefox-314.0.7")
# Each release in one Node, and each Node with several releases, for what has nothing to do with both at once
IN_NODE = list(zip(sorted(releases.DISTRIBUTIONS), cycle(NODES), strict=False))


class Engine(Protocol):
    """A Pyodide with lanewise, and with NumPy if its distribution has it."""

    name: str  # one of ENGINES, or ""
    version: str
    backends: frozenset[str]  # lanewise's backends that this engine can run, such as simd128

    def run(self, program: Path, *, mounts: Mapping[str, Path] | None = None, timeout: float = 300) -> Any:
        """Runs a program and returns the value of its last expression, which must be convertible to JSON."""


class NodeEngine:
    """Runs all programs in a Pyodide in one process of Node."""

    name = ""

    def __init__(self, program: str, folder: Path, version: str, wheel: Path, flags: Sequence[str] = ()) -> None:
        self.version = version
        packages = [*(["numpy"] if releases.carries(version, "numpy") else []), wheel]
        self.session = pyodide_runner.Session(folder, packages=packages, node=program, flags=flags)
        relaxed = pyodide_runner.node_version(program)[0] >= RELAXED_SINCE
        known = {"simd128"} | ({"relaxed_simd"} if relaxed else set())
        self.backends = frozenset(known - set(build.left_out(wheel)))

    def run(self, program: Path, *, mounts: Mapping[str, Path] | None = None, timeout: float = 300) -> Any:
        return self.session.run(program, mounts=mounts, timeout=timeout)

    def close(self) -> None:
        self.session.close()


class BrowserEngine:
    """Runs all programs in the Pyodide of one page, as a notebook does."""

    name = ""

    def __init__(self, console: Console) -> None:
        self.console, self.version, self.backends = console, console.pyodide, console.browser.backends

    def run(self, program: Path, *, mounts: Mapping[str, Path] | None = None, timeout: float = 300) -> Any:
        return self.console.run(program, mounts=mounts, timeout=timeout)


def operations_of(engine: str, names: Sequence[str]) -> list[str]:
    """Returns the operations that an engine of ENGINES runs."""
    return list(names) if engine in WHOLE else share(names, SHARED.index(engine), len(SHARED))


def node(place: str) -> str:
    """Returns the path of a Node; `place` is a key of NODES. If it is not installed, skips the test, or fails it if
    LANEWISE_REQUIRE names simd128."""
    program = NODES[place]()
    if program is None:
        absent(f"{place} is not installed", "simd128")
        raise AssertionError
    return program


def distribution(version: str) -> Path:
    """Returns the folder of a Pyodide. If it cannot be fetched, skips the test, or fails it if LANEWISE_REQUIRE names
    simd128."""
    try:
        return releases.fetch(version)
    except releases.ReleaseError as error:
        absent(f"Pyodide {version} could not be fetched: {error}", "simd128")
        raise
