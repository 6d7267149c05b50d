"""The libraries of kernels that this package carries, as the build's manifest lists them.

A file is compared with the manifest before it is opened, because opening is already too late: a truncated library ends
in SIGBUS, and one of another version has its functions elsewhere. Whoever opens a library (lanewise.registry,
lanewise.cffi) gets its path from `checked_path`.
"""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

from lanewise import _ext
from lanewise.errors import LibraryError

__all__ = ["DIRECTORY", "Library", "checked_path", "find", "left_out"]

DIRECTORY: Final = Path(__file__).parent / "_lib"

_CURE: Final = "reinstall lanewise, or in a checkout run `python native/build.py`"


class Library(NamedTuple):
    """One row of the manifest."""

    path: Path
    size: int
    sha256: str
    cpu_features: tuple[str, ...]
    base: str  # the library whose kernels stand in for those that this one leaves out; "" where it has all


class Manifest(NamedTuple):
    """What the build says of the libraries that it made, and of those that it could not make."""

    libraries: dict[str, Library]
    left_out: dict[str, str]


def find(name: str) -> Library | None:
    """The library of a backend, by its name in lower case; None where this build has none.

    Raises LibraryError when the manifest is missing, damaged, or of another build than the extension."""
    return _read(DIRECTORY / "manifest.json").libraries.get(name)


def left_out(name: str) -> str:
    """Why the build made no library for a backend; "" where it says nothing of it."""
    return _read(DIRECTORY / "manifest.json").left_out.get(name, "")


def checked_path(name: str) -> Path:
    """Where the library of a backend is, once its size and content are what the build made.

    Raises LibraryError, which names the file, when they are not."""
    library = find(name)
    if library is None:
        raise LibraryError(f"{DIRECTORY}: this build of lanewise has no library for {name!r}")
    path = library.path
    try:
        size = path.stat().st_size
        if size != library.size:
            raise LibraryError(f"{path}: has {size} bytes where the build made {library.size}; {_CURE}")
        content = path.read_bytes()
    except OSError as error:
        raise LibraryError(f"{path}: cannot be read: {error.strerror}; {_CURE}") from error
    # An engine refuses a damaged module by itself, and importing hashlib takes a browser 10 ms.
    if sys.platform != "emscripten" and _sha256(content) != library.sha256:
        raise LibraryError(f"{path}: its content is not what the build made (SHA-256 differs); {_CURE}")
    return path


def _sha256(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()


@functools.cache
def _read(path: Path) -> Manifest:
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        found = (manifest["abi"], int(manifest["signature"], 16))
        read = Manifest(
            {name: _row(path.parent, row) for name, row in manifest["libraries"].items()}, dict(manifest["left_out"])
        )
    except OSError as error:
        raise LibraryError(f"{path}: cannot be read: {error.strerror}; {_CURE}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LibraryError(f"{path}: is damaged ({type(error).__name__}: {error}); {_CURE}") from error
    wanted = (_ext.abi_version(), _ext.signature())
    if found != wanted:
        raise LibraryError(
            f"{path}: lists libraries of ABI {found[0]} and signature {found[1]:016x}; "
            f"this extension has ABI {wanted[0]} and signature {wanted[1]:016x}; {_CURE}"
        )
    return read


def _row(directory: Path, row: dict[str, Any]) -> Library:
    features = tuple(row["cpu_features"])
    return Library(directory / row["file"], int(row["size"]), str(row["sha256"]), features, str(row["base"]))
