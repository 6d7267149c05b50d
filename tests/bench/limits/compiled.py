"""Compiles limits.c into one library per instruction set, for this processor or for a browser. The package does not
contain these libraries. Without a compiler, goals are still measured, but bars that depend on a limit are not judged.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lanewise.errors import ArgumentError
from native import build as package_build
from native import compiler, steps
from native.errors import BuildError
from native.targets import TARGETS, Target, host
from tests.bench.limits.loops import APART, Arrays, Limits

SOURCE = Path(__file__).with_name("limits.c")
FOLDER = package_build.BUILD / "bench"
BROWSER = TARGETS["wasm32-pyodide"]
# For a module that has its own memory and exports the loops. The package's modules are compiled for size.
STANDALONE = ("-O3", "-fno-PIC", "-nostdlib", "-s", "-Wl,--no-entry", "-Wl,--export-dynamic")
HUGE_PAGE = 2 << 20
ITERATIONS = 1 << 16  # of arithmetic, at a time: takes about 200 microseconds


def build(names: Iterable[str], target: Target | None = None) -> dict[str, Path]:
    """Builds the libraries of these instruction sets if out of date, and returns their paths. May raise BuildError."""
    using = compiler.choose()
    target = target or using.target
    if target is BROWSER and using.family != "zig":
        raise BuildError(f"compile limits.c for WASM: expected zig as the compiler, got {using.family}; unset CC")
    inputs = (SOURCE, *package_build.included(package_build.KERNEL_INCLUDE))
    libraries = {}
    due = []
    for isa in target.isas:
        if isa.name in names:
            output = libraries[isa.name] = FOLDER / f"limits_{isa.name}{target.library_suffix}"
            command = using.kernel_object(target, isa, SOURCE, package_build.KERNEL_INCLUDE, output)
            linked = STANDALONE if target is BROWSER else ("-shared",)
            command = [*(word for word in command if word != "-c"), *linked]
            due.append(steps.Step(output, command, inputs, using.version))
    with contextlib.redirect_stdout(sys.stderr):  # steps.run prints, but standard output is only for the table or JSON
        steps.run(due)
    return libraries


def opened(names: Iterable[str]) -> Mapping[str, Limits]:
    """Compiles and opens the loops for these instruction sets. Raises ArgumentError if that fails."""
    try:
        return {name: native(ctypes.CDLL(str(path))) for name, path in build(names, host()).items()}
    except (BuildError, OSError) as error:
        raise ArgumentError(str(error)) from None


def native(library: Any) -> Limits:
    """Returns the loops of a library that was opened with ctypes."""

    def call(name: str, *numbers: int) -> int:
        return int(getattr(library, name)(*map(ctypes.c_int64, numbers)))

    return Limits(call, _HugePages, ITERATIONS)


class _HugePages(Arrays):
    """Arrays in huge pages, if the system has them."""

    def __init__(self, number: int, size: int) -> None:
        super().__init__(number, size)
        length = self.count * 4 + HUGE_PAGE + number * APART
        self._memory = [mmap.mmap(-1, length) for _ in range(number)]
        for i, block in enumerate(self._memory):
            if hasattr(mmap, "MADV_HUGEPAGE"):
                block.madvise(mmap.MADV_HUGEPAGE)
            start = ctypes.addressof(ctypes.c_char.from_buffer(block))
            self.addresses.append(-(-start // HUGE_PAGE) * HUGE_PAGE + i * APART)
