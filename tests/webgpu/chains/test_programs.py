"""Runs random programs on the real device and on the CPU; `python -m tests.webgpu.chains.programs` runs more."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from harness import Runner

import lanewise as lw
from tests.webgpu.chains import programs

SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(gpu: Runner, seed: int) -> None:
    _, report = programs.run(seed)
    assert report is None, report


def test_programs_run_fused_chains(gpu: Runner) -> None:
    before = lw.memory_stats("wgpu")["chains_run"]
    programs.run(SEEDS[0])
    assert lw.memory_stats("wgpu")["chains_run"] > before


class Faulty(SimpleNamespace):
    """Lanewise with an error in one operation: maximum ignores its second operand where `out` is given."""

    def __getattr__(self, name: str) -> Any:
        return getattr(lw, name)

    def maximum(self, x1: Any, x2: Any, **keywords: Any) -> Any:
        return lw.maximum(x1, x1 if keywords else x2, **keywords)


def test_a_failing_program_is_reduced_to_the_statements_that_matter(gpu: Runner) -> None:
    statements = [
        't1 = data(1, (64,), "float32")',
        "t2 = lw.add(t1, 1)",
        't3 = data(2, (64,), "float32")',
        "t4 = lw.less(t1, t3)",
        "check(t4)",
        "t2 = lw.multiply(t3, 2)",
        "lw.maximum(t1, t3, out=t1)",
        "del t2",
        "t5 = lw.negative(t3)",
        "check(t1)",
        "check(t5)",
    ]
    assert programs.complaint(statements) is None
    kept = programs.shrink(statements, lambda each: programs.complaint(each, Faulty()))
    assert kept == [statements[0], statements[2], statements[6], statements[9]]
    wrong = programs.complaint(kept, Faulty())
    assert wrong is not None
    assert wrong.startswith("run 0: check(t1): ")
    script = programs.script(kept, wrong)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_a_statement_that_only_the_gpu_refuses_is_reported(gpu: Runner) -> None:
    statements = ['t1 = data(1, (64,), "float32")', "t2 = t1 + lw.zeros((3,))", "check(t1)"]
    assert programs.complaint(statements) is None  # the CPU refuses it, too
    statements[1] = 't2 = t1[0 if t1.device == "cpu" else 99]'
    wrong = programs.complaint(statements)
    assert wrong is not None
    assert wrong.startswith(f"run 0: {statements[1]}: IndexOutOfRangeError: ")


@pytest.mark.parametrize(
    ("expected", "got", "error", "wrong"),
    [
        ([1.0, np.nan], [1.0, np.nan], 0, None),
        ([1.0, np.inf], [1.0, np.inf], 1e-6, None),
        ([1.0, 2.0], [1.0, 2.0 + 1e-5], 1e-4, None),
        ([1.0, 2.0], [1.0, 3.0], 1e-4, "1 of 2 differ, first at [1]: expected 2.0, got 3.0, allowed 0.0001"),
        ([1.0, np.nan], [1.0, 2.0], 1e-4, "1 of 2 differ, first at [1]: expected nan, got 2.0, allowed 0.0001"),
        ([1, 2], [1.0, 2.0], 0, "expected int64 (2,), got float64 (2,)"),
    ],
)
def test_differences(expected: list[float], got: list[float], error: float, wrong: str | None) -> None:
    assert programs.difference(np.array(expected), np.array(got), error) == wrong


def test_the_command_prints_its_seed_first() -> None:
    command = [sys.executable, "-m", "tests.webgpu.chains.programs", "--seconds", "0", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=programs.ROOT)
    assert done.stdout.startswith("seed 7\n0 programs"), done.stderr
