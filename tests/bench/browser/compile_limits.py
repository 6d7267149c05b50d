"""Compiles limits.c for each WASM instruction set of native/targets.py: modules of their own, which are no part of the
wheel."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from native import compiler, steps
from native.errors import BuildError
from native.targets import TARGETS

__all__ = ["build"]

ROOT = Path(__file__).resolve().parents[3]
SOURCE = Path(__file__).with_name("limits.c")
FOLDER = ROOT / "build" / "bench"
TARGET = TARGETS["wasm32-pyodide"]
FLAGS = ("-std=c11", "-O3", "-ffp-contract=off", "-ffreestanding", "-nostdlib", "-Wall", "-Wextra")


def build() -> dict[str, Path]:
    """The modules by instruction set, brought up to date."""
    using = compiler.choose()
    if using.family != "zig":
        raise BuildError("the limits of a WASM engine are compiled by zig; unset CC")
    made = {}
    due = []
    for isa in TARGET.isas:
        if "simd128" not in isa.cpu_features:
            continue
        output = made[isa.name] = FOLDER / f"limits_{isa.name}.wasm"
        machine = ("-target", TARGET.zig_triple, f"-mcpu={isa.zig_cpu}")
        command = [*using.command, *machine, *FLAGS, "-Wl,--no-entry", "-s", str(SOURCE), "-o", str(output)]
        due.append(steps.Step(output, command, (SOURCE,), using.version))
    with contextlib.redirect_stdout(sys.stderr):  # the table, or its JSON, is what goes to the output
        steps.run(due)
    return made
