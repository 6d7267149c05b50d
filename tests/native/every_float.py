"""Compares the bits of float32 functions of one argument between instruction sets, over every float.

    python tests/native/every_float.py neon                 all functions, against avx2 and sse2
    python tests/native/every_float.py simd128 exp tanh     these functions
    python tests/native/every_float.py neon --every 16      every 16th range of 2^24 floats

measure.py measures errors on avx2, which has FMA, and on sse2, which lacks it. Results on another instruction set are
right if their bits are those of avx2 or of sse2; every_float.c prints checksums of the bits to compare. SIMD128
runs in Node and NEON under qemu, so slowly that --every helps. Prints for each function which of avx2 and sse2 has the
same bits; exits with 1 if neither has the bits of some function.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("contracts", "tests/native", "")]

from generator.load import load_contracts  # noqa: E402
from generator.schema import Contract  # noqa: E402

CHUNK = 1 << 16  # floats per call, so that arrays stay in the caches
TASK = 1 << 24  # floats per checksum
MEASURED = ("avx2", "sse2")


@dataclass(frozen=True)
class Function:
    """An operation, or one of the variants that a parameter of the operation selects."""

    operation: str
    position: int  # index of the variant in contract.stems, which lists the names of the variants
    name: str


@cache
def contracts() -> dict[str, Contract]:
    """Returns all contracts by name."""
    return {each.operation: each for each in load_contracts(ROOT / "contracts")}


def functions() -> Iterator[Function]:
    """Yields the elementwise operations of one float32 argument, with their variants."""
    for contract in contracts().values():
        if contract.is_unary and "float32" in contract.computed and not contract.internal:
            yield from (Function(contract.operation, at, stem) for at, stem in enumerate(contract.stems))


def compile_for(isa_name: str, folder: Path) -> list[str]:
    """Compiles every_float.c with the kernels of an instruction set, and returns the command that runs it."""
    from oracle_runner import write_names

    from native.build import KERNEL_INCLUDE, kernel_sources
    from native.targets import TARGETS, host

    places = {"simd128": ("wasm32-pyodide", "wasm32-wasi"), "neon": ("aarch64-linux", "aarch64-linux-musl")}
    target, triple = places.get(isa_name, (host().name, host().zig_triple))
    isa = next(each for each in TARGETS[target].isas if each.name == isa_name)
    write_names(folder)
    program = folder / f"every_float_{isa_name}.wasm"
    command = [sys.executable, "-m", "ziglang", "cc", "-target", triple, f"-mcpu={isa.zig_cpu}", "-O3"]
    command += ["-std=c11", "-ffp-contract=off", "-fwrapv", "-fno-math-errno", f"-D{isa.macro}"]
    command += [f"-I{path}" for path in (*KERNEL_INCLUDE, folder)]
    sources = [ROOT / "tests/native/programs/every_float.c", *kernel_sources()]
    subprocess.run([*command, *map(str, sources), "-o", str(program)], check=True)
    before = {"simd128": ["node", "--no-warnings", str(ROOT / "tests/core/wasi.mjs")], "neon": ["qemu-aarch64"]}
    if isa_name in before and not shutil.which(before[isa_name][0]):
        sys.exit(f"{isa_name} needs {before[isa_name][0]}")
    return [*before.get(isa_name, []), str(program)]


def sums_of(function: Function, program: list[str], every: int) -> list[str]:
    """Returns the checksums of a function that the program prints: one for each `every`th range of TASK floats."""
    contract = contracts()[function.operation]
    scalars = [str(float(each.default)) for _, each in contract.expression_parameters]
    kernel = contract.kernel("float32", function.position)
    size = "1" if contract.result("float32") == "bool" else "4"
    command = [*program, kernel, size, str(CHUNK), str(TASK), str(every), *scalars]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("isa", help="the instruction set")
    parser.add_argument("functions", nargs="*", help="operations (default: all of one argument)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help=f"compare each Nth range of {TASK} floats")
    options = parser.parse_args()
    selected = [each for each in functions() if not options.functions or each.operation in options.functions]
    different = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        programs = {name: compile_for(name, Path(folder)) for name in (options.isa, *MEASURED)}
        for function in selected:
            jobs = {name: pool.submit(sums_of, function, program, options.every) for name, program in programs.items()}
            sums = {name: job.result() for name, job in jobs.items()}
            same = [name for name in MEASURED if sums[name] == sums[options.isa]]
            print(function.name, *(same or ["OTHER BITS"]), flush=True)
            different += not same
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
