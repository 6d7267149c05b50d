"""Reads the command line of `python -m tests.bench`, and runs the part of the benchmark that it asks for.

Options say on which backends and against which libraries to measure, and where the figures go.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from lanewise.errors import ArgumentError, LanewiseError
from tests.bench import goals, here
from tests.bench.goals import Goal
from tests.bench.peers import PEERS
from tests.bench.report import Table, places, publish
from tests.bench.settings import Settings
from tests.cases import operations
from tests.cases.inputs import ITEM_BYTES

Measure = Callable[[Sequence[Goal], Settings], Table]

EPILOG = """\
kinds, which stand for all of their operations:
  {kinds}

A size is a number of elements (1024, 64K, 1M), the edge of matrices and images, or a shape (512x64; matrices MxKxN,
images NxCxHxW). Contestants are timed in turn, in one process; the minimum is the time to trust, the median shows how
quiet the machine was. Results are checked before anything is timed. The exit status is 1 if one was wrong, or with
--firm if a firm goal is missed; with --firm, it is 3 if none is missed, but some cannot be judged on this machine.
"""


def _browser(chosen: Sequence[Goal], settings: Settings) -> Table:
    from tests.bench.browser import command  # whose modules for tests alone are not needed elsewhere

    return command.measured(chosen, settings)


# The tables of goals: what measures them, and the options that choose them. --markdown writes a table into a document
# below a comment with `python -m tests.bench` and these options.
TABLES: Mapping[str, tuple[Measure, Sequence[str]]] = {
    "cpu": (here.cpu, ["--goals"]),
    "threads": (here.threads, ["--goals"]),
    "dtypes": (here.cpu, ["--goals"]),
    "browser": (_browser, ["--goals", "--backends", "browser"]),
    "wgpu": (here.wgpu, ["--goals", "--backends", "wgpu"]),
}
NAMED = ("cpu", "browser", "wgpu")  # with --goals, --backends chooses one of them
# If all words begin with the name of a table, that table replaces the one that --backends chooses.
BY_NAME = (("cpu", "threads"), ("cpu", "dtypes"), ("browser", "dtypes"))


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    words = sys.argv[1:] if argv is None else argv
    if words[:1] == ["surface"]:
        from tests.bench.surface import command  # whose options are others

        return command.main(words[1:])
    parser = _parser()
    settings = parser.parse_args(argv, Settings())
    if settings.repeats < 1 or min(settings.threads or [1]) < 1 or not settings.seconds > 0:
        parser.error("--repeats, --threads and --seconds must be positive")
    if settings.browser and not settings.backends:
        settings.backends = ["browser"]
    try:
        return _goals(settings) if settings.goals else _operations(settings)
    except LanewiseError as error:
        print(error, file=sys.stderr)
        return 2


def _operations(settings: Settings) -> int:
    """Measures operations without goals."""
    of_goals = {"--markdown": settings.markdown, "--figure": settings.figure, "--firm": settings.firm}
    for option, value in of_goals.items():
        if value:
            raise ArgumentError(f"bench: {option} works only with --goals; add it")
    if settings.wheel or "browser" in (settings.backends or ()):
        raise ArgumentError("bench: a browser can only measure the goals; use --goals --backends browser")
    kinds = operations.kinds()
    return here.suite([name for word in settings.word for name in kinds.get(word, (word,))], settings)


def _goals(settings: Settings) -> int:
    """Measures and reports the goals whose names begin with one of the words, or all of a table."""
    if settings.sizes or settings.dtype or settings.threads:
        raise ArgumentError("bench: --goals excludes --sizes, --dtype and --threads; leave them out")
    table, *more = settings.backends or ["cpu"]
    words = [*settings.word, *more]  # goals that follow `--backends browser`, which argparse reads as backends
    if table not in NAMED:
        raise ArgumentError(
            f"bench: expected {', '.join(NAMED[:-1])} or {NAMED[-1]} as --backends with --goals, got {table}"
        )
    if settings.wheel and table != "browser":
        raise ArgumentError("bench: --wheel is for --backends browser; elsewhere the installed package is measured")
    known, measure, options = _known(table, words)
    chosen = goals.find(known, words)
    marked = places(settings.markdown, options, chosen)
    return publish(measure(chosen, settings), settings, marked)


def _known(table: str, words: Sequence[str]) -> tuple[Sequence[Goal], Measure, Sequence[str]]:
    """Returns the goals to choose from, what measures them, and the options of the table."""
    measure, options = TABLES[table]
    for place, name in BY_NAME:
        if place == table and words and all(word.startswith(name) for word in words):
            if place == "browser":
                return [goal for goal in goals.load(name) if goal.backend == place], measure, options
            return here.on_this_machine(goals.load(name)), *TABLES[name]
    return goals.load(table), measure, options


def _parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description="Time operations on this machine's backends and in other libraries.",
        epilog=EPILOG.format(kinds=", ".join(operations.kinds())),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = options.add_argument
    add("word", nargs="*", help="operations and kinds, or with --goals how goals begin; default: all")
    add("--sizes", nargs="+", metavar="SIZE", help="default: by operation")
    add("--dtype", choices=sorted(ITEM_BYTES), help="default: float32 where the operation has it")
    add("--backends", nargs="+", metavar="NAME", help="default: all; with --goals: cpu (default), browser or wgpu")
    add("--peers", nargs="*", metavar="NAME", help=f"of {', '.join(PEERS)}; default: all installed; no name: none")
    add("--threads", nargs="+", type=int, metavar="N", help="of Lanewise, in turn; peers have the first; default: 1")
    add("--repeats", type=int, metavar="N", help=f"rounds (default: {Settings.repeats})")
    add("--seconds", type=float, help=f"least duration of a sample (default: {Settings.seconds})")
    add("--json", action="store_true", help="print everything measured as JSON instead of a table")
    add("--goals", action="store_true", help="measure a table of goals and judge it")
    add("--firm", action="store_true", help="with --goals: exit with status 1 if a firm goal is missed")
    files = partial(add, nargs="+", type=Path, metavar="FILE")
    files("--markdown", help="with --goals: write the table to its place in documents")
    files("--figure", help="with --goals: draw the rows; -dark.svg is for dark pages")
    add("--browser", action="store_true", help="the same as --backends browser")
    add("--wheel", type=Path, metavar="FILE", help="with --backends browser: measure this wheel, do not build one")
    return options
