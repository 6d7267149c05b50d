"""The benchmark command's default program: times operations at several sizes, and reports as tables, JSON or a plot.

It compares the backends of Lanewise with each other and with peers, which are other libraries.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import lanewise as lw
from lanewise import selection
from lanewise.demo.plot import figure_class
from lanewise.errors import named
from lanewise.timing import Progress, limit_blas_threads, threads
from tests.bench import machine, operations, plot, report
from tests.bench.cases import Case, build, default_sizes, parse_size
from tests.bench.peers import Peer, installed, open_peer
from tests.bench.runner import Result, entrants, run_case
from tests.bench.settings import Settings


def run(names: Sequence[str], settings: Settings) -> int:
    """Measures the named operations, or all of them; returns 1 if a result was wrong."""
    number = settings.threads or 1
    limit_blas_threads(number)  # must precede the import of NumPy by matplotlib
    if settings.plot:
        figure_class()  # fails now, not after the measurement, if matplotlib is missing
    measured_cases = cases(names, settings.sizes, settings.dtype)
    backends = available_backends(settings.backends)
    peer_names = installed() if settings.peers is None else list(dict.fromkeys(settings.peers))
    peers = [open_peer(name, number) for name in peer_names]
    with threads(number):
        results = measured(measured_cases, backends, peers, settings)
    if settings.as_json:
        about = {
            "threads": number,
            "repeats": settings.repeats,
            "sample_seconds": settings.seconds,
            "peers": [peer.settings for peer in peers],
        }
        json.dump(report.as_json(machine.facts(), about, results), sys.stdout, indent=1)
        print()
    if settings.plot:
        plot.draw(results, settings.plot)
        print(f"wrote {settings.plot}", file=sys.stderr)
    return 1 if any(result.wrong for result in results) else 0


def cases(names: Sequence[str], sizes: Sequence[str] | None, dtype: str | None) -> list[Case]:
    """Returns the cases of these operations, or of all operations that compute in the dtype."""
    chosen = [operations.find(name) for name in names]
    if not chosen:
        chosen = [operation for operation in operations.load().values() if not dtype or operation.computes(dtype)]
    parsed = [parse_size(text) for text in sizes] if sizes else None
    return [build(operation, size, dtype) for operation in chosen for size in parsed or default_sizes(operation)]


@named("bench")
def available_backends(names: Sequence[str] | None) -> list[str]:
    """Returns the named backends and GPUs ("wgpu:1"), or all available backends."""
    if names is None:
        return [str(info.name) for info in lw.backends() if info.available]
    return list(dict.fromkeys(str(selection.open_place(name)) for name in names))


def measured(
    measured_cases: Sequence[Case], backends: Sequence[str], peers: Sequence[Peer], settings: Settings
) -> list[Result]:
    """Measures the cases, and prints a table after each one unless JSON is to follow."""
    if not settings.as_json:
        facts = machine.facts()
        print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']}; Python {facts['python']}")
        print("; ".join([f"lanewise {facts['lanewise']}", *dict.fromkeys(peer.settings for peer in peers)]))
    results = []
    samples = len(measured_cases) * (len(backends) + len(peers)) * settings.repeats
    with _progress(samples) as advance:
        for case in measured_cases:
            contestants = entrants(case, backends, peers)
            result = run_case(
                case, contestants, repeats=settings.repeats, sample_seconds=settings.seconds, progress=advance
            )
            results.append(result)
            if not settings.as_json:
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
