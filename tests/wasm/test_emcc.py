"""Tests, in every Pyodide, the wheel that emcc compiles in an environment like that of `pyodide build`. test_sweep.py
also runs on this wheel (engine EMCC of engines.py), and test_wheel.py inspects it."""

from __future__ import annotations

from pathlib import Path

import pyodide_runner
import pytest

from wasm import build

PROGRAM = Path(__file__).parent / "programs" / "compiled.py"


@pytest.fixture(scope="session")
def results(emcc_wheel: Path, release_in_node: tuple[Path, str]) -> dict[str, object]:
    pyodide, node = release_in_node
    answer: dict[str, object] = pyodide_runner.run(pyodide, PROGRAM, packages=[emcc_wheel], node=node)
    return answer


@pytest.mark.parametrize("backend", ["simd128", "scalar"])
def test_the_wheel_of_emcc_computes(results: dict[str, object], backend: str) -> None:
    assert results[backend] == [backend, [[19.0, 22.0], [43.0, 50.0]], 750.0]


def test_a_library_that_emcc_cannot_compile_is_left_out_with_a_reason(
    emcc_wheel: Path, results: dict[str, object]
) -> None:
    """Debian 12's emcc uses LLVM 14, which does not know relaxed SIMD. A newer emcc may know it."""
    left_out = build.left_out(emcc_wheel)
    assert set(left_out) <= {"relaxed_simd"}
    for name, reason in left_out.items():
        assert reason.startswith("emcc (Emscripten") and reason.endswith("does not support its instructions")
        assert results[name] == f"this build of lanewise has no relaxed SIMD library: {reason}"
