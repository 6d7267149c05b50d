"""Runs the oracle's cases with runner.c on this processor and on emulated ones: ARM with NEON, and x86 with at most
SSE2 or AVX. Operations that promise bit-identical results must give the same bits on this processor and on NEON."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from oracle_runner import ORACLE, OWN, PATHS, ROOT, Report, commands, run

from lanewise.libraries import checked_path

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


def test_the_runner_notices_a_wrong_result(runner: Path, tmp_path: Path) -> None:
    path = next(path for path in ORACLE if path.stem == "add")
    content = bytearray(path.read_bytes())
    content[-13] ^= 0x40  # flip a bit of the last reference value; 8 bytes follow it
    (tmp_path / "add.bin").write_bytes(content)
    done = subprocess.run([runner, checked_path("scalar"), tmp_path / "add.bin"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "expected" in done.stdout or "differs" in done.stdout
