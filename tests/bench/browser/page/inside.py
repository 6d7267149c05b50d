"""Times Lanewise's WASM backends and the peers (other libraries). Runs in Pyodide, in the page.

page.mjs loads this module and lets chromium_page.py call `describe`, `limits`, `measure` and `cell`; they take
and return JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import js
import lanewise_page
from pyodide.ffi import run_sync, to_js

import lanewise as lw
from lanewise import _ext
from lanewise.backends import selection
from lanewise.costs.timing import measure as time_in_turn
from tests.bench import runner
from tests.bench.goals import Goal
from tests.bench.limits.loops import APART, Arrays, Limits
from tests.bench.peers import Batch, Peer, open_peer
from tests.bench.runner import Clock
from tests.bench.surface import cells
from tests.bench.surface.measure import SECONDS, measured
from tests.cases.cases import Case

BACKENDS = [str(info.name) for info in lw.backends() if info.available and info.name in ("simd128", "relaxed_simd")]
ONE_THREAD = "one thread"  # the baseline that is Lanewise without its web workers, in the same Pyodide
WARM_SAMPLES = 15  # the warm-up lasts as long as this many samples, enough for the engine to recompile hot code
ITERATIONS = 1 << 23  # of arithmetic, at a time: more than 10 ms, because the clock of the page ticks every 0.1 ms


class JavaScriptPeer(Peer):
    """A JavaScript library that the page loads. The timed loop is in JavaScript: Python calls it once per sample."""

    def __init__(self, name: str, library: Any) -> None:
        self.name = name
        self._library = library
        self._made: Any = None
        failure = getattr(library, "failure", None)
        self.failure = None if failure is None else str(failure)
        self.settings = f"{name}: {failure}" if failure else str(library.settings)

    def call(self, case: Case) -> Batch | None:
        """Returns a Batch of calls of the library's function for the operation, or None if it has no such function."""
        if self.failure:
            raise RuntimeError(self.failure)
        if any(item.dtype != "float32" for item in case.inputs):
            return None
        keywords = to_js(dict(case.keywords), dict_converter=js.Object.fromEntries)
        self.free()
        self._made = made = run_sync(self._library.make(case.operation.name, _arrays(case), keywords))
        if made is None:
            return None
        return Batch(lambda count: run_sync(made.run(count)), lambda at: _elements(run_sync(made.result()), at))

    def free(self) -> None:
        """Frees the arrays of the last case, because garbage collection does not."""
        if self._made is not None:
            self._made.free()
            self._made = None


class ScipyPeer(Peer):
    """Products by SciPy's OpenBLAS, which NumPy in Pyodide does not use, and functions of scipy.special."""

    name = "scipy"

    def __init__(self) -> None:
        import scipy
        from scipy import special
        from scipy.linalg import blas

        self._blas = {"float32": (blas.sgemm, blas.sgemv), "float64": (blas.dgemm, blas.dgemv)}
        self._functions: Mapping[str, Callable[..., Any]] = {
            "sigmoid": special.expit,
            "softmax": special.softmax,
            "log_softmax": special.log_softmax,
        }
        self.settings = f"scipy {scipy.__version__}, its OpenBLAS"

    def function(self, case: Case) -> Callable[..., Any] | None:
        """Returns the function of a product of vectors and matrices, or one of scipy.special."""
        functions = self._functions
        if case.dtype in self._blas and all(len(item.shape) <= 2 for item in case.inputs):
            gemm, gemv = self._blas[case.dtype]
            functions = {
                **functions,
                "matmul": lambda a, b: _product(gemm, a, b),
                "linear": lambda x, weight, bias=0: _product(gemm, x, weight.T) + bias,
                "matvec": lambda a, x: _times_vector(gemv, a, x),
                "vecmat": lambda x, a: _times_vector(gemv, a.T, x),
            }
        return functions.get(case.operation.name)


def _columns(matrix: Any) -> tuple[Any, bool]:
    """Returns a matrix as BLAS reads it without a copy, column by column, and whether it is the transpose."""
    return (matrix.T, True) if matrix.flags.c_contiguous else (matrix, False)


def _product(gemm: Callable[..., Any], a: Any, b: Any) -> Any:
    """Computes A B as (B^T A^T)^T, whose result is row-major."""
    (left, trans_a), (right, trans_b) = _columns(b.T), _columns(a.T)
    return gemm(1.0, left, right, trans_a=trans_a, trans_b=trans_b).T


def _times_vector(gemv: Callable[..., Any], matrix: Any, x: Any) -> Any:
    columns, trans = _columns(matrix)
    return gemv(1.0, columns, x, trans=trans)


