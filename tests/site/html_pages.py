"""Reads built HTML pages: their links, anchors, what they load, and their examples."""

from __future__ import annotations

import html.parser
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
LOADED = {"script": "src", "link": "href", "img": "src", "source": "srcset", "iframe": "src", "use": "href",
          "video": "src", "audio": "src", "object": "data", "embed": "src", "image": "href"}  # fmt: skip
NOT_LOADED = {"canonical", "index", "search", "next", "prev", "author"}  # rel of links that browsers do not fetch
EXTERNAL = re.compile(r"\w+:")  # an address with a scheme
IN_CSS = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")


@dataclass
class Page:
    """What a page has."""

    path: Path
    links: list[str] = field(default_factory=list)  # href of <a>
    anchors: set[str] = field(default_factory=set)  # id, and name of <a>
    loaded: list[str] = field(default_factory=list)  # what a browser fetches for it
    blocks: list[str] = field(default_factory=list)  # text of each <pre>
    headings: list[str] = field(default_factory=list)  # text of h2
    text: str = ""


class _Parser(html.parser.HTMLParser):
    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if tag == "a" and "href" in values:
            self.page.links.append(values["href"])
        self.page.anchors |= {values[name] for name in ("id", *(["name"] if tag == "a" else [])) if name in values}
        if tag in LOADED and LOADED[tag] in values and values.get("rel", "") not in NOT_LOADED:
            self.page.loaded.append(values[LOADED[tag]])
        self.page.loaded += [first or second for first, second in IN_CSS.findall(values.get("style", ""))]
        if tag == "br":
            self.page.text += "\n"
        if tag not in VOID:
            self.open.append(tag)
        if tag == "pre":
            self.page.blocks.append("")
        if tag == "h2":
            self.page.headings.append("")

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            self.page.loaded += [first or second for first, second in IN_CSS.findall(data)]
        if "script" in self.open or "style" in self.open:
            return
        self.page.text += data
        if "pre" in self.open:
            self.page.blocks[-1] += data
        if "h2" in self.open and "a" not in self.open:
            self.page.headings[-1] += data


def read(path: Path) -> Page:
    """Reads a page."""
    page = Page(path)
    _Parser(page).feed(path.read_text(encoding="utf-8"))
    return page


def broken_links(pages: dict[Path, Page], root: Path) -> list[str]:
    """Returns a line for each link of the pages that leads to a file or an anchor that the site in `root` lacks."""
    found = []
    for page in pages.values():
        for link in page.links:
            if EXTERNAL.match(link):
                continue
            name, _, anchor = link.partition("#")
            target = (page.path.parent / unquote(name)).resolve() if name else page.path
            target = target / "index.html" if target.is_dir() else target
            where = f"{page.path.relative_to(root)}: {link}"
            if not target.is_file() or not target.is_relative_to(root):
                found.append(f"{where}: the file does not exist")
            elif anchor and unquote(anchor) not in (pages.get(target) or read(target)).anchors:
                found.append(f"{where}: the anchor does not exist")
    return found


def missing_files(page: Page) -> list[str]:
    """Returns the relative addresses that a page loads whose files do not exist."""
    addresses = [re.split(r"[?#]", url.strip())[0] for url in page.loaded if not EXTERNAL.match(url)]
    return [url for url in addresses if not (page.path.parent / unquote(url)).exists()]


def foreign(page: Page) -> list[str]:
    """Returns what a page loads from another origin, or from the root of its own."""
    return [url for url in page.loaded if re.match(r"(?!data:)\w+:|/", url.strip())]
