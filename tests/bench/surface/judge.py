"""Judges a surface: the ratios of its cells, their mean by kind, the worst, and whether the firm figures are met."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

BEHIND = 0.9  # a cell below this ratio is behind
WORST = 20
UNCOUNTED = "not counted: "


@dataclass(frozen=True)
class Firm:
    """The firm figures of a surface."""

    cells: int  # how many are drawn
    mean: float  # the least geometric mean of the ratios
    low: float  # a ratio,
    share: float  # at most this share of the cells is below it,
    none: float  # and none is below this one
    cap: float = 5  # a larger ratio counts as this in the mean, so that one slow peer hides nothing


FIRM: Mapping[str, Firm] = {
    "cpu": Firm(400, 1.6, BEHIND, 0.03, 0.6),
    "wgpu": Firm(200, 0.9, 0.6, 0.1, 0.3),
    "browser": Firm(300, 2.7, BEHIND, 0.02, 0.7, cap=10),
}


@dataclass(frozen=True)
class Outcome:
    """What was measured of a cell."""

    number: int
    kind: str
    text: str
    ours_ns: float | None  # median; None if the cell failed
    peers_ns: Mapping[str, float]  # medians
    ratio: float | None  # the best peer's median over ours; None without a peer
    note: str = ""  # why it failed or is not counted

    @property
    def counts(self) -> bool:
        """Returns whether the ratio counts."""
        return self.ratio is not None and not self.note


def mean(ratios: Sequence[float], cap: float) -> float:
    """The geometric mean of ratios, of which none counts for more than `cap`.

    >>> mean([100, 0.2], 5)
    1.0
    """
    return round(statistics.geometric_mean([min(ratio, cap) for ratio in ratios]), 3)


@dataclass(frozen=True)
class Judged:
    """The outcomes of a surface, with what they are judged by."""

    outcomes: Sequence[Outcome]
    firm: Firm
    repeat: str  # the command that repeats a cell, without its number

    @property
    def ratios(self) -> list[float]:
        """The ratios of the cells that count."""
        return [each.ratio for each in self.outcomes if each.counts and each.ratio is not None]

    @property
    def faults(self) -> list[Outcome]:
        """The cells that failed, or whose result was wrong."""
        return [each for each in self.outcomes if each.note and not each.note.startswith(UNCOUNTED)]

    def complaints(self) -> list[str]:
        """Returns the firm figures that are missed."""
        firm, ratios = self.firm, self.ratios
        found = [f"cell {each.number}: {each.note}" for each in self.faults]
        if ratios:
            low, reached = sum(ratio < firm.low for ratio in ratios) / len(ratios), mean(ratios, firm.cap)
            found += [f"geometric mean {reached:.2f}, firm {firm.mean}"] * (reached < firm.mean)
            found += [f"{low:.1%} of the cells below {firm.low}, firm {firm.share:.0%}"] * (low > firm.share)
            found += [f"the worst cell at {min(ratios):.2f}, firm {firm.none}"] * (min(ratios) < firm.none)
        return found

    def lines(self) -> list[str]:
        """Returns the summary: a line for each kind, then the worst cells as commands, then what is missed."""
        rows = [("kind", "cells", "mean", "median", f"at {BEHIND} or better", "worst")]
        kinds = sorted({each.kind for each in self.outcomes if each.counts})
        for kind in [*kinds, "all"]:
            ratios = [each.ratio or 0 for each in self.outcomes if each.counts and kind in (each.kind, "all")]
            if ratios:
                share = sum(ratio >= BEHIND for ratio in ratios) / len(ratios)
                rows.append((kind, str(len(ratios)), f"{mean(ratios, self.firm.cap):.2f}",
                             f"{statistics.median(ratios):.2f}", f"{share:.0%}", f"{min(ratios):.2f}"))  # fmt: skip
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)) for row in rows]
        counted = [each for each in self.outcomes if each.counts]
        worst = sorted(counted, key=lambda outcome: outcome.ratio or 0)[:WORST]
        lines += [f"{each.ratio:6.2f}  {self.repeat} {each.number}  # {each.text}; {times(each)}" for each in worst]
        others = [each for each in self.outcomes if not each.counts]
        lines += [
            f"     -  cell {each.number}: {each.text}: {each.note or 'no peer'}; {times(each)}" for each in others
        ]
        return [*lines, *(f"missed: {each}" for each in self.complaints())]

    def json(self) -> list[dict[str, Any]]:
        """Returns everything measured."""
        return [asdict(each) for each in self.outcomes]


def times(outcome: Outcome) -> str:
    """Returns the times of a cell as text."""
    ours = "-" if outcome.ours_ns is None else f"{outcome.ours_ns / 1000:.1f}"
    return ", ".join([f"{ours} us", *(f"{name} {taken / 1000:.1f}" for name, taken in outcome.peers_ns.items())])
