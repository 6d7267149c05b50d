"""Runs the oracle's cases with runner.c on this processor and on emulated ones: ARM with NEON, and x86 with at most
SSE2 or AVX. Operations that promise bit-identical results must give the same bits on this processor and on NEON."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import oracle_file
import pytest
import support
from oracle_runner import ORACLE, OWN, PATHS, ROOT, Report, commands, run

from lanewise.backends.libraries import checked_path

# Instruction set -> a processor of qemu that has this set but lacks the next larger one, and the name of that larger
# set, whose library the runner must refuse on this processor.
PROCESSORS = {"sse2": ("Nehalem", "avx"), "avx": ("SandyBridge", "avx2")}


def _reproducible() -> set[str]:
    """Returns the operations with oracle files whose contracts promise the same bits on every CPU backend, and OWN."""
    contracts = {path.stem: path for path in (ROOT / "contracts").glob("*.yaml")}
    promised = {name for name, path in contracts.items() if "\nreproducible: true" in path.read_text()}
    return promised & {path.stem for path in ORACLE} | set(OWN)


def _failures(report: Report) -> list[str]:
    """Returns the failures that the runner printed, or the operations for which it counted any."""
    complaints = [line for line in report.output.splitlines() if ": " in line]
    return complaints or [operation for operation, count in report.failed.items() if count]


def _emulated(isa: str, runner: Path, library: str, absent: Callable) -> list[str | Path]:
    emulator = shutil.which("qemu-x86_64")
    if not emulator:
        absent(isa, "qemu-x86_64 is not installed (Debian: qemu-user)")
    return [str(emulator), "-cpu", PROCESSORS[isa][0], runner, checked_path(library)]


def test_this_processor(reports: dict[str, Report]) -> None:
    for name, report in reports.items():
        assert report.library == name
        assert _failures(report) == [], name


def test_this_processor_at_sizes_that_change_paths(runner: Path) -> None:
    larger = {name: run(command, PATHS) for name, command in commands(runner).items()}
    for name, report in larger.items():
        assert _failures(report) == [], name
    for operation in _reproducible() & {path.stem for path in PATHS}:
        assert len({report.checksums[operation] for report in larger.values()}) == 1, operation


def test_neon(neon: Report) -> None:
    assert neon.library == "neon"
    for path in ORACLE:
        dtypes = {case.computed_dtype for case in oracle_file.read(path).cases if case.kernel}
        support.note(path.stem, "neon", not neon.failed[path.stem], dtypes)
    assert _failures(neon) == []


@pytest.mark.parametrize("isa", sorted(PROCESSORS))
def test_an_older_processor(isa: str, runner: Path, absent: Callable) -> None:
    report = run(_emulated(isa, runner, isa, absent))
    assert report.library == isa
    assert _failures(report) == []


@pytest.mark.parametrize("isa", sorted(PROCESSORS))
def test_a_processor_without_the_instruction_set_is_refused(isa: str, runner: Path, absent: Callable) -> None:
    """The runner detects the emulated processor's features with cpu.c, and calls no kernel that needs others."""
    command = _emulated(isa, runner, PROCESSORS[isa][1], absent)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "the processor lacks features that the library needs" in done.stderr


def test_the_same_bits_everywhere(reports: dict[str, Report], neon: Report) -> None:
    everywhere = [*reports.values(), neon]
    for operation in sorted(_reproducible()):
        sums = {report.library: report.checksums[operation] for report in everywhere}
        assert len(set(sums.values())) == 1, (operation, sums)


@pytest.mark.parametrize(("operation", "special"), [("add", False), ("add", True), ("exp", True)])
@pytest.mark.parametrize("is_zero", [False, True])
def test_the_runner_notices_a_wrong_result(
    operation: str, special: bool, is_zero: bool, runner: Path, tmp_path: Path
) -> None:
    """Alters a reference: a bit of a number, or the sign of a zero, which counts in special cases and where the
    tolerance is 0."""
    path = next(path for path in ORACLE if path.stem == operation)
    for case in oracle_file.read(path).cases:
        values = case.reference.values() if (" special " in case.name) == special else ()
        i = next((i for i, each in enumerate(values) if (each == 0) == is_zero and math.isfinite(each)), None)
        if case.result_dtype == "float32" and i is not None:
            break
    else:
        pytest.fail("no case has such an element")
    data = case.reference.data
    content = bytearray(data.obj)
    start = np.frombuffer(data, "u1").ctypes.data - np.frombuffer(data.obj, "u1").ctypes.data
    content[start + 8 * i + (7 if is_zero else 6)] ^= 0x80 if is_zero else 0x10
    (tmp_path / path.name).write_bytes(content)
    command = [runner, checked_path("scalar"), tmp_path / path.name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert [line for line in done.stdout.splitlines() if line.startswith(f"{case.name}: element {i} is ")]
