"""Describes what is inside a wheel's binaries, as PEP 770 asks for: CycloneDX 1.6 in `.dist-info/sboms/`. It has no
date and no serial number, so that the same build writes the same bytes."""

from __future__ import annotations

import json
from pathlib import Path

from native.compiler import Compiler
from native.targets import Target
from wasm import optimize

__all__ = ["write"]


def _component(kind: str, name: str, version: str, **more: object) -> dict[str, object]:
    return {"type": kind, "name": name, "version": version, **more}


def write(folder: Path, version: str, target: Target, using: Compiler) -> Path:
    """Writes the bill of materials of the wheel of this version and target, and returns its path."""
    tools = [_component("application", using.family, using.version)]
    if target.binary_format == "wasm" and using.family == "zig":
        tools.append(_component("application", *optimize.BINARYEN.requirement.split("@")))
    # The compiler links the functions of its runtime that the code needs, such as a 128-bit product
    runtime, license_ = "compiler-rt", "Apache-2.0 WITH LLVM-exception"
    if using.family == "gcc":
        runtime, license_ = "libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1"
    stubs = [_component("library", "mingw-w64", using.version)] if target.binary_format == "pe" else []
    digits = "Optical Recognition of Handwritten Digits"
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": _component("library", "lanewise", version, purl=f"pkg:pypi/lanewise@{version}"),
            "tools": {"components": tools},
            "properties": [{"name": "lanewise:target", "value": target.name}],
        },
        "components": [
            _component("library", runtime, using.version, licenses=[{"expression": license_}]),
            *stubs,  # of the C library
            _component("data", digits, "1998", licenses=[{"license": {"id": "CC-BY-4.0"}}]),
        ],
    }
    path = folder / "lanewise.cdx.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    return path
