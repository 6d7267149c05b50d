"""Runs commands so that all their processes can be stopped: each command has its own process group, and a mark in its
environment that identifies processes which left the group."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MARK = "LANEWISE_MUTANTS"


class Stopped(Exception):  # noqa: N818 - not an error
    """Raised by run() after stop()."""


@dataclass(frozen=True)
class Ended:
    """A command that has ended; `status` is None if it was killed at its time limit."""

    status: int | None
    output: str
    seconds: float


class Processes:
    """The commands that run, and a temporary folder for all that they write. Leaving the context ends the commands and
    deletes the folder."""

    def __enter__(self) -> Processes:
        self.folder = Path(tempfile.mkdtemp(prefix="lanewise-mutants-"))
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopping = False
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        for _attempt in range(20):  # a process that is being killed may still write
            _kill_marked(str(self.folder))
            shutil.rmtree(self.folder, ignore_errors=True)
            if not self.folder.exists():
                return
            time.sleep(0.1)

    def stop(self) -> None:
        """Ends all commands; run() then raises Stopped."""
        with self._lock:
            self._stopping = True
            for process in self._running:
                _kill_group(process)

    def run(self, words: Sequence[str], cwd: Path, environment: Mapping[str, str], limit: float) -> Ended:
        """Runs a command for at most `limit` seconds, and returns its output and status."""
        began = time.monotonic()
        with tempfile.TemporaryFile(dir=self.folder) as output:
            with self._lock:
                if self._stopping:
                    raise Stopped
                process = subprocess.Popen(
                    words,
                    cwd=cwd,
                    env={**environment, MARK: str(self.folder)},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                self._running.add(process)
            _prefer_for_out_of_memory(process.pid)
            status: int | None
            try:
                status = process.wait(max(limit, 0))
            except subprocess.TimeoutExpired:
                status = None
            finally:
                _kill_group(process)
                process.wait()
                with self._lock:
                    self._running.discard(process)
            if self._stopping:
                raise Stopped
            output.seek(0)
            text = output.read().decode(errors="replace")
        return Ended(status, text, time.monotonic() - began)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _prefer_for_out_of_memory(pid: int) -> None:
    """Makes the system end this process first if memory runs out: a mutant may allocate without end."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text("1000")


def _kill_marked(mark: str) -> None:
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in path.read_bytes().split(b"\0") and int(path.parent.name) != os.getpid():
                os.kill(int(path.parent.name), signal.SIGKILL)
