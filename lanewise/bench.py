"""`python -m lanewise bench`: twelve operations at two sizes, on this machine's backends and in NumPy.

A backend is timed only if its result is right, compared with NumPy in float64, or with the scalar backend if NumPy is
not installed. The benchmark for developers of Lanewise is in the source checkout: `python -m tests.bench`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from math import inf, isqrt
from typing import Any, NamedTuple

import lanewise as lw
from lanewise.backends import selection
from lanewise.backends.hardware import cpu_name
from lanewise.costs.timing import Contestant, Timing, duration, limit_blas_threads, measure, threads
from lanewise.errors import ArgumentError, LanewiseError, named

__all__ = ["main"]

SIZES = (1 << 14, 1 << 20)  # numbers of elements: the first size fits the L2 cache, the second does not
LARGEST_EDGE = 512  # most rows and columns of matmul's inputs: larger inputs take seconds in scalar code
REPEATS = 5
SAMPLE_SECONDS = 0.01
TOLERANCE = 1e-4  # relative to the largest element; loose, because the tests check accuracy
NUMPY = "numpy"

Shape = tuple[int, ...]


class Work(NamedTuple):
    """An operation, its inputs' shapes as a function of the number of elements, and the same operation in NumPy."""

    operation: str
    shapes: Callable[[int], tuple[Shape, ...]]
    in_numpy: Callable[..., Any]  # its arguments are the module numpy and the inputs


class Row(NamedTuple):
    """The times of an operation at one size, by backend ("avx2", "wgpu:1") or "numpy", and which backends are wrong."""

    operation: str
    shape: Shape
    timings: dict[str, Timing]
    wrong: tuple[str, ...]


def _vectors(count: int) -> Callable[[int], tuple[Shape, ...]]:
    return lambda n: ((n,),) * count


def _rows(n: int) -> tuple[Shape, ...]:
    return ((isqrt(n), isqrt(n)),)


def _matrices(n: int) -> tuple[Shape, ...]:
    edge = min(isqrt(n), LARGEST_EDGE)
    return ((edge, edge), (edge, edge))


def _softmax(np: Any, x: Any) -> Any:
    result = np.exp(x - x.max(axis=-1, keepdims=True))
    return result / result.sum(axis=-1, keepdims=True)


def _layer_norm(np: Any, x: Any) -> Any:
    centered = x - x.mean(axis=-1, keepdims=True)
    return centered / np.sqrt(np.square(centered).mean(axis=-1, keepdims=True) + 1e-5)


