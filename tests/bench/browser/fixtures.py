"""What the benchmark shares with tests/wasm: the browser, and the server of the page's files.

The modules of tests/wasm are not in a package, so this module adds tests/ and tests/wasm/ to sys.path.
"""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]
sys.path += [str(TESTS), str(TESTS / "wasm")]

import chromium  # noqa: E402
from local_site import ISOLATION, LocalSite  # noqa: E402

__all__ = ["ISOLATION", "LocalSite", "chromium"]
