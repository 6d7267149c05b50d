"""Tests the mutation tool: on the miniature project small/, the outcome of each mutant, continuing an interrupted run,
and cleaning up; for Lanewise's sources, which tests are chosen."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import environment, support
from tests.mutants import command, trial
from tests.mutants.draw import Mutant, mutants_of
from tests.mutants.process import MARK, Processes
from tests.mutants.project import Project
from tests.mutants.results import Known, Result, Results, report
from tests.mutants.rules import RULES
from tests.mutants.trial import Copy

ROOT = Path(__file__).resolve().parents[2]
SMALL = Path(__file__).parent / "small"
# Rule -> the file in small/code in which one mutant of this rule is tried.
PLACES = {
    "comparison": "total.c",
    "bound": "scale.wgsl",
    "logic": "clamp.py",
    "sign": "halve.yaml",
    "dropped_term": "total.c",
    "off_by_one": "total.h",
    "off_by_bit": "clamp.py",
    "flag": "clamp.py",
    "lost_reference": "total.c",
    "swapped_strides": "clamp.py",
    "skipped_join": "scale.wgsl",
    "removed_row": "halve.yaml",
    "widened_tolerance": "halve.yaml",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy, in a temporary folder, of the miniature project tests/mutants/small."""
    root = tmp_path / "small"
    shutil.copytree(SMALL, root, ignore=shutil.ignore_patterns("build", "__pycache__"))
    return Project(root / "small.toml", root)


@pytest.fixture
def known(tmp_path: Path) -> Known:
    return Known(tmp_path / "known.json")


@pytest.fixture
def copied(project: Project, known: Known) -> Iterator[Callable[[], Copy]]:
    """Returns a function that copies the project, as it is then, and builds the copy."""
    with Processes() as processes:

        def made() -> Copy:
            copy = Copy(project, processes, known, "copy")
            copy.prepare()
            return copy

        yield made


@pytest.fixture
def copy(copied: Callable[[], Copy]) -> Copy:
    return copied()


def changed(project: Project, name: str, before: str, after: str) -> Mutant:
    """Returns a mutant of the one line that contains `before`."""
    lines = (project.root / name).read_text().split("\n")
    (number,) = (number for number, line in enumerate(lines) if before in line)
    return Mutant(name, number + 1, "test", lines[number], lines[number].replace(before, after))


def test_one_mutant_of_each_rule(project: Project, known: Known, tmp_path: Path) -> None:
    assert set(PLACES) == {rule.name for rule in RULES}
    if environment.testable()["wgpu"]:
        support.absent("no WebGPU adapter", "wgpu")
    mutants = []
    for rule, name in PLACES.items():
        file = f"code/{name}"
        by_line = mutants_of(file, (project.root / file).read_text()).values()
        mutants.append([each for by_rule in by_line for each in by_rule.get(rule, ())][-1])
    results = Results(tmp_path / "results.jsonl")
    with Processes() as processes:
        found = command.try_all(project, processes, iter(mutants), results, known, len(mutants), jobs=2)
    assert [(each.mutant.rule, each.status) for each in found] == [(rule, "caught") for rule in PLACES]
    assert not known.fails()


def test_what_changes_nothing_is_equivalent(project: Project, copy: Copy) -> None:
    for name, before, after in (
        ("code/total.c", "a < b ? a : b", "a < b ? (a) : b"),
        ("code/clamp.py", "LIMIT = 4.5", "LIMIT = 4.50"),
        ("code/halve.yaml", "1.0e-06", "1.00e-06"),
    ):
        assert copy.judge(changed(project, name, before, after)).status == "equivalent", name


def test_what_does_not_compile_is_replaced(project: Project, copy: Copy) -> None:
    assert copy.judge(changed(project, "code/total.c", "a < b ? a : b", "a < ? a : b")).status == "invalid"
    assert copy.judge(changed(project, "code/clamp.py", "LIMIT = 4.5", "LIMIT = = 4.5")).status == "invalid"


