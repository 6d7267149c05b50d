"""Looks for the phrases of phrases.txt in the tracked text files: `python tests/style/check_phrases.py [PATH...]`.

Prints `file:line: phrase (write: hint)` for each match and exits with 1 if there are any. Part of the lint stage."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PHRASES = Path(__file__).with_name("phrases.txt")
SUFFIXES = ("py", "c", "h", "cu", "cuh", "wgsl", "yaml", "md", "mjs", "js", "in")


def patterns() -> list[tuple[re.Pattern[str], str]]:
    """Returns the regular expressions, each with its hint."""
    lines = [line for line in PHRASES.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    pairs = (line.split("\t") for line in lines)
    return [(re.compile(expression, re.IGNORECASE), hint) for expression, hint in pairs]


def tracked(paths: list[str]) -> list[Path]:
    """Returns the text files that git tracks, at these paths or all of them."""
    command = ["git", "ls-files", "-z", "--", *(paths or ["."])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in done.stdout.split("\0") if name.rpartition(".")[2] in SUFFIXES]


def main() -> int:
    expressions = patterns()
    found = 0
    for path in tracked(sys.argv[1:]):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for expression, hint in expressions:
                for match in expression.finditer(line):
                    print(f"{path.relative_to(ROOT)}:{number}: {match[0]} (write: {hint})")
                    found += 1
    print(f"{found} phrases found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
