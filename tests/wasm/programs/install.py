"""Installs the wheel in /dist with micropip, as a notebook does. Returns the sum of two vectors."""

from pathlib import Path

import micropip

(wheel,) = Path("/dist").glob("*.whl")
await micropip.install(f"emfs:{wheel}")  # noqa: F704 (Pyodide runs programs with await at the top)

import lanewise as lw  # noqa: E402

lw.add([1.0, 2.0], [10.0, 20.0]).tolist()
