"""Creates the virtual environments of the site's build and of the tests. Uses only the standard library, because both
run before anything is installed."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import venv
from pathlib import Path

from commands import SiteError, output_of

__all__ = ["PIP_INSTALL", "create"]

PIP_INSTALL = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")


def create(folder: Path, requirements: Path) -> Path:
    """Creates a virtual environment with the packages of a requirements file, and returns its Python. Keeps an existing
    environment if it is complete and was created by this version of Python from the same file. Raises SiteError if the
    environment cannot be created, or its packages cannot be installed."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "requirements.stamp"  # written last, so a folder without it is incomplete
    expected = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == expected:
        return python
    name = f"{requirements.parent.name}/{requirements.name}"
    print(f"installing the packages of {name}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        venv.create(folder, with_pip=True)
    except Exception as error:  # what venv raises depends on which of its parts is missing
        raise SiteError(
            f"cannot create {folder}: {error}\ninstall Python's modules venv and ensurepip (Debian: python3-venv)"
        ) from error
    output_of(f"pip could not install the packages of {name}", python, *PIP_INSTALL, "-r", requirements)
    stamp.write_text(expected)
    return python
