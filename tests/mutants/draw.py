"""Draws mutants: takes the folders in turn, and from each draws a line that runs (see ran.py), a rule that applies to
it, and one of the rule's changes.

The sequence depends on the seed, the sources and the lines that run. A later run with a larger --count
continues it."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.mutants.rules import RULES, Line, Rule
from tests.mutants.source import code_lines


@dataclass(frozen=True)
class Mutant:
    """One changed line."""

    file: str  # relative to the project
    line: int
    rule: str
    before: str
    after: str

    @property
    def key(self) -> str:
        """Identifies the mutant in the results."""
        return hashlib.sha256("\0".join(map(str, asdict(self).values())).encode()).hexdigest()[:16]

    def apply(self, root: Path) -> None:
        """Changes the line in a copy of the project."""
        path = root / self.file
        lines = path.read_text(encoding="utf-8").split("\n")
        if lines[self.line - 1] != self.before:
            raise ValueError(f"{self.file}:{self.line}: expected {self.before!r}, got {lines[self.line - 1]!r}")
        lines[self.line - 1] = self.after
        path.write_text("\n".join(lines), encoding="utf-8")


def mutants_of(name: str, text: str, lines: Container[int] | None = None) -> dict[int, dict[str, list[Mutant]]]:
    """Returns all mutants of a source, by line and rule. `lines` are those that run; None means all."""
    suffix = Path(name).suffix
    texts = text.split("\n")
    found: dict[int, dict[str, list[Mutant]]] = {}
    for number, code in enumerate(code_lines(text, suffix), 1):
        if not code.strip() or (lines is not None and number not in lines):
            continue
        line = Line(texts[number - 1], code, suffix, text)
        by_rule = {rule.name: _apply(rule, line, name, number) for rule in RULES if suffix in rule.suffixes}
        if by_rule := {rule: mutants for rule, mutants in by_rule.items() if mutants}:
            found[number] = by_rule
    return found


def _apply(rule: Rule, line: Line, name: str, number: int) -> list[Mutant]:
    changed = dict.fromkeys(change.apply(line.text) for change in rule.changes(line))
    return [Mutant(name, number, rule.name, line.text, after) for after in changed if after != line.text]


def draw(root: Path, lines: Mapping[str, Sequence[int] | None], seed: int) -> Iterator[Mutant]:
    """Yields each mutant once, in an order given by `seed`. `lines` maps each source to its lines that run, or
    to None for all of its lines."""
    folders: dict[str, list[tuple[str, int]]] = {}
    found: dict[str, dict[int, dict[str, list[Mutant]]]] = {}
    for name in sorted(lines):
        chosen = lines[name]
        ran = None if chosen is None else frozenset(chosen)
        found[name] = mutants_of(name, (root / name).read_text(encoding="utf-8"), ran)
        if found[name]:
            folders.setdefault(name.rpartition("/")[0], []).extend((name, number) for number in sorted(found[name]))
    random_ = random.Random(f"mutants {seed}")
    while folders:
        for folder in random_.sample(sorted(folders), len(folders)):
            name, number = random_.choice(folders[folder])
            rules = found[name][number]
            rule = random_.choice(sorted(rules))
            yield rules[rule].pop(random_.randrange(len(rules[rule])))
            if not rules[rule]:
                del rules[rule]
            if not rules:
                folders[folder].remove((name, number))
            if not folders[folder]:
                del folders[folder]
