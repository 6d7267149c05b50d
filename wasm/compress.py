"""Makes a wheel smaller without changing its contents: recompresses every file with Zopfli, which takes a hundred times
as long as zlib and finds encodings that are 5 % shorter. Any zip reader opens the result. Compressed files are kept in
a cache, because wheels that differ in their tags alone, and the next build, have nearly the same files."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import zipfile
from pathlib import Path
from typing import Any

from native.errors import BuildError

__all__ = ["DEPENDENCY", "compress"]

DEPENDENCY = "zopfli>=0.4"
ITERATIONS = 5  # 15 iterations would save another 0.1 %
BLOCKS = 60  # into which a file may be split; 15, the default, is too few for the extension and costs 0.5 KB


class _Deflate:
    """A compressor object, as zipfile expects it, that uses Zopfli, and a folder with what it compressed before."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._data = bytearray()

    def compress(self, data: bytes) -> bytes:
        self._data += data
        return b""

    def flush(self) -> bytes:
        import zopfli.zlib

        settings = f"{importlib.metadata.version('zopfli')} {ITERATIONS} {BLOCKS} "
        known = self._cache / hashlib.sha256(settings.encode() + self._data).hexdigest()
        if not known.exists():
            framed: bytes = zopfli.zlib.compress(bytes(self._data), numiterations=ITERATIONS, blocksplittingmax=BLOCKS)
            fresh = known.with_suffix(f".{os.getpid()}")
            fresh.write_bytes(framed[2:-4])  # without zlib's header and checksum, which zip files do not have
            fresh.replace(known)
        return known.read_bytes()


def compress(wheel: Path, cache: Path) -> None:
    """Recompresses a wheel in place. Keeps what is compressed in the folder `cache`."""
    try:
        import zopfli.zlib  # noqa: F401
    except ImportError:
        raise BuildError(f"cannot compress {wheel.name}: zopfli is not installed; run pip install zopfli") from None
    cache.mkdir(parents=True, exist_ok=True)
    smaller = wheel.with_name(f".{wheel.name}")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(smaller, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            with old.open(entry) as source:
                data = source.read()
            target: Any
            with new.open(entry, "w") as target:
                target._compressor = _Deflate(cache)  # zipfile has no public way to set a compressor
                target.write(data)
    smaller.replace(wheel)
