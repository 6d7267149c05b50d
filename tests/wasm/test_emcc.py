"""The wheel that emcc makes, in the surroundings of `pyodide build`, in every Pyodide. One of them sweeps it too (EMCC
in engines.py), and test_wheel.py looks into it."""

from __future__ import annotations

from pathlib import Path

import pyodide_runner
import pytest

from wasm import build

PROGRAM = Path(__file__).parent / "programs" / "compiled.py"


@pytest.fixture(scope="session")
def found(emcc_wheel: Path, pyodide: Path, node: str) -> dict[str, object]:
    answer: dict[str, object] = pyodide_runner.run(pyodide, PROGRAM, packages=[emcc_wheel], node=node)
    return answer


@pytest.mark.parametrize("backend", ["simd128", "scalar"])
def test_it_computes(found: dict[str, object], backend: str) -> None:
    assert found[backend] == [backend, [[19.0, 22.0], [43.0, 50.0]], 750.0]


def test_a_library_that_it_cannot_make_is_left_out_with_a_reason(emcc_wheel: Path, found: dict[str, object]) -> None:
    """Relaxed SIMD: LLVM 14, which Debian 12 has, does not know it."""
    left_out = build.left_out(emcc_wheel)
    assert set(left_out) <= {"relaxed_simd"}
    for name, reason in left_out.items():
        assert reason.startswith("emcc (Emscripten") and reason.endswith("does not support its instructions")
        assert found[name] == f"this build of lanewise has no relaxed SIMD library: {reason}"
