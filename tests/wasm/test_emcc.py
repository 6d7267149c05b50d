"""Tests, in every Pyodide, the wheel that emcc compiles in an environment like that of `pyodide build`. test_sweep.py
also runs on this wheel (engine EMCC of engines.py), and test_wheel.py inspects it."""

from __future__ import annotations

from pathlib import Path

import pyodide_runner
import pytest

import lanewise as lw
from wasm import build

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def results(emcc_wheel: Path, with_micropip: pyodide_runner.Session) -> dict[str, object]:
    """What programs/compiled.py returns, after micropip has installed the wheel from a file. The wheel compiled by zig
    is installed by micropip in every release, too: in browsers by test_install.py, and in Node by tests/site."""
    assert with_micropip.run(PROGRAMS / "install.py", mounts={"/dist": emcc_wheel.parent}) == [11.0, 22.0]
    answer: dict[str, object] = with_micropip.run(PROGRAMS / "compiled.py")
    return answer


def test_the_wheel_of_emcc_computes(results: dict[str, object]) -> None:
    assert results["simd128"] == ["simd128", [[19.0, 22.0], [43.0, 50.0]], 750.0]


def test_a_library_is_left_out_with_a_reason(emcc_wheel: Path, results: dict[str, object]) -> None:
    """Debian 12's emcc uses LLVM 14, which does not know relaxed SIMD. A newer emcc may know it."""
    left_out = build.left_out(emcc_wheel)
    assert {"scalar"} <= set(left_out) <= {"scalar", "relaxed_simd"}
    assert left_out["scalar"].startswith("left out of the browser's wheel; ")
    for name, reason in left_out.items():
        if name == "relaxed_simd":
            assert reason.startswith("emcc (Emscripten") and reason.endswith("does not support its instructions")
        assert results[name] == f"this build of lanewise has no {lw.Backend(name).label} library: {reason}"
