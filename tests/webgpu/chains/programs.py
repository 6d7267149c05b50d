"""Runs random programs on WebGPU, with and without LANEWISE_FUSE=0, and on the CPU, and compares what they read.

    python -m tests.webgpu.chains.programs --seconds 300 [--seed N]

Prints the first seed; each program has the next one. Every program runs several times, because a chain of elementwise
operations becomes one kernel when it is seen again. If results differ, or if only the GPU refuses a statement,
statements are left out while the program still fails. What remains is printed as a script, and the exit status is 1."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / each) for each in ("contracts", "tests/webgpu/chains")]

from drawing import draw  # noqa: E402

import lanewise as lw  # noqa: E402

RUNS = 4  # of each program on the GPU: the first unfused
SHRINKING = 120.0  # seconds, at most
INTEGERS = (9, 9, 9, 2**31)  # int32 data are below one of these

SCRIPT = '''# {complaint}
from tests.webgpu.chains.programs import replay

replay("""
{statements}
""")'''

Reads = list[tuple[np.ndarray, float]]


def data(seed: int, shape: tuple[int, ...], dtype: str) -> lw.Tensor:
    """Returns a tensor of small multiples of 1/4, integers or flags, in memory of its own."""
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return lw.asarray(random.integers(0, 2, shape) > 0, copy=True)
    if np.dtype(dtype).kind == "i":
        bound = INTEGERS[seed % len(INTEGERS)]
        return lw.asarray(random.integers(-bound, bound, shape).astype(dtype), copy=True)
    return lw.asarray((random.integers(-20, 20, shape) / 4).astype(dtype), copy=True)


def specials(seed: int, shape: tuple[int, ...]) -> lw.Tensor:
    """Returns a float32 tensor of numbers of every size, with zeros, infinities and NaN among them."""
    random = np.random.default_rng(seed)
    numbers = random.choice([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 3e38, 1e-30], shape)
    ordinary = random.standard_normal(shape) * 10.0 ** random.integers(-3, 3, shape)
    return lw.asarray(np.where(random.random(shape) < 0.8, ordinary, numbers).astype(np.float32), copy=True)


def environment(device: str, reads: Reads, library: Any = lw) -> dict[str, Any]:
    """Returns the names that statements use."""

    def check(x: lw.Tensor, error: float = 0.0) -> None:
        reads.append((np.array(x), error))

    return {
        "lw": library,
        "inf": np.inf,
        "data": lambda seed, shape, dtype: data(seed, shape, dtype).to(device),
        "specials": lambda seed, shape: specials(seed, shape).to(device),
        "check": check,
    }


def on_cpu(statements: Sequence[str]) -> tuple[list[str], Reads]:
    """Runs statements on the CPU. Returns those that succeeded, and what they read."""
    reads: Reads = []
    names, done = environment("cpu", reads), []
    for statement in statements:
        try:
            exec(statement, names)
        except Exception:  # what it needs has been left out
            continue
        done.append(statement)
    return done, reads


@contextmanager
def without_chains() -> Iterator[None]:
    """Opens another device, on which elementwise calls run one by one, and afterwards one like the first. Both times,
    tensors made before are lost."""
    before = os.environ.get("LANEWISE_FUSE")
    os.environ["LANEWISE_FUSE"] = "0"
    try:
        lw.reset("wgpu")
        yield
    finally:
        os.environ.pop("LANEWISE_FUSE")
        if before is not None:
            os.environ["LANEWISE_FUSE"] = before
        lw.reset("wgpu")


def complaint(statements: Sequence[str], library: Any = lw, runs: int = RUNS) -> str | None:
    """Returns what is wrong when statements run on the GPU, or None. Leaves out those that fail on the CPU."""
    done, expected = on_cpu(statements)
    checks = [statement for statement in done if statement.startswith("check(")]
    unfused: Reads = []
    for run in range(runs):
        reads: Reads = [] if run else unfused
        names = environment("wgpu", reads, library)
        with lw.use_backend("wgpu"), nullcontext() if run else without_chains():
            for statement in done:
                try:
                    exec(statement, names)
                except Exception as error:
                    return f"run {run}: {statement}: {type(error).__name__}: {error}"
            names.clear()
        for statement, (x, error), (y, _), (z, _) in zip(checks, expected, unfused, reads, strict=True):
            if wrong := difference(x, z, error):
                return f"run {run}: {statement}: {wrong}"
            if wrong := difference(y, z, None):
                return f"run {run}: {statement}: fused is not as unfused: {wrong}"
    return None


def difference(expected: np.ndarray, got: np.ndarray, error: float | None) -> str | None:
    """Returns how a result differs from the expected one by more than an error, or None if it does not. Without an
    error, signs of zeros have to be the same, too."""
    if (expected.shape, expected.dtype) != (got.shape, got.dtype):
        return f"expected {expected.dtype} {expected.shape}, got {got.dtype} {got.shape}"
    if error == np.inf:
        return None
    same = (expected == got) | ((expected != expected) & (got != got))
    if error is None and expected.dtype.kind == "f":
        same &= (np.signbit(expected) == np.signbit(got)) | (got != got)
    if error:
        with np.errstate(invalid="ignore"):
            same |= np.abs(expected.astype(np.float64) - got) <= error
    if same.all():
        return None
    first = tuple(int(each) for each in np.unravel_index(int(np.argmin(same)), same.shape))
    what = f"expected {expected[first]}, got {got[first]}"
    return f"{np.count_nonzero(~same)} of {same.size} differ, first at {list(first)}: {what}, allowed {error}"


def shrink(
    statements: Sequence[str], fails: Callable[[Sequence[str]], object], seconds: float = SHRINKING
) -> list[str]:
    """Leaves out statements, first many at once and then one by one, while the program fails."""
    kept, end = list(statements), time.monotonic() + SHRINKING
    span = len(kept) // 2
    while span:
        start, before = 0, len(kept)
        while start < len(kept) and time.monotonic() < end:
            candidate = kept[:start] + kept[start + span :]
            if candidate and fails(candidate):
                kept = candidate
            else:
                start += span
        if span > 1 or len(kept) == before or time.monotonic() >= end:
            span //= 2
    return kept


def script(statements: Sequence[str], wrong: str) -> str:
    """Returns a script that runs the statements again."""
    return SCRIPT.format(complaint=wrong, statements="\n".join(statements))


def replay(text: str) -> None:
    """Runs the statements of a script. Exits with what is wrong."""
    sys.exit(complaint(text.strip().splitlines()) or 0)


def run(seed: int) -> tuple[int, str | None]:
    """Runs one program. Returns its number of statements, and the report of its failure or None."""
    with lw.use_backend("cpu"):
        statements = draw(seed, environment("cpu", []))
    wrong = complaint(statements)
    if wrong is None:
        return len(statements), None
    kept = shrink(statements, complaint)
    again = complaint(kept)
    note = "" if again else "It fails only after the programs before it; all of its statements follow.\n"
    report = script(on_cpu(kept)[0] if again else statements, again or wrong)
    return len(statements), f"program {seed}: {wrong}\n{note}{report}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="how long to run programs (default: 60)")
    parser.add_argument(
        "--seed", type=int, default=time.time_ns() % 10**9, help="the first program's (default: random)"
    )
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    began, programs, statements, failures = time.monotonic(), 0, 0, 0
    while time.monotonic() - began < options.seconds and failures < 5:
        count, report = run(options.seed + programs)
        programs, statements, failures = programs + 1, statements + count, failures + bool(report)
        if report:
            print(report, flush=True)
    stats = lw.memory_stats("wgpu")
    counts = ", ".join(f"{stats[name]} {name}" for name in ("dispatches", "chains_compiled", "chains_run"))
    print(f"{programs} programs of {statements} statements, each run {RUNS} times: {counts}; {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
