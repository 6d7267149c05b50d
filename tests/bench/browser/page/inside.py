"""Times Lanewise's WASM backends and the peers (other libraries). Runs in Pyodide, in the page.

page.mjs loads this module and lets chromium_page.py call `describe`, `limits` and `measure`; they take and
return JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import js
import lanewise_page
from pyodide.ffi import run_sync, to_js

import lanewise as lw
from lanewise import _ext, selection
from lanewise.timing import Contestant
from lanewise.timing import measure as time_in_turn
from tests.bench import report, runner
from tests.bench.browser.table import BROWSER, ONE_THREAD, THREADS
from tests.bench.cases import Case
from tests.bench.inputs import ITEM_BYTES, HostArray
from tests.bench.peers import Batch, Call, Peer, convert, open_peer

BACKENDS = [str(info.name) for info in lw.backends() if info.available and info.name in ("simd128", "relaxed_simd")]
WARM_SAMPLES = 15  # the warm-up lasts as long as this many samples, enough for the engine to recompile hot code
# The bytes that a loop touches in all of its arrays together. For DRAM, the loop that reads touches only a third
# of these bytes: one of the three arrays.
LEVELS = {"L1": 16 << 10, "L3": 6 << 20, "DRAM": 192 << 20}


class JavaScriptPeer:
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
        keywords = to_js(dict(case.keywords), dict_converter=js.Object.fromEntries)
        self.free()
        self._made = made = run_sync(self._library.make(case.operation.name, _arrays(case), keywords))
        if made is None:
            return None
        return Batch(lambda count: run_sync(made.run(count)), lambda at: _elements(run_sync(made.result()), at))

    def numbers(self, result: Any, positions: Sequence[int]) -> list[float]:
        """Not used: call() returns a Batch, whose `read` returns the elements of its result."""
        raise NotImplementedError

    def free(self) -> None:
        """Frees the arrays of the last case, because garbage collection does not."""
        if self._made is not None:
            self._made.free()
            self._made = None


@contextmanager
def _idle_workers() -> Iterator[None]:
    """Lets calls run on this thread. lw.set_num_threads(1) would end the workers, whose code is slow when it is new."""
    from lanewise import workers  # which needs a browser with web workers

    backend = _ext.host_backend()
    _ext.set_workers(None, backend, 1)
    try:
        yield
    finally:
        _ext.set_workers(workers._run, backend, THREADS)


def _one_thread(case: Case, backend: str) -> runner.Ready:
    """Makes a contestant of Lanewise without the web workers that the page has started."""
    with _idle_workers():
        ready = runner.backend_ready(case, backend)
    contestant = replace(ready.contestant, name=ONE_THREAD, context=_idle_workers)
    return replace(ready, contestant=contestant, is_peer=True)


class ScipyPeer:
    """Matrix products by SciPy's OpenBLAS, which NumPy in Pyodide does not use."""

    name = "scipy"

    def __init__(self) -> None:
        import scipy
        from scipy.linalg import blas

        self._sgemm = blas.sgemm
        self.settings = f"scipy {scipy.__version__}, its OpenBLAS"

    def call(self, case: Case) -> Call | None:
        """Returns a call of sgemm. BLAS is column-major, so A B is computed without copies as (B^T A^T)^T."""
        if case.operation.name != "matmul":
            return None
        sgemm = self._sgemm

        def matmul(a: Any, b: Any) -> Any:
            return sgemm(1.0, b, a).T

        return Call(matmul, convert(case.arguments, _transposed))

    def numbers(self, result: Any, positions: Sequence[int]) -> list[float]:
        """Returns the elements at these positions as Python floats."""
        return [float(value) for value in result.reshape(-1)[list(positions)]]


def _transposed(value: HostArray) -> Any:
    import numpy as np

    return np.frombuffer(value.data, value.dtype).reshape(value.shape).copy().T


def _arrays(case: Case) -> Any:
    arrays = []
    for item in case.inputs:
        data = js.Float32Array.new(to_js(item.data).buffer)
        arrays.append(js.Object.fromEntries(to_js([["data", data], ["shape", to_js(list(item.shape))]])))
    return to_js(arrays)


def _elements(array: Any, positions: Sequence[int]) -> list[float]:
    values = array.to_py()
    return [float(values[position]) for position in positions]


