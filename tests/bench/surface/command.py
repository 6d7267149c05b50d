"""The command `python -m tests.bench surface`: draws cells, times each next to its peers, and judges the whole."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from lanewise.backends import selection
from lanewise.costs import timing
from lanewise.errors import ArgumentError, LanewiseError
from tests.bench import here, machine
from tests.bench.peers import elsewhere, installed, open_peer
from tests.bench.runner import Clock
from tests.bench.settings import Settings
from tests.bench.surface import cells
from tests.bench.surface.judge import FIRM, Judged
from tests.bench.surface.measure import SECONDS, Place, measured

PEERS = ("numpy", "torch")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status: 1 if a firm figure is missed, with --firm, or a result is wrong."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.wheel and not options.browser:
        parser.error("--wheel is for --browser; elsewhere the installed package is measured")
    if options.browser and (options.backends or options.threads > 1):
        parser.error("--browser excludes --backends and --threads: a page has one of each; leave them out")
    try:
        return _surface(options)
    except LanewiseError as error:
        print(error, file=sys.stderr)
        return 2


def _surface(options: argparse.Namespace) -> int:
    if unknown := set(options.kinds) - set(cells.KINDS):
        raise ArgumentError(f"bench: expected kinds from {', '.join(cells.KINDS)}, got {', '.join(sorted(unknown))}")
    kinds = f" --kinds {' '.join(map(repr, options.kinds))}" if options.kinds else ""
    outcomes, began = [], time.monotonic()
    with _in_page(options) if options.browser else _here(options) as place:
        repeat = f"python -m tests.bench surface --seed {options.seed} {place.options}{kinds} --cell"
        print(*place.heading, sep="\n", file=sys.stderr, flush=True)
        firm = FIRM[place.name]
        for number in range(options.count or firm.cells) if options.cell is None else [options.cell]:
            outcomes.append(place.measure(number))
            if options.verbose or options.cell is not None:
                print(json.dumps(outcomes[-1].__dict__, default=dict), flush=True)
    judged = Judged(outcomes, firm, repeat)
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    print(json.dumps(judged.json()) if options.json else "\n".join(judged.lines()))
    return int(bool(judged.faults) or (options.firm and bool(judged.complaints())))


@contextmanager
def _here(options: argparse.Namespace) -> Iterator[Place]:
    """Measures in this process."""
    backend = options.backends or str(selection.default_backend())
    on_gpu = backend == here.GPU
    if backend == "avx2" and "OPENBLAS_CORETYPE" not in os.environ:
        os.environ.update(elsewhere.without_avx512())
        os.execv(sys.executable, sys.orig_argv)  # begins again, because libraries read these when they are loaded
    peers = here.gpu_peers() if on_gpu else [open_peer(name, options.threads) for name in PEERS if name in installed()]
    where = here.gpu().name if on_gpu else f"{backend}, {options.threads} thread(s)"
    clock = partial(_clock, on_gpu, options.threads)
    with timing.threads(options.threads):
        yield Place(
            here.GPU if on_gpu else "cpu",
            f"--backends {backend} --threads {options.threads}",
            machine.heading([peer.settings for peer in peers], f"{where}, medians"),
            lambda number: measured(cells.cell(options.seed, number, options.kinds), backend, peers, clock),
        )


@contextmanager
def _in_page(options: argparse.Namespace) -> Iterator[Place]:
    """Measures in a page in Chromium."""
    from tests.bench.browser import surface  # whose modules for tests alone are not needed elsewhere

    with surface.opened(options.seed, options.kinds, Settings(wheel=options.wheel)) as place:
        yield place


def _clock(on_gpu: bool, threads: int, rounds: int) -> Clock:
    """Returns what times the contestants of a cell."""
    if on_gpu:
        return partial(here.one_after_the_other, rounds, here.GPU_SECONDS)
    if threads > 1:
        return partial(here.with_pauses, rounds, 0.0)
    return partial(timing.measure, repeats=rounds, sample_seconds=SECONDS)


def _parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        prog="python -m tests.bench surface",
        description="Time cells drawn from the surface of operations, shapes, axes and layouts, next to the best peer.",
    )
    add = options.add_argument
    add("--seed", type=int, required=True, metavar="N", help="selects the sequence of cells")
    add("--count", type=int, metavar="K", help="how many cells; default: as many as the firm figures are for")
    add("--cell", type=int, metavar="I", help="only this cell of the sequence")
    add("--kinds", nargs="+", default=(), metavar="KIND", help=f"of {', '.join(cells.KINDS)}; default: all")
    add("--backends", metavar="NAME", help="of Lanewise; with avx2, peers do not use AVX-512; default: the best CPU")
    add("--threads", type=int, default=1, metavar="N", help="of Lanewise and of the peers; default: 1")
    add("--browser", action="store_true", help="measure in a page in Chromium, next to NumPy and SciPy in Pyodide")
    add("--wheel", type=Path, metavar="FILE", help="with --browser: measure this wheel, do not build one")
    add("--json", action="store_true", help="print everything measured as JSON")
    add("--verbose", action="store_true", help="print each cell when it is measured")
    add("--firm", action="store_true", help="exit with status 1 if a firm figure is missed")
    return options
