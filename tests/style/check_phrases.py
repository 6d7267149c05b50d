"""Looks in the tracked text files for phrases that they must not contain, which phrases.txt lists."""

from __future__ import annotations

import re
from pathlib import Path

PHRASES = Path(__file__).with_name("phrases.txt")


def patterns() -> list[tuple[re.Pattern[str], str]]:
    """Returns the regular expressions, each with a hint at what to write instead."""
    lines = [line for line in PHRASES.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    pairs = (line.split("\t") for line in lines)
    return [(re.compile(expression, re.IGNORECASE), hint) for expression, hint in pairs]


def complaints(sources: dict[str, str]) -> list[str]:
    """Returns `file:line: phrase (write: hint)` for each match."""
    expressions = patterns()
    return [
        f"{name}:{number}: {match[0]} (write: {hint})"
        for name, text in sources.items()
        for number, line in enumerate(text.splitlines(), start=1)
        for expression, hint in expressions
        for match in expression.finditer(line)
    ]
