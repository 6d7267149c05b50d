"""Builds the wheel for Pyodide:

    python wasm/build.py                 writes dist/lanewise-<version>-cp312-abi3-...wasm32.whl
    CC=emcc python wasm/build.py         with Emscripten's compiler instead of zig

The same hook makes it that makes every other wheel (native/build.py, with the row wasm32-pyodide of
native/targets.py), through pip, which fetches what the build needs. What this adds is a look at the result: its
tags, its modules and its size, which is what a reader of a notebook downloads."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from native.targets import TARGETS  # noqa: E402

TARGET = TARGETS["wasm32-pyodide"]

# Chromium compiles at most this much synchronously on a page's main thread, where the extension opens kernels.
LARGEST_MODULE = 8 << 20
# A page downloads all of it before the first operation.
LARGEST_WHEEL = 400_000


class WheelError(Exception):
    """No wheel, or not the one that was wanted."""


def build(folder: Path, *, isolated: bool = True) -> Path:
    """Puts the wheel into that folder. Not isolated: with what the running Python has, fetching nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--disable-pip-version-check"]
    if not isolated:
        command.append("--no-build-isolation")
    environment = {**os.environ, "LANEWISE_TARGET": TARGET.name}
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        done = subprocess.run([*command, "--wheel-dir", temporary, str(ROOT)], env=environment, check=False)
        wheels = list(Path(temporary).glob("*.whl"))
        if done.returncode or len(wheels) != 1:
            raise WheelError("pip made no wheel; its output says why")
        inspect(wheels[0])
        return wheels[0].replace(folder / wheels[0].name)


def inspect(wheel: Path) -> None:
    """Refuses a wheel that Pyodide would not take."""
    if not wheel.stem.endswith(f"-{TARGET.python_tag}-abi3-{TARGET.wheel_platform}"):
        raise WheelError(f"{wheel.name}: its tags are not those of Pyodide")
    with zipfile.ZipFile(wheel) as archive:
        sizes = {entry.filename.removeprefix("lanewise/"): entry.file_size for entry in archive.infolist()}
    modules = [TARGET.extension, *(f"_lib/{TARGET.library(isa)}" for isa in TARGET.isas)]
    excused = {f"_lib/{TARGET.library(isa)}" for isa in TARGET.isas if isa.name in left_out(wheel)}
    missing = [name for name in modules if name not in sizes and name not in excused]
    if missing:
        raise WheelError(f"{wheel.name} lacks {', '.join(missing)}")
    large = [name for name in modules if sizes.get(name, 0) > LARGEST_MODULE]
    if large:
        raise WheelError(f"{wheel.name}: {', '.join(large)}: larger than the {LARGEST_MODULE} bytes browsers open")
    size = wheel.stat().st_size
    if size > LARGEST_WHEEL:
        raise WheelError(
            f"{describe(wheel)}\nthat is more than {LARGEST_WHEEL // 1000} KB: leave out what no browser uses"
        )


def describe(wheel: Path) -> str:
    """What a reader of a notebook downloads, and what of it are modules."""
    with zipfile.ZipFile(wheel) as archive:
        entries = {entry.filename.removeprefix("lanewise/"): entry for entry in archive.infolist()}
    lines = [f"{wheel}: {wheel.stat().st_size / 1000:.0f} KB"]
    for name, entry in entries.items():
        if name.endswith((".so", ".wasm")):
            lines.append(f"  {name}: {entry.file_size / 1000:.0f} KB, {entry.compress_size / 1000:.0f} KB compressed")
    return "\n".join(lines + [f"  no {name}: {reason}" for name, reason in left_out(wheel).items()])


def left_out(wheel: Path) -> dict[str, str]:
    """The instruction sets that the compiler did not know, and the build's words for that."""
    with zipfile.ZipFile(wheel) as archive:
        manifest = json.loads(archive.read("lanewise/_lib/manifest.json"))
    return dict(manifest["left_out"])


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description="Builds the wheel for Pyodide.")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where to put it (default: dist/)")
    parser.add_argument("--no-build-isolation", action="store_true", help="as pip's: with what is installed")
    arguments = parser.parse_args()
    print(describe(build(arguments.dist, isolated=not arguments.no_build_isolation)))


if __name__ == "__main__":
    try:
        main()
    except WheelError as error:
        sys.exit(f"wasm/build.py: {error}")
