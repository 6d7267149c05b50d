"""Asks micropip to install the wheel in /dist under the tags of other platforms, and returns micropip's answers."""

import shutil
from pathlib import Path

import micropip

(wheel,) = Path("/dist").glob("*.whl")
start = "-".join(wheel.name.split("-")[:2])
messages = {}
for tags in (
    "cp312-abi3-pyodide_2031_0_wasm32",  # a future ABI
    "cp312-abi3-emscripten_3_1_45_wasm32",  # the platform of Pyodide 0.25
    "cp311-abi3-manylinux2014_x86_64",
):
    renamed = Path("/tmp") / f"{start}-{tags}.whl"
    shutil.copyfile(wheel, renamed)
    try:
        await micropip.install(f"emfs:{renamed}")  # noqa: F704 (Pyodide runs programs with await at the top)
        messages[tags] = "installed"
    except Exception as error:
        messages[tags] = f"{type(error).__name__}: {error}"

dict(messages)
