"""Tests the SIMD vocabulary, the vector types and functions of core/simd, on every instruction set: vocabulary.c checks
them."""

from __future__ import annotations

from pathlib import Path

import c_programs
import pytest


@pytest.mark.parametrize("run", c_programs.RUNS, ids=[run.name for run in c_programs.RUNS])
def test_every_primitive(run: c_programs.Run, tmp_path: Path) -> None:
    c_programs.skip_unless_possible(run)
    # no guard page under qemu: version 7 also reads the bytes that a masked load excludes
    arguments = ["unguarded"] if "qemu-x86_64" in run.command else []
    c_programs.output(run, c_programs.HERE / "vocabulary.c", tmp_path, *arguments)
