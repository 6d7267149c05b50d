"""Performance goals as data, and whether a measurement reaches them.

A goal is an operation at a size, or another quantity such as the time of an import, with two sets of bars (thresholds):
`firm` must hold before work counts as done, `aim` is the target. A measurement is one number (nanoseconds, bytes, or a
ratio of times; smaller is better), with the corresponding numbers of the peers (other libraries) and of the loop that
measures the machine's limit, all from the same run. The tables of goals are tuples: CPU in cpu/table.py, BROWSER in
browser/table.py, WEBGPU in wgpu/table.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor, prod

from lanewise.errors import ArgumentError
from tests.bench import operations
from tests.bench.cases import Case, Literal, Size, build

GFLOPS, TERAFLOPS, TERABYTES = "GFLOP/s", "TFLOP/s", "TB/s"
NANOSECONDS, MICROSECONDS, MILLISECONDS, KILOBYTES, TIMES, COUNT = "ns", "us", "ms", "KB", "times", "count"
_RATES: Mapping[str, float] = {GFLOPS: 1.0, TERAFLOPS: 1e-3, TERABYTES: 1e-3}  # of operations or bytes per nanosecond
_SCALE: Mapping[str, float] = {
    NANOSECONDS: 1.0,
    MICROSECONDS: 1e3,
    MILLISECONDS: 1e6,
    KILOBYTES: 1e3,
    TIMES: 1.0,
    COUNT: 1.0,
}


@dataclass(frozen=True)
class Work:
    """An operation at a size, and keyword arguments that add to those of its case or override them."""

    operation: str
    size: Size
    keywords: Mapping[str, Literal] = field(default_factory=dict)

    def case(self) -> Case:
        """Builds the benchmark case."""
        case = build(operations.find(self.operation), self.size)
        if not self.keywords:
            return case
        axis = self.keywords.get("axis")
        if case.operation.kind == "reduction" and isinstance(axis, int):
            kept = [extent for at, extent in enumerate(self.size) if at != axis % len(self.size)]
            case = replace(case, result=prod(kept))
        return replace(case, keywords={**case.keywords, **self.keywords})


@dataclass(frozen=True)
class Measured:
    """The measurement of a goal. Its numbers are nanoseconds, bytes or ratios of times."""

    value: float
    median: float
    peers: Mapping[str, float] = field(default_factory=dict)
    limit: float | None = None
    flops: int | None = None  # operations, or in rows in TB/s the bytes that are moved
    absent: frozenset[str] = frozenset()  # peers that were not measured, although they may have the operation
    judged: bool = True  # False if the goal is for a backend that this machine lacks
    tails: Mapping[str, float] = field(default_factory=dict)  # 90th percentiles, ours first; empty if not measured

    def of_limit(self) -> float | None:
        """Returns the speed as a share of the machine's limit, or None if the limit was not measured."""
        return None if self.limit is None else self.limit / self.value


@dataclass(frozen=True)
class Reach:
    """A bar (threshold): at least this figure for rates, at most this figure for other units."""

    figure: float

    def reached(self, measured: Measured, unit: str) -> float | None:
        """Returns how much of the bar was reached: at least 1 if it holds."""
        found = in_unit(measured.value, unit, measured.flops)
        return found / self.figure if unit in _RATES else self.figure / found

    def text(self, unit: str) -> str:
        """Returns the bar as text, as in `>= 46`."""
        return f"{'>=' if unit in _RATES else '<='} {self.figure:g}"


@dataclass(frozen=True)
class Against:
    """A bar (threshold): `factor` times as fast as each of these peers (other libraries)."""

    peers: tuple[str, ...]
    factor: float = 1.0
    name: str = ""  # what tables show in place of the peers, if not empty

    def reached(self, measured: Measured, unit: str) -> float | None:
        """Returns how much of the bar was reached, compared with the fastest of these peers: at least 1 if it holds.

        Returns None if no peer was measured, or if the bar is reached but an absent peer might be faster.
        """
        theirs = [measured.peers[name] for name in self.peers if name in measured.peers]
        found = min(theirs) / measured.value / self.factor if theirs else None
        return None if found is None or (found >= 1 and measured.absent.intersection(self.peers)) else found

    def text(self, unit: str) -> str:
        """Returns the bar as text, as in `>= 0.95x tfjs`."""
        return f">= {self.factor:.3g}x {self.name or ' and '.join(self.peers)}"


@dataclass(frozen=True)
class OfLimit:
    """A bar (threshold): a share of the machine's limit, the speed of a loop of limits.c."""

    share: float

    def reached(self, measured: Measured, unit: str) -> float | None:
        """Returns how much of the bar was reached: at least 1 if it holds, None if the limit is not known."""
        found = measured.of_limit()
        return None if found is None else found / self.share

    def text(self, unit: str) -> str:
        """Returns the bar as text, as in `90% of the limit`."""
        return f"{self.share:.0%} of the limit"


