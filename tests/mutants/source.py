"""Splits sources into code and the rest: comments, strings, annotations and the prose of contracts become blanks of
the same length, so that positions in the code are positions in the text."""

from __future__ import annotations

import ast
import io
import re
import tokenize

SUFFIXES = (".c", ".h", ".py", ".wgsl", ".yaml")

_C = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.DOTALL)
# The fields of contracts that hold prose. Only these are blanked, because expressions are strings, too.
_PROSE = "summary|formula|source|doc|says|why|note|result|title|inner|bounds|" + r"\w+Error"
_YAML = re.compile(rf'#[^\n]*|\b(?:{_PROSE}):\s*(?:"(?:[^"\\]|\\.)*"|[^\s\[{{"][^\n]*)')


def code_lines(text: str, suffix: str) -> list[str]:
    """Returns the lines of a source with blanks for everything that is not code."""
    if suffix == ".py":
        code = _without_annotations(_without_python_strings(text), text)
    elif suffix == ".yaml":
        code = _YAML.sub(_blank, text)
    else:
        code = _C.sub(_blank, text)
    lines = code.split("\n")
    return _without_directives(lines) if suffix in (".c", ".h") else lines


def statements(text: str) -> list[tuple[int, int]]:
    """Returns the first and last line of each statement of a Python source. For a statement with a body,
    these are the lines before the body."""
    spans = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
            spans.append((node.lineno, last))
    return spans


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _without_directives(lines: list[str]) -> list[str]:
    """Blanks the preprocessor's lines, except #define."""
    kept, inside = [], False
    for line in lines:
        inside = inside or bool(re.match(r"\s*#(?!\s*define\b)", line))
        kept.append(" " * len(line) if inside else line)
        inside = inside and line.endswith("\\")
    return kept


def _without_python_strings(text: str) -> str:
    lines = text.splitlines(keepends=True)
    strings = {tokenize.STRING, tokenize.COMMENT}
    strings |= {
        value for name, value in vars(tokenize).items() if name.startswith("FSTRING") and isinstance(value, int)
    }
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in strings:
            (row, column), (last, end) = token.start, token.end
            for number in range(row, last + 1):
                line = lines[number - 1]
                begin = column if number == row else 0
                stop = end if number == last else len(line.rstrip("\n"))
                lines[number - 1] = line[:begin] + " " * (stop - begin) + line[stop:]
    return "".join(lines)


def _without_annotations(code: str, text: str) -> str:
    """Blanks the annotations of a Python source, which mypy checks and which do nothing at run time."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a part of a statement
        return code
    nodes = list(ast.walk(tree))
    annotations = [node.annotation for node in nodes if isinstance(node, ast.arg | ast.AnnAssign)]
    annotations += [node.returns for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    lines = [line.encode() for line in code.split("\n")]  # ast counts columns in bytes
    for each in filter(None, annotations):
        for number in range(each.lineno, (each.end_lineno or each.lineno) + 1):
            line = lines[number - 1]
            start = each.col_offset if number == each.lineno else 0
            end = (each.end_col_offset or start) if number == each.end_lineno else len(line)
            lines[number - 1] = line[:start] + b" " * (end - start) + line[end:]
    return b"\n".join(lines).decode()
