"""Plants errors in a copy of the sources, and reports those that no test notices."""

from __future__ import annotations

import argparse
import itertools
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from types import FrameType

from tests.mutants import ran
from tests.mutants.draw import Mutant, draw
from tests.mutants.process import Processes, Stopped
from tests.mutants.project import Project
from tests.mutants.results import COUNTED, Known, Result, Results, report
from tests.mutants.trial import Copy

ROOT = Path(__file__).resolve().parents[2]
LANEWISE = Path(__file__).with_name("lanewise.toml")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns 1 if a mutant survived, 2 if one is undecided, 130 if it was interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, required=True, metavar="N", help="selects the sequence of mutants")
    parser.add_argument(
        "--count", type=int, default=40, help="how many to try, without equivalent and invalid ones; default: 40"
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time; default: 1")
    parser.add_argument(
        "--resume", action="store_true", help="also run the tests that undecided mutants had no time for"
    )
    parser.add_argument("--list", action="store_true", help="print the mutants and try none")
    parser.add_argument(
        "--project", type=Path, default=LANEWISE, help="a TOML file like lanewise.toml; default: that one"
    )
    options = parser.parse_args(arguments)
    root = ROOT if options.project == LANEWISE else options.project.resolve().parent
    project = Project(options.project, root)
    kept = root / "build" / "mutants" / project.commit[:12]
    if project.is_changed:
        print("mutants are made of the last commit, without the changes in this working tree")
    previous = {number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        with Processes() as processes:
            lines = ran.lines(project, processes, kept)
            project.copy(processes.folder / "sources")
            mutants = draw(processes.folder / "sources", lines, options.seed)
            if options.list:
                for mutant in itertools.islice(mutants, options.count):
                    print(f"{mutant.file}:{mutant.line} ({mutant.rule})\n- {mutant.before}\n+ {mutant.after}")
                return 0
            results = Results(kept / f"seed-{options.seed}.jsonl")
            known = Known(kept / "known.json")
            found = try_all(project, processes, mutants, results, known, options.count, options.jobs, options.resume)
    except (KeyboardInterrupt, Stopped):
        print(f"interrupted; the same command continues. Results: {kept}", file=sys.stderr)
        return 130
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    print(report(found, known.fails()))
    statuses = {result.status for result in found}
    return 1 if "survived" in statuses else 2 if "undecided" in statuses else 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # a second signal must not interrupt the cleanup
    raise KeyboardInterrupt


def try_all(
    project: Project,
    processes: Processes,
    mutants: Iterator[Mutant],
    results: Results,
    known: Known,
    count: int,
    jobs: int = 1,
    resume: bool = False,
) -> list[Result]:
    """Tries mutants in their order until `count` of them were caught, survived or remained undecided, and returns the
    results. A mutant that an earlier run has tried is tried again only if it is undecided and `resume` is true."""
    local = threading.local()
    names = itertools.count()

    def judge(mutant: Mutant) -> Result:
        if not hasattr(local, "copy"):
            local.copy = Copy(project, processes, known, f"copy{next(names)}")
            local.copy.prepare()
        result: Result = local.copy.judge(mutant, results.get(mutant))
        results.add(result)
        print(
            f"{result.status}: {mutant.file}:{mutant.line} ({mutant.rule}) {result.by} [{result.seconds} s]", flush=True
        )
        return result

    found: dict[Mutant, Result | None] = {}  # in the order in which mutants are drawn; None while one is being tried
    with ThreadPoolExecutor(jobs) as pool:
        running: dict[Future[Result], Mutant] = {}
        try:
            while True:
                while sum(result is None or result.status in COUNTED for result in found.values()) < count:
                    mutant = next(mutants, None)
                    if mutant is None:
                        break
                    found[mutant] = results.get(mutant)
                    earlier = found[mutant]
                    if earlier is None or (resume and earlier.status == "undecided"):
                        found[mutant] = None
                        running[pool.submit(judge, mutant)] = mutant
                if not running:
                    break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    found[running.pop(future)] = future.result()
        except BaseException:
            processes.stop()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [result for result in found.values() if result is not None]
