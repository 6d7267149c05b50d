"""Builds the reference: `python site/reference/render.py --out DIR`, with the packages of site/requirements.txt.

Generates the sources in a temporary folder and runs Sphinx on them; warnings are errors. The same checkout gives the
same files, byte for byte.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import sphinx_sources  # noqa: E402

MARK = "searchindex.js"  # a file that every reference has
BY_SPHINX = (".buildinfo", ".doctrees", "_sources", "objects.inv")  # for later builds and other documentation
# Patterns in the pages that Sphinx and furo write, and what replaces them in the published pages
EDITS = (
    # Code and tables can be wider than the screen; with tabindex, the keyboard can scroll them
    (re.compile(r'<(pre|div class="table-wrapper[^"]*")>'), r'<\1 tabindex="0">'),
    # Screen readers need the levels of headings, names that distinguish the regions, and a heading on every page
    (re.compile(r'<p class="caption" role="heading">'), '<p class="caption" role="heading" aria-level="2">'),
    (re.compile(r'<aside class="sidebar-drawer">'), '<aside class="sidebar-drawer" aria-label="All pages">'),
    (re.compile(r'<aside class="toc-drawer">'), '<aside class="toc-drawer" aria-label="On this page">'),
    (re.compile(r'<div id="search-results">'), '<h1>Search</h1>\n\n<div id="search-results">'),
    # Sphinx writes a signature with a line per argument as a definition list without terms, which is invalid HTML
    (re.compile(r"<dl>(\n(?:<dd>.*</dd>\n)+)</dl>"), r'<div class="arguments">\1</div>'),
    (re.compile(r'(?m)^<dd>(<em class="sig-param">.*)</dd>$'), r"<div>\1</div>"),
)


def build(out: Path, report: Path = sphinx_sources.REPORT) -> None:
    """Builds the reference in `out`, in place of an earlier one. Raises BuildError if Sphinx reports a problem."""
    if out.exists() and not ((out / MARK).exists() or (out.is_dir() and not any(out.iterdir()))):
        raise BuildError(f"expected a new or empty folder, or one with a reference, got {out}; name another one")
    with tempfile.TemporaryDirectory() as temporary:
        source, pages = Path(temporary, "source"), Path(temporary, "pages")
        sphinx_sources.write(sphinx_sources.sources(report), source)
        command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-j", "auto"]
        command += ["-d", str(Path(temporary, "doctrees")), "-c", str(HERE), str(source), str(pages)]
        # Sets of strings must have the same order in every build; dates are not shown, but must not be read either.
        settings = {**os.environ, "PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": "315532800"}
        done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BuildError(f"Sphinx reported:\n{done.stdout}{done.stderr}".strip())
        for name in BY_SPHINX:
            path = pages / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        _edit(sorted(pages.rglob("*.html")))
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(pages, out)


class BuildError(Exception):
    """The reference cannot be built; the message says why."""


def _edit(pages: Sequence[Path]) -> None:
    """Applies EDITS to all pages. Raises BuildError if one of them no longer fits any page."""
    counts = [0] * len(EDITS)
    for path in pages:
        page = path.read_text(encoding="utf-8")
        for i, (pattern, replacement) in enumerate(EDITS):
            page, count = pattern.subn(replacement, page)
            counts[i] += count
        path.write_text(page, encoding="utf-8")
    for count, (pattern, _) in zip(counts, EDITS, strict=True):
        if count == 0:
            raise BuildError(
                f"no page has {pattern.pattern!r}; change EDITS of render.py for this version of the theme"
            )


def main() -> int:
    """Runs the command. Returns its exit status: 1 if the reference could not be built."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="the folder for the pages")
    parser.add_argument("--support", type=Path, default=sphinx_sources.REPORT, metavar="FILE",
                        help="the support matrix of the tests; default: build/reports/support.md")  # fmt: skip
    options = parser.parse_args()
    try:
        build(options.out, options.support)
    except (BuildError, LookupError, ValueError) as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
