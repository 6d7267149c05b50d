"""Compiles and runs runner.c, which compares kernels with the oracle: files of inputs and reference results."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from native import build, compiler, steps
from native.targets import TARGETS, Isa, Target
from tests import support

__all__ = [
    "ORACLE",
    "OWN",
    "PATHS",
    "ROOT",
    "Report",
    "commands",
    "compile_counting_runner",
    "compile_runner",
    "neon_command",
    "run",
    "run_paths",
]

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
OUT = ROOT / "build" / "tests"  # kept between runs, so that only changes are compiled
ORACLE = sorted((ROOT / "build" / "oracle").glob("*.bin"))
PATHS = sorted((ROOT / "build" / "oracle_paths").glob("*.bin"))  # cases at sizes where algorithms switch code paths
OWN = ("sum_of_tenths", "eigenvectors")  # tests built into runner.c, without an oracle file


@dataclass(frozen=True)
class Report:
    """What one run of runner.c printed: the kernel library's name, and for each operation (or test of OWN) the number
    of failed cases and a checksum of all results."""

    library: str
    failed: dict[str, int]
    checksums: dict[str, str]
    output: str


def run(command: list[str | Path], files: Sequence[Path] = ORACLE) -> Report:
    """Runs the cases of some oracle files, by default of all, with `command`, which is one of commands()."""
    assert files, "build/oracle is empty; run: python contracts/generate.py --oracle build/oracle"
    done = subprocess.run([*command, *files], capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode in (0, 1), f"{done.stdout[-2000:]}{done.stderr[-4000:]}"
    library = re.match(r"library (\w+),", done.stdout)
    assert library, done.stderr
    rows = re.findall(r"^(\w+) \d+ (\d+) ([0-9a-f]+)$", done.stdout, flags=re.MULTILINE)
    failed = {operation: int(count) for operation, count, _ in rows}
    checksums = {operation: checksum for operation, _, checksum in rows}
    assert len(failed) == len(files) + len(OWN)
    return Report(library[1], failed, checksums, done.stdout)


def write_names(folder: Path) -> None:
    """Writes kernel_names.h: the kernels' names, in the order of their pointers in lanewise_table.h."""
    names = re.findall(r"lw_kernel \*(\w+);", (build.GENERATED / "lanewise_table.h").read_text())
    lines = "".join(f'    "{each}",\n' for each in names)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel_names.h").write_text(f"static const char *const kernel_names[] = {{\n{lines}}};\n")


def compile_runner(
    target: Target, using: compiler.Compiler, isa: Isa | None = None, flags: tuple[str, ...] = ()
) -> Path:
    """Compiles a runner for a target and returns its path. The runner loads kernel libraries or, with `isa`,
    has the kernels of that instruction set linked in. The compiler gets `flags` for all sources."""
    name = f"runner-{target.zig_triple}-{using.family}{'-sanitized' if using.sanitizer else ''}"
    name += "-paths" if flags else ""
    folder = OUT / (f"{name}-{isa.name}" if isa else name)
    include = [*build.KERNEL_INCLUDE, ROOT / "native", ROOT / "native" / "extension", folder]
    facts = build.GENERATED / "lanewise_dtypes.c"
    write_names(folder)
    inputs = tuple(build.included(build.KERNEL_INCLUDE))
    objects = [
        steps.Step(
            folder / f"{source.stem}.o",
            [
                *using.object(target, source, include, folder / f"{source.stem}.o"),
                *(["-DLW_STATIC"] if isa else []),
                *flags,
            ],
            (source, *PROGRAMS.glob("*.h"), folder / "kernel_names.h", *inputs),
            using.version,
        )
        for source in (PROGRAMS / "runner.c", ROOT / "native" / "system" / "cpu.c", facts)
    ]
    if isa:
        objects += build.kernel_objects(target, using, isa, folder, flags)
    steps.run(objects)
    program = folder / "runner"
    made = tuple(step.output for step in objects)
    command = using.program(target, made, program)
    if target.binary_format == "wasm":
        command += ["-Wl,-z,stack-size=4194304"]
    steps.run([steps.Step(program, command, made, using.version)])
    return program


def neon_command(emulator: Sequence[str]) -> list[str | Path]:
    """Returns the command that runs oracle cases on the NEON library of the wheel for ARM Linux. `emulator` is the
    command that runs a program for ARM Linux."""
    target, using = TARGETS["aarch64-linux"], compiler.choose()
    with build.lock(target):  # tests/packaging builds for it, too
        library = build.binaries_of(target, using)["_lib/kernels_neon.so"]
    return [*emulator, compile_runner(target, using), library]


def compile_counting_runner(target: Target, isa: Isa) -> Path:
    """Compiles a runner that counts how often the kernels of an instruction set take each code path, as marked by PATH
    (core/paths.h). Its quicksort gives up on rows of a block or more."""
    static = {"x86_64-linux": "x86_64-linux-musl", "aarch64-linux": "aarch64-linux-musl"}
    triple = static.get(target.name, "wasm32-wasi-musl")
    target, using = support.compiled_quickly(replace(target, zig_triple=triple), compiler.choose())
    return compile_runner(target, using, isa, ("-DLW_COUNT_PATHS", "-DQUICK_PARTITIONS(n)=((n) >> 16 ? 3 : 64)"))


def run_paths(command: list[str | Path], operations: Collection[str] | None = None) -> tuple[list[str], dict[str, int]]:
    """Runs the oracle cases of some operations, by default of all, with a runner of compile_counting_runner(). Returns
    its messages about failed cases, and how often each code path was taken."""
    assert PATHS, "build/oracle_paths is empty; run: python contracts/generate.py --oracle build/oracle"
    files = [path for path in (*ORACLE, *PATHS) if operations is None or path.stem in operations]
    words = [*command, "--paths", *files]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode in (0, 1), f"{done.stdout[-2000:]}{done.stderr[-4000:]}"
    rows = re.findall(r"^path (\d+) (.+)$", done.stdout, flags=re.MULTILINE)
    assert rows
    complaints = [line for line in done.stdout.splitlines() if ": " in line and not line.startswith("path ")]
    counts = {name: int(count) for count, name in rows}
    return complaints, counts


def commands(runner: Path) -> dict[str, list[str | Path]]:
    """Returns, for each CPU backend that this processor supports, the command that runs oracle cases on it."""
    import lanewise as lw
    from lanewise.backends.libraries import checked_path

    names = [info.name.value for info in lw.backends() if info.available and not info.name.is_gpu]
    return {name: [runner, checked_path(name)] for name in names}
