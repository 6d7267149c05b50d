"""Installs the wheel that SOURCE names, or the one in /dist, with micropip, as a notebook does. Returns the sum of two
vectors."""

import os
from pathlib import Path

import micropip

source = os.environ.get("SOURCE") or "".join(f"emfs:{wheel}" for wheel in Path("/dist").glob("*.whl"))
await micropip.install(source)  # noqa: F704 (Pyodide runs programs with await at the top)

import lanewise as lw  # noqa: E402

lw.add([1.0, 2.0], [10.0, 20.0]).tolist()
