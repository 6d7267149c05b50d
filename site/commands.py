"""Runs the programs that the build of the site consists of."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

__all__ = ["SiteError", "run"]

SHOWN = 4000  # characters of a failed program's output that the error shows


class SiteError(Exception):
    """The site could not be built."""


def run(
    what: str, *command: str | Path, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> str:
    """Runs a command and returns what it wrote. If it fails, raises SiteError with `what` and the end of its output."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise SiteError(f"{what}: cannot run {command[0]}: {error.strerror}") from error
    if done.returncode:
        raise SiteError(f"{what}: exit status {done.returncode}\n{done.stdout[-SHOWN:].rstrip()}")
    return done.stdout
