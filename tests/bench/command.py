"""`python -m lanewise bench`: which operations, sizes, backends and peers, and where the figures go."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import lanewise as lw
from lanewise.demo.plot import figure_class
from lanewise.errors import ArgumentError, LanewiseError
from lanewise.timing import REPEATS, SAMPLE_SECONDS, Progress, threads
from tests.bench import cpu, machine, operations, plot, report
from tests.bench.cases import Case, build, default_sizes, parse_size
from tests.bench.inputs import ITEM_BYTES
from tests.bench.peers import PEERS, Peer, installed, open_peer
from tests.bench.runner import Result, entrants, run

EPILOG = """\
A size is a number of elements (1024, 64K, 1M), the edge of matrices and images, or a shape (512x64; matrices
MxKxN, images NxCxHxW). Contestants are timed in turn, in one process; the minimum is the time to trust, the
median says how quiet the machine was. Results are checked before anything is timed. The exit code is 1 when
one was wrong.
"""


def _parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        prog="python -m lanewise bench",
        description="Time operations on this machine's backends and in other libraries.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument(
        "operation", nargs="*", help="names, as in lanewise.<name>, or how goals begin; all by default"
    )
    options.add_argument("--sizes", nargs="+", metavar="SIZE", help="default: by kind of operation")
    options.add_argument("--dtype", choices=sorted(ITEM_BYTES), help="default: float32 where the operation has it")
    options.add_argument("--backends", nargs="+", metavar="NAME", help="default: every available one")
    options.add_argument(
        "--peers",
        nargs="*",
        metavar="NAME",
        help=f"of {', '.join(PEERS)}; default: every installed one; without a name: none of them",
    )
    options.add_argument(
        "--threads", type=int, default=1, metavar="N", help="of Lanewise and of the peers (default: %(default)s)"
    )
    options.add_argument("--repeats", type=int, default=REPEATS, metavar="N", help="rounds (default: %(default)s)")
    options.add_argument(
        "--seconds",
        type=float,
        default=SAMPLE_SECONDS,
        help="the least a sample lasts (default: %(default)s)",
    )
    options.add_argument("--json", action="store_true", help="print everything measured as JSON instead of a table")
    options.add_argument("--goals", action="store_true", help="measure what the goals name, and judge it")
    options.add_argument(
        "--markdown", nargs="+", metavar="FILE", help="with --goals: write the table into the places marked for it"
    )
    options.add_argument("--browser", action="store_true", help="in headless Chromium (from a source checkout)")
    options.add_argument("--wheel", metavar="FILE", help="with --browser: this wheel, instead of a fresh one")
    options.add_argument("--plot", metavar="FILE", help="draw rates against sizes (needs lanewise[plot])")
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    options = _parser().parse_args(argv)
    if options.repeats < 1 or options.threads < 1 or not options.seconds > 0:
        _parser().error("--repeats, --threads and --seconds must be positive")
    try:
        if options.markdown and not options.goals:
            raise ArgumentError("bench: --markdown writes the table of goals: --goals --markdown FILE")
        if options.wheel and not options.browser:
            raise ArgumentError("bench: --wheel is for --browser: natively, what is imported is measured")
        if options.browser or options.goals:
            return _goals(options)
        if options.plot:
            figure_class()
        cases = _cases(options.operation, options.sizes, options.dtype)
        backends = _backends(options.backends)
        peers = [open_peer(name, options.threads) for name in _peer_names(options.peers)]
        with threads(options.threads):
            results = _run(cases, backends, peers, options.repeats, options.seconds, as_text=not options.json)
        if options.json:
            settings = {
                "threads": options.threads,
                "repeats": options.repeats,
                "sample_seconds": options.seconds,
                "peers": [peer.settings for peer in peers],
            }
            json.dump(report.as_json(machine.facts(), settings, results), sys.stdout, indent=1)
            print()
        if options.plot:
            plot.draw(results, options.plot)
            print(f"wrote {options.plot}", file=sys.stderr)
    except LanewiseError as error:
        print(error, file=sys.stderr)
        return 2
    return 1 if any(result.wrong for result in results) else 0


def _goals(options: argparse.Namespace) -> int:
    """The goals, in the place they are for."""
    if not options.goals:
        raise ArgumentError("bench: what is measured in a browser are its goals: --browser --goals")
    if any((options.sizes, options.dtype, options.backends, options.plot, options.threads > 1)):
        raise ArgumentError(
            "bench: goals say what is measured; leave out --sizes, --dtype, --backends, --threads and --plot"
        )
    documents = [Path(name) for name in options.markdown or ()]
    if options.browser:
        return _browser(options, documents)
    settings = cpu.Settings(options.repeats, options.seconds, options.peers, documents)
    return cpu.run(options.operation, settings, as_json=options.json)


def _browser(options: argparse.Namespace, documents: Sequence[Path]) -> int:
    from tests.bench.browser import command

    peers = command.PEERS if options.peers is None else tuple(dict.fromkeys(options.peers))
    wheel = Path(options.wheel) if options.wheel else None
    settings = command.Settings(options.repeats, options.seconds, peers, wheel, documents)
    return command.run(options.operation, settings, as_json=options.json)


def _cases(names: Sequence[str], sizes: Sequence[str] | None, dtype: str | None) -> list[Case]:
    """What to run. Of all operations, those that do not compute in the dtype are left out."""
    chosen = [operations.find(name) for name in names]
    if not chosen:
        chosen = [operation for operation in operations.load().values() if not dtype or operation.computes(dtype)]
    given = [parse_size(text) for text in sizes] if sizes else None
    return [build(operation, size, dtype) for operation in chosen for size in given or default_sizes(operation)]


def _backends(names: Sequence[str] | None) -> list[str]:
    if names is None:
        return [str(info.name) for info in lw.backends() if info.available]
    for name in names:
        with lw.use_backend(name):  # an unknown or missing one says so here
            pass
    return [str(lw.Backend(name)) for name in names]


def _peer_names(names: Sequence[str] | None) -> list[str]:
    return installed() if names is None else list(dict.fromkeys(names))


def _run(
    cases: Sequence[Case],
    backends: Sequence[str],
    peers: Sequence[Peer],
    repeats: int,
    seconds: float,
    as_text: bool,
) -> list[Result]:
    results = []
    samples = len(cases) * (len(backends) + len(peers)) * repeats
    if as_text:
        facts = machine.facts()
        print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']}; Python {facts['python']}")
        print("; ".join(["lanewise " + str(facts["lanewise"]), *(peer.settings for peer in peers)]))
    with _progress(samples) as advance:
        for case in cases:
            result = run(
                case, entrants(case, backends, peers), repeats=repeats, sample_seconds=seconds, progress=advance
            )
            results.append(result)
            if as_text:
                print(f"\n{report.text(result)}", flush=True)
    return results


@contextmanager
def _progress(samples: int) -> Iterator[Progress | None]:
    """Shows a progress bar on a terminal if tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield None
        return
    with tqdm(total=samples, unit="sample", leave=False, disable=None, file=sys.stderr) as bar:
        yield lambda _: bar.update(1)


if __name__ == "__main__":
    sys.exit(main())
