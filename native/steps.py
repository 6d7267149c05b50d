"""Runs a build command only if the command, its tool or its inputs changed since the last run.

A file next to the output, with the suffix .stamp, holds a hash of these three. Builds that write the same files at the
same time hold a lock.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from native.errors import BuildError

__all__ = ["Step", "lock", "run"]

ROOT = str(Path(__file__).resolve().parents[1])


@dataclass(frozen=True)
class Step:
    """One output, the command that makes it, and the files that the command reads."""

    output: Path
    command: Sequence[str]
    inputs: tuple[Path, ...]
    tool: str = ""  # the version of the command's tool, on which the output depends too
    check: Callable[[Path], None] | None = None  # raises BuildError for an invalid output

    @property
    def stamp(self) -> Path:
        return self.output.with_name(self.output.name + ".stamp")

    def key(self) -> str:
        """Returns a hash of everything that the output depends on. Leaves out where this repository is, so that a copy
        of it can use copied outputs."""
        parts = [self.tool, *("python" if word == sys.executable else word for word in self.command)]
        parts += [f"{path} {_digest(path, path.stat().st_mtime_ns)}" for path in sorted(self.inputs)]
        return hashlib.sha256("\0".join(parts).replace(ROOT, "").encode()).hexdigest()

    def is_done(self) -> bool:
        return self.output.exists() and self.stamp.exists() and self.stamp.read_text() == self.key()

    def run(self) -> str:
        """Runs the command. Returns what to print: the output's name, and the command's warnings."""
        self.output.parent.mkdir(parents=True, exist_ok=True)
        self.stamp.unlink(missing_ok=True)
        key = self.key()  # before the command runs, so that an input edited meanwhile counts as changed
        result = subprocess.run(self.command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if result.returncode:
            raise BuildError(f"{shlex.join(self.command)}\n{result.stdout}{result.stderr}")
        if self.check:
            self.check(self.output)
        self.stamp.write_text(key)
        return f"built {self.output.name}{_warnings(result.stderr)}"


def run(steps: Iterable[Step]) -> list[Path]:
    """Runs the steps that are out of date, at most one per processor at a time, and returns their outputs."""
    due = [step for step in steps if not step.is_done()]
    if due:
        print(f"building {due[0].output.name}{f' and {len(due) - 1} more' if len(due) > 1 else ''}", flush=True)
    with ThreadPoolExecutor(_processors()) as pool:
        running = [pool.submit(step.run) for step in due]
        try:
            for finished in as_completed(running):
                print(finished.result(), flush=True)  # in one thread, so that lines do not mix
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [step.output for step in due]


def lock(path: Path) -> IO[bytes]:
    """Waits until no other process holds this lock. Returns an open file, which holds it until it is closed or the
    process ends. Windows has no such locks: run only one build at a time there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("wb")
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
    return file


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _digest(path: Path, modified: int) -> str:
    """Returns the hash of a file's content. `modified` is in the cache's key, so that a changed file is read again."""
    del modified
    return hashlib.sha256(path.read_bytes()).hexdigest()


# wasm-ld prints this for every side module; tests/wasm checks that the modules work.
_IGNORED_WARNING = "wasm-ld: warning: creating shared libraries, with -shared, is not yet stable"


def _warnings(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and line != _IGNORED_WARNING]
    return "".join(f"\n{line}" for line in lines)
