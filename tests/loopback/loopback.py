"""Builds lanewise with loopback, a device made for tests (loopback.c), and says how it is opened as the backend wgpu.

python tests/loopback/loopback.py DIR    writes an importable package to DIR
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from native import build, compiler, steps
from native.targets import host

SOURCE = Path(__file__).with_name("loopback.c")


def build_package(folder: Path) -> None:
    """Writes lanewise to a folder, as build.py --into does, but with loopback in the extension."""
    using, target = compiler.choose(), host()
    files = build.binaries_of(target, using)
    objects = build.BUILD / target.name / "objects"
    made = objects / "loopback.o"
    inputs = (SOURCE, *build.sources(target), *build.included(build.EXTENSION_INCLUDE))  # it includes module.c
    command = using.object(target, SOURCE, build.EXTENSION_INCLUDE, made)
    linked = [made, *(objects / f"{each.stem}.o" for each in build.sources(target) if each.stem != "module")]
    extension = folder / "lanewise" / target.extension
    steps.run([steps.Step(made, command, inputs, using.version)])
    del files[target.extension]
    python = {path.relative_to(build.PACKAGE).as_posix(): path for path in sorted(build.PACKAGE.rglob("*.py"))}
    build.place({**python, **files}, folder / "lanewise")
    steps.run([steps.Step(extension, using.extension(target, linked, extension), tuple(linked), using.version)])


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    build_package(parser.parse_args(words).folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
