"""Firefox and WebKitGTK, each driven by its own WebDriver interface, with the standard library alone.

Both accept the commands of WebDriver (W3C, https://www.w3.org/TR/webdriver2/). WebKit's driver receives them over HTTP.
Firefox itself receives them over a socket, in its Marionette protocol, so that geckodriver is not needed."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import environment
from pyodide_runner import ProgramError

LIMIT = 660.0  # seconds for one command; long, because a page cannot answer while Python runs in it
STARTS = 180.0  # seconds in which a browser must start and answer
BEGIN = "window.begin(JSON.parse(arguments[0]))"
OUTCOME = "return window.outcome === undefined ? null : JSON.stringify(window.outcome)"


class WebDriverError(ProgramError):
    """The browser answered with an error or did not answer."""


class Page:
    """The one page of a session. `execute` runs the body of a JavaScript function and returns its result."""

    def __init__(self, navigate: Callable[[str], object], execute: Callable[..., Any]) -> None:
        self.navigate, self.execute = navigate, execute

    def open(self, address: str) -> None:
        self.navigate(address)
        _wait("the page's script", lambda: self.execute("return window.begin !== undefined"))

    def ask(self, question: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        self.execute(BEGIN, json.dumps(question))
        outcome: dict[str, Any] = json.loads(_wait("an outcome", lambda: self.execute(OUTCOME), seconds))
        return outcome

    def close(self) -> None:
        self.navigate("about:blank")  # frees Pyodide's memory, because the next console uses the same page


class Firefox:
    """Headless Firefox with an empty profile."""

    backends = frozenset({"simd128", "relaxed_simd"})

    def __init__(self) -> None:
        self.socket: socket.socket | None = None
        self.profile = tempfile.TemporaryDirectory(prefix="lanewise-firefox-")
        folder = Path(self.profile.name)
        (folder / "user.js").write_text('user_pref("marionette.port", 0);\n')  # Firefox picks a port and saves it
        command = [
            environment.program(environment.FIREFOX) or "firefox",
            "--headless",
            "--marionette",
            "--no-remote",
            "--profile",
            str(folder),
        ]
        self.process = _start(command)
        try:
            port = folder / "MarionetteActivePort"
            _wait("Firefox's port", lambda: port.exists() and port.read_text(), STARTS)
            self.socket = socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=LIMIT)
            self.answers: IO[bytes] = self.socket.makefile("rb")
            self.commands = 0
            self._receive()  # Firefox's greeting
            self._command("WebDriver:NewSession", timeouts={"script": int(LIMIT * 1000)})
        except BaseException:
            self.close()
            raise

    def new_page(self) -> Page:
        def navigate(address: str) -> None:
            self._command("WebDriver:Navigate", url=address)

        def execute(script: str, *arguments: Any) -> Any:
            # no sandbox, because a script in a sandbox sees the page's objects only through wrappers
            done = self._command("WebDriver:ExecuteScript", script=script, args=arguments, sandbox=None)
            return done["value"]

        return Page(navigate, execute)

    def close(self) -> None:
        if self.socket is not None:
            self.answers.close()
            self.socket.close()
        _end(self.process)
        self.profile.cleanup()

    def _command(self, name: str, **parameters: Any) -> Any:
        assert self.socket is not None
        self.commands += 1
        text = json.dumps([0, self.commands, name, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, value = self._receive()
        if error:
            raise WebDriverError(f"Firefox: {name}: {error['message']}")
        return value

    def _receive(self) -> Any:
        """Reads a message: its length in decimal, a colon, JSON."""
        digits = b""
        while (byte := self.answers.read(1)) != b":":
            if not byte:
                raise WebDriverError("Firefox closed the connection")
            digits += byte
        return json.loads(self.answers.read(int(digits)))


class WebKit:
    """WebKitGTK's MiniBrowser on a virtual display."""

    backends = frozenset({"simd128"})

    def __init__(self) -> None:
        self.processes: list[subprocess.Popen[bytes]] = []
        try:
            display = self._display()
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            self.origin = f"http://127.0.0.1:{port}"
            # WebKit's sandbox needs user namespaces, which containers do not allow
            settings = {"DISPLAY": display, "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"}
            self.processes.append(_start([environment.WEBKIT_DRIVER, f"--port={port}"], **settings))
            _wait("WebKit's driver", self._listens, STARTS)
            options = {"binary": str(environment.minibrowser()), "args": ["--automation"]}
            required = {"webkitgtk:browserOptions": options, "timeouts": {"script": int(LIMIT * 1000)}}
            session = self._command("POST", "/session", capabilities={"alwaysMatch": required})
            self.session = f"/session/{session['sessionId']}"
        except BaseException:
            self.close()
            raise

    def new_page(self) -> Page:
        def navigate(address: str) -> None:
            self._command("POST", f"{self.session}/url", url=address)

        def execute(script: str, *arguments: Any) -> Any:
            return self._command("POST", f"{self.session}/execute/sync", script=script, args=arguments)

        return Page(navigate, execute)

    def close(self) -> None:
        for process in reversed(self.processes):
            _end(process)

    def _display(self) -> str:
        """Starts Xvfb, an X server with a virtual screen, on the first free display, and returns the display."""
        reads, writes = os.pipe()
        command = ["Xvfb", "-displayfd", str(writes), "-screen", "0", "800x600x24", "-nolisten", "tcp"]
        self.processes.append(
            subprocess.Popen(command, pass_fds=[writes], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        )
        os.close(writes)
        with os.fdopen(reads) as number:
            return f":{number.readline().strip()}"

    def _listens(self) -> bool:
        try:
            self._command("GET", "/status")
        except WebDriverError:
            return False
        return True

    def _command(self, method: str, path: str, **parameters: Any) -> Any:
        body = json.dumps(parameters).encode() if method == "POST" else None
        request = urllib.request.Request(self.origin + path, body, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=LIMIT) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            with error:
                value = json.load(error)["value"]
            raise WebDriverError(f"WebKit: {path}: {value['error']}: {value['message']}") from None
        except OSError as error:
            raise WebDriverError(f"WebKit: {path}: {error}") from None


def _start(command: list[str], **settings: str) -> subprocess.Popen[bytes]:
    program = shutil.which(command[0])
    if program is None:
        raise WebDriverError(f"{command[0]} is not installed")
    return subprocess.Popen(
        [program, *command[1:]],
        env={**os.environ, **settings},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait(what: str, condition: Callable[[], Any], seconds: float = STARTS) -> Any:
    """Waits until the condition is true and returns its result."""
    end = time.monotonic() + seconds
    while True:
        if result := condition():
            return result
        if time.monotonic() > end:
            raise WebDriverError(f"expected {what}, got none within {seconds:.0f} s")
        time.sleep(0.05)
