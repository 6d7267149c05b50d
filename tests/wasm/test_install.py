"""`await micropip.install("lanewise")` in a browser: the package comes from the index, through micropip."""

from __future__ import annotations

from pathlib import Path

from engines import BrowserEngine, Engine

import lanewise as lw

PROGRAM = Path(__file__).parent / "programs" / "installed.py"


def test_micropip_takes_it_from_the_index(engine: Engine, wheel: Path, notes: list[str]) -> None:
    installer, source, version = engine.run(PROGRAM)
    assert version == lw.__version__
    if isinstance(engine, BrowserEngine):  # under Node, loadPackage takes the file
        assert installer == "micropip"
        assert engine.console.site.origin in source and wheel.name in source
        notes.append(f"micropip installed it in {engine.console.install_seconds:.2f} s, Pyodide {engine.version}")
