"""Small pieces of MyST Markdown: escaped text, code, tables and links."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence

__all__ = ["INDENT", "cell", "code", "directive", "docstring", "fenced", "relative", "table", "text"]

INDENT = "    "
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|$~&])")
_CODE = re.compile(r"(`+)(.+?)\1")


def text(plain: str) -> str:
    """Returns plain text as Markdown; what is between backticks stays code."""
    parts, end = [], 0
    for found in _CODE.finditer(plain):
        parts += [_SPECIAL.sub(r"\\\1", plain[end : found.start()]), code(found[2])]
        end = found.end()
    return "".join([*parts, _SPECIAL.sub(r"\\\1", plain[end:])])


def code(source: str) -> str:
    """Returns code for a line of text. The fence has more backticks than the code."""
    runs = [len(run) for run in re.findall(r"`+", source)]
    fence = "`" * (max(runs, default=0) + 1)
    pad = " " if runs else ""
    return f"{fence}{pad}{source}{pad}{fence}"


def fenced(source: str, language: str) -> str:
    """Returns a block of code."""
    return f"```{language}\n{source.strip(chr(10))}\n```"


def directive(name: str, argument: str, content: str = "", options: Sequence[str] = ()) -> str:
    """Returns a directive of Sphinx. Its fence has more backticks than any in the content.

    An option is its name, a colon and its value: `class: wide`.
    """
    longest = max((len(run) for run in re.findall(r"^ *(`{3,})", content, re.MULTILINE)), default=2)
    fence = "`" * (longest + 1)
    head = "\n".join([f"{fence}{{{name}}} {argument}", *(f":{option}" for option in options)])
    return f"{head}\n\n{content.strip(chr(10))}\n{fence}" if content else f"{head}\n{fence}"


def cell(content: str) -> str:
    """Returns Markdown for a cell of a table."""
    return re.sub(r"(?<!\\)\|", r"\\|", content).replace("\n", " ")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table of cells that are Markdown already."""
    lines = [list(head), ["---"] * len(head), *([cell(each) for each in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def relative(page: str, target: str) -> str:
    """Returns the path from one page to another; both are paths from the root of the sources."""
    here, there = page.split("/")[:-1], target.split("/")
    while here and len(there) > 1 and here[0] == there[0]:
        here, there = here[1:], there[1:]
    return "/".join([*([".."] * len(here)), *there])


def docstring(plain: str) -> str:
    """Returns a docstring as Markdown: paragraphs, examples, and indented blocks as code."""
    blocks = []
    for block in re.split(r"\n\s*\n", plain.strip("\n")):
        if block.lstrip().startswith(">>>"):
            blocks.append(fenced(textwrap.dedent(block), "pycon"))
        elif block.startswith(INDENT):
            blocks.append(fenced(textwrap.dedent(block), "text"))
        else:
            blocks.append(text(" ".join(block.split())))
    return "\n\n".join(blocks)