def test_a_survivor_is_reported(project: Project, copy: Copy) -> None:
    (project.root / "check_clamp.py").write_text("")  # empties the project's check; the copy keeps the real one
    mutant = changed(project, "code/clamp.py", "float | None", "int | None")
    result = copy.judge(mutant)
    assert (result.status, result.passed) == ("survived", ["python check_clamp.py"])
    text = report([result], [])
    expected = (
        f"survived: code/clamp.py:{mutant.line} (test)\n  - {mutant.before.strip()}\n  + {mutant.after.strip()}\n"
    )
    assert expected + "  ran: python check_clamp.py\n" in text
    assert "0 of 1 mutants caught" in text
    assert (copy.tree / "code" / "clamp.py").read_text() == (project.root / "code" / "clamp.py").read_text()


def test_a_test_that_fails_anyway_does_not_count(project: Project, known: Known, copied: Callable[[], Copy]) -> None:
    (project.root / "check_clamp.py").write_text("raise SystemExit(1)")
    result = copied().judge(changed(project, "code/clamp.py", "LIMIT = 4.5", "LIMIT = 5.5"))
    assert result.status == "survived"
    assert known.fails() == ["python check_clamp.py"]
    assert "fail without a mutant too" in report([result], known.fails())


def test_the_tests_after_one_that_fails_anyway_see_the_mutant(
    project: Project, known: Known, copied: Callable[[], Copy]
) -> None:
    (project.root / "fails.py").write_text("raise SystemExit(1)")
    project.settings["folder"] = [{"path": "code", "build": [], "tests": ["python fails.py", "python check_clamp.py"]}]
    result = copied().judge(changed(project, "code/clamp.py", "LIMIT = 4.5", "LIMIT = 5.5"))
    assert (result.status, result.by) == ("caught", "python check_clamp.py: exit status 1")


TEST_ROWS = """
import pytest, yaml
ROWS = yaml.safe_load(open("code/halve.yaml"))["rows"]
def test_broken(): assert False
@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["x"]))
def test_row(row): assert row["x"] < 0 or row["x"] / 2 == row["out"]
"""


def test_a_case_that_only_the_mutant_has(project: Project, known: Known, copied: Callable[[], Copy]) -> None:
    """pytest names a test after the changed row, so the test that fails does not exist without the mutant. Such a
    failure catches the mutant. Another test, which always fails, catches nothing."""
    (project.root / "tests").mkdir()
    (project.root / "tests" / "test_rows.py").write_text(TEST_ROWS)
    project.settings["folder"] = [{"path": "code", "build": [], "tests": ["tests/test_rows.py"]}]
    result = copied().judge(changed(project, "code/halve.yaml", "x: 3.0", "x: 4.0"))
    assert (result.status, result.by) == ("caught", "tests/test_rows.py::test_row[4.0]")
    assert known.fails() == ["tests/test_rows.py::test_broken"]


def test_a_hang_is_caught(project: Project, copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "HANG_SECONDS", 3.0)
    monkeypatch.setattr(trial, "BUDGET", 4.0)
    result = copy.judge(changed(project, "code/clamp.py", "self.total = 0.0", "while True: self.total = 0.0"))
    assert (result.status, result.by) == ("caught", "timeout: python check_clamp.py")


