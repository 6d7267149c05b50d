"""The source of the functions that reference expressions call, from contracts/generator/references.py.

The file is parsed, not imported, because it needs NumPy and the reference does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

__all__ = ["definitions"]

SOURCE = Path(__file__).resolve().parents[2] / "contracts" / "generator" / "references.py"


@cache
def _statements_by_name() -> dict[str, tuple[ast.stmt, str]]:
    """Returns the functions and variables of the file by name, each with its source, in the file's order."""
    source = SOURCE.read_text(encoding="utf-8")
    found: dict[str, tuple[ast.stmt, str]] = {}
    for node in ast.parse(source).body:
        names = [node.name] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        for name in names:
            found[name] = node, ast.get_source_segment(source, node) or ""
    return found


def definitions(expressions: Iterable[str]) -> tuple[list[str], str]:
    """Returns the names that expressions use of the file, and the source of these and of what they use in turn."""
    known = _statements_by_name()
    direct = [
        name for expression in expressions for name in _names_read(ast.parse(expression, mode="eval")) if name in known
    ]
    needed, queue = set[str](), list(direct)
    while queue:
        name = queue.pop()
        if name not in needed:
            needed.add(name)
            queue += [each for each in _names_read(known[name][0]) if each in known]
    source = "\n\n\n".join(text for name, (_, text) in known.items() if name in needed and name != "Array")
    return list(dict.fromkeys(direct)), source


def _names_read(node: ast.AST) -> list[str]:
    """Returns the names that code reads, without those that it binds as arguments or variables itself."""
    bound = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    bound |= {each.id for each in names if isinstance(each.ctx, ast.Store)}
    return list(dict.fromkeys(each.id for each in names if isinstance(each.ctx, ast.Load) and each.id not in bound))
