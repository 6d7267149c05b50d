"""`python -m tests.bench --goals`: measures the CPU's goals, or those named.

Peers (other libraries) that are installed, and the limits of the processor, are measured in the same run.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

import lanewise as lw
from lanewise.errors import ArgumentError
from tests.bench import goals, machine
from tests.bench.cpu import limits as limits_module
from tests.bench.cpu.limits import Limits
from tests.bench.cpu.measure import Place
from tests.bench.cpu.table import AVX2, AVX512, CPU, ONE_THREAD, PEERS
from tests.bench.goal_report import Table, places, publish
from tests.bench.peers import Peer, missing, open_peer
from tests.bench.settings import Settings

# --markdown writes the table of goals into a document, below a comment with `python -m tests.bench` and these options.
OPTIONS = ("--goals",)


def run(names: Sequence[str], settings: Settings) -> int:
    """Measures and reports the goals whose names begin with one of `names`, or all. Returns the exit status."""
    chosen = goals.find(CPU, names)
    marked = places(settings.documents, OPTIONS, chosen)
    peers, absent = _peers(settings.peers)
    lw.set_num_threads(1)  # the peers use one thread, too
    backends = [str(info.name) for info in lw.backends() if info.available]
    default = str(lw.ones(1).backend)
    limits, why_not = _limits([name for name in dict.fromkeys((AVX512, AVX2, default)) if name in backends])
    figures: dict[str, float] = {}
    for name, loops in limits.items():
        figures |= loops.figures(name, settings.repeats, settings.seconds, bandwidth=name == next(iter(limits)))
    heading = _heading(peers, absent, figures, why_not)
    if not settings.as_json:
        print("\n".join([*heading, ""]), flush=True)
    place = Place(settings.repeats, settings.seconds, peers, frozenset(absent), limits, backends)
    rows = []
    for goal in chosen:
        print(goal.name, file=sys.stderr, flush=True)
        rows.append(place.row(goal))
    columns = [*(name for name in PEERS if name not in absent), ONE_THREAD]
    about = {"peers": [peer.settings for peer in peers], "absent": absent, "limits": figures}
    return publish(Table(rows, columns, heading, about, machine.short_cpu_name()), settings, marked)


def _peers(names: Sequence[str] | None) -> tuple[list[Peer], dict[str, str]]:
    """Returns the peers that take part, and why the others do not."""
    if unknown := sorted(set(names or ()) - set(PEERS)):
        raise ArgumentError(f"bench: expected peers from {', '.join(PEERS)}, got {unknown[0]!r}")
    absent = {name: missing(name) for name in PEERS if missing(name)}
    if names is not None:
        absent |= {name: "left out" for name in PEERS if name not in names}
        for name in names:
            open_peer(name, 1)  # raises if the peer is missing
    return [open_peer(name, 1) for name in PEERS if name not in absent], absent


def _limits(backends: Sequence[str]) -> tuple[Mapping[str, Limits], str]:
    """Returns the loops of limits.c by backend, or none and the reason why they could not be compiled."""
    try:
        return limits_module.compiled(backends), ""
    except ArgumentError as error:
        return {}, str(error)


def _heading(peers: Sequence[Peer], absent: Mapping[str, str], figures: Mapping[str, float], why_not: str) -> list[str]:
    facts = machine.facts()
    lines = [
        f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']}; {facts['system']}; one thread",
        "; ".join(
            [f"lanewise {facts['lanewise']}, Python {facts['python']}", *dict.fromkeys(peer.settings for peer in peers)]
        ),
        *(f"absent: {name} ({why})" for name, why in absent.items()),
    ]
    if figures:
        lines.append("limits: " + "; ".join(f"{name} {value:.3g}" for name, value in figures.items()))
    else:
        lines.append(f"limits are not measured: {why_not}")
    return [*lines, "figures are minima; peers are in the unit of the row, - if they have no such operation"]
