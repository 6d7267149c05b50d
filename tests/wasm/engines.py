"""Lists the engines that the WASM tests run in: releases of Pyodide in Node or a browser. The fixture `engine` gives
each in turn.

The oldest and the newest release each run in the system's Node, in a newer Node, in a page and in a worker of Chromium;
the oldest also in WebKit, the newest in Firefox. The release between them runs in the system's Node and in a page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyodide_runner
from console import Console
from support import absent

from wasm import build, releases

RELAXED_SINCE = 21  # the first version of Node with relaxed SIMD by default
NODES = {"node": pyodide_runner.node, "newer-node": pyodide_runner.newer_node}
BROWSERS = {"page": "chromium", "worker": "chromium", "firefox": "firefox", "webkit": "webkit"}  # place -> fixture
EVERYWHERE = (*NODES, "page", "worker")
PLACES = {"0.27.7": (*EVERYWHERE, "webkit"), "0.29.5": ("node", "page"), "314.0.7": (*EVERYWHERE, "firefox")}
EMCC = "emcc-314.0.7"  # Pyodide 314.0.7 in the system's Node, with the wheel compiled by emcc
ENGINES = [*(f"{place}-{version}" for version, places in PLACES.items() for place in places), EMCC]


class Engine(Protocol):
    """A Pyodide with lanewise, and with NumPy if its distribution has it."""

    version: str
    backends: frozenset[str]  # lanewise's backends that this engine can run, such as simd128

    def run(self, program: Path, *, mounts: Mapping[str, Path] | None = None, timeout: float = 300) -> Any:
        """Runs a program and returns the value of its last expression, which must be convertible to JSON."""


class NodeEngine:
    """Runs each program in a new process of Node."""

    def __init__(self, program: str, folder: Path, version: str, wheel: Path, flags: Sequence[str] = ()) -> None:
        self.program, self.folder, self.version, self.wheel, self.flags = program, folder, version, wheel, flags
        relaxed = pyodide_runner.node_version(program)[0] >= RELAXED_SINCE
        known = {"simd128", "scalar"} | ({"relaxed_simd"} if relaxed else set())
        self.backends = frozenset(known - set(build.left_out(wheel)))

    def run(self, program: Path, *, mounts: Mapping[str, Path] | None = None, timeout: float = 300) -> Any:
        numpy = ["numpy"] if releases.carries(self.version, "numpy") else []
        return pyodide_runner.run(
            self.folder,
            program,
            packages=[*numpy, self.wheel],
            mounts=mounts,
            node=self.program,
            flags=self.flags,
            timeout=timeout,
        )


class BrowserEngine:
    """Runs all programs in the Pyodide of one page, as a notebook does."""

    def __init__(self, console: Console) -> None:
        self.console, self.version, self.backends = console, console.pyodide, console.browser.backends

    def run(self, program: Path, *, mounts: Mapping[str, Path] | None = None, timeout: float = 300) -> Any:
        return self.console.run(program, mounts=mounts, timeout=timeout)


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
