"""What became of each mutant, kept as JSON lines by commit and seed, so that a run that was cut off continues."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.mutants.draw import Mutant

# The outcomes that count towards --count. Equivalent and invalid mutants are replaced by further ones.
COUNTED = ("caught", "survived", "undecided")


@dataclass(frozen=True)
class Result:
    """The outcome of one mutant."""

    mutant: Mutant
    status: str  # caught, survived, undecided, equivalent or invalid
    by: str = ""  # the test that failed, or the command that failed or was cut off
    passed: list[str] = field(default_factory=list)  # test commands that passed in spite of the mutant
    left: list[str] = field(default_factory=list)  # test commands that were not run, for lack of time
    seconds: float = 0.0


class Results:
    """The results of one seed. If the file has several lines about a mutant, the last is valid."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._found: dict[str, Result] = {}
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        self._ends_a_line = text.endswith("\n") or not text  # false if a run was cut off while it wrote a line
        for line in text.splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            result = Result(**{**row, "mutant": Mutant(**row["mutant"])})
            self._found[result.mutant.key] = result

    def get(self, mutant: Mutant) -> Result | None:
        """Returns what is known about a mutant."""
        return self._found.get(mutant.key)

    def add(self, result: Result) -> None:
        """Appends a result to the file; it replaces an earlier one of the same mutant."""
        with self._lock:
            self._found[result.mutant.key] = result
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                if not self._ends_a_line:
                    file.write("\n")
                    self._ends_a_line = True
                file.write(json.dumps(asdict(result)) + "\n")


class Known:
    """What is known about the tests without a mutant: how long commands take, and which tests fail in a copy anyway."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._data: dict[str, dict[str, float]] = {"seconds": {}, "passes": {}, "fails": {}}
        if path.exists():
            self._data |= json.loads(path.read_text(encoding="utf-8"))

    def seconds(self, command: str) -> float | None:
        """Returns how many seconds a command takes, or None if that is not known."""
        return self._data["seconds"].get(command)

    def passes(self, test: str) -> bool:
        """Returns whether a test or command is known to pass."""
        return test in self._data["passes"]

    def fails(self) -> list[str]:
        """Returns the tests and commands that fail without a mutant."""
        return sorted(self._data["fails"])

    def add(self, test: str, passes: bool, seconds: float | None = None) -> None:
        """Saves whether a test or command passes without a mutant."""
        with self._lock:
            self._data["passes" if passes else "fails"][test] = 1.0
            self._write()
        if seconds is not None:
            self.takes(test, seconds)

    def takes(self, command: str, seconds: float) -> None:
        """Saves how long a command takes, unless a longer time is known."""
        with self._lock:
            self._data["seconds"][command] = max(seconds, self._data["seconds"].get(command, 0.0))
            self._write()

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self._data, indent=1, sort_keys=True), encoding="utf-8")


def report(results: Sequence[Result], known: Iterable[str]) -> str:
    """Returns what to print at the end: mutants not caught, with their tests; tests `known` to fail anyway; counts."""
    lines = []
    for result in results:
        if result.status in ("survived", "undecided"):
            mutant = result.mutant
            lines += [f"\n{result.status}: {mutant.file}:{mutant.line} ({mutant.rule})"]
            lines += [f"  - {mutant.before.strip()}", f"  + {mutant.after.strip()}"]
            lines += [f"  ran: {command}" for command in result.passed]
            lines += [f"  not run: {command}" for command in result.left]
    if failing := list(known):
        lines += ["\nfail without a mutant too, and were left out:", *(f"  {test}" for test in failing)]
    counts = Counter(result.status for result in results)
    timeouts = sum(result.status == "caught" and result.by.startswith("timeout") for result in results)
    folders: dict[str, Counter[str]] = {}
    for result in results:
        folders.setdefault(result.mutant.file.rpartition("/")[0], Counter())[result.status] += 1
    lines.append("")
    for folder, each in sorted(folders.items()):
        lines.append(f"{folder}: " + ", ".join(f"{number} {status}" for status, number in sorted(each.items())))
    counted = sum(counts[status] for status in COUNTED)
    ends = ", ".join(f"{counts[status]} {status}" for status in (*COUNTED, "equivalent", "invalid") if counts[status])
    lines.append(f"{counts['caught']} of {counted} mutants caught ({timeouts} by a timeout); {ends}")
    return "\n".join(lines)
