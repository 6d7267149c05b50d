"""The kernel libraries in this package and the file of WebGPU's shaders, as listed by the build's manifest.

A file is compared with the manifest before it is opened: opening a truncated library can end the process with SIGBUS,
and a library of another version has a different table of functions. registry.py and cffi.py get the path of a library
from checked_path(); the provider of WebGPU asks for damage() to the shaders.
"""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import Any, Final, NamedTuple

from lanewise import _ext
from lanewise.errors import LibraryError

__all__ = ["DIRECTORY", "Library", "checked_path", "damage", "find", "left_out"]

DIRECTORY: Final = Path(__file__).parents[1] / "_lib"

_CURE: Final = "reinstall lanewise, or in a checkout run `python native/build.py`"


class Library(NamedTuple):
    """A kernel library: one row of the manifest."""

    path: Path
    size: int
    sha256: str
    cpu_features: tuple[str, ...]
    base: str  # name of the library with the kernels that this one leaves out, "" if it has all of them


class Manifest(NamedTuple):
    """The libraries of the build, and the reasons why the build left others out."""

    libraries: dict[str, Library]
    left_out: dict[str, str]


def find(name: str) -> Library | None:
    """Returns the library of the backend `name`, such as "avx2", or None if this build has none.

    Raises LibraryError if the manifest is missing or damaged, or is not for the extension's ABI and kernels.
    """
    return _read(DIRECTORY / "manifest.json").libraries.get(name)


def left_out(name: str) -> str:
    """Returns the reason why the build has no library for a backend, "" if the manifest gives no reason."""
    return _read(DIRECTORY / "manifest.json").left_out.get(name, "")


def checked_path(name: str) -> Path:
    """Returns the path of a backend's library, after checking its size and, except in WebAssembly, its SHA-256.

    Raises LibraryError if either differs from the manifest, or if the build or the file system lacks the library.
    """
    library = find(name)
    if library is None:
        raise LibraryError(f"this build of lanewise has no library for {name!r}", operation=str(DIRECTORY))
    path = library.path
    try:
        size = path.stat().st_size
        if size != library.size:
            raise LibraryError(f"expected {library.size} bytes, got {size}; {_CURE}", operation=str(path))
        content = path.read_bytes()
    except OSError as error:
        raise LibraryError(f"cannot read the file ({error.strerror}); {_CURE}", operation=str(path)) from None
    # A WebAssembly engine refuses a damaged module itself, and importing hashlib takes 10 ms in a browser.
    if sys.platform != "emscripten" and _sha256(content) != library.sha256:
        raise LibraryError(f"the content is not what the build made (SHA-256 differs); {_CURE}", operation=str(path))
    return path


def damage(name: str) -> str:
    """Returns why checked_path() raises an error, "" if it does not."""
    try:
        checked_path(name)
    except LibraryError as error:
        return str(error)
    return ""


def _sha256(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()


@functools.cache
def _read(path: Path) -> Manifest:
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        version = (manifest["abi"], int(manifest["signature"], 16))
        parsed = Manifest(
            {name: _row(path.parent, row) for name, row in manifest["libraries"].items()}, dict(manifest["left_out"])
        )
    except OSError as error:
        raise LibraryError(f"cannot read the file ({error.strerror}); {_CURE}", operation=str(path)) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LibraryError(
            f"the manifest is damaged ({type(error).__name__}: {error}); {_CURE}", operation=str(path)
        ) from None
    expected = (_ext.abi_version(), _ext.signature())
    if version != expected:
        raise LibraryError(
            f"expected libraries of ABI {expected[0]} and signature {expected[1]:016x}, like the extension, "
            f"got ABI {version[0]} and signature {version[1]:016x}; {_CURE}",
            operation=str(path),
        )
    return parsed


def _row(directory: Path, row: dict[str, Any]) -> Library:
    features = tuple(row["cpu_features"])
    return Library(directory / row["file"], int(row["size"]), str(row["sha256"]), features, str(row["base"]))
