"""Performance goals, and whether a measurement reaches them.

The tables of goals are the files in tables/. In the name of a row, `(a|b)` stands for a row with each of a and b, and
$1 in a field for what the first such list gave. Fields that all rows share are in `rows`. The fields of a row are those
of Goal. A goal has two sets of bars (thresholds): `firm` must hold before work counts as done, `aim` is the target. A
bar is

    40                  at most this figure, or at least, if the unit is a rate
    2x torch and jax    so many times as fast as each of these peers (other libraries, or a baseline of contestants.py)
    90% of the limit    this share of the machine's limit, the speed of a loop of limits.c
    steady              the 90th percentile is at most twice the median, or 1.2 times that of a peer

A measurement is one number (nanoseconds, bytes, or a ratio of times; smaller is better), with the numbers of the peers
and of the limit, all from the same run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from lanewise.errors import ArgumentError
from tests.cases import operations
from tests.cases.cases import Case, Size, build, parse_size

TABLES = Path(__file__).with_name("tables")
GFLOPS = "GFLOP/s"
RATES: Mapping[str, float] = {GFLOPS: 1.0, "TFLOP/s": 1e-3, "TB/s": 1e-3}  # of an amount per nanosecond
_SCALE: Mapping[str, float] = {"ns": 1.0, "us": 1e3, "ms": 1e6, "KB": 1e3, "times": 1.0, "count": 1.0}
BEST = "the best peer"
STEADY, OF_MEDIAN, OF_PEER = "steady", 2.0, 1.2
OF_LIMIT = re.compile(r"(\d+)% of the limit")
ALTERNATIVES = re.compile(r"\(([^()]*\|[^()]*)\)")

Bar = str | float


@dataclass(frozen=True)
class Measured:
    """The measurement of a goal. Its numbers are nanoseconds, bytes or ratios of times."""

    value: float
    median: float
    peers: Mapping[str, float] = field(default_factory=dict)
    limit: float | None = None
    amount: int | None = None  # operations, or in rows in TB/s the bytes that are moved
    absent: frozenset[str] = frozenset()  # peers that were not measured, although they may have the operation
    judged: bool = True  # False if the goal is for a backend that this machine lacks
    tails: Mapping[str, float] = field(default_factory=dict)  # 90th percentiles, ours first; empty if not measured

    def of_limit(self) -> float | None:
        """Returns the speed as a share of the machine's limit, or None if the limit was not measured."""
        return None if self.limit is None else self.limit / self.value


