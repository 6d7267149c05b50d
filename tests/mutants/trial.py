"""Tries mutants in a copy of the project: builds what each one affects, and runs the tests for it until one fails.

A failure counts only if the test passes in the copy without the mutant, or does not exist there."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import CodeType

import yaml

from tests import environment
from tests.mutants.draw import Mutant
from tests.mutants.process import Ended, Processes
from tests.mutants.project import Plan, Project, isas
from tests.mutants.results import Known, Result

BUDGET = 300.0  # seconds for one mutant
# A command counts as hanging if it ran HANG times as long as it takes without the mutant, and at least HANG_SECONDS. It
# is cut off only after PATIENCE times its usual time, if BUDGET allows, because other work may make the machine slow.
HANG, PATIENCE, HANG_SECONDS = 2.5, 6.0, 60.0
PREPARE_SECONDS = 1800.0

_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
_SHADER_REFUSED = re.compile(r"Shader .*\b(?:parsing|validation) error", re.IGNORECASE)


@dataclass(frozen=True)
class Verdict:
    """The outcome of one test command; `by` says what noticed the mutant, or which command was cut off."""

    kind: str  # caught, passed, cut, invalid
    by: str = ""


class Copy:
    """A copy of the project in a temporary folder, with its build."""

    def __init__(self, project: Project, processes: Processes, known: Known, name: str) -> None:
        self.project, self.processes, self.known = project, processes, known
        self.tree = processes.folder / name / "tree"
        self.base = processes.folder / name / "base"
        self.scratch = processes.folder / name / "tmp"

    def prepare(self) -> None:
        """Writes the files and builds them."""
        self.scratch.mkdir(parents=True)
        self.project.copy(self.tree)
        for command in self.project.prepare:
            ended = self.run(command, PREPARE_SECONDS)
            if ended.status != 0:
                raise SystemExit(f"mutants: `{command}` failed without a mutant:\n{ended.output[-4000:]}")
            self.known.add(command, True, ended.seconds)
        shutil.copytree(self.tree, self.base)
        self.outputs = self._digest()

    def run(self, command: str, limit: float, *more: str) -> Ended:
        """Runs a command in the copy."""
        words = [*self.project.words(command), *more]
        ended = self.processes.run(words, self.tree, self.environment(), limit)
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(exist_ok=True)
        return ended

    def environment(self) -> dict[str, str]:
        """Returns the environment variables of commands. They are like those of tests/run.py, but select the copy and
        the two instruction sets that it is built for."""
        kept = {
            name: value for name, value in os.environ.items() if name not in ("CC", "CFLAGS", "CPPFLAGS", "LDFLAGS")
        }
        path = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
        return {
            **kept,
            "PATH": path,
            "PYTHONPATH": str(self.tree),
            "PYTHONSAFEPATH": "1",
            "PYTHONDONTWRITEBYTECODE": "1",  # sources of equal size written in the same second would share a .pyc file
            "TMPDIR": str(self.scratch),
            "LANEWISE_REQUIRE": _required(),
        }

    def restore(self) -> None:
        """Makes the copy what it was after prepare()."""
        _mirror(self.base, self.tree)

    def judge(self, mutant: Mutant, earlier: Result | None = None) -> Result:
        """Tries a mutant. After an earlier, undecided result, does not repeat the tests that passed then."""
        began = time.monotonic()
        passed = list(earlier.passed) if earlier else []
        try:
            result = self._judge(mutant, began + BUDGET, passed)
        finally:
            self.restore()
        return replace(result, seconds=round(time.monotonic() - began, 1))

    def _judge(self, mutant: Mutant, end: float, passed: list[str]) -> Result:
        if status := _without_effect(mutant, self.tree / mutant.file):
            return Result(mutant, status)
        mutant.apply(self.tree)
        plan = self.project.plan(self.tree, mutant.file)
        if result := self._build(mutant, plan, end):
            return result
        if plan.build and not mutant.file.endswith((".py", ".yaml")) and self._digest() == self.outputs:
            return Result(mutant, "equivalent", passed=passed)
        waiting = [command for command in plan.tests if command not in passed and command not in self.known.fails()]
        while waiting:
            verdict = self._test(mutant, plan, waiting[0], end)
            if verdict.kind == "cut":
                return Result(mutant, "undecided", verdict.by, passed, waiting)
            if verdict.kind != "passed":
                return Result(mutant, verdict.kind, verdict.by, passed)
            passed.append(waiting.pop(0))
        return Result(mutant, "survived", passed=passed)

    def _build(self, mutant: Mutant, plan: Plan, end: float) -> Result | None:
        """Builds what the mutant affects. Returns a result if the build failed or took too long."""
        for command in plan.build:
            ended = self.run(command, end - time.monotonic())
            if ended.status is None:
                # A mutant is caught if it makes a generator hang, but not if a compiler does: it may just be slow.
                hangs = mutant.file.endswith((".py", ".yaml")) and self._hangs(command, ended.seconds)
                left = [*plan.tests]
                return Result(mutant, "caught" if hangs else "undecided", f"timeout: {command}", left=left)
            if ended.status:
                is_code = mutant.file.endswith((".c", ".h", ".wgsl"))
                refused = is_code and "error:" in ended.output and "static assertion" not in ended.output
                return Result(mutant, "invalid" if refused else "caught", f"build: {command}")
        return None

    def _test(self, mutant: Mutant, plan: Plan, command: str, end: float) -> Verdict:
        while True:
            typical = self.known.seconds(command)
            limit = end - time.monotonic()
            if typical is not None:
                limit = min(limit, max(HANG_SECONDS, PATIENCE * typical))
            is_pytest = command.startswith("tests/")
            skip = [f"--deselect={test}" for test in self.known.fails() if is_pytest and "::" in test]
            ended = self.run(command, limit, *skip)
            if ended.status is None:
                return Verdict("caught" if self._hangs(command, ended.seconds) else "cut", f"timeout: {command}")
            if ended.status == 0 or (is_pytest and ended.status == 5):  # 5: pytest selected no tests
                self.known.add(command, True, ended.seconds if typical is None else None)
                return Verdict("passed")
            if mutant.file.endswith(".wgsl") and _SHADER_REFUSED.search(ended.output):
                return Verdict("invalid", command)
            tests = _FAILED.findall(ended.output) if is_pytest else []
            new = [test for test in tests if "::" in test and test not in self.known.fails()]
            if new and self._fails_alone(new):
                return Verdict("caught", new[0])
            if not new and not self._fails_without(command):
                return Verdict("caught", f"{command}: exit status {ended.status}")
            mutant.apply(self.tree)  # again: _fails_alone() or _fails_without() has restored the copy
            if self._build(mutant, plan, end):
                return Verdict("cut", command)
            if not new:
                return Verdict("passed")  # the command fails without the mutant too; the report says so

    def _fails_alone(self, tests: Iterable[str]) -> bool:
        """Returns whether one of `tests` passes without the mutant, or does not exist without it: a mutant of a
        contract may add a test case. If the result is False, the copy is left without the mutant."""
        tests = list(tests)
        if any(self.known.passes(test) for test in tests):
            return True
        self.restore()
        for test in tests:
            ended = self.run(shlex.quote(test), BUDGET)
            if ended.status == 4:  # pytest found no such test
                return True
            self.known.add(test, ended.status == 0)
        return any(self.known.passes(test) for test in tests)

    def _fails_without(self, command: str) -> bool:
        """Returns whether a command fails without the mutant too."""
        if not self.known.passes(command):
            self.restore()
            ended = self.run(command, PREPARE_SECONDS)
            self.known.add(command, ended.status == 0, ended.seconds)
        return not self.known.passes(command)

    def _hangs(self, command: str, seconds: float) -> bool:
        """Returns whether a command that was cut off after `seconds` ends in much less time without the mutant. Runs
        it again without the mutant, because the machine may be slower than when the command was measured."""
        if seconds < HANG_SECONDS:
            return False
        self.restore()
        ended = self.run(command, seconds / HANG)
        if ended.status is None:
            self.known.takes(command, seconds)  # the next run gets more time
        return ended.status is not None

    def _digest(self) -> dict[str, str]:
        found = [path for pattern in self.project.settings["outputs"] for path in self.tree.glob(pattern)]
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in found if path.is_file()}


@cache
def _required() -> str:
    """Returns LANEWISE_REQUIRE, which names what tests must not skip, without the instruction sets that are not built.
    NEON stays, because tests build it."""
    unbuilt = {"avx512", "avx2", "avx", "sse2"} - set(isas())
    return ",".join(name for name in environment.required().split(",") if name not in unbuilt)


def _without_effect(mutant: Mutant, path: Path) -> str:
    """Returns "equivalent" if a mutant keeps the bytecode or the YAML data, "invalid" if it does not parse, else ""."""
    if path.suffix not in (".py", ".yaml"):
        return ""
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    lines[mutant.line - 1] = mutant.after
    changed = "\n".join(lines)
    try:
        if path.suffix == ".yaml":
            return "equivalent" if repr(yaml.safe_load(changed)) == repr(yaml.safe_load(text)) else ""
        return "equivalent" if _bytecode(changed) == _bytecode(text) else ""
    except (SyntaxError, yaml.YAMLError):
        return "invalid"


def _bytecode(text: str) -> object:
    return _comparable(compile(text, "mutant", "exec", dont_inherit=True))


def _comparable(constant: object) -> object:
    """Returns what a code object executes, without positions in the source."""
    if isinstance(constant, CodeType):
        parts = ("co_code", "co_names", "co_varnames", "co_flags", "co_argcount", "co_kwonlyargcount", "co_freevars")
        return (*(getattr(constant, name) for name in parts), *map(_comparable, constant.co_consts))
    return (type(constant), repr(constant))


def _mirror(base: Path, tree: Path) -> None:
    """Makes `tree` equal to `base`, including the modification times of files."""
    expected = {path.relative_to(base) for path in base.rglob("*")}
    for path in sorted(tree.rglob("*"), reverse=True):
        if path.relative_to(tree) not in expected:
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    for name in sorted(expected):
        ours, theirs = base / name, tree / name
        if ours.is_dir():
            theirs.mkdir(exist_ok=True)
        elif not theirs.exists() or _stamp(ours) != _stamp(theirs):
            shutil.copy2(ours, theirs)


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns
