"""Builds the wheel for Pyodide:

    python wasm/build.py                         writes dist/lanewise-<version>-cp312-abi3-...wasm32.whl
    python wasm/build.py --tag pyodide_2024_0    tags it for one Pyodide ABI only
    python wasm/build.py --tag pyemscripten      tags it for PyPI, which refuses the older names of the same ABIs
    python wasm/build.py --only scalar           makes a wheel for engines without SIMD
    CC=emcc python wasm/build.py                 compiles with Emscripten instead of zig

pip runs the same build as for every other wheel (native/build.py, row wasm32-pyodide of native/targets.py) and fetches
the build's dependencies. This script then checks the wheel: its tags, its modules, and its size, because a notebook
downloads the whole wheel."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from native.targets import TARGETS  # noqa: E402

TARGET = TARGETS["wasm32-pyodide"]

_SUFFIX = "_wasm32"
TAGS = tuple(platform.removesuffix(_SUFFIX) for platform in TARGET.wheel_platform.split("."))

# Chromium's limit for compiling a module synchronously on a page's main thread, where lanewise opens its modules.
LARGEST_MODULE = 8 << 20
# A page downloads the whole wheel before its first operation.
LARGEST_WHEEL = 600_000


class WheelError(Exception):
    """The wheel could not be built, or it failed a check."""


def build(folder: Path, *, tag: str | None = None, only: Sequence[str] = (), isolated: bool = True) -> Path:
    """Builds the wheel into the folder and returns the wheel's path.

    `tag` limits the wheel's tags to those of TAGS that begin with it. `only` names the instruction sets to build, as in
    native/build.py. `isolated=False` builds with the packages of the running Python.
    """
    platform = _platform(tag)
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--disable-pip-version-check"]
    if not isolated:
        command.append("--no-build-isolation")
    environment = {**os.environ, "LANEWISE_TARGET": TARGET.name, "LANEWISE_WHEEL_PLATFORM": platform}
    environment["LANEWISE_ONLY"] = " ".join(only)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        done = subprocess.run([*command, "--wheel-dir", temporary, str(ROOT)], env=environment, check=False)
        wheels = list(Path(temporary).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            raise WheelError("pip built no wheel; see its output above")
        inspect(wheels[0], tag=tag)
        return wheels[0].replace(folder / wheels[0].name)


def inspect(wheel: Path, *, tag: str | None = None) -> None:
    """Raises WheelError if the name does not end in the expected tags, if a module is missing (other than those in
    left_out()), or if a module or the wheel is too large."""
    expected = f"-{TARGET.python_tag}-abi3-{_platform(tag)}"
    if not wheel.stem.endswith(expected):
        raise WheelError(f"{wheel.name}: expected a name that ends in {expected}.whl")
    with zipfile.ZipFile(wheel) as archive:
        sizes = {entry.filename.removeprefix("lanewise/"): entry.file_size for entry in archive.infolist()}
    modules = [TARGET.extension, *(f"_lib/{TARGET.library(isa)}" for isa in TARGET.isas)]
    optional = {f"_lib/{TARGET.library(isa)}" for isa in TARGET.isas if isa.name in left_out(wheel)}
    missing = [name for name in modules if name not in sizes and name not in optional]
    if missing:
        raise WheelError(f"{wheel.name}: lacks {', '.join(missing)}")
    large = [name for name in modules if sizes.get(name, 0) > LARGEST_MODULE]
    if large:
        raise WheelError(
            f"{wheel.name}: expected modules of at most {LARGEST_MODULE} bytes, got more in {', '.join(large)}"
        )
    if wheel.stat().st_size > LARGEST_WHEEL:
        raise WheelError(
            f"{describe(wheel)}\nexpected at most {LARGEST_WHEEL // 1000} KB; leave out what no browser needs"
        )


def describe(wheel: Path) -> str:
    """Returns a text with the sizes of the wheel and its modules, and the reason for each library that is left out."""
    with zipfile.ZipFile(wheel) as archive:
        entries = {entry.filename.removeprefix("lanewise/"): entry for entry in archive.infolist()}
    lines = [f"{wheel}: {wheel.stat().st_size / 1000:.0f} KB"]
    for name, entry in entries.items():
        if name.endswith((".so", ".wasm")):
            lines.append(f"  {name}: {entry.file_size / 1000:.0f} KB, {entry.compress_size / 1000:.0f} KB compressed")
    return "\n".join(lines + [f"  no {name}: {reason}" for name, reason in left_out(wheel).items()])


def left_out(wheel: Path) -> dict[str, str]:
    """Returns the instruction sets without a library in the wheel, each with the reason that the build gave."""
    with zipfile.ZipFile(wheel) as archive:
        manifest = json.loads(archive.read("lanewise/_lib/manifest.json"))
    return dict(manifest["left_out"])


def _platform(tag: str | None) -> str:
    """Returns the wheel's platform tags: those of every supported Pyodide, or only those that begin with `tag`."""
    if not (tags := [known for known in TAGS if known.startswith(tag or "")]):
        raise WheelError(f"--tag: expected one of {', '.join(TAGS)}, or their beginning, got {tag!r}")
    return ".".join(known + _SUFFIX for known in tags)


def main() -> None:
    """Builds the wheel that the command line describes, and prints its sizes."""
    parser = argparse.ArgumentParser(description="Builds the wheel for Pyodide.")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="folder for the wheel (default: dist/)")
    parser.add_argument("--tag", help=f"keep only the tags that begin so: {', '.join(TAGS)}")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="only these instruction sets")
    parser.add_argument("--no-build-isolation", action="store_true", help="build with the packages installed here")
    arguments = parser.parse_args()
    isolated = not arguments.no_build_isolation
    print(describe(build(arguments.dist, tag=arguments.tag, only=arguments.only, isolated=isolated)))


if __name__ == "__main__":
    try:
        main()
    except WheelError as error:
        sys.exit(f"wasm/build.py: {error}")
