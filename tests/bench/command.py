"""Reads the command line of `python -m tests.bench`, and runs the part of the benchmark that it asks for.

Options say on which backends and against which libraries to measure, and where the figures go.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from lanewise.errors import ArgumentError, LanewiseError
from lanewise.timing import REPEATS, SAMPLE_SECONDS
from tests.bench import calls, crossover, operations, scaling, speedup, suite, webgpu
from tests.bench.inputs import ITEM_BYTES
from tests.bench.peers import PEERS
from tests.bench.settings import Settings

Program = Callable[[Sequence[str], Settings], int]  # run(names, settings) returns the exit status

# Without --goals, the first word selects the program: that of one of these groups, or else suite.run, which takes names
# of operations. Kinds of operations (contracts/kinds.yaml) are groups, too, and stand for all of their operations.
GROUPS: Mapping[str, tuple[Program, str]] = {
    "call": (calls.run, "what a call, a kernel and `import lanewise` cost"),
    "speedup": (speedup.run, "every instruction set against scalar code"),
    "threads": (scaling.run, "several threads against one"),
    "crossover": (crossover.run, "the sizes at which a second thread pays"),
    "webgpu": (webgpu.run, "every operation with a shader, on the GPU and on the CPU"),
}
TABLES = ("cpu", "browser", "wgpu")  # the tables of goals; with --goals, --backends chooses one of them

EPILOG = """\
groups:
{groups}
  {kinds}

A size is a number of elements (1024, 64K, 1M), the edge of matrices and images, or a shape (512x64; matrices MxKxN,
images NxCxHxW). Contestants are timed in turn, in one process; the minimum is the time to trust, the median shows how
quiet the machine was. Results are checked before anything is timed. The exit status is 1 if one was wrong.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status."""
    parser = _parser()
    options = parser.parse_args(argv)
    threads = options.threads
    if options.repeats < 1 or (threads is not None and threads < 1) or not options.seconds > 0:
        parser.error("--repeats, --threads and --seconds must be positive")
    settings = Settings(
        repeats=options.repeats,
        seconds=options.seconds,
        sizes=options.sizes,
        dtype=options.dtype,
        backends=["browser"] if options.browser and not options.backends else options.backends,
        peers=options.peers,
        threads=threads,
        as_json=options.json,
        plot=options.plot,
        firm=options.firm,
        documents=[Path(name) for name in options.markdown or ()],
        figures=[Path(name) for name in options.figure or ()],
        wheel=Path(options.wheel) if options.wheel else None,
    )
    try:
        program, names = _goals(options.word, settings) if options.goals else _program(options.word, settings)
        return program(names, settings)
    except LanewiseError as error:
        print(error, file=sys.stderr)
        return 2


def _program(words: Sequence[str], settings: Settings) -> tuple[Program, Sequence[str]]:
    of_goals = {"--markdown": settings.documents, "--figure": settings.figures, "--firm": settings.firm}
    for option, value in of_goals.items():
        if value:
            raise ArgumentError(f"bench: {option} works only with --goals; add it")
    if settings.wheel or "browser" in (settings.backends or ()):
        raise ArgumentError("bench: a browser can only measure the goals; use --goals --backends browser")
    if words and words[0] in GROUPS:
        return GROUPS[words[0]][0], words[1:]
    kinds = operations.kinds()
    return suite.run, [name for word in words for name in kinds.get(word, (word,))]


def _goals(words: Sequence[str], settings: Settings) -> tuple[Program, Sequence[str]]:
    if settings.sizes or settings.dtype or settings.plot or settings.threads is not None:
        raise ArgumentError("bench: --goals excludes --sizes, --dtype, --threads and --plot; leave them out")
    table, *more = settings.backends or ["cpu"]
    words = [*words, *more]  # goals that follow `--backends browser`, which argparse reads as backends
    if table not in TABLES:
        raise ArgumentError(
            f"bench: expected {', '.join(TABLES[:-1])} or {TABLES[-1]} as --backends with --goals, got {table}"
        )
    if table == "browser":
        from tests.bench.browser import command as browser

        return browser.run, words
    if settings.wheel:
        raise ArgumentError("bench: --wheel is for --backends browser; elsewhere the installed package is measured")
    if table == "wgpu":
        from tests.bench.wgpu import command as wgpu

        return wgpu.run, words
    if words and all(word.startswith("threads") for word in words):
        from tests.bench import many_threads

        return many_threads.run, words
    from tests.bench.cpu import command as cpu

    return cpu.run, words


def _parser() -> argparse.ArgumentParser:
    groups = "\n".join(f"  {name:<10} {what}" for name, (_, what) in GROUPS.items())
    options = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description="Time operations on this machine's backends and in other libraries.",
        epilog=EPILOG.format(groups=groups, kinds=", ".join(operations.kinds())),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = options.add_argument
    add("word", nargs="*", help="a group, operations, or with --goals how goals begin; default: all operations")
    add("--sizes", nargs="+", metavar="SIZE", help="default: by operation")
    add("--dtype", choices=sorted(ITEM_BYTES), help="default: float32 where the operation has it")
    add(
        "--backends",
        nargs="+",
        metavar="NAME",
        help="default: all available; with --goals: cpu (default), browser or wgpu",
    )
    add("--peers", nargs="*", metavar="NAME", help=f"of {', '.join(PEERS)}; default: all installed; no name: none")
    add("--threads", type=int, metavar="N", help="of Lanewise and its peers; default: 1, in the group threads 2")
    add("--repeats", type=int, default=REPEATS, metavar="N", help="rounds (default: %(default)s)")
    add("--seconds", type=float, default=SAMPLE_SECONDS, help="least duration of a sample (default: %(default)s)")
    add("--json", action="store_true", help="print everything measured as JSON instead of a table")
    add("--plot", metavar="FILE", help="draw rates against sizes")
    add("--goals", action="store_true", help="measure a table of goals and judge it")
    add("--firm", action="store_true", help="with --goals: exit with status 1 if a firm goal is missed")
    add("--markdown", nargs="+", metavar="FILE", help="with --goals: write the table to its place in documents")
    add("--figure", nargs="+", metavar="FILE", help="with --goals: draw the rows as SVG; NAME-dark.svg for dark pages")
    add("--browser", action="store_true", help="the same as --backends browser")
    add("--wheel", metavar="FILE", help="with --backends browser: measure this wheel instead of building one")
    return options
