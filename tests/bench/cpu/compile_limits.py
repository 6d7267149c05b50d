"""Compiles limits.c into one library per instruction set. The package does not contain these libraries."""

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
    """Builds the libraries of these instruction sets if out of date, and returns their paths. May raise BuildError."""
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
    with contextlib.redirect_stdout(sys.stderr):  # steps.run prints, but standard output is only for the table or JSON
        steps.run(due)
    return libraries