def _peers(names: Sequence[str]) -> list[Peer]:
    found: list[Peer] = []
    for name in names:
        if name == "numpy":
            found.append(open_peer(name, 1))
        else:
            found.append(ScipyPeer() if name == "scipy" else _JAVASCRIPT[name])
    return found


_JAVASCRIPT = {
    str(name): JavaScriptPeer(str(name), library) for name, library in js.Object.entries(lanewise_page.peers)
}
_LIMITS = {str(name): module for name, module in js.Object.entries(lanewise_page.limits)}


def limit(case: Case) -> Contestant | None:
    """Returns a contestant with only the arithmetic or memory traffic of the case; None if call overhead dominates."""
    module = _LIMITS.get("relaxed_simd") or _LIMITS["simd128"]
    moved = case.result * ITEM_BYTES["float32"]
    if case.flops and case.operation.kind in ("matrix", "window"):
        iterations = max(1, case.flops // module.madd_flops())
        return Contestant.batched("limit", lambda count: _madd(module, iterations, count))
    if case.operation.kind == "reduction":
        size = sum(item.nbytes for item in case.inputs)
        return Contestant.batched("limit", lambda count: module.read(size, count))
    if moved < LEVELS["L1"]:  # too small for a limit: call overhead dominates
        return None
    loop = module.triad if sum(item.nbytes == moved for item in case.inputs) > 1 else module.scale
    return Contestant.batched("limit", lambda count: loop(moved, count))


def _madd(module: Any, iterations: int, count: int) -> None:
    for _ in range(count):
        module.madd(iterations)


def describe(_: str) -> str:
    """Returns Lanewise's version, backends and default backend, and the version of each JavaScript peer.

    For a peer that cannot start, the reason replaces the version.
    """
    settings = {name: peer.settings for name, peer in _JAVASCRIPT.items()}
    default = str(selection.default_backend())
    return json.dumps({"lanewise": lw.__version__, "backends": BACKENDS, "default": default, "peers": settings})


def limits(request: str) -> str:
    """Measures the limits of the WASM engine with the loops of limits.c: GFLOP/s and GB/s by name."""
    settings = json.loads(request)
    work: dict[str, tuple[float, Any]] = {}
    iterations = 1 << 16
    for name, module in _LIMITS.items():
        work[f"{name} multiply and add, GFLOP/s"] = (
            module.madd_flops() * iterations,
            lambda count, module=module: _madd(module, iterations, count),
        )
    module = _LIMITS["simd128"]
    for level, size in LEVELS.items():
        one, three = size & ~0xFFF if level != "DRAM" else size // 3, size // 3 & ~0xFF
        work[f"{level} read, GB/s"] = (one, lambda count, one=one: module.read(one, count))
        work[f"{level} triad, GB/s"] = (3 * three, lambda count, three=three: module.triad(three, count))
    contestants = [Contestant.batched(name, batch) for name, (_, batch) in work.items()]
    timings = time_in_turn(contestants, repeats=settings["repeats"], sample_seconds=settings["seconds"])
    return json.dumps({timing.name: work[timing.name][0] / timing.minimum for timing in timings})


def measure(request: str) -> str:
    """Measures one goal and returns the figures in the form of report.case_as_json."""
    settings = json.loads(request)
    (goal,) = [goal for goal in BROWSER if goal.name == settings["goal"]]
    assert goal.work is not None
    case = goal.work.case()
    threads = lw.get_num_threads()
    if threads == 1:
        entrants = runner.entrants(case, BACKENDS, _peers(settings["peers"]))
    else:  # workers have the default backend only, and the limit is that of one thread
        backend = str(selection.default_backend())
        entrants = runner.entrants(case, [backend], _peers(settings["peers"]))
        entrants = [*entrants, (ONE_THREAD, partial(_one_thread, case, backend))]
    result = runner.run_case(
        case,
        entrants,
        repeats=settings["repeats"],
        sample_seconds=settings["seconds"],
        warm_seconds=WARM_SAMPLES * settings["seconds"],
        limit=limit(case) if threads == 1 else None,
    )
    if lw.get_num_threads() != threads:
        raise RuntimeError("the web workers have ended")
    for peer in _JAVASCRIPT.values():
        peer.free()
    return json.dumps(report.case_as_json(result))
