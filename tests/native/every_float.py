"""Measures the largest error of float32 functions over every float, on each instruction set.

    python tests/native/every_float.py                all functions of one argument; takes hours on two cores
    python tests/native/every_float.py exp tanh       only these functions
    python tests/native/every_float.py --step 8191    only every 8191st float, as in tests/sweep/test_accuracy.py
    python tests/native/every_float.py pow            a function of two arguments, on --pairs random pairs

Errors are measured on --backends; two suffice, one with fused multiply-add and one without. For the other instruction
sets (--same), `every_float.c` prints checksums, which must equal those of a measured backend. SIMD128 runs in Node and
NEON under qemu. Both are slow; --every limits the comparison to some ranges of floats.

Prints a Markdown table with a row per function and a column per group of backends with the same bits. A cell holds the
largest error against the float64 reference, in units in the last place of float32, and the argument that causes it.
--save keeps results in a folder, and continues from the results that are there.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.special

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("contracts", "tests", "tests/sweep", "tests/native", "")]

from generator import oracle  # noqa: E402
from generator.cases import Case  # noqa: E402
from generator.load import load_contracts  # noqa: E402
from generator.schema import Contract  # noqa: E402
from judge import bits, unit  # noqa: E402

import lanewise as lw  # noqa: E402

oracle.NAMES["erf"] = scipy.special.erf  # the oracle's own erf does without SciPy and is slow

CHUNK = 1 << 16  # floats per call, so that intermediate arrays stay in the caches
TASK = 1 << 24  # floats per task; tasks run in several processes
ROUNDED = 0.5  # largest error of a correctly rounded result, in ulp
NEAR = 1e5  # the tolerances of sine, cosine and tangent apply to arguments up to this one


@dataclass
class Worst:
    """The largest error among some results, and the arguments that cause it."""

    ulp: float = -1.0
    ulp_near: float = -1.0  # the largest error for arguments up to NEAR
    absolute: float = 0.0
    arguments: tuple[float, ...] = ()
    wrong: int = 0  # results with a wrong NaN, infinity or bool

    def join(self, other: Worst) -> Worst:
        """Combines two measurements: the larger errors, and all wrong results."""
        worse = max(self, other, key=lambda one: one.ulp)
        return Worst(
            worse.ulp,
            max(self.ulp_near, other.ulp_near),
            max(self.absolute, other.absolute),
            worse.arguments,
            self.wrong + other.wrong,
        )


@dataclass
class Report:
    """The results of one function: the largest error per backend, and a checksum per backend and task."""

    worst: dict[str, Worst] = field(default_factory=dict)
    sums: dict[str, dict[int, int]] = field(default_factory=dict)

    def join(self, other: Report) -> None:
        """Adds the results of another task."""
        for backend, worst in other.worst.items():
            self.worst[backend] = self.worst.get(backend, Worst()).join(worst)
            self.sums.setdefault(backend, {}).update(other.sums[backend])

    def measured_as(self, backend: str) -> str:
        """Returns a measured backend with the same checksums, or `backend` itself if there is none."""
        sums = self.sums[backend].items()
        return next((other for other in self.worst if sums <= self.sums[other].items()), backend)

    def save(self, path: Path) -> None:
        """Writes the report as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        worst = {name: asdict(each) for name, each in self.worst.items()}
        path.write_text(json.dumps({"worst": worst, "sums": self.sums}), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Report:
        """Returns a saved report, or an empty one if there is none."""
        if not path.exists():
            return cls()
        found = json.loads(path.read_text(encoding="utf-8"))
        worst = {
            name: Worst(**{**each, "arguments": tuple(each["arguments"])}) for name, each in found["worst"].items()
        }
        sums = {name: {int(start): total for start, total in each.items()} for name, each in found["sums"].items()}
        return cls(worst, sums)


@dataclass(frozen=True)
class Function:
    """An operation, or one variant of it."""

    operation: str
    choice: str | None = None

    @property
    def arguments(self) -> int:
        return len(contracts()[self.operation].inputs)

    @property
    def name(self) -> str:
        return self.operation if self.choice is None else f"{self.operation} ({self.choice})"


@cache
def contracts() -> dict[str, Contract]:
    """Returns all contracts by name."""
    return {each.operation: each for each in load_contracts(ROOT / "contracts")}


def functions(arguments: int) -> Iterator[Function]:
    """Yields the elementwise operations on floats with this number of arguments."""
    for contract in contracts().values():
        if contract.kind.name != "elementwise" or "float32" not in contract.computed or contract.internal:
            continue
        if len(contract.inputs) == arguments:
            for choice in contract.variants.stems if contract.variants else (None,):
                yield Function(contract.operation, choice)


def settings(function: Function) -> dict[str, Any]:
    """Returns the parameters of a call: the defaults, and the choice that selects the variant."""
    contract = contracts()[function.operation]
    given = {each.name: each.default for each in contract.parameters}
    if contract.variants and function.choice is not None:
        position = contract.variants.stems.index(function.choice)
        given[contract.variants.parameter] = contract.parameter(contract.variants.parameter).choices[position]
    return given


def drawn(count: int, arguments: int, start: int, step: int) -> list[np.ndarray]:
    """Returns floats `step` bit patterns apart; for two arguments, random pairs, half of them of moderate size."""
    if arguments == 1:
        return [np.arange(start, start + count * step, step, dtype=np.uint64).astype(np.uint32).view(np.float32)]
    random = np.random.default_rng(start)
    wild = random.integers(0, 2**32, (arguments, count // 2), dtype=np.uint32).view(np.float32)
    mild = np.exp(random.normal(0, 2, (arguments, count - count // 2))) * random.choice([-1, 1, 1], count - count // 2)
    mild[1:] *= random.choice([-1, 1, 8], count - count // 2)
    return list(np.concatenate([wild, mild.astype(np.float32)], axis=1))


def measure(given: list[np.ndarray], got: np.ndarray, expected: np.ndarray) -> Worst:
    """Returns the largest error of one chunk. Results equal to the rounded reference count as ROUNDED."""
    with np.errstate(all="ignore"):  # signaling NaNs would cause warnings
        rounded = expected if got.dtype == bool else expected.astype(np.float32)
        other = np.flatnonzero(bits(got) != bits(rounded))
        if got.dtype == bool or not other.size:
            return Worst(ROUNDED, ROUNDED, wrong=other.size)
        got, expected, rounded = got[other], expected[other], rounded[other]
        largest = np.abs(got) == np.finfo(np.float32).max  # the largest float is acceptable instead of infinity
        distance = np.abs(got.astype(np.float64) - expected)
        wrong = ~(np.isfinite(distance) | (np.isinf(rounded) & largest))
        distance[~np.isfinite(distance)] = 0
        error = distance / unit(expected, "float32")
    at = int(np.argmax(error))
    near = np.abs(given[0][other]) <= NEAR
    return Worst(
        float(error[at]),
        float(error[near].max(initial=ROUNDED)),
        float(distance.max()),
        tuple(float(each[other[at]]) for each in given),
        int(np.count_nonzero(wrong)),
    )


def task(function: Function, backends: tuple[str, ...], step: int, start: int) -> Report:
    """Measures one task: TASK floats from the bit pattern `start` on, `step` apart, or TASK random pairs."""
    contract, report, given = contracts()[function.operation], Report(), settings(function)
    names = [each.name for each in contract.inputs]
    end = min(start + TASK * step, 2**32) if len(names) == 1 else start + TASK
    for first in range(start, end, CHUNK * step):
        count = min(CHUNK, -(-(end - first) // step))
        inputs = drawn(count, len(names), first, step)
        with np.errstate(all="ignore"):
            case = Case("every", "float32", dict(zip(names, inputs, strict=True)), given)
            expected = oracle.expected(contract, case)
        seen: list[tuple[np.ndarray, int, Worst]] = []
        for backend in backends:
            with lw.use_backend(backend):
                got = np.asarray(getattr(lw, function.operation)(*map(lw.asarray, inputs), **given))
            pattern = bits(got)
            known = next((one for one in seen if np.array_equal(one[0], pattern)), None)
            if known is None:
                total = int(np.dot(pattern.astype(np.uint64), np.arange(1, 2 * got.size, 2, dtype=np.uint64)))
                known = pattern, total, measure(inputs, got, expected)
                seen.append(known)
            sums = report.sums.setdefault(backend, {})
            sums[start] = (sums.get(start, 0) * 31 + known[1]) % 2**64
            report.worst[backend] = report.worst.get(backend, Worst()).join(known[2])
    return report


def share(sums: dict[int, int]) -> str:
    """Returns the share of floats that was compared, as text; empty if it is all of them."""
    all_of_them = -(-(2**32) // TASK)
    return "" if len(sums) >= all_of_them else f" ({len(sums) / all_of_them:.0%})"


def row(function: Function, report: Report) -> str:
    """Returns a row of the table. Backends with bit-identical results share a cell."""
    groups: dict[str, list[str]] = {}
    for backend, sums in report.sums.items():
        text = backend if backend in report.worst else backend + share(sums)
        groups.setdefault(report.measured_as(backend), []).append(text)
    cells = []
    for measured, names in groups.items():
        worst = report.worst.get(measured)
        if worst is None:
            cells.append(f"other bits, NOT MEASURED: {' '.join(names)}")
            continue
        text = f"{worst.ulp:.3f}"
        if worst.ulp_near < worst.ulp:
            text += f", {worst.ulp_near:.3f} up to {NEAR:g}"
        where = ", ".join(float.hex(each) for each in worst.arguments)
        wrong = f"; {worst.wrong} WRONG" if worst.wrong else ""
        cells.append(f"{text} ({worst.absolute:.2g}) at {where}{wrong}: {' '.join(names)}")
    return f"| {function.name} | {' | '.join(cells)} |"


def compile_for(isa_name: str, folder: Path) -> list[str]:
    """Compiles every_float.c with the kernels of an instruction set, and returns the command that runs it."""
    from oracle_runner import write_names

    from native.targets import TARGETS, host

    places = {"simd128": ("wasm32-pyodide", "wasm32-wasi"), "neon": ("aarch64-linux", "aarch64-linux-musl")}
    target, triple = places.get(isa_name, (host().name, host().zig_triple))
    isa = next(each for each in TARGETS[target].isas if each.name == isa_name)
    write_names(folder)
    program = folder / f"every_float_{isa_name}.wasm"
    command = [sys.executable, "-m", "ziglang", "cc", "-target", triple, f"-mcpu={isa.zig_cpu}", "-O3"]
    command += ["-std=c11", "-ffp-contract=off", "-fwrapv", "-fno-math-errno", f"-D{isa.macro}"]
    command += [f"-I{path}" for path in (ROOT / "core/include", ROOT / "core", ROOT / "build/generated", folder)]
    subprocess.run([*command, str(Path(__file__).with_suffix(".c")), "-o", str(program)], check=True)
    before = {"simd128": ["node", "--no-warnings", str(ROOT / "tests/core/wasi.mjs")], "neon": ["qemu-aarch64"]}
    if isa_name in before and not shutil.which(before[isa_name][0]):
        sys.exit(f"{isa_name} needs {before[isa_name][0]}")
    return [*before.get(isa_name, []), str(program)]


def sums_of(function: Function, program: list[str], every: int) -> dict[int, int]:
    """Returns the program's checksums for every `every`th task."""
    contract = contracts()[function.operation]
    position = contract.variants.stems.index(function.choice) if contract.variants and function.choice else 0
    given = settings(function)
    scalars = [str(float(given[each.name])) for _, each in contract.expression_parameters]
    kernel = contract.kernel("float32", position)
    size = "1" if contract.result("float32") == "bool" else "4"
    command = [*program, kernel, size, str(CHUNK), str(TASK), str(every), *scalars]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {at * every * TASK: int(line, 16) for at, line in enumerate(done.stdout.split())}


class Run:
    """The reports of some functions. If a folder is given, they are loaded from there and saved to it."""

    def __init__(self, functions: list[Function], folder: Path | None, pool: ProcessPoolExecutor) -> None:
        self.folder = folder
        self.pool = pool
        self.reports = {each: Report.load(folder / f"{each.name}.json") if folder else Report() for each in functions}

    def measure(self, backends: list[str], step: int, pairs: int) -> None:
        """Measures errors on the backends that have none yet."""
        for function, report in self.reports.items():
            single = function.arguments == 1
            starts = range(0, 2**32, TASK * step) if single else range(0, pairs, TASK)
            missing = tuple(name for name in backends if name not in report.worst)
            if missing:
                for found in self.pool.map(partial(task, function, missing, step if single else 1), starts):
                    report.join(found)
                self._keep(function)

    def compare(self, isa_name: str, program: list[str], every: int) -> None:
        """Computes the missing checksums of an instruction set, for every `every`th task."""
        missing = [each for each, known in self.reports.items() if each.arguments == 1 and isa_name not in known.sums]
        for function, sums in zip(
            missing, self.pool.map(partial(sums_of, program=program, every=every), missing), strict=True
        ):
            self.reports[function].sums[isa_name] = sums
            self._keep(function)

    def _keep(self, function: Function) -> None:
        print(row(function, self.reports[function]), file=sys.stderr, flush=True)
        if self.folder:
            self.reports[function].save(self.folder / f"{function.name}.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("functions", nargs="*", help="operations (default: all of one argument)")
    parser.add_argument("--step", type=int, default=1, metavar="N", help="measure every Nth float (default: 1)")
    parser.add_argument("--pairs", type=int, default=1 << 28, help="for functions of two arguments")
    parser.add_argument("--backends", nargs="+", metavar="NAME", default=["avx2", "sse2"], help="measure these")
    parser.add_argument("--same", nargs="+", metavar="NAME", default=[], help="compare the bits of these with those")
    parser.add_argument("--every", type=int, default=1, metavar="N", help=f"compare each Nth range of {TASK} floats")
    parser.add_argument(
        "--save", type=Path, metavar="FOLDER", help="keep results in this folder, and continue from those there"
    )
    options = parser.parse_args()
    if options.step != 1 and (options.same or options.save):
        parser.error("--same and --save need every float; leave out --step")
    selected = [each for count in (1, 2) for each in functions(count) if count == 1 or options.functions]
    if options.functions:
        selected = [each for each in selected if each.operation in options.functions]
    with ProcessPoolExecutor() as pool, tempfile.TemporaryDirectory() as folder:
        run = Run(selected, options.save, pool)
        run.measure(options.backends, options.step, options.pairs)
        for name in options.same:
            run.compare(name, compile_for(name, Path(folder)), options.every)
    for function, report in run.reports.items():
        print(row(function, report))


if __name__ == "__main__":
    main()
