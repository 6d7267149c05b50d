"""Compiles limits.c into a library per instruction set. They are not part of the package."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path

from native import build as package_build
from native import compiler, steps

__all__ = ["build"]

SOURCE = Path(__file__).with_name("limits.c")
INCLUDE = (package_build.ROOT / "core" / "include", package_build.ROOT / "core")


def build(names: Iterable[str]) -> dict[str, Path]:
    """Builds what changed and returns the libraries by instruction set. BuildError if the compiler fails."""
    using = compiler.choose()
    target = using.target
    folder = package_build.BUILD / "bench"
    inputs = (SOURCE, *package_build.included(INCLUDE, ".h"))
    libraries = {}
    due = []
    for isa in target.isas:
        if isa.name in names:
            output = libraries[isa.name] = folder / f"limits_{isa.name}{target.library_suffix}"
            command = using.kernels(target, isa, SOURCE, INCLUDE, output)
            due.append(steps.Step(output, command, inputs, using.version))
    with contextlib.redirect_stdout(sys.stderr):  # only the table or JSON goes to the standard output
        steps.run(due)
    return libraries
