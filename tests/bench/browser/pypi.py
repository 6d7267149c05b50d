"""Fetches pyborch, a peer for WebGPU, from PyPI into the user's cache. Only the version and hash in pyborch.txt are
accepted. It runs in Pyodide, so nothing is installed here."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from lanewise.errors import ArgumentError

__all__ = ["fetch"]

PINNED = Path(__file__).with_name("pyborch.txt")
TIMEOUT = 600  # seconds


def fetch(cache: Path) -> Path:
    """Returns the wheel, and fetches it unless it is in the cache."""
    folder = cache / f"bench-pyborch-{hashlib.sha256(PINNED.read_bytes()).hexdigest()[:16]}"
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=".bench-pyborch-") as temporary:
            workplace = Path(temporary) / "wheel"
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
            command += ["--require-hashes", "--requirement", str(PINNED), "--dest", str(workplace)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
            except subprocess.TimeoutExpired:
                raise ArgumentError(f"bench: pip did not fetch pyborch within {TIMEOUT} s") from None
            if done.returncode:
                raise ArgumentError(f"bench: pip did not fetch pyborch: {done.stderr.strip()[-500:]}")
            try:
                os.rename(workplace, folder)
            except OSError:  # another run has created this folder first
                if not folder.is_dir():
                    raise
    (wheel,) = folder.glob("*.whl")
    return wheel
