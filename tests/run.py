"""Runs all tests from a bare checkout: installs what is missing, builds, checks the style of the code, then runs each
folder of tests as a stage. Needs nothing but Python 3.11 or later.

    python3 tests/run.py                 runs everything; the last line is `N passed, M failed`
    python3 tests/run.py --quick         runs the stages of QUICK, on the scalar and the best instruction set alone
    python3 tests/run.py lint extension  builds, then runs these stages
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

if sys.version_info < (3, 11):  # noqa: UP036  (pip checks the version, too, but this runs before pip)
    sys.exit("Lanewise needs Python 3.11 or later; this is " + sys.version.split()[0])

import support
from environment import ROOT, best_and_scalar, install_system_packages, prepare, required, testable

REPORTS = ROOT / "build" / "reports"
QUICK = ("lint", "contracts", "sweep", "extension", "package")

# Stages run side by side. Builds of one platform write to the same folder and take turns: native/hook.py holds a lock,
# as do tests that build without it. Long stages start first, so that short ones fill the gap at the end.
LONG = ("site", "wasm", "native", "webgpu", "sweep", "loopback", "packaging", "bench")


@dataclass
class Stage:
    """The outcome of one stage."""

    name: str
    seconds: float = 0.0
    processor: float = 0.0  # seconds of processor time of its processes that have ended
    passed: int = 0
    failed: int = 0
    deselected: int = 0
    skipped: Counter[str] = field(default_factory=Counter)  # reason -> number of tests


class Runner:
    """Runs commands in the tests' environment and counts what passed and failed."""

    def __init__(self, python: Path, *, quick: bool = False) -> None:
        self.python = python
        self.environment = {
            **os.environ,
            "PATH": f"{python.parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONSAFEPATH": "1",  # import the installed package, not the current folder
            "LANEWISE_REQUIRE": os.environ.get("LANEWISE_REQUIRE") or required(),
        }
        self.environment.pop("PYTHONPATH", None)  # which would import another checkout
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)  # thousands of processes would compile the same modules
        if quick:
            both = ",".join(best_and_scalar())
            self.environment |= {"LANEWISE_SWEEP_BACKENDS": both, "LANEWISE_REQUIRE": both}

    def command(self, stage: Stage, title: str, *words: str | Path) -> bool:
        """Runs one command, which passes if it exits with 0."""
        status = self._run(stage, f"{stage.name}: {title}", words)[0]
        stage.passed += not status
        stage.failed += bool(status)
        return not status

    def pytest(self, stage: Stage, folder: Path) -> None:
        """Runs the tests of a folder and counts their outcomes."""
        report = REPORTS / f"{stage.name}.xml"
        report.unlink(missing_ok=True)
        words = [self.python, "-m", "pytest", "-q", f"--junitxml={report}", folder]
        status, output = self._run(stage, stage.name, words)
        before = stage.failed
        last = output.rstrip().rpartition("\n")[2]  # 5 passed, 3 deselected in 0.1s
        stage.deselected += sum(map(int, re.findall(r"(\d+) deselected", last)))
        if report.exists():
            _count(report, stage)
        if status and stage.failed == before:  # pytest crashed, or found no test
            stage.failed += 1

    def _run(self, stage: Stage, title: str, words: Sequence[str | Path]) -> tuple[int, str]:
        """Runs a command and returns its exit status and output. Prints the output when the command has ended, so that
        the output of stages that run side by side does not mix."""
        print(f"== {title} begins", flush=True)
        began = time.monotonic()
        with subprocess.Popen(
            words,
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as process:
            assert process.stdout is not None
            output = process.stdout.read().decode(errors="replace")
            stage.processor += _wait(process)
        stage.seconds += time.monotonic() - began
        status = process.returncode
        end = f"FAILED with exit status {status}" if status else "done"
        print(f"\n== {title}\n{output}== {title}: {end}\n", end="", flush=True)
        return status, output


def _wait(process: subprocess.Popen[bytes]) -> float:
    """Waits until a process ends, and returns the seconds of processor time that it and the processes that it waited
    for took. Returns 0 where the operating system does not say."""
    if not hasattr(os, "wait4"):
        process.wait()
        return 0.0
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


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
    """Installs the package in place with the environment's compiler, and writes the results that tests expect."""
    pip = [runner.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return (
        runner.command(stage, "install in place", *pip, "--no-deps", "--no-build-isolation", "--editable", ROOT)
        and runner.command(stage, "rebuild what changed", runner.python, ROOT / "native" / "build.py")
        and runner.command(
            stage, "write the oracle", runner.python, ROOT / "contracts" / "generate.py", "--oracle", "build/oracle"
        )
    )


def lint(runner: Runner, stage: Stage) -> None:
    """Checks the style of the code, with the tools of the commit hooks and the scripts of tests/style."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = tracked.stdout.split("\n") if tracked.returncode == 0 else []  # git fails in an unpacked source archive
    sources = [name for name in names if name.endswith((".c", ".h", ".cu"))]
    runner.command(stage, "ruff check", "ruff", "check")
    runner.command(stage, "ruff format", "ruff", "format", "--check")
    runner.command(stage, "mypy", runner.python, "-m", "mypy")
    if names:
        runner.command(stage, "clang-format", "clang-format", "--dry-run", "-Werror", *sources)
        runner.command(stage, "sources", runner.python, ROOT / "tests" / "style" / "check.py")
    else:
        stage.skipped["lint: clang-format and tests/style/check.py, because git does not list the files here"] += 1


def folders() -> dict[str, Path]:
    """Returns each stage's folder of tests, by the name of the stage."""
    tests = sorted(path for path in (ROOT / "tests").iterdir() if path.is_dir())
    return {folder.name: folder for folder in tests if any(folder.rglob("test_*.py"))}


def run(runner: Runner, names: Sequence[str]) -> list[Stage]:
    """Runs the stages with these names and returns their outcomes in the same order."""
    stages = {name: Stage(name) for name in names}

    def run_stage(name: str) -> None:
        if name == "lint":
            lint(runner, stages[name])
        else:
            runner.pytest(stages[name], folders()[name])

    # One stage more than there are processors, because site and wasm spend much of their time waiting for browsers
    with ThreadPoolExecutor(min(4, (os.cpu_count() or 1) + 1)) as pool:
        list(pool.map(run_stage, sorted(names, key=lambda name: LONG.index(name) if name in LONG else len(LONG))))
    return list(stages.values())


# A name in LANEWISE_REQUIRE -> the backends on which every operation must then have passed, in each dtype it accepts.
COLUMNS = {
    **{name: (name,) for name in ("wgpu", "avx512", "avx2", "avx", "sse2", "neon", "scalar")},
    "simd128": ("simd128", "relaxed_simd"),
}


def matrix(runner: Runner, stage: Stage) -> None:
    """Counts the operations that passed on every required backend in every dtype, and lists the others."""
    accepted = json.loads((ROOT / "build" / "oracle" / "accepted.json").read_text())
    needed = runner.environment["LANEWISE_REQUIRE"].split(",")
    lacking = support.gaps(accepted, [column for name in needed for column in COLUMNS.get(name, ())])
    print(f"\n== {stage.name}: {len(accepted) - len(lacking)} of {len(accepted)} operations without a gap")
    print("\n".join(lacking))
    stage.passed, stage.failed = len(accepted) - len(lacking), len(lacking)


def processor_time() -> float:
    """Returns the seconds of processor time of all child processes that have ended, or 0 where nothing counts them."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def summary(stages: list[Stage], minutes: float, notes: Iterable[str]) -> int:
    """Prints minutes and counts by stage, what was skipped and why, the variables of the environment that change what
    runs, and the total on the last line. Returns the exit status."""
    width = max(len(stage.name) for stage in stages)
    print(f"\n{'stage':<{width}}  minutes  processor  passed  failed  skipped  deselected")
    for stage in stages:
        skipped = sum(stage.skipped.values())
        counts = f"{stage.passed:6}  {stage.failed:6}  {skipped:7}  {stage.deselected:10}"
        print(f"{stage.name:<{width}}  {stage.seconds / 60:7.2f}  {stage.processor / 60:9.2f}  {counts}")
    processor = sum(stage.processor for stage in stages) / 60
    print(f"{minutes:.1f} minutes in all, {processor:.1f} minutes of processor time")
    total = sum((stage.skipped for stage in stages), Counter[str]())
    for reason, count in total.most_common():
        print(f"skipped {count}: {reason}")
    for note in notes:
        print(note)
    for name in sorted(name for name in os.environ if name.startswith("LANEWISE_")):
        print(f"set in the environment: {name}={os.environ[name]}")
    if support.TABLE.exists():
        print(f"support matrix: {support.TABLE.relative_to(ROOT)}")
    failed = sum(stage.failed for stage in stages)
    print(f"{sum(stage.passed for stage in stages)} passed, {failed} failed", flush=True)
    return 1 if failed else 0


def main() -> int:
    choices = ["lint", *folders()]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="*", metavar="stage", help=f"one of {', '.join(choices)}; default: all")
    parser.add_argument("--quick", action="store_true", help=f"run {', '.join(QUICK)} alone, in a few minutes")
    arguments = parser.parse_args()
    if arguments.quick and arguments.stages:
        parser.error("--quick: expected no stages beside it, because it chooses them")
    chosen = QUICK if arguments.quick else arguments.stages or choices
    if unknown := sorted(set(chosen) - set(choices)):
        parser.error(f"expected stages from {', '.join(choices)}; got {', '.join(unknown)}")
    setup = Stage("setup")
    began = time.monotonic()
    notes = [note for note in [install_system_packages(compiler_only=arguments.quick)] if note]
    runner = Runner(prepare(), quick=arguments.quick)
    setup.seconds, setup.processor = time.monotonic() - began, processor_time()
    print(f"LANEWISE_REQUIRE={runner.environment['LANEWISE_REQUIRE']}")
    REPORTS.mkdir(parents=True, exist_ok=True)
    support.clear()  # the matrix shows only the tests of this run
    stages = [setup, Stage("build")]
    if build(runner, stages[1]):
        stages += run(runner, [name for name in choices if name in chosen])
        support.publish()
        if set(chosen) == set(choices):
            stages.append(Stage("matrix"))
            matrix(runner, stages[-1])
    if arguments.quick:
        notes.append(f"backends of the quick sweep: {runner.environment['LANEWISE_SWEEP_BACKENDS']}")
    notes += [f"not tested on this machine: {name} ({reason})" for name, reason in testable().items() if reason]
    if pages := support.reopened():
        notes += [f"pages opened once more, because they did not boot: {len(pages)}", *pages]
    if left := [name for name in choices if name not in chosen]:
        notes.append(f"stages not asked for: {', '.join(left)}")
    return summary(stages, (time.monotonic() - began) / 60, notes)


if __name__ == "__main__":
    sys.exit(main())
