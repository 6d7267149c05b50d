"""The command `python -m tests.bench surface`: draws cells, times each next to its peers, and judges the whole."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import lanewise as lw
from lanewise.backends import selection
from lanewise.costs import timing
from lanewise.errors import ArgumentError, LanewiseError
from tests.bench import here, machine, runner
from tests.bench.peers import Peer, elsewhere, installed, open_peer
from tests.bench.runner import Clock
from tests.bench.surface import cells
from tests.bench.surface.cells import Cell
from tests.bench.surface.judge import BEHIND, FIRM, UNCOUNTED, Judged, Outcome
from tests.bench.surface.products import HALVES
from tests.cases.cases import Case

PEERS = ("numpy", "torch")
ROUNDS, AGAIN = 3, 7  # rounds of a cell, and of one that is behind, which is measured twice more
SECONDS = 0.005  # the least duration of a sample
SHORT_NS = 20_000  # on GPUs, calls that take the peer less are not counted
PRODUCTS = ("product", "window", "attention")


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit status: 1 if a firm figure is missed, with --firm, or a result is wrong."""
    options = _parser().parse_args(argv)
    try:
        return _surface(options)
    except LanewiseError as error:
        print(error, file=sys.stderr)
        return 2


def _surface(options: argparse.Namespace) -> int:
    if unknown := set(options.kinds) - set(cells.KINDS):
        raise ArgumentError(f"bench: expected kinds from {', '.join(cells.KINDS)}, got {', '.join(sorted(unknown))}")
    backend = options.backends or str(selection.default_backend())
    on_gpu = backend == here.GPU
    firm = FIRM["wgpu" if on_gpu else "cpu"]
    if backend == "avx2" and "OPENBLAS_CORETYPE" not in os.environ:
        os.environ.update(elsewhere.without_avx512())
        os.execv(sys.executable, sys.orig_argv)  # begins again, because libraries read these when they are loaded
    peers = here.gpu_peers() if on_gpu else [open_peer(name, options.threads) for name in PEERS if name in installed()]
    repeat = f"python -m tests.bench surface --seed {options.seed}"
    repeat += f" --backends {backend} --threads {options.threads}"
    repeat += (f" --kinds {' '.join(map(repr, options.kinds))}" if options.kinds else "") + " --cell"
    heading = machine.heading([peer.settings for peer in peers], f"{backend}, {options.threads} thread(s), medians")
    print(*heading, sep="\n", file=sys.stderr, flush=True)
    numbers = range(options.count or firm.cells) if options.cell is None else [options.cell]
    clock = partial(_clock, on_gpu, options.threads)
    outcomes, began = [], time.monotonic()
    with timing.threads(options.threads):
        for number in numbers:
            cell = cells.cell(options.seed, number, options.kinds)
            outcomes.append(measured(cell, backend, peers, clock))
            if options.verbose or options.cell is not None:
                print(json.dumps(outcomes[-1].__dict__, default=dict), flush=True)
    judged = Judged(outcomes, firm, repeat)
    print(f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    print(json.dumps(judged.json()) if options.json else "\n".join(judged.lines()))
    return int(bool(judged.faults) or (options.firm and bool(judged.complaints())))


def measured(cell: Cell, backend: str, peers: Sequence[Peer], clock: Callable[[int], Clock]) -> Outcome:
    """Measures a cell, again if it is behind: it counts as behind if its median is behind in three runs."""
    try:
        outcome = _once(cell, backend, peers, clock(ROUNDS))
        for _ in range(2):
            if outcome.counts and (outcome.ratio or 0) < BEHIND:
                again = _once(cell, backend, peers, clock(AGAIN))
                outcome = max(outcome, again, key=lambda each: each.ratio or 0)
    except Exception as error:  # one cell does not end the run
        return Outcome(cell.number, cell.kind, cell.text, None, {}, None, f"{type(error).__name__}: {error}")
    return outcome


def _once(cell: Cell, backend: str, peers: Sequence[Peer], clock: Clock) -> Outcome:
    sized = replace(cell.case, result=_elements(cell.case, backend))
    result = runner.run_case(sized, runner.entrants(sized, [backend], peers), clock)
    medians = {each["name"]: float(each["median_ns"]) for each in result["contestants"]}
    ours = medians.pop(backend, None)
    note = result["wrong"].get(backend, "") or result["not_timed"].get(backend, "")
    if not note:
        note = _uncounted(cell, min(medians.values(), default=0), backend)
    ratio = min(medians.values()) / ours if medians and ours else None
    return Outcome(cell.number, cell.kind, cell.text, ours, medians, ratio, note)


def _elements(case: Case, backend: str) -> int:
    """Returns how many elements of the result are compared: of several results all of the first, because others differ
    where elements are equal, and in signs of vectors."""
    result: Any = runner.on_backend(case, backend).run()
    first = result[0] if isinstance(result, list | tuple) else result
    return first.size if isinstance(first, lw.Tensor) else 1


def _uncounted(cell: Cell, best: float, backend: str) -> str:
    """Returns why a cell does not count, or an empty string."""
    if cell.case.operation.kind == "eigen":
        return UNCOUNTED + "eigenvalues"
    if cell.kind in PRODUCTS and cell.case.dtype in HALVES:
        return UNCOUNTED + f"a product of {cell.case.dtype}"
    if backend == here.GPU and best < SHORT_NS:
        return UNCOUNTED + "a short call"
    return ""


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
    add("--json", action="store_true", help="print everything measured as JSON")
    add("--verbose", action="store_true", help="print each cell when it is measured")
    add("--firm", action="store_true", help="exit with status 1 if a firm figure is missed")
    return options
