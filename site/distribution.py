"""Makes the site's Pyodide: a folder with the core and the wheels of the checked release, or, for publishing, only a
lock file with absolute URLs of a release that is already on the web."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import urllib.request
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from commands import SiteError

from wasm import releases

__all__ = ["LOCK", "PACKAGES", "VERSION", "copy", "refer"]

VERSION = "0.27.7"
LOCK = releases.LOCK
# What the notebooks may import or install. The site has these packages of the release, and those that they need.
PACKAGES = ("micropip", "ssl", "sqlite3", "jedi", "ipython", "numpy", "pillow")
TIMEOUT = 60  # seconds to wait for a server to answer


def copy(folder: Path, wheel: Path, address: str) -> None:
    """Writes Pyodide's core, PACKAGES, and a lock file that lists these and the wheel, whose URL is relative to it."""
    release = _fetch()
    lock = json.loads((release / LOCK).read_text())
    lock["packages"] = {name: lock["packages"][name] for name in sorted(_closure(lock["packages"], PACKAGES))}
    folder.mkdir(parents=True)
    packages = [entry["file_name"] for entry in lock["packages"].values()]
    for name in sorted({*releases.DISTRIBUTIONS[VERSION].core, *packages} - {LOCK}):
        shutil.copyfile(release / name, folder / name)
    lock["packages"]["lanewise"] = _entry(wheel, address)
    _write(folder, lock)


def refer(folder: Path, url: str) -> None:
    """Writes the lock file of the release at `url`, with absolute URLs."""
    lock = json.loads(_download(url))
    for entry in lock["packages"].values():
        entry["file_name"] = url + entry["file_name"]
    folder.mkdir(parents=True)
    _write(folder, lock)


def _fetch() -> Path:
    try:
        return releases.fetch(VERSION)
    except releases.ReleaseError as error:
        raise SiteError(f"Pyodide {VERSION} could not be downloaded: {error}") from error


def _download(url: str) -> bytes:
    """Returns the lock file of the release at `url`, which must be that of VERSION."""
    try:
        with urllib.request.urlopen(url + LOCK, timeout=TIMEOUT) as answer:
            data: bytes = answer.read()
    except (OSError, ValueError) as error:  # urllib raises ValueError for what is not a URL
        reason = getattr(error, "reason", error)
        raise SiteError(f"--pyodide: expected the URL of a release's folder, got {url}: {LOCK}: {reason}") from error
    if hashlib.sha256(data).hexdigest() != releases.DISTRIBUTIONS[VERSION].core[LOCK]:
        raise SiteError(
            f"--pyodide: expected the URL of Pyodide {VERSION}, got {url}, whose {LOCK} is not that of this release"
        )
    return data


def _closure(packages: Mapping[str, Any], names: Iterable[str]) -> set[str]:
    """Returns these packages and all that they depend on."""
    found: set[str] = set()
    left = list(names)
    while left:
        name = re.sub(r"[-_.]+", "-", left.pop()).lower()  # dependencies are not normalized in lock files, keys are
        if name not in found:
            found.add(name)
            left += packages[name]["depends"]
    return found


def _entry(wheel: Path, address: str) -> dict[str, Any]:
    """Returns the lock file's entry for lanewise's wheel."""
    return {
        "depends": [],
        "file_name": address,
        "imports": ["lanewise"],
        "install_dir": "site",
        "name": "lanewise",
        "package_type": "package",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "unvendored_tests": False,
        "version": wheel.name.split("-")[1],
    }


def _write(folder: Path, lock: Mapping[str, Any]) -> None:
    (folder / LOCK).write_text(json.dumps(lock, indent=1, sort_keys=True) + "\n")
