"""Tests when native/steps.py repeats a step of the build."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from native.errors import BuildError
from native.steps import Step, run


@pytest.fixture
def step(tmp_path: Path) -> Step:
    """A step that has run: it writes "text" to a file."""
    source, output = tmp_path / "source.c", tmp_path / "output"
    source.write_text("int one;")
    made = Step(output, (sys.executable, "-c", f"open({str(output)!r}, 'w').write('text')", "-O2"), (source,), "zig 1")
    assert run([made]) == [output]
    return made


def test_a_step_runs_once(step: Step) -> None:
    assert step.output.read_text() == "text"
    assert run([step]) == []


def test_a_step_runs_again_for_another_word_of_its_command(step: Step) -> None:
    *words, last = step.command
    assert last == "-O2"
    assert run([replace(step, command=(*words, "-O3"))]) == [step.output]


def test_a_step_runs_again_for_another_version_of_its_tool(step: Step) -> None:
    assert run([replace(step, tool="zig 2")]) == [step.output]


def test_a_step_runs_again_for_another_input(step: Step, tmp_path: Path) -> None:
    (tmp_path / "source.c").write_text("int two;")
    (tmp_path / "other.c").write_text("")
    assert run([step]) == [step.output]
    assert run([replace(step, inputs=(*step.inputs, tmp_path / "other.c"))]) == [step.output]


def test_the_interpreters_path_is_irrelevant(step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip builds in a temporary environment, whose Python has another path each time. Steps must not run again then."""
    monkeypatch.setattr(sys, "executable", "/elsewhere/python")
    assert run([replace(step, command=(sys.executable, *step.command[1:]))]) == []


@pytest.mark.parametrize("lost", ["output", "output.stamp"])
def test_a_step_runs_again_if_its_output_or_stamp_is_lost(step: Step, lost: str) -> None:
    step.output.with_name(lost).unlink()
    assert run([step]) == [step.output]


def test_a_step_that_failed_runs_again(step: Step) -> None:
    failing = replace(step, command=(sys.executable, "-c", "raise SystemExit('no space')"))
    with pytest.raises(BuildError, match="no space"):
        run([failing])
    assert not step.is_done()


def test_a_step_whose_output_is_refused_runs_again(step: Step) -> None:
    def refuse(path: Path) -> None:
        raise BuildError(f"{path.name} has no table")

    with pytest.raises(BuildError, match="output has no table"):
        run([replace(step, tool="zig 2", check=refuse)])
    assert not replace(step, tool="zig 2").is_done()
