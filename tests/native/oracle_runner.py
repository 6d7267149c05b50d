"""Compiles and runs the oracle runner, runner.c."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from native import build, compiler, steps
from native.targets import TARGETS, Isa, Target

__all__ = ["ORACLE", "OWN", "ROOT", "Report", "commands", "compile_neon_runner", "compile_runner", "run"]

ROOT = Path(__file__).parents[2]
NATIVE = Path(__file__).parent
OUT = ROOT / "build" / "tests"  # kept between runs, so that only changes are compiled
ORACLE = sorted((ROOT / "build" / "oracle").glob("*.bin"))
OWN = ("sum_of_tenths", "eigenvectors")  # calls that the runner makes by itself


@dataclass(frozen=True)
class Report:
    """The output of a runner: the library's name, and per operation the failures and a checksum of all results."""

    library: str
    failed: dict[str, int]
    checksums: dict[str, str]
    output: str


def run(command: list[str | Path]) -> Report:
    """Runs all oracle cases with the command of a runner."""
    assert ORACLE, "build/oracle is empty; run: python contracts/generate.py --oracle build/oracle"
    done = subprocess.run([*command, *ORACLE], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode in (0, 1), f"{done.stdout[-2000:]}{done.stderr[-4000:]}"
    library = re.match(r"library (\w+),", done.stdout)
    assert library, done.stderr
    rows = re.findall(r"^(\w+) \d+ (\d+) ([0-9a-f]+)$", done.stdout, flags=re.MULTILINE)
    failed = {operation: int(count) for operation, count, _ in rows}
    checksums = {operation: checksum for operation, _, checksum in rows}
    assert len(failed) == len(ORACLE) + len(OWN)
    return Report(library[1], failed, checksums, done.stdout)


def write_names(folder: Path) -> None:
    """Writes kernel_names.h, the names of the kernels in the order of the table."""
    names = re.findall(r"lw_kernel \*(\w+);", (build.GENERATED / "lanewise_table.h").read_text())
    lines = "".join(f'    "{each}",\n' for each in names)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel_names.h").write_text(f"static const char *const kernel_names[] = {{\n{lines}}};\n")


def compile_runner(target: Target, using: compiler.Compiler, isa: Isa | None = None) -> Path:
    """Compiles a runner for a target and returns its path. It loads libraries, or has that of `isa` linked in."""
    name = f"runner-{target.zig_triple}-{using.family}{'-sanitized' if using.sanitizer else ''}"
    folder = OUT / (f"{name}-{isa.name}" if isa else name)
    include = [*build.KERNEL_INCLUDE, ROOT / "native", folder]
    write_names(folder)
    inputs = tuple(build.included(build.KERNEL_INCLUDE, ".h", ".c"))
    objects = [
        steps.Step(
            folder / f"{source.stem}.o",
            [*using.object(target, source, include, folder / f"{source.stem}.o"), *(["-DLW_STATIC"] if isa else [])],
            (source, folder / "kernel_names.h", *inputs),
            using.version,
        )
        for source in (NATIVE / "runner.c", ROOT / "native" / "cpu.c")
    ]
    if isa:
        output, source = folder / "kernels.o", build.GENERATED / "kernels.c"
        command = using.kernel_object(target, isa, source, build.KERNEL_INCLUDE, output)
        objects.append(steps.Step(output, command, (source, *inputs), using.version))
    steps.run(objects)
    program = folder / "runner"
    made = tuple(step.output for step in objects)
    steps.run([steps.Step(program, using.program(target, made, program), made, using.version)])
    return program


def compile_neon_runner() -> Path:
    """Compiles a runner with the NEON kernels linked in, for ARM Linux or an emulator of it."""
    target = replace(TARGETS["aarch64-linux"], zig_triple="aarch64-linux-musl")  # static: needs no ARM libraries
    return compile_runner(target, compiler.choose(), next(isa for isa in target.isas if isa.name == "neon"))


def commands(runner: Path) -> dict[str, list[str | Path]]:
    """Returns the command that runs oracle cases, for each CPU backend that this processor supports."""
    import lanewise as lw
    from lanewise.libraries import checked_path

    names = [info.name.value for info in lw.backends() if info.available and not info.name.is_gpu]
    return {name: [runner, checked_path(name)] for name in names}
