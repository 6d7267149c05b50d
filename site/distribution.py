"""Writes the site's Pyodide: a folder with the core and the wheels of the checked release, or, for publishing, only a
lock file with the absolute URLs of a release that is already on the web."""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from commands import SiteError

from wasm import releases

__all__ = ["LOCK", "PACKAGES", "VERSION", "copy_release", "write_lock_for_url"]

VERSION = "0.27.7"
LOCK = releases.LOCK
# Packages of the release that notebooks can import or install. The site has these and their dependencies.
PACKAGES = ("micropip", "ssl", "sqlite3", "jedi", "ipython", "numpy", "pillow")
TIMEOUT_SECONDS = 60  # for a server to answer


def copy_release(folder: Path, wheel: Path, wheel_url: str) -> None:
    """Writes Pyodide's core, PACKAGES and their dependencies, and a lock file that lists these packages and Lanewise's
    wheel. `wheel_url` is relative to the lock file."""
    release = _fetch_release()
    lock = json.loads((release / LOCK).read_text())
    lock["packages"] = {name: lock["packages"][name] for name in sorted(_with_dependencies(lock["packages"], PACKAGES))}
    folder.mkdir(parents=True)
    packages = [entry["file_name"] for entry in lock["packages"].values()]
    for name in sorted({*releases.DISTRIBUTIONS[VERSION].core, *packages} - {LOCK}):
        shutil.copyfile(release / name, folder / name)
    lock["packages"]["lanewise"] = _wheel_entry(wheel, wheel_url)
    _write_lock(folder, lock)


def write_lock_for_url(folder: Path, url: str) -> None:
    """Writes the lock file of the release at `url`, with absolute URLs."""
    lock = json.loads(_download_lock(url))
    for entry in lock["packages"].values():
        entry["file_name"] = url + entry["file_name"]
    folder.mkdir(parents=True)
    _write_lock(folder, lock)


def _fetch_release() -> Path:
    try:
        return releases.fetch(VERSION)
    except releases.ReleaseError as error:
        raise SiteError(f"Pyodide {VERSION}: all downloads failed: {error}; check the network and try again") from error


def _download_lock(url: str) -> bytes:
    """Returns the lock file of the release at `url`, which must be that of VERSION."""
    try:
        with urllib.request.urlopen(url + LOCK, timeout=TIMEOUT_SECONDS) as answer:
            data: bytes = answer.read()
    except (OSError, ValueError, http.client.HTTPException) as error:  # ValueError, InvalidURL: not a URL
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # the error is also the response, which holds a connection
        reason = getattr(error, "reason", error)
        raise SiteError(f"--pyodide: expected the URL of a release's folder, got {url}: {LOCK}: {reason}") from error
    if hashlib.sha256(data).hexdigest() != releases.DISTRIBUTIONS[VERSION].core[LOCK]:
        raise SiteError(
            f"--pyodide: expected the URL of Pyodide {VERSION}, got {url}, whose {LOCK} is not that of this release"
        )
    return data


def _with_dependencies(packages: Mapping[str, Any], names: Iterable[str]) -> set[str]:
    """Returns the names of these packages and of all their dependencies."""
    found: set[str] = set()
    left = list(names)
    while left:
        # keys are normalized in lock files, names in `depends` are not
        name = re.sub(r"[-_.]+", "-", left.pop()).lower()
        if name not in found:
            found.add(name)
            left += packages[name]["depends"]
    return found


def _wheel_entry(wheel: Path, url: str) -> dict[str, Any]:
    """Returns the lock file's entry for lanewise's wheel."""
    return {
        "depends": [],
        "file_name": url,
        "imports": ["lanewise"],
        "install_dir": "site",
        "name": "lanewise",
        "package_type": "package",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "unvendored_tests": False,
        "version": wheel.name.split("-")[1],
    }


def _write_lock(folder: Path, lock: Mapping[str, Any]) -> None:
    (folder / LOCK).write_text(json.dumps(lock, indent=1, sort_keys=True) + "\n")
