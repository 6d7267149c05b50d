"""Fetches the JavaScript peers (the libraries to compare with) from npm into the user's cache.

Only the versions and checksums of package-lock.json are accepted, and no scripts of the packages run.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from lanewise.errors import ArgumentError

__all__ = ["fetch"]

HERE = Path(__file__).resolve().parent
FILES = ("package.json", "package-lock.json")
TIMEOUT = 600  # seconds


def fetch(cache: Path) -> Path:
    """Returns the folder node_modules with the peers, and fetches them unless they are in the cache."""
    pinned = b"".join((HERE / name).read_bytes() for name in FILES)
    folder = cache / f"bench-peers-{hashlib.sha256(pinned).hexdigest()[:16]}"
    if folder.is_dir():  # complete, because a download is renamed to this only when it has finished
        return folder / "node_modules"
    program = shutil.which("npm")
    if program is None:
        raise ArgumentError("bench: cannot install the JavaScript peers without npm; run apt-get install npm")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix=".bench-peers-") as temporary:
        workplace = Path(temporary) / "peers"
        workplace.mkdir()
        for name in FILES:
            shutil.copy(HERE / name, workplace)
        command = [program, "ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--silent"]
        try:
            done = subprocess.run(command, cwd=workplace, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            raise ArgumentError(f"bench: npm did not fetch the peers within {TIMEOUT} s") from None
        if done.returncode:
            raise ArgumentError(f"bench: npm did not fetch the peers: {done.stderr.strip()[-500:]}")
        try:
            os.rename(workplace, folder)
        except OSError:  # another run has created this folder first
            if not folder.is_dir():
                raise
    return folder / "node_modules"
