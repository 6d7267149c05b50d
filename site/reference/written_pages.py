"""The pages that people write: those of site/docs and the READMEs, moved to their places in the reference.

On GitHub their relative links lead to files of the repository; here each link is replaced by one to the page that shows
this file. A link to a file that no page shows is an error.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

from markup import relative

__all__ = ["images", "places", "rewritten"]

PROJECT = {  # file -> its place in the reference
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "contracts/README.md": "project/contracts.md",
    "core/README.md": "project/core.md",
    "core/simd/README.md": "project/simd.md",
    "native/README.md": "project/native.md",
    "native/cuda/README.md": "project/cuda.md",
    "wasm/README.md": "project/wasm.md",
    "webgpu/README.md": "project/webgpu.md",
    "lanewise/README.md": "project/package.md",
    "site/README.md": "project/site.md",
    "tests/README.md": "project/tests.md",
    "tests/bench/README.md": "project/benchmark.md",
    "tests/mutants/README.md": "project/mutants.md",
}
# Files that are not pages of their own, and the pages that show what they contain.
SHOWN = {
    "README.md": "index.md",
    "contracts/coming_from.yaml": "tables/coming-from.md",
    "contracts/kinds.yaml": "operations/index.md",
}
LINK = re.compile(r"(?<!\\)(\]\(|\]:\s+)([^)\s]+)")
CODE = re.compile(r"^```.*?^```|^    .*?$|`[^`\n]+`", re.DOTALL | re.MULTILINE)


def places(root: Path) -> dict[str, str]:
    """Returns the place in the reference of each file that it shows as a page, or whose contents it shows."""
    written = {f"site/docs/{path.name}": f"docs/{path.name}" for path in sorted((root / "site" / "docs").glob("*.md"))}
    contracts = {
        f"contracts/{path.name}": f"operations/{path.stem}.md" for path in sorted((root / "contracts").glob("*.yaml"))
    }
    return {**contracts, **written, **PROJECT, **SHOWN}


def images(root: Path) -> dict[str, bytes]:
    """Returns the drawings that pages show, by their places."""
    return {f"docs/{path.name}": path.read_bytes() for path in sorted((root / "site" / "docs").glob("*.svg"))}


def rewritten(root: Path, source: str, known: Mapping[str, str]) -> str:
    """Returns the text of a file with links to the reference's pages; `known` is what places() returned."""
    content = (root / source).read_text(encoding="utf-8")
    code = [match.span() for match in CODE.finditer(content)]

    def replaced(match: re.Match[str]) -> str:
        start, target = match.start(), match[2]
        if re.match(r"\w+:|#", target) or any(first <= start < last for first, last in code):
            return match[0]
        name, hash_mark, anchor = target.partition("#")
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), name))
        if file not in known:
            raise LookupError(
                f"{source}: links to {file}, which the reference does not show; add it to PROJECT or SHOWN in "
                "site/reference/written_pages.py, or remove the link"
            )
        return f"{match[1]}{relative(known[source], known[file])}{hash_mark}{anchor}"

    return LINK.sub(replaced, content)
