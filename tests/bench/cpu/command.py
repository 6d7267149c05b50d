"""`python -m lanewise bench --goals`: every row of the CPU's goals on one thread, with the peers that are installed and
the limits of the processor measured in the same run."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import lanewise as lw
from lanewise.errors import ArgumentError
from tests.bench import goal_report, goals, machine
from tests.bench.cpu import limits as limits_module
from tests.bench.cpu.limits import Limits
from tests.bench.cpu.measure import Place, single_thread
from tests.bench.cpu.table import AVX2, AVX512, CPU, ONE_THREAD, PEERS
from tests.bench.peers import Peer, missing, open_peer

OPTIONS = ("--goals",)  # what marks the places in documents for this table


@dataclass(frozen=True)
class Settings:
    """What the user may choose."""

    repeats: int
    seconds: float
    peers: Sequence[str] | None  # None: all that are installed
    documents: Sequence[Path] = ()  # to write the table into


def run(names: Sequence[str], settings: Settings, *, as_json: bool) -> int:
    """Measure the goals whose names begin so; the exit code is 1 where a result was wrong or a row has no figure."""
    chosen = goals.find(CPU, names)
    places = goal_report.places(settings.documents, OPTIONS, chosen)
    peers, absent = _peers(settings.peers)
    single_thread()
    backends = [str(info.name) for info in lw.backends() if info.available]
    default = str(lw.ones(1).backend)
    limits, why_not = _limits([name for name in dict.fromkeys((AVX512, AVX2, default)) if name in backends])
    figures: dict[str, float] = {}
    for name, loops in limits.items():
        figures |= loops.figures(name, settings.repeats, settings.seconds, bandwidth=name == next(iter(limits)))
    heading = _heading(peers, absent, figures, why_not)
    if not as_json:
        print("\n".join([*heading, ""]), flush=True)
    place = Place(settings.repeats, settings.seconds, peers, frozenset(absent), limits, backends)
    rows = []
    for goal in chosen:
        print(goal.name, file=sys.stderr, flush=True)
        rows.append(place.row(goal))
    columns = [*(name for name in PEERS if name not in absent), ONE_THREAD]
    if as_json:
        about = {"peers": [peer.settings for peer in peers], "absent": absent, "limits": figures}
        json.dump(goal_report.as_json(about, rows), sys.stdout, indent=1)
        print()
    else:
        print(goal_report.table(rows, columns))
    for each in places:
        each.write(rows, columns, heading)
    return 0 if goal_report.complete(rows) else 1


def _peers(names: Sequence[str] | None) -> tuple[list[Peer], dict[str, str]]:
    """Those that take part, and why the others do not."""
    if unknown := sorted(set(names or ()) - set(PEERS)):
        raise ArgumentError(f"bench: there is no peer {unknown[0]!r}; there are {', '.join(PEERS)}")
    absent = {name: missing(name) for name in PEERS if missing(name)}
    if names is not None:
        absent |= {name: "left out" for name in PEERS if name not in names}
        for name in names:
            open_peer(name, 1)  # a missing one says so here
    return [open_peer(name, 1) for name in PEERS if name not in absent], absent


def _limits(backends: Sequence[str]) -> tuple[Mapping[str, Limits], str]:
    """By backend; or none, and why."""
    try:
        return limits_module.compiled(backends), ""
    except ArgumentError as error:
        return {}, str(error)


def _heading(peers: Sequence[Peer], absent: Mapping[str, str], figures: Mapping[str, float], why_not: str) -> list[str]:
    facts = machine.facts()
    lines = [
        f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']}; {facts['system']}; one thread",
        "; ".join([f"lanewise {facts['lanewise']}, Python {facts['python']}", *(peer.settings for peer in peers)]),
        *(f"absent: {name} ({why})" for name, why in absent.items()),
    ]
    if figures:
        lines.append("limits: " + "; ".join(f"{name} {value:.3g}" for name, value in figures.items()))
    else:
        lines.append(f"limits are not measured: {why_not}")
    return [*lines, "figures are minima; peers are in the unit of the row, - where they have no such operation"]