@dataclass(frozen=True)
class Goal:
    """What is measured, how, and the bars (thresholds) to reach: a row of a table of goals."""

    name: str
    unit: str
    firm: Sequence[Bar] = ()
    aim: Sequence[Bar] = ()
    work: str = ""  # an operation, a size and keyword arguments; default: the name up to a comma, without "...:"
    dtype: str = ""  # the dtype of the inputs; default: what the benchmark draws for the operation
    spread: bool = False  # whether few elements are equal; cases.inputs.draw describes it
    call: str = ""  # the expression that is timed in place of a call; it has the names of the operation and its inputs
    how: str = ""  # what contestants.py, or the module that measures the part, does otherwise than in most rows
    backend: str = ""  # the backend that the goal is for, or browser in tables/dtypes.yaml; if empty, the default one
    threads: int = 1  # 0: as many as Lanewise uses by default
    rounds: int = 1  # this many times as many rounds as most rows have
    peers: Sequence[str] = ()  # the libraries to compare with, in the order of their columns
    limit: bool = True  # whether the limit is measured
    part: str = ""  # the part of the table: rows that are measured together

    def case(self) -> Case:
        """Builds the benchmark case."""
        operation, size, *options = self.work.split()
        case = build(operations.find(operation), parse_size(size), self.dtype or None, spread=self.spread)
        keywords = {name: int(value) if value.isdigit() else value for name, value in _pairs(options)}
        if case.operation.kind == "reduction" and "axis" in keywords:
            kept = [extent for at, extent in enumerate(case.size) if at != keywords["axis"]]
            case = replace(case, result=prod(kept))
        if "dtype" in keywords:
            case = replace(case, result_dtype=str(keywords["dtype"]))
        call = self.call
        for name, used in [(case.operation.name, "function"), *case.names()]:
            call = re.sub(rf"(?<![.\w]){name}\b", used, call)
        return replace(case, keywords={**case.keywords, **keywords}, call=call)

    def size(self) -> Size:
        """Returns the size of the case, as the goal states it."""
        return parse_size(self.work.split()[1])

    def against(self) -> set[str]:
        """Returns the names in the bars: of peers, and of baselines."""
        compared = [bar for bar in (*self.firm, *self.aim) if isinstance(bar, str) and "x " in bar]
        return {name for bar in compared for name in self._compared(bar)[1]}

    def reached(self, bars: Sequence[Bar], measured: Measured) -> float | None:
        """Returns how much of the least satisfied bar was reached: at least 1 if all hold, None if that is unknown."""
        if not (bars and measured.judged):
            return None
        found = [self._reached(bar, measured) for bar in bars]
        known = [share for share in found if share is not None]
        missed = [share for share in known if share < 1]
        return min(missed) if missed else min(known) if len(known) == len(found) else None

    def met(self, bars: Sequence[Bar], measured: Measured) -> bool | None:
        """Returns whether all bars hold; None if that is not known."""
        found = self.reached(bars, measured)
        return None if found is None else found >= 1

    def text(self, bars: Sequence[Bar]) -> str:
        """Returns the bars as text, as in `<= 40, >= 0.95x tfjs`."""
        return ", ".join(map(self._text, bars))

    def _text(self, bar: Bar) -> str:
        if not isinstance(bar, str):
            return f"{'>=' if self.unit in RATES else '<='} {bar:g}"
        factor, _, names = bar.partition("x ")
        return f">= {float(factor):.3g}x {names}" if names else bar

    def _reached(self, bar: Bar, measured: Measured) -> float | None:
        """Returns how much of a bar was reached: at least 1 if it holds.

        Returns None if that is not known: for a comparison also if it holds, but an absent peer might be faster.
        """
        if not isinstance(bar, str):
            found = in_unit(measured.value, self.unit, measured.amount)
            return found / bar if self.unit in RATES else bar / found
        if bar == STEADY:
            if not measured.tails:
                return None
            ours, *theirs = measured.tails.values()
            return max(OF_MEDIAN * measured.median, OF_PEER * max(theirs, default=0.0)) / ours
        if share := OF_LIMIT.fullmatch(bar):
            speed = measured.of_limit()
            return None if speed is None else speed * 100 / int(share[1])
        factor, names = self._compared(bar)
        times = [measured.peers[name] for name in names if name in measured.peers]
        compared = min(times) / measured.value / factor if times else None
        return None if compared is None or (compared >= 1 and measured.absent.intersection(names)) else compared

    def _compared(self, bar: str) -> tuple[float, Sequence[str]]:
        """Returns the factor of a comparison, and the names of the peers."""
        factor, _, names = bar.partition("x ")
        return float(factor), self.peers if names == BEST else names.split(" and ")


def load(table: str) -> list[Goal]:
    """Returns the rows of a table, those for few threads first."""
    import yaml  # not needed where goals come from elsewhere, as in a browser

    read = yaml.safe_load((TABLES / f"{table}.yaml").read_text(encoding="utf-8"))
    rows = [goal for name, fields in read["goals"].items() for goal in _expanded(name, {**read["rows"], **fields})]
    return sorted(rows, key=lambda goal: goal.threads)


def _expanded(name: str, fields: Mapping[str, Any]) -> Iterator[Goal]:
    """Returns the goals that a row stands for: one for each combination of the alternatives in its name."""
    for parts in product(*(part.split("|") for part in ALTERNATIVES.split(name))):
        chosen = parts[1::2]
        full = "".join(parts)
        work = full.rpartition(": ")[2].partition(",")[0]
        yield _goal(full, {"work": work, **{key: _filled(value, chosen) for key, value in fields.items()}})


def _goal(name: str, fields: Mapping[str, Any]) -> Goal:
    lists = {key: tuple(_listed(fields.get(key))) for key in ("firm", "aim")}
    return Goal(name, **{**fields, **lists, "threads": int(fields.get("threads", 1))})


def _filled(value: Any, chosen: Sequence[str]) -> Any:
    """Replaces $1, $2 and so on in a field by the alternatives that were chosen."""
    return re.sub(r"\$(\d)", lambda found: chosen[int(found[1]) - 1], value) if isinstance(value, str) else value


def _listed(value: Any) -> Sequence[Bar]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _pairs(options: Sequence[str]) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (option.partition("=") for option in options)]


def in_unit(value: float, unit: str, amount: int | None) -> float:
    """Converts a measurement to the unit of its goal."""
    return (amount or 0) / value * RATES[unit] if unit in RATES else value / _SCALE[unit]


def find(goals: Sequence[Goal], names: Sequence[str]) -> list[Goal]:
    """Returns the goals whose names begin with one of `names`, or all. Raises ArgumentError if a name fits no goal."""
    for name in names:
        if not any(goal.name.startswith(name) for goal in goals):
            raise ArgumentError(f"bench: no goal begins with {name!r}; there are {'; '.join(g.name for g in goals)}")
    return [goal for goal in goals if not names or goal.name.startswith(tuple(names))]
