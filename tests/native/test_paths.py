"""Tests that the oracle's cases run every code path of the algorithms in core/ on each CPU backend, with right results.

The macro PATH (core/paths.h) marks and counts the paths. runner.c repeats each case with the kernel's tasks in another
order, with streaming stores, without scratch memory and, where the file has them, with strided operands. A path that no
case takes needs a new case in contracts/generator/paths.py, which lists the sizes where algorithms switch paths.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import support
from generator.load import load_contracts
from oracle_runner import ROOT, compile_counting_runner, run_paths

import lanewise as lw
from native.targets import TARGETS, host

# Paths that no case takes, with the reason.
NEVER = {
    "conv_part_task: one": "an image is divided into parts for each of several threads",
    "eigen_rotate_task: several": "needs over 1,000 rows, too slow under qemu; tests/sweep/test_eigen.py tests it",
    "grid_task: one": "a grid has a block for each of several threads",
    "reduction_chunks: one": "only several chunks are divided into tasks",
    "sort_divided_task: one": "a sort is divided among several threads",
    "sort_part_task: one": "a selection is divided among several threads",
    **dict.fromkeys(
        (
            *("put: in order", "put: in parts", "put_part: one", "put_part: several"),
            *("put: by ranges of the axis", "put_range: one", "put_range: several"),
        ),
        "a path of put, which has no reference; tests/sweep/test_kernels.py tests it",
    ),
}


@dataclass(frozen=True)
class Backend:
    isa: str
    target: str
    before: tuple[str, ...] = ()  # starts qemu or Node, which run the program; empty if this processor runs it


def _backends() -> list[Backend]:
    here = host()
    found = [Backend(isa.name, here.name) for isa in here.isas]
    if here.name != "aarch64-linux":
        found.append(Backend("neon", "aarch64-linux", ("qemu-aarch64",)))
    node = ("node", "--no-warnings")
    return found + [Backend(isa, "wasm32-pyodide", node) for isa in ("simd128", "relaxed_simd")]


def _command(backend: Backend, program: Path, absent: Callable[[str, str], None]) -> list[str | Path]:
    if backend.before and not shutil.which(backend.before[0]):
        absent(backend.isa, f"{backend.before[0]} is not installed")
    if "node" not in backend.before:
        return [*backend.before, program]
    flags = support.relaxed_simd_flags() if backend.isa == "relaxed_simd" else ()
    if flags is None:
        absent(backend.isa, "this Node has no relaxed SIMD")
    return [*backend.before, *(flags or ()), ROOT / "tests" / "core" / "wasi.mjs", program]


@pytest.mark.skipif(host().binary_format != "elf", reason="the counters need an ELF linker")
@pytest.mark.parametrize("backend", _backends(), ids=lambda backend: backend.isa)
def test_every_path_is_taken(backend: Backend, absent: Callable[[str, str], None]) -> None:
    available = {info.name.value for info in lw.backends() if info.available}
    if not backend.before and backend.isa not in available:
        absent(backend.isa, f"this processor does not have {backend.isa}")
    complaints, counts = run_paths(_counting(backend, absent))
    assert complaints == []
    missed = {path for path, count in counts.items() if not count and path not in NEVER}
    if backend.isa == "relaxed_simd":  # it only has the kernels of float32 and float64 that are not reproducible
        base = _counting(replace(backend, isa="simd128"), absent)
        reproducible = {each.operation: each.reproducible for each in load_contracts(ROOT / "contracts")}
        _, all_paths = run_paths(
            base, [name for name, is_left in reproducible.items() if not is_left or name == "copy"]
        )
        _, own = run_paths(base, ["copy"])  # and the runner's own tests
        used = {path for path, count in all_paths.items() if count > own[path]}
        missed &= {path for path in used if not path.endswith("8 bytes")}
    assert missed == set()
    assert {path for path in NEVER if counts.get(path)} == set()  # if a path is taken, remove its reason


def _counting(backend: Backend, absent: Callable[[str, str], None]) -> list[str | Path]:
    """Returns the command that counts the paths of a backend."""
    target = TARGETS[backend.target]
    isa = next(isa for isa in target.isas if isa.name == backend.isa)
    return _command(backend, compile_counting_runner(target, isa), absent)
