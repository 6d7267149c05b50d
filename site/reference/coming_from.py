"""The rows of contracts/coming_from.yaml, and the page that shows them."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml
from generator.schema import Contract
from markup import code, relative, table, text

__all__ = ["PATH", "Row", "by_operation", "equivalent", "page", "rows"]

PATH = "tables/coming-from.md"
LIBRARIES = {"numpy": "NumPy and SciPy", "torch": "PyTorch", "tensor_frame": "tensor_frame"}
OPENING, CLOSING = "([{", ")]}"


class Row(NamedTuple):
    """An expression of another library and its equivalent."""

    library: str
    theirs: str
    ours: str
    note: str


def rows(root: Path) -> list[Row]:
    """Returns all rows. An entry that pairs several expressions becomes a row for each pair."""
    tables = yaml.safe_load((root / "contracts" / "coming_from.yaml").read_text(encoding="utf-8"))
    found = []
    for library, entries in tables.items():
        for theirs, value in entries.items():
            entry: Mapping[str, str] = value if isinstance(value, Mapping) else {"ours": value}
            ours, note = entry.get("ours", ""), entry.get("note", "")
            pairs = list(zip(_split_at_commas(theirs), _split_at_commas(ours), strict=False))
            if len(_split_at_commas(theirs)) != len(_split_at_commas(ours)):
                pairs = [(theirs, ours)]
            found += [Row(LIBRARIES.get(library, library), first, second, note) for first, second in pairs]
    return found


def _split_at_commas(expressions: str) -> list[str]:
    """Splits at the commas that are outside of brackets and strings."""
    parts, depth, quote = [""], 0, ""
    for character in expressions:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        depth += (character in OPENING) - (character in CLOSING) if not quote else 0
        if character == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def by_operation(found: Sequence[Row], contracts: Sequence[Contract]) -> dict[str, list[Row]]:
    """Returns the rows whose equivalent is a call of an operation, by operation."""
    operations = {name: each.operation for each in contracts for name in each.names}
    result: dict[str, list[Row]] = {}
    for row in found:
        called = re.match(r"\w+\.(\w+)\(", row.ours)
        if called and called[1] in operations:
            result.setdefault(operations[called[1]], []).append(row)
    return result


def page(root: Path, found: Sequence[Row], places: Mapping[str, str]) -> str:
    """Returns the page with a table for each library; `places` has the page of each documented name."""
    blocks = [
        "# Names in other libraries",
        "Most functions of NumPy and PyTorch have the same name here and are left out. In the expressions, x, v and w "
        "are vectors, a, b and s are square matrices, and i holds integers. The tests evaluate the expressions of "
        "Lanewise, and compare the results with those of NumPy, SciPy and PyTorch.",
    ]
    for library in dict.fromkeys(row.library for row in found):
        own = [row for row in found if row.library == library]
        blocks += [f"## {library}", table([library, "Lanewise"], [[code(row.theirs), equivalent(row)] for row in own])]
    blocks += [
        "## Names of functions and dtypes",
        "A name of NumPy or PyTorch that Lanewise does not have raises an `AttributeError` that gives ours:",
        table(
            ["elsewhere", "here"],
            [[code(theirs), f"[{ours}]({relative(PATH, places[ours])})"] for theirs, ours in _names_elsewhere(root)],
        ),
    ]
    return "\n\n".join(blocks) + "\n"


def equivalent(row: Row) -> str:
    """Returns our expression with the note below it, as the content of a cell."""
    return "<br>".join([*([code(row.ours)] if row.ours else []), *([text(row.note)] if row.note else [])])


def _names_elsewhere(root: Path) -> list[tuple[str, str]]:
    """Returns the names that lanewise/other_names.py maps to ours."""
    tree = ast.parse((root / "lanewise" / "other_names.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "FUNCTIONS":
            assert node.value is not None
            return sorted(ast.literal_eval(node.value).items())
    raise LookupError(
        "lanewise/other_names.py: expected a dictionary FUNCTIONS with its type, got none; "
        "change _names_elsewhere() in site/reference/coming_from.py"
    )
