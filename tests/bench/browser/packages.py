"""Fetches the peers (the libraries to compare with) from npm and PyPI into the user's cache. tests/site fetches its
packages in the same way.

Only the versions and hashes that the files here pin are accepted, and no scripts of the packages run. Nothing is
installed for this machine: the packages run in the page. Those from npm are bundles, which need no other packages.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanewise.errors import ArgumentError

HERE = Path(__file__).resolve().parent
TIMEOUT = 600  # seconds


@dataclass(frozen=True)
class Source:
    """Where packages come from."""

    name: str
    pins: tuple[str, ...]  # the files in `folder` with the versions and hashes
    command: Sequence[str]  # runs in a folder with these files, and fetches the packages into it
    folder: Path = HERE
    finish: Callable[[Path], None] = lambda workplace: None  # checks and unpacks what was fetched


def pins() -> dict[str, str]:
    """Returns the SHA-512 hash of each package of npm.txt, in npm's format."""
    lines = (HERE / "npm.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split() for line in lines if not line.startswith("#"))


def _unpack(workplace: Path) -> None:
    """Unpacks the archives of npm.txt into folders named for the packages. Raises ArgumentError if a hash differs."""
    for package, expected in pins().items():
        name, _, version = package.rpartition("@")
        archive = workplace / f"{name.removeprefix('@').replace('/', '-')}-{version}.tgz"
        got = f"sha512-{base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()}"
        if got != expected:
            raise ArgumentError(f"bench: {package} from npm: expected the hash {expected}, got {got}")
        with tarfile.open(archive) as opened:
            opened.extractall(workplace / "unpacked", filter="data")
        (workplace / name).parent.mkdir(exist_ok=True)
        os.rename(workplace / "unpacked" / "package", workplace / name)
        archive.unlink()


NPM = Source("npm", ("npm.txt",), ("npm", "pack", "--silent", *pins()), finish=_unpack)
PYPI = Source(
    "pypi",
    ("pyborch.txt",),
    (
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"),
        *("--require-hashes", "--requirement", "pyborch.txt"),
    ),
)


def fetch(source: Source, cache: Path) -> Path:
    """Returns the folder with the packages of a source, and fetches them unless they are in the cache."""
    pinned = b"".join((source.folder / name).read_bytes() for name in source.pins)
    folder = cache / f"bench-{source.name}-{hashlib.sha256(pinned).hexdigest()[:16]}"
    if folder.is_dir():  # complete, because a download is renamed to this only when it has finished
        return folder
    program = shutil.which(source.command[0])
    if program is None:
        missing = source.command[0]
        raise ArgumentError(f"bench: cannot fetch the peers without {missing}; run apt-get install {missing}")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=f".bench-{source.name}-") as temporary:
        workplace = Path(temporary) / "packages"
        workplace.mkdir()
        for name in source.pins:
            shutil.copy(source.folder / name, workplace)
        command = [program, *source.command[1:]]
        try:
            done = subprocess.run(command, cwd=workplace, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            raise ArgumentError(f"bench: {source.name} did not deliver the peers within {TIMEOUT} s") from None
        if done.returncode:
            raise ArgumentError(f"bench: fetching the peers from {source.name} failed: {done.stderr.strip()[-500:]}")
        source.finish(workplace)
        try:
            os.rename(workplace, folder)
        except OSError:  # another run has created this folder first
            if not folder.is_dir():
                raise
    return folder
