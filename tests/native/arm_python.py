"""Provides Debian's Python for ARM, unpacked into ~/.cache/lanewise and run by qemu.

apt-get resolves its dependencies as for an empty ARM system, downloads the packages and checks their signatures.
Nothing is installed on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

PACKAGES = ("python3-minimal", "libpython3-stdlib")
TOOLS = ("qemu-aarch64", "apt-get", "dpkg-deb")


def missing() -> str:
    """Returns the tools that this machine lacks, or an empty string."""
    return ", ".join(tool for tool in TOOLS if not shutil.which(tool))


def command() -> list[str]:
    """Returns the command that runs the ARM Python."""
    emulator = qemu()
    (python,) = (path for path in Path(emulator[-1], "usr", "bin").glob("python3.*") if not path.is_symlink())
    return [*emulator, str(python)]


def qemu() -> list[str]:
    """Returns the command that runs a program for ARM Linux, after downloading what it may load unless that is in the
    cache."""
    root = _cache() / "python-arm64"
    if not root.exists():
        root.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root.parent) as folder:
            unpacked = _fetch(Path(folder))
            try:
                unpacked.rename(root)
            except OSError:  # another process has created it
                if not root.exists():
                    raise
    return ["qemu-aarch64", "-L", str(root)]


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lanewise"


def _fetch(folder: Path) -> Path:
    """Downloads and unpacks the packages, and returns their root folder."""
    for part in ("lists/partial", "archives/partial", "root"):
        (folder / part).mkdir(parents=True)
    (folder / "status").touch()
    settings = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "APT::Sandbox::User": "root",
        "Debug::NoLocking": "1",
        "Dir::State::Lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache::archives": folder / "archives",
        "Dir::Cache::pkgcache": "",
        "Dir::Cache::srcpkgcache": "",
    }
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in settings.items())]
    _run([*apt, "update"])
    _run([*apt, "install", "--yes", "--no-install-recommends", "--download-only", *PACKAGES])
    for archive in sorted((folder / "archives").glob("*.deb")):
        _run(["dpkg-deb", "--extract", str(archive), str(folder / "root")])
    return folder / "root"


def _run(words: list[str]) -> None:
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{words[0]} {words[-1]}: {done.stderr.strip()[-500:]}")
