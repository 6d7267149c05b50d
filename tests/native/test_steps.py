"""Tests when native/steps.py repeats a step of the build."""

from __future__ import annotations

import io
import shlex
import sys
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, cast

import pytest

from native import build, hook, steps
from native.errors import BuildError
from native.steps import Step, run


@pytest.fixture
def step(tmp_path: Path) -> Step:
    """A step that has run: it writes "text" to a file."""
    source, output = tmp_path / "source.c", tmp_path / "made" / "here" / "output"
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
    command = (sys.executable, "-c", "print('line 1'); raise SystemExit('no space')")
    with pytest.raises(BuildError) as error:
        run([replace(step, command=command)])
    assert str(error.value) == f"{shlex.join(command)}\nline 1\nno space\n"
    assert not step.is_done()


def test_a_step_whose_output_is_refused_runs_again(step: Step) -> None:
    def refuse(path: Path) -> None:
        raise BuildError(f"{path.name} has no table")

    with pytest.raises(BuildError, match="output has no table"):
        run([replace(step, tool="zig 2", check=refuse)])
    assert not replace(step, tool="zig 2").is_done()


def test_a_finished_step_and_its_warnings_are_printed_immediately(step: Step, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = io.BytesIO()
    ignored = "wasm-ld: warning: creating shared libraries, with -shared, is not yet stable"
    warn = f"import sys; sys.stderr.write('\\n  \\none.c:1: warning\\n{ignored}\\nnote\\n')"
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, newline="\n"))
    run([replace(step, command=(sys.executable, "-c", warn))])
    assert printed.getvalue() == b"building output\nbuilt output\none.c:1: warning\nnote\n"


def test_steps_run_one_at_a_time_on_one_processor(step: Step, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the processors that this process may use count. The argument 0 of sched_getaffinity() means this process."""
    monkeypatch.setattr(steps.os, "sched_getaffinity", lambda process: {0: {3}}[process], raising=False)
    log = tmp_path / "log"
    add = f"add = lambda: open({str(log)!r}, 'a').write(sys.argv[1])"
    command = (sys.executable, "-c", f"import sys, time; {add}; add(); time.sleep(0.1); add()")
    run(replace(step, output=tmp_path / name, command=(*command, name)) for name in "abc")
    assert log.read_text() == "aabbcc"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_builds_of_a_target_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first step until the wheel is complete."""
    waited: list[bool] = []
    pool = ThreadPoolExecutor(1)

    def begin(*_: object) -> build.Files:
        other.append(pool.submit(steps.lock, tmp_path / "x86_64-linux.lock"))
        waited.append(not wait(other, 0.2).done)
        return {}

    other: list[Future[IO[bytes]]] = []
    monkeypatch.setenv("LANEWISE_TARGET", "x86_64-linux")
    monkeypatch.setattr(build, "BUILD", tmp_path)
    monkeypatch.setattr(build, "binaries_of", begin)
    monkeypatch.setattr(build, "place", lambda *_: None)
    builder = hook.LanewiseBuildHook(str(tmp_path), {}, cast(Any, None), cast(Any, None), str(tmp_path), "wheel")
    builder.initialize("editable", {})
    waited.append(not wait(other, 0.2).done)
    builder.finalize("editable", {}, "")
    other[0].result(60).close()
    assert waited == [True, True]
