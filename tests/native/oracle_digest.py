"""Prints one SHA-256 per operation and CPU backend: that of the operation's results in all test cases of its oracle
file. The output changes if and only if a result changes.

    python tests/native/oracle_digest.py              every operation, on this machine's backends and on NEON under qemu
    python tests/native/oracle_digest.py add softmax

All NaNs count as the same value. Needs the oracle files, which hold inputs and reference results:

    python contracts/generate.py --oracle build/oracle
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from native import compiler
from native.targets import host
from tests.native import arm_python
from tests.native.oracle_runner import ORACLE, commands, compile_runner, neon_command

Command = list[str | Path]


def runners() -> dict[str, Command]:
    """Returns, for each CPU backend, the command that runs the cases of an oracle file on it."""
    found = commands(compile_runner(host(), compiler.choose()))
    if "neon" not in found and not arm_python.missing():
        found["neon"] = neon_command(arm_python.qemu())
    return found


def digest(command: Command, oracle: Path) -> str:
    """Returns the SHA-256 of the results of one operation. Raises CalledProcessError if a result is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results"
        subprocess.run([*command, "--results", results, oracle], check=True, stdout=subprocess.DEVNULL, timeout=600)
        return hashlib.sha256(results.read_bytes()).hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operations", nargs="*", help="default: all")
    names = parser.parse_args().operations
    oracles = {path.stem: path for path in ORACLE}
    if not oracles:
        parser.error("build/oracle is empty; run: python contracts/generate.py --oracle build/oracle")
    if unknown := sorted(set(names) - set(oracles)):
        parser.error(f"expected operations with an oracle file, got {', '.join(unknown)}")
    with contextlib.redirect_stdout(sys.stderr):  # so that the build's progress does not mix with the output
        by_backend = runners()
    rows = [(operation, backend) for operation in names or oracles for backend in by_backend]
    with ThreadPoolExecutor() as pool:
        for row, result in zip(
            rows, pool.map(lambda row: digest(by_backend[row[1]], oracles[row[0]]), rows), strict=True
        ):
            print(*row, result, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
