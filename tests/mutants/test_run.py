"""Tests what the summary of tests/run.py says about tests that did not run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))

import run


def test_the_summary_says_what_did_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_three.py").write_text("def test_a(): pass\ndef test_b(): pass\ndef test_c(): pass\n")
    monkeypatch.setattr(run, "ROOT", tmp_path)  # where git lists no files
    monkeypatch.setattr(run, "REPORTS", tmp_path)
    monkeypatch.setattr(run.support, "TABLE", tmp_path / "support.md")  # another stage may have written the real one
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setenv("PYTEST_ADDOPTS", "-k test_b")
    monkeypatch.setenv("LANEWISE_REQUIRE", "scalar")
    monkeypatch.setenv("LANEWISE_SWEEP_SHARE", "4")
    runner = run.Runner(Path(sys.executable))
    lint, three = run.Stage("lint"), run.Stage("three")
    runner.pytest(three, tmp_path)
    assert 0 < three.processor < 60
    three.seconds = three.processor = 0.0
    titles: list[str] = []
    monkeypatch.setattr(runner, "command", lambda stage, title, *words: titles.append(title))
    run.lint(runner, lint)
    assert run.summary([lint, three], 0.0, ["a note"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (row,) = (line.split() for line in lines if line.startswith("three "))
    assert row == ["three", "0.00", "0.00", "1", "0", "0", "2"]
    assert "0.0 minutes in all, 0.0 minutes of processor time" in lines
    assert "set in the environment: LANEWISE_REQUIRE=scalar" in lines
    assert "set in the environment: LANEWISE_SWEEP_SHARE=4" in lines
    (left,) = (line for line in lines if line.startswith("skipped 1: lint: "))
    assert "clang-format" in left and "tests/style/check.py" in left and titles == ["ruff check", "ruff format", "mypy"]


def test_the_quick_run_sweeps_the_scalar_and_the_best_backend_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANEWISE_HIDE", "avx512,avx2")
    monkeypatch.setenv("LANEWISE_REQUIRE", "wgpu")
    environment = run.Runner(Path(sys.executable), quick=True).environment
    first, *best = environment["LANEWISE_SWEEP_BACKENDS"].split(",")
    assert first == "scalar" and len(best) <= 1 and not {"avx512", "avx2"} & set(best)
    assert environment["LANEWISE_REQUIRE"] == environment["LANEWISE_SWEEP_BACKENDS"]
    assert set(run.QUICK) <= {"lint", *run.folders()}