@dataclass(frozen=True)
class Steady:
    """A bar (threshold): the 90th percentile of the times is at most twice their median, or 1.2 times the peer's."""

    peer: str
    of_median: float = 2.0
    of_peer: float = 1.2

    def reached(self, measured: Measured, unit: str) -> float | None:
        """Returns how much of the bar was reached: at least 1 if it holds, None if percentiles were not measured."""
        if not measured.tails:
            return None
        allowed = max(self.of_median * measured.median, self.of_peer * measured.tails.get(self.peer, 0.0))
        return allowed / next(iter(measured.tails.values()))

    def text(self, unit: str) -> str:
        """Returns the bar as text."""
        return "steady"


Bars = tuple[Reach | Against | OfLimit | Steady, ...]


@dataclass(frozen=True)
class Goal:
    """What is measured, its unit, and the bars (thresholds) to reach: a row of a table of goals."""

    name: str
    unit: str
    firm: Bars
    aim: Bars
    work: Work | None = None  # if None, the goal's name selects how it is measured
    backend: str = ""  # the backend that the goal is for; if empty, the default one

    def reached(self, bars: Bars, measured: Measured) -> float | None:
        """Returns how much of the least satisfied bar was reached: at least 1 if all hold, None if that is unknown."""
        if not (bars and measured.judged):
            return None
        found = [bar.reached(measured, self.unit) for bar in bars]
        known = [share for share in found if share is not None]
        missed = [share for share in known if share < 1]
        return min(missed) if missed else min(known) if len(known) == len(found) else None

    def met(self, bars: Bars, measured: Measured) -> bool | None:
        """Returns whether all bars hold; None if that is not known."""
        found = self.reached(bars, measured)
        return None if found is None else found >= 1

    def text(self, bars: Bars) -> str:
        """Returns the bars as text."""
        return ", ".join(bar.text(self.unit) for bar in bars)


def in_unit(value: float, unit: str, flops: int | None) -> float:
    """Converts a measurement to the unit of its goal."""
    if unit in _RATES:
        return (flops or 0) / value * _RATES[unit]
    return value / _SCALE[unit]


def find(goals: Sequence[Goal], names: Sequence[str]) -> list[Goal]:
    """Returns the goals whose names begin with one of `names`, or all. Raises ArgumentError if a name fits no goal."""
    for name in names:
        if not any(goal.name.startswith(name) for goal in goals):
            raise ArgumentError(f"bench: no goal begins with {name!r}; there are {'; '.join(g.name for g in goals)}")
    return [goal for goal in goals if not names or goal.name.startswith(tuple(names))]


def row(goal: Goal, measured: Measured | None, peers: Sequence[str]) -> list[str]:
    """Returns a line of the table: the figure, the bars and whether they hold, and the figures of the peers.

    A figure's 90th percentile, if it was measured, follows in parentheses.
    """
    if measured is None:
        return [goal.name, goal.unit, *[""] * 3, *_judged(goal, None), *[""] * len(peers)]
    reached = measured.of_limit()
    ours = next(iter(measured.tails), "")
    return [
        goal.name,
        goal.unit,
        _with_tail(measured.value, goal, measured, ours),
        _figure(measured.median, goal, measured),
        "" if reached is None else f"{reached:.0%}",
        *_judged(goal, measured),
        *(_with_tail(measured.peers[each], goal, measured, each) if each in measured.peers else "-" for each in peers),
    ]


def headings(peers: Sequence[str]) -> list[str]:
    """Returns the headings of the columns of `row`."""
    return ["goal", "unit", "lanewise", "median", "of limit", "firm", "met", "aim", "met", *peers]


def _judged(goal: Goal, measured: Measured | None) -> list[str]:
    cells = []
    for bars in (goal.firm, goal.aim):
        cells += [goal.text(bars), _verdict(bars, None if measured is None else goal.reached(bars, measured))]
    return cells


def _verdict(bars: Bars, reached: float | None) -> str:
    """Says whether the bars hold, and if not, how much of the least satisfied one was reached."""
    if not bars:
        return ""
    return "?" if reached is None else "yes" if reached >= 1 else f"NO {floor(reached * 100)}%"


def _figure(value: float, goal: Goal, measured: Measured) -> str:
    found = in_unit(value, goal.unit, measured.flops)
    return f"{found:,.0f}" if found >= 100 else f"{found:.3g}"


def _with_tail(value: float, goal: Goal, measured: Measured, name: str) -> str:
    shown = _figure(value, goal, measured)
    tail = measured.tails.get(name)
    return shown if tail is None else f"{shown} ({_figure(tail, goal, measured)})"
