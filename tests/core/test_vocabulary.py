"""Tests the SIMD vocabulary, the vector types and functions of core/simd, on every instruction set: vocabulary.c checks
what every dtype has, conversions.c the rest."""

from __future__ import annotations

from pathlib import Path

import c_programs
import pytest

every_run = pytest.mark.parametrize("run", c_programs.RUNS, ids=[run.name for run in c_programs.RUNS])


def check(run: c_programs.Run, program: str, folder: Path, *defines: str) -> None:
    c_programs.skip_unless_possible(run)
    # no guard page under qemu: version 7 also reads the bytes that a masked load excludes
    arguments = ["unguarded"] if "qemu-x86_64" in run.command else []
    c_programs.output(run, c_programs.HERE / program, folder, *arguments, defines=defines)


@every_run
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint32", "uint64"])
def test_every_primitive(run: c_programs.Run, dtype: str, tmp_path: Path) -> None:
    check(run, "vocabulary.c", tmp_path, f"LW_ELEMENT_{dtype.upper()}")


@every_run
def test_conversions(run: c_programs.Run, tmp_path: Path) -> None:
    check(run, "conversions.c", tmp_path)
