"""Runs the oracle's cases (generated inputs with expected results, in build/oracle) of some operations, or of all, on
the kernels of the lanewise package that PYTHONPATH selects. Exits with 1 if a result is wrong.

    python tests/mutants/cases.py exp log"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))

import lanewise  # noqa: E402, F401 - from PYTHONPATH, before native.build puts this checkout first
from native import compiler  # noqa: E402
from native.targets import host  # noqa: E402
from tests.native.oracle_runner import ORACLE, commands, compile_runner  # noqa: E402


def main(operations: list[str]) -> int:
    """Runs the cases on every CPU backend of the build."""
    files = [path for path in ORACLE if not operations or path.stem in operations]
    runner = compile_runner(host(), compiler.choose())
    for command in commands(runner).values():
        if status := subprocess.run([*command, *files], check=False).returncode:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
