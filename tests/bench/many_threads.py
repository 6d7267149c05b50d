"""The performance goals on many threads: `python -m tests.bench --goals threads`.

Each row is a call on a number of threads, next to PyTorch on as many, in one process; the last compares 32 threads
with one per processor. Rounds alternate between the two.
A round begins with a pause, because the threads of PyTorch's pool spin for some milliseconds after a call and would
take processors away from ours, and with a few calls that are not timed. Rows show medians, because minima would hide
what a caller notices on many threads: calls that wait for a thread. Each row takes some seconds: on a virtual machine,
the speed of processors varies within a second, so medians of measurements that take one second depend on chance.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import lanewise as lw
from lanewise.timing import Contestant, threads
from tests.bench import check, goals, machine, runner
from tests.bench.goal_report import Row, Table, places, publish
from tests.bench.goals import MICROSECONDS, Against, Goal, Measured, Steady, Work
from tests.bench.peers import missing, open_peer
from tests.bench.settings import Settings

__all__ = ["goals_of", "run"]

OPTIONS = ("--goals",)  # as in cpu/command.py; the goals' names tell the tables apart
OURS, THEIRS, FEWER = "lanewise", "torch", "as many threads as cores"
NUMBERS = (1, 2, 4, 8, 16)
MANY = 32
PAUSE_SECONDS = 0.03
ROW_SECONDS = 6  # at least
UNTIMED, TIMED = 5, 20  # calls of a round

# Names, work, and two factors: how many times as fast as PyTorch a row must be on one thread, as in cpu/table.py, and
# how many times as fast it should be on any number of threads. On several threads, it must be as fast.
WORKS: Sequence[tuple[str, Work, float, float]] = (
    ("matmul 256", Work("matmul", (256,)), 0.93, 1.3),
    ("matmul 512", Work("matmul", (512,)), 0.93, 1.3),
    ("matmul 1024", Work("matmul", (1024,)), 0.93, 1.3),
    ("exp 256K", Work("exp", (1 << 18,)), 1, 1.1),
    ("add 1M", Work("add", (1 << 20,)), 0.95, 1.1),
    ("sum 1M", Work("sum", (1 << 20,)), 1, 1.3),
    ("conv2d 3x3, 8 x 64 x 56 x 56", Work("conv2d", (8, 64, 56, 56)), 1, 1.3),
)
CROWDED = Goal(f"threads {MANY}: matmul 512", MICROSECONDS, (Against((FEWER,), 1 / 1.5),), (), Work("matmul", (512,)))


def goals_of(number: int) -> list[Goal]:
    """Returns the goals for a number of threads."""
    return [
        Goal(
            f"threads {number}: {name}",
            MICROSECONDS,
            (Against((THEIRS,), alone if number == 1 else 1), Steady(THEIRS)),
            (Against((THEIRS,), aim), Steady(THEIRS)),
            work,
        )
        for name, work, alone, aim in WORKS
    ]


def run(names: Sequence[str], settings: Settings) -> int:
    """Measures and reports the goals whose names begin with one of `names`. Returns the exit status."""
    known = [(number, goal) for number in NUMBERS if number <= machine.cores() for goal in goals_of(number)]
    if machine.cores() < MANY:
        known.append((MANY, CROWDED))
    numbers = {goal.name: number for number, goal in known}
    chosen = goals.find([goal for _, goal in known], names)
    marked = places(settings.documents, OPTIONS, chosen)
    why_not = missing(THEIRS)
    absent = {THEIRS: why_not} if why_not else {}
    rows = []
    for goal in chosen:
        print(goal.name, file=sys.stderr, flush=True)
        rows.append(_row(goal, numbers[goal.name], settings.repeats, absent))
    peers = [] if absent else [open_peer(THEIRS, 1).settings.replace("1 thread", "as many threads")]
    about = {"peers": peers, "absent": absent}
    heading = _heading(peers, absent)
    if not settings.as_json:
        print("\n".join([*heading, ""]))
    measured = dict.fromkeys(name for row in rows if row.measured for name in row.measured.peers)
    return publish(Table(rows, list(measured), heading, about, machine.short_cpu_name()), settings, marked)


def _row(goal: Goal, number: int, rounds: int, absent: Mapping[str, str]) -> Row:
    assert goal.work is not None
    case = goal.work.case()
    with threads(number):
        ready = {OURS: runner.backend_ready(case, str(lw.ones(1).backend))}
        if goal is CROWDED:
            fewer = replace(ready[OURS].contestant, context=partial(threads, machine.cores()))
            ready[FEWER] = replace(ready[OURS], contestant=fewer)
        elif not absent:
            ready[THEIRS] = runner.peer_ready(case, open_peer(THEIRS, number))
        wrong, _ = check.wrong(case, [(name, each.read) for name, each in ready.items()])
        names = list(ready)
        times = _in_turn([each.contestant for each in ready.values()], rounds)
    medians = {name: statistics.median(each) for name, each in zip(names, times, strict=True)}
    tails = {name: statistics.quantiles(each, n=10)[-1] for name, each in zip(names, times, strict=True)}
    measured = Measured(
        medians[OURS],
        medians[OURS],
        {name: value for name, value in medians.items() if name != OURS},
        absent=frozenset(absent),
        tails=tails,
    )
    notes = [f"{name} is WRONG ({how})" for name, how in wrong.items()]
    return Row(goal, measured, tuple(notes), {"wrong": dict(wrong), "times_ns": dict(zip(names, times, strict=True))})


def _in_turn(contestants: Sequence[Contestant], rounds: int) -> list[list[int]]:
    """Returns the nanoseconds of every timed call of each contestant, in at least `rounds` rounds."""
    loops: list[Callable[[], object]] = [partial(each.loop(keep=False), 1) for each in contestants]
    times: list[list[int]] = [[] for _ in contestants]
    end = time.perf_counter() + ROW_SECONDS
    while len(times[-1]) < rounds * TIMED or time.perf_counter() < end:
        for contestant, loop, taken in zip(contestants, loops, times, strict=True):
            time.sleep(PAUSE_SECONDS)
            with contestant.context():
                for _ in range(UNTIMED):
                    loop()
                for _ in range(TIMED):
                    start = time.perf_counter_ns()
                    loop()
                    taken.append(time.perf_counter_ns() - start)
    return times


def _heading(peers: Sequence[str], absent: Mapping[str, str]) -> list[str]:
    facts = machine.facts()
    return [
        f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']}; {facts['system']}",
        "; ".join([f"lanewise {facts['lanewise']}, Python {facts['python']}", *peers]),
        *(f"absent: {name} ({why})" for name, why in absent.items()),
        "figures are medians (90th percentiles)",
        "steady: our 90th percentile is at most twice our median, or 1.2 times PyTorch's 90th percentile",
    ]
