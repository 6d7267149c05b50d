"""Compiles limits.c into one module per SIMD instruction set of WASM. The wheel omits these modules."""

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
    """Builds the modules that are out of date, and returns the path of each module by instruction set."""
    using = compiler.choose()
    if using.family != "zig":
        raise BuildError(f"compile limits.c for WASM: expected zig as the compiler, got {using.family}; unset CC")
    modules = {}
    due = []
    for isa in TARGET.isas:
        if "simd128" not in isa.cpu_features:
            continue
        output = modules[isa.name] = FOLDER / f"limits_{isa.name}.wasm"
        machine = ("-target", TARGET.zig_triple, f"-mcpu={isa.zig_cpu}")
        command = [*using.command, *machine, *FLAGS, "-Wl,--no-entry", "-s", str(SOURCE), "-o", str(output)]
        due.append(steps.Step(output, command, (SOURCE,), using.version))
    with contextlib.redirect_stdout(sys.stderr):  # steps.run prints, but standard output is only for the table or JSON
        steps.run(due)
    return modules
