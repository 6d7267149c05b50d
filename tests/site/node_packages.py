"""The packages of package.json: axe-core, which finds accessibility problems, and puppeteer-core, which drives
Firefox."""

from __future__ import annotations

from pathlib import Path

from tests.bench.browser import packages
from wasm import releases

__all__ = ["folder"]

SOURCE = packages.Source(
    "site",
    ("package.json", "package-lock.json"),
    ("npm", "ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--silent"),
    Path(__file__).parent,
)


def folder() -> Path:
    """Returns the folder node_modules, fetched into the cache."""
    return packages.fetch(SOURCE, releases.cache_folder()) / "node_modules"
