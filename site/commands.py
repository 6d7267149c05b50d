"""Runs the commands that build the site."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

__all__ = ["SiteError", "announce", "output_of", "run"]

MAX_OUTPUT_CHARS = 4000  # of a failed command's output, in the error message


class SiteError(Exception):
    """The site could not be built; the message says why."""


def announce(step: str) -> None:
    """Prints the name of a step before it begins; steps take up to minutes."""
    print(step, flush=True)


def run(
    step: str, *command: str | Path, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> None:
    """Announces a step and runs its command. If that fails, raises SiteError as output_of() does."""
    announce(step)
    output_of(step, *command, folder=folder, environment=environment)


def output_of(
    what: str, *command: str | Path, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> str:
    """Returns the output of a command. If it fails, raises SiteError with `what` and the end of the output."""
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
        raise SiteError(f"{what}: exit status {done.returncode}\n{done.stdout[-MAX_OUTPUT_CHARS:].rstrip()}")
    return done.stdout
