"""Checks the links of the built site outside of the reference: those of the landing page, the lab and the notebooks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.site import html_pages

PAGES = ("index.html", "lite/index.html", "lite/lab/index.html")
CONTENTS = Path("lite", "files")  # what the lab shows: links of notebooks are relative to it
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED_FILE = re.compile(r"([`*])(\w[\w./-]*\.(?:csv|ipynb|jpg|md|mjs|npz|png|py))\1")


def text_of(path: Path) -> str:
    """Returns the Markdown of a notebook or of a Markdown file."""
    content = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return content
    cells = json.loads(content)["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def anchors(path: Path) -> set[str]:
    """Returns the anchors that JupyterLab gives a file's headings: their text, with hyphens in place of spaces."""
    headings = re.findall(r"^#+ +(.+?) *$", text_of(path), re.MULTILINE)
    return {re.sub(r"[`*]", "", heading).replace(" ", "-") for heading in headings}


def broken_references(folder: Path) -> list[str]:
    """Returns a line for each link to a file or a heading that the folder lacks, and for each file that is named in the
    text but does not exist."""
    found = []
    for path in sorted([*folder.rglob("*.ipynb"), *folder.rglob("*.md")]):
        text, where = text_of(path), path.relative_to(folder)
        for link in LINK.findall(CODE.sub("", text)):
            if html_pages.EXTERNAL.match(link):
                continue
            name, _, anchor = link.partition("#")
            target = (path.parent / unquote(name)).resolve() if name else path
            if not target.is_file() or not target.is_relative_to(folder):
                found.append(f"{where}: {link}: the file does not exist")
            elif anchor and unquote(anchor) not in anchors(target):
                found.append(f"{where}: {link}: the heading does not exist")
        names = [name for _, name in NAMED_FILE.findall(text)]
        found += [f"{where}: {name}: the file does not exist" for name in names if not (path.parent / name).is_file()]
    return found


@pytest.mark.parametrize("name", PAGES)
def test_links_and_files_of_a_page(name, site):
    page = html_pages.read(site / name)
    assert html_pages.broken_links({page.path: page}, site) == []
    assert page.loaded or name == "lite/index.html"  # which only leads to the lab
    assert html_pages.missing_files(page) == []
    assert html_pages.foreign(page) == []


def test_the_landing_page_leads_to_the_other_parts(site):
    assert {"lite/", "reference/", "#benchmark"} <= set(html_pages.read(site / "index.html").links)


def test_notebooks(site):
    names = {path.name for path in (site / CONTENTS).iterdir()}
    assert {"README.md", "digit_pad.mjs", "flower.jpg"} <= names
    assert broken_references(site / CONTENTS) == []


def test_links_of_a_page_to_another_are_followed(tmp_path):
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "index.html").write_text("<h2 id=exp>exp</h2>")
    (tmp_path / "index.html").write_text('<a href="reference/#exp">1</a><a href="reference/#log">2</a>')
    page = html_pages.read(tmp_path / "index.html")
    assert html_pages.broken_links({page.path: page}, tmp_path) == [
        "index.html: reference/#log: the anchor does not exist"
    ]


def test_broken_references_of_notebooks_are_found(tmp_path):
    source = [
        "# First `lw.exp`\n",
        "[1](b.md#Its-heading) [2](#First-lw.exp) [3](https://example.org) `[4](x.md)` `b.md`\n",
        "[5](../c.md) [6](b.md#other) [7](#First) *picture.png*",
    ]
    cells = [{"cell_type": "markdown", "source": source}, {"cell_type": "code", "source": "[8](no.md)"}]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
    (tmp_path / "b.md").write_text("## Its heading\n")
    assert broken_references(tmp_path) == [
        "a.ipynb: ../c.md: the file does not exist",
        "a.ipynb: b.md#other: the heading does not exist",
        "a.ipynb: #First: the heading does not exist",
        "a.ipynb: picture.png: the file does not exist",
    ]