def test_a_slow_build_is_not(project: Project, copy: Copy, known: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = changed(project, "code/total.c", "a < b ? a : b", "a > b ? a : b")
    monkeypatch.setattr(trial, "BUDGET", 0.0)
    cut = copy.judge(mutant)
    assert (cut.status, cut.left) == ("undecided", ["python check_total.py"])
    monkeypatch.setattr(trial, "BUDGET", 300.0)
    results = Results(project.root / "results.jsonl")
    results.add(cut)
    arguments = (project, copy.processes, iter([mutant]), results, known, 1)
    assert command.try_all(*arguments) == [cut]
    (resumed,) = command.try_all(project, copy.processes, iter([mutant]), results, known, 1, resume=True)
    assert resumed.status == "caught"


def test_a_run_continues(project: Project, known: Known, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mutants = [
        mutant
        for by_rule in mutants_of("code/clamp.py", (project.root / "code/clamp.py").read_text()).values()
        for each in by_rule.values()
        for mutant in each
    ]
    path = tmp_path / "kept" / "results.jsonl"
    first = Results(path)
    for mutant in mutants[:3]:
        first.add(Result(mutant, "caught", "a test"))
    first.add(Result(mutants[3], "equivalent"))
    with path.open("a") as file:
        file.write('{"mutant": {"file": "code/cl')  # a line that was cut off
    tried = []

    def judge(self: Copy, mutant: Mutant, earlier: Result | None = None) -> Result:
        tried.append(mutant)
        return Result(mutant, "caught", "another test")

    monkeypatch.setattr(Copy, "prepare", lambda self: None)
    monkeypatch.setattr(Copy, "judge", judge)
    with Processes() as processes:
        found = command.try_all(project, processes, iter(mutants), Results(path), known, 5)
        assert tried == mutants[4:6]  # mutants[3], which is equivalent, does not count
        assert [each.mutant for each in found] == mutants[:6]
        assert command.try_all(project, processes, iter(mutants), Results(path), known, 5) == found
    assert len(tried) == 2


def marked(folder: Path) -> list[str]:
    """Returns the ids of processes whose environment variable MARK begins with `folder`."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={folder}".encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            pass
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process groups")
def test_ctrl_c_leaves_nothing_behind(project: Project, tmp_path: Path) -> None:
    """The run is interrupted after a test has started a process in a session of its own. Only the environment variable
    MARK tells that this process must be killed."""
    check = (
        "import subprocess, sys, time, pathlib\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        f"pathlib.Path({str(tmp_path / 'started')!r}).touch()\n"
        "time.sleep(600)\n"
    )
    for path in project.root.glob("check_*.py"):  # so that it does not matter which mutant is the first
        path.write_text(check)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    words = [sys.executable, "-m", "tests.mutants", "--seed", "1", "--project", str(project.root / "small.toml")]
    environment_ = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    running = subprocess.Popen(words, cwd=ROOT, env=environment_, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        end = time.monotonic() + 300
        while not (tmp_path / "started").exists() and running.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        assert len(marked(temporary)) >= 2
        running.send_signal(signal.SIGINT)
        output = running.communicate(timeout=120)[0].decode()
    finally:
        running.kill()
    assert running.returncode == 130, output
    assert "interrupted; the same command continues" in output
    assert marked(temporary) == []
    assert list(temporary.iterdir()) == []


def test_the_map_names_tests_that_exist() -> None:
    lanewise = Project(command.LANEWISE, ROOT)
    sources = lanewise.sources(ROOT)
    assert {name.split("/")[0] for name in sources} == {"core", "native", "contracts", "lanewise", "webgpu"}
    assert not [name for name in sources if "cuda" in name and name.startswith("native/")]
    for name in sources:
        plan = lanewise.plan(ROOT, name)
        assert plan.tests, name
        for each in (word for test in plan.tests for word in lanewise.words(test) if word.startswith("tests/")):
            assert (ROOT / each.split("::")[0]).exists(), each


def test_the_narrowest_tests_come_first() -> None:
    lanewise = Project(command.LANEWISE, ROOT)
    assert lanewise.plan(ROOT, "core/ops/sign.h").tests[1] == "tests/sweep -k sign"
    assert lanewise.plan(ROOT, "core/math/inverse_trig.h").tests[0].split()[2:] == ["acos", "asin", "atan", "atan2"]
    assert lanewise.plan(ROOT, "core/simd/lanes.h").tests[0].endswith("cases.py")
    assert lanewise.plan(ROOT, "lanewise/functions/indexing.py").tests[0] == "tests/package/test_indexing.py"
    assert lanewise.plan(ROOT, "lanewise/functions/indexing.py").build == []


def test_a_new_folder_of_tests_runs_for_every_source(tmp_path: Path) -> None:
    (tmp_path / "tests" / "fresh").mkdir(parents=True)
    (tmp_path / "tests" / "fresh" / "test_fresh.py").touch()
    (tmp_path / "tests" / "wasm").mkdir()
    (tmp_path / "tests" / "wasm" / "test_module.py").touch()
    tests = Project(command.LANEWISE, ROOT).plan(tmp_path, "webgpu/math/pair.wgsl").tests
    assert tests[-1] == "tests/fresh" and "tests/wasm" not in tests