@contextmanager
def _idle_workers(threads: int) -> Iterator[None]:
    """Lets calls run on this thread. lw.set_num_threads(1) would end the workers, whose code is slow when it is new."""
    from lanewise.backends import workers  # which needs a browser with web workers

    backend = _ext.host_backend()
    _ext.set_workers(None, backend, 1)
    try:
        yield
    finally:
        _ext.set_workers(workers._run, backend, threads)


def _one_thread(case: Case, backend: str, threads: int) -> runner.Ready:
    """Makes a contestant of Lanewise without the web workers that the page has started."""
    idle = partial(_idle_workers, threads)
    with idle():
        ready = runner.backend_ready(case, backend)
    return replace(ready.named(ONE_THREAD, context=idle), is_peer=True)


def _arrays(case: Case) -> Any:
    arrays = []
    for item in case.inputs:
        data = js.Float32Array.new(to_js(item.data).buffer)
        arrays.append(js.Object.fromEntries(to_js([["data", data], ["shape", to_js(list(item.shape))]])))
    return to_js(arrays)


def _elements(array: Any, positions: Sequence[int]) -> list[float]:
    values = array.to_py()
    return [float(values[position]) for position in positions]


def _limits(module: Any) -> Limits:
    """Returns the loops of a module of limits.c, whose arrays are in its own memory."""

    class InModule(Arrays):
        def __init__(self, number: int, size: int) -> None:
            super().__init__(number, size)
            distance = self.count * 4 + APART
            self.addresses = [module.module_memory() + i * distance for i in range(number)]

    return Limits(lambda name, *numbers: getattr(module, name)(*numbers), InModule, ITERATIONS)


_JAVASCRIPT = {
    str(name): JavaScriptPeer(str(name), library) for name, library in js.Object.entries(lanewise_page.peers)
}
_PYTHON = [open_peer("numpy", 1), ScipyPeer()]
_LIMITS = {str(name): _limits(module) for name, module in js.Object.entries(lanewise_page.limits)}


def _peer(name: str) -> Peer:
    return {peer.name: peer for peer in _PYTHON}.get(name) or _JAVASCRIPT[name]


def describe(_: str) -> str:
    """Returns Lanewise's version, backends and default backend, and the version of each peer.

    For a JavaScript peer that cannot start, the reason replaces the version.
    """
    settings = {name: peer.settings for name, peer in _JAVASCRIPT.items()}
    default = str(selection.default_backend())
    python = [peer.settings for peer in _PYTHON]
    return json.dumps(
        {"lanewise": lw.__version__, "backends": BACKENDS, "default": default, "peers": settings, "python": python}
    )


def limits(request: str) -> str:
    """Measures the limits of the WASM engine with the loops of limits.c: GFLOP/s and GB/s by name."""
    asked = json.loads(request)
    default = str(selection.default_backend())
    figures: dict[str, float] = {}
    for name, loops in _LIMITS.items():
        figures |= loops.figures(name, asked["repeats"], asked["seconds"], bandwidth=name == default)
    return json.dumps(figures)


def _clock(rounds: int, seconds: float) -> Clock:
    return partial(time_in_turn, repeats=rounds, sample_seconds=seconds, warm_seconds=WARM_SAMPLES * seconds)


def measure(request: str) -> str:
    """Measures one goal and returns the figures of runner.run_case."""
    asked = json.loads(request)
    goal, threads, default = Goal(**asked["goal"]), lw.get_num_threads(), str(selection.default_backend())
    case, peers = goal.case(), [_peer(name) for name in asked["peers"]]
    entrants = runner.entrants(case, BACKENDS if threads == 1 else [default], peers)
    if threads > 1:  # workers have the default backend only, and the limit is that of one thread
        entrants = [*entrants, (ONE_THREAD, partial(_one_thread, case, default, threads))]
    clock = _clock(asked["repeats"], asked["seconds"])
    limit = _LIMITS[default].limit(case) if threads == 1 and goal.limit else None
    result = runner.run_case(case, entrants, clock, limit)
    if lw.get_num_threads() != threads:
        raise RuntimeError("the web workers have ended")
    for peer in _JAVASCRIPT.values():
        peer.free()
    return json.dumps(result)


def cell(request: str) -> str:
    """Measures one cell of a surface and returns its outcome."""
    asked = json.loads(request)
    drawn = cells.cell(asked["seed"], asked["number"], asked["kinds"], cells.IN_PAGE)
    clock = partial(_clock, seconds=SECONDS)
    return json.dumps(asdict(measured(drawn, str(selection.default_backend()), _PYTHON, clock)), default=dict)