WORKS = (
    Work("add", _vectors(2), lambda np, x, y: np.add(x, y)),
    Work("fma", _vectors(3), lambda np, x, y, z: x * y + z),
    Work("sqrt", _vectors(1), lambda np, x: np.sqrt(x)),
    Work("exp", _vectors(1), lambda np, x: np.exp(x)),
    Work("tanh", _vectors(1), lambda np, x: np.tanh(x)),
    Work("sum", _vectors(1), lambda np, x: np.sum(x)),
    Work("max", _vectors(1), lambda np, x: np.max(x)),
    Work("softmax", _rows, _softmax),
    Work("layer_norm", _rows, _layer_norm),
    Work("sort", _vectors(1), lambda np, x: np.sort(x)),
    Work("matvec", lambda n: (*_rows(n), (isqrt(n),)), lambda np, a, x: a @ x),
    Work("matmul", _matrices, lambda np, a, b: a @ b),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command. Returns the exit status: 1 if a result was wrong, 2 after an error."""
    options = _parser().parse_args(argv)
    try:
        works = _chosen(options.operation)
        backends = _backends(options.backends)
        limit_blas_threads(1)
        np = importlib.import_module(NUMPY) if find_spec(NUMPY) else None
        names = [*backends, *([NUMPY] if np else [])]
        if not options.json:
            print(f"lanewise {lw.__version__} on {cpu_name()}; one thread; minimum of {REPEATS} rounds\n")
        rows = []
        with threads(1):
            for work in works:
                rows += [_measured(work, size, backends, np, options.seconds) for size in SIZES]
    except LanewiseError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(_as_json(rows), indent=1) if options.json else _table(rows, names))
    return 1 if any(row.wrong for row in rows) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lanewise bench",
        description="Time twelve operations at two sizes on this machine's backends, and in NumPy if it is installed.",
    )
    parser.add_argument("operation", nargs="*", help=f"of {', '.join(work.operation for work in WORKS)}; default: all")
    parser.add_argument("--backends", nargs="+", metavar="NAME", help="such as avx2 or wgpu:1; default: all available")
    parser.add_argument("--seconds", type=seconds, default=SAMPLE_SECONDS, help="per sample (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    return parser


def seconds(text: str) -> float:
    if not 0 < (number := float(text)) < inf:
        raise argparse.ArgumentTypeError(f"expected a finite number above 0, got {text}")
    return number


def _chosen(names: Sequence[str]) -> list[Work]:
    known = [work.operation for work in WORKS]
    for name in names:
        if name not in known:
            raise ArgumentError(f"bench: expected one of {', '.join(known)}, got {name!r}")
    return [work for work in WORKS if not names or work.operation in names]


@named("bench")
def _backends(names: Sequence[str] | None) -> list[str]:
    if names is None:
        return [str(info.name) for info in lw.backends() if info.available]
    return list(dict.fromkeys(str(selection.open_place(name)) for name in names))


def _measured(work: Work, size: int, backends: Sequence[str], np: Any, seconds: float) -> Row:
    inputs = [lw.rand(shape, seed=seed).to("scalar") for seed, shape in enumerate(work.shapes(size))]
    function = getattr(lw, work.operation)
    if np:
        arrays = [np.asarray(x) for x in inputs]
        expected = lw.asarray(work.in_numpy(np, *(x.astype("float64") for x in arrays)), dtype=lw.float32).to("scalar")
    else:
        expected = function(*inputs)
    contestants, wrong = [], []
    for name in backends:
        placed = [x.to(name) for x in inputs]
        is_gpu = placed[0].backend.is_gpu  # which computes what is viewed or kept, and not results that are freed
        call = (lambda *x: function(*x)[...]) if is_gpu else function
        wait = (lambda result: lw.synchronize(result.backend)) if is_gpu else None
        contestant = Contestant.calling(name, call, *placed, finish=wait)
        result: Any = contestant.run()
        if result._backend_name != name:
            continue  # this GPU backend has no kernel: the operation ran on the CPU
        if _differs(result.to("scalar"), expected):
            wrong.append(name)
        else:
            contestants.append(contestant)
    if np:
        contestants.append(Contestant.calling(NUMPY, work.in_numpy, np, *arrays))
    timings = measure(contestants, repeats=REPEATS, sample_seconds=seconds)
    return Row(work.operation, inputs[0].shape, {timing.name: timing for timing in timings}, tuple(wrong))


def _differs(result: lw.Tensor, expected: lw.Tensor) -> bool:
    error = lw.max(lw.abs(result - expected)).item()
    return result.shape != expected.shape or not error <= TOLERANCE * lw.max(lw.abs(expected)).item()


def _table(rows: Sequence[Row], names: Sequence[str]) -> str:
    lines = [["", "", *names]]
    for row in rows:
        times = [duration(row.timings[name].minimum) if name in row.timings else "-" for name in names]
        cells = ["WRONG" if name in row.wrong else time for name, time in zip(names, times, strict=True)]
        lines.append([row.operation, "x".join(map(str, row.shape)), *cells])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]).rstrip()
        for line in lines
    )


def _as_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [
        {"operation": row.operation, "shape": list(row.shape), "minimum_ns": minima, "wrong": list(row.wrong)}
        for row in rows
        for minima in [{name: timing.minimum for name, timing in row.timings.items()}]
    ]
