"""Removes what only developers read from the Python and JavaScript files of the wheel for Pyodide, which makes the
wheel that a page downloads 13 KB smaller: comments, the docstrings of modules and of private functions and classes, and
JavaScript's indentation. Other docstrings and line numbers stay, so help() and tracebacks read the same."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

__all__ = ["javascript_without_comments", "without_comments"]

Definition = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def without_comments(source: str, *, keep_first: bool = False) -> str:
    """Returns Python source without comments and without private docstrings, with the same number of lines.

    `keep_first` keeps the docstring of the module.
    """
    lines = source.splitlines(keepends=True)
    for docstring in _docstrings(ast.parse(source), is_private=not keep_first):
        first, last = docstring.lineno - 1, docstring.end_lineno or docstring.lineno
        lines[first] = f'{" " * docstring.col_offset}""\n'  # a body may have no other statement
        lines[first + 1 : last] = ["\n"] * (last - first - 1)
    for token in tokenize.generate_tokens(io.StringIO("".join(lines)).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip() + "\n"
    return "".join(lines)


def javascript_without_comments(source: str) -> str:
    """Returns JavaScript without indentation, and without comments that begin a line, or follow a bracket, comma or
    semicolon; with the same number of lines. No string may have two slashes after one of these, or several lines."""
    return re.sub(r"(^|[;,(){}[\]]) *//.*$|^ +", r"\1", source, flags=re.MULTILINE)


def _docstrings(node: Definition, *, is_private: bool) -> Iterator[ast.stmt]:
    """Yields the docstring of a definition if it is private, and those of private definitions in it. Definitions in a
    private function or class are private, those in a module are not unless their names begin with _."""
    if is_private and ast.get_docstring(node, clean=False) is not None:
        yield node.body[0]
    inside = is_private and not isinstance(node, ast.Module)
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            is_named_so = child.name.startswith("_") and not child.name.endswith("__")
            yield from _docstrings(child, is_private=inside or is_named_so)
