"""Tests `await micropip.install("lanewise")` in a browser: micropip downloads the wheel from a local index."""

from __future__ import annotations

from pathlib import Path

from engines import BrowserEngine, Engine

import lanewise as lw

PROGRAM = Path(__file__).parent / "programs" / "installed.py"


def test_micropip_installs_it_from_the_index(engine: Engine, wheel: Path, notes: list[str]) -> None:
    installer, source, version = engine.run(PROGRAM)
    assert version == lw.__version__
    if isinstance(engine, BrowserEngine):  # under Node, loadPackage installs the wheel instead
        assert installer == "micropip"
        assert engine.console.site.origin in source and wheel.name in source
        notes.append(f"micropip installed it in {engine.console.install_seconds:.2f} s, Pyodide {engine.version}")
