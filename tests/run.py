"""Runs every test there is, from a bare checkout: installs what is missing, builds, checks the code's form, then runs
each folder of tests as a stage, side by side where that hurts nothing. Needs Python 3.11 and nothing else.

    python3 tests/run.py                 everything; the last line is `N passed, M failed`
    python3 tests/run.py lint extension  these stages only (build always comes first)
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

if sys.version_info < (3, 11):  # noqa: UP036  (pip would say it, but this runs before pip)
    sys.exit("Lanewise needs Python 3.11 or later; this is " + sys.version.split()[0])

import support
from environment import ROOT, install_system_packages, prepare, required

REPORTS = ROOT / "build" / "reports"

# Stages that measure time, or are over at once: these come first, one after another.
ALONE = ("lint", "package", "bench", "extension")
# The others run side by side. The stages of one lane follow one another: both of these build for other platforms in
# the same folders. The longest begin first, and what is not named here is a lane of its own.
LANES = (("native", "packaging"), ("wasm",), ("core",))


@dataclass
class Stage:
    """What ran under one name, how long it took and what came of it."""

    name: str
    seconds: float = 0.0
    passed: int = 0
    failed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)  # by reason


class Runner:
    """Runs commands in the tests' environment and counts."""

    def __init__(self, python: Path) -> None:
        self.python = python
        self.environment = {
            **os.environ,
            "PATH": f"{python.parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONSAFEPATH": "1",  # what is installed is tested, not what lies in the current folder
            "LANEWISE_REQUIRE": os.environ.get("LANEWISE_REQUIRE") or required(),
        }

    def command(self, stage: Stage, title: str, *words: str | Path) -> bool:
        """One command that passes when it exits with 0."""
        status = self._run(stage, f"{stage.name}: {title}", words)
        stage.passed += not status
        stage.failed += bool(status)
        return not status

    def pytest(self, stage: Stage, *paths: Path) -> None:
        """The tests in some files or folders, counted one by one."""
        report = REPORTS / f"{stage.name}.xml"
        report.unlink(missing_ok=True)
        words = [self.python, "-m", "pytest", "-q", f"--junitxml={report}", *paths]
        status = self._run(stage, stage.name, words)
        before = stage.failed
        if report.exists():
            _count(report, stage)
        if status and stage.failed == before:  # it crashed, or found no test
            stage.failed += 1

    def _run(self, stage: Stage, title: str, words: Sequence[str | Path]) -> int:
        """The exit status. The command's output is printed at its end, so that stages side by side do not mix."""
        print(f"== {title} begins", flush=True)
        began = time.monotonic()
        done = subprocess.run(
            words,
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        stage.seconds += time.monotonic() - began
        end = f"FAILED with exit status {done.returncode}" if done.returncode else "done"
        print(f"\n== {title}\n{done.stdout.decode(errors='replace')}== {title}: {end}\n", end="", flush=True)
        return done.returncode


def _count(report: Path, stage: Stage) -> None:
    for case in ElementTree.parse(report).iter("testcase"):
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            stage.failed += 1
        elif skip is None:
            stage.passed += 1
        else:
            stage.skipped[skip.get("message") or "no reason given"] += 1


def build(runner: Runner, stage: Stage) -> bool:
    """Installs the package in place, with the environment's own compiler, and writes what the tests compare with."""
    pip = [runner.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return (
        runner.command(stage, "install in place", *pip, "--no-deps", "--no-build-isolation", "--editable", ROOT)
        and runner.command(stage, "rebuild what changed", runner.python, ROOT / "native" / "build.py")
        and runner.command(
            stage, "write the oracle", runner.python, ROOT / "contracts" / "generate.py", "--oracle", "build/oracle"
        )
    )


def lint(runner: Runner, stage: Stage) -> None:
    """The form of the code: the same tools as the commit hooks."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = tracked.stdout.split("\n") if tracked.returncode == 0 else []  # a source archive has no list
    sources = [name for name in names if name.endswith((".c", ".h", ".cu"))]
    runner.command(stage, "ruff check", "ruff", "check")
    runner.command(stage, "ruff format", "ruff", "format", "--check")
    if sources:
        runner.command(stage, "clang-format", "clang-format", "--dry-run", "-Werror", *sources)
    runner.command(stage, "mypy", runner.python, "-m", "mypy")


def folders() -> dict[str, list[Path]]:
    """Each folder of tests is a stage; what lies beside them is the stage `package`."""
    tests = ROOT / "tests"
    found = {"package": sorted(tests.glob("test_*.py"))}
    for folder in sorted(path for path in tests.iterdir() if path.is_dir()):
        if any(folder.rglob("test_*.py")):
            found[folder.name] = [*found.get(folder.name, []), folder]
    return {name: paths for name, paths in found.items() if paths}


def lanes(names: Iterable[str]) -> list[list[str]]:
    """What runs side by side with the rest, each in its order."""
    named = [list(lane) for lane in LANES]
    rest = [name for name in names if not any(name in lane for lane in named)]
    return [*([name for name in lane if name in names] for lane in named), *([name] for name in rest)]


def run(runner: Runner, names: Sequence[str]) -> list[Stage]:
    """These stages, in the order of their names' list."""
    stages = {name: Stage(name) for name in names}

    def follow(lane: Iterable[str]) -> None:
        for name in lane:
            if name == "lint":
                lint(runner, stages[name])
            else:
                runner.pytest(stages[name], *folders()[name])

    follow([name for name in ALONE if name in stages])
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        list(pool.map(follow, lanes([name for name in names if name not in ALONE])))
    return list(stages.values())


# LANEWISE_REQUIRE's names -> the columns of the support matrix that must have no gap
COLUMNS = {
    **{name: (name,) for name in ("avx512", "avx2", "avx", "sse2", "neon", "scalar")},
    "simd128": ("simd128", "relaxed_simd"),
}


def matrix(runner: Runner, stage: Stage) -> None:
    """Every operation must have run, and passed, on every CPU backend that is required here, and in WebAssembly."""
    described = json.loads((ROOT / "build" / "generated" / "lanewise" / "_lib" / "operations.json").read_text())
    names = [each["name"] for each in described["operations"]]
    needed = runner.environment["LANEWISE_REQUIRE"].split(",")
    lacking = support.gaps(names, [column for name in needed for column in COLUMNS.get(name, ())])
    print(f"\n== {stage.name}: {len(names) - len(lacking)} of {len(names)} operations without a gap")
    print("\n".join(lacking))
    stage.passed, stage.failed = len(names) - len(lacking), len(lacking)


def summary(stages: list[Stage], minutes: float, notes: str) -> int:
    """Minutes per stage and in all, the reasons of skips, and the total on the last line."""
    width = max(len(stage.name) for stage in stages)
    print(f"\n{'stage':<{width}}  minutes  passed  failed  skipped")
    for stage in stages:
        skipped = sum(stage.skipped.values())
        print(f"{stage.name:<{width}}  {stage.seconds / 60:7.2f}  {stage.passed:6}  {stage.failed:6}  {skipped:7}")
    print(f"{minutes:.1f} minutes in all")
    total = sum((stage.skipped for stage in stages), Counter[str]())
    for reason, count in total.most_common():
        print(f"skipped {count}: {reason}")
    if notes:
        print(notes)
    if support.TABLE.exists():
        print(f"support matrix: {support.TABLE.relative_to(ROOT)}")
    failed = sum(stage.failed for stage in stages)
    print(f"{sum(stage.passed for stage in stages)} passed, {failed} failed", flush=True)
    return 1 if failed else 0


def main() -> int:
    choices = ["lint", *folders()]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*", metavar="stage", help=f"only these of: {', '.join(choices)}")
    wanted = parser.parse_args().stages or choices
    if unknown := sorted(set(wanted) - set(choices)):
        parser.error(f"no stage {', '.join(unknown)}; there are {', '.join(choices)}")
    setup = Stage("setup")
    began = time.monotonic()
    notes = install_system_packages()
    runner = Runner(prepare())
    setup.seconds = time.monotonic() - began
    print(f"LANEWISE_REQUIRE={runner.environment['LANEWISE_REQUIRE']}")
    REPORTS.mkdir(parents=True, exist_ok=True)
    support.clear()  # the matrix shows what passes in this run
    stages = [setup, Stage("build")]
    if build(runner, stages[1]):
        stages += run(runner, [name for name in choices if name in wanted])
        support.publish()
        if set(wanted) == set(choices):
            stages.append(Stage("matrix"))
            matrix(runner, stages[-1])
    return summary(stages, (time.monotonic() - began) / 60, notes)


if __name__ == "__main__":
    sys.exit(main())
