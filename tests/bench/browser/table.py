"""The performance goals for a page: Chromium, one thread or two web workers, Pyodide 0.27.7."""

from __future__ import annotations

from tests.bench.goals import (
    COUNT,
    GFLOPS,
    KILOBYTES,
    MICROSECONDS,
    MILLISECONDS,
    NANOSECONDS,
    Against,
    Bars,
    Goal,
    OfLimit,
    Reach,
    Work,
)

WHEEL_SIZE, IMPORT = "wheel size", "import"  # names of goals that measure no operation
ONE_THREAD = "one thread"  # the peer that is Lanewise without workers, in the same Pyodide
THREADS = 2  # in the rows of WORKERS
WITHOUT_NUMPY = "matmul 2048"  # has no figure for NumPy, which has no BLAS here and would take minutes


def _matmul(edge: int, firm: Bars, aim: Bars) -> Goal:
    return Goal(f"matmul {edge}", GFLOPS, firm, aim, Work("matmul", (edge,)))


def _shared(name: str, work: Work, unit: str = GFLOPS) -> Goal:
    firm = (Against((ONE_THREAD,), 1.6), Against(("jax", "onnxruntime")))
    return Goal(f"two workers: {name}", unit, firm, (Against((ONE_THREAD,), 1.85),), work)


def _timed(name: str, work: Work, firm: float, aim: float) -> Goal:
    return Goal(name, MICROSECONDS, (Reach(firm),), (Reach(aim),), work)


_MILLION = (1 << 20,)
_ROWS = (1024, 1024)
_TFJS = Against(("tfjs",))
_PEERS = Against(("tfjs", "onnxruntime"))
_NEAR_TFJS = (Against(("tfjs",), 0.95),)
_LIMIT = (OfLimit(1.0),)
_NEAR_LIMIT, _NEARER_LIMIT = OfLimit(0.8), (OfLimit(0.9),)
_BOTH = (Against(("tfjs", "numpy")),)

# Rows for WebGPU, which webgpu.py measures.
RECORDED = Goal(
    "webgpu: add of 4 elements, recorded", MICROSECONDS, (Reach(30), Against(("pyborch",), 10)), (Reach(10),)
)
DISPATCHES = Goal("webgpu: 15 operations and a sum, dispatches", COUNT, (Reach(3),), (Reach(2),))
SUBMISSIONS = Goal("webgpu: 15 operations and a sum, submissions", COUNT, (Reach(1),), (Reach(1),))
READS = Goal("webgpu: 15 operations and a sum, reads", COUNT, (Reach(1),), (Reach(1),))
CHAIN = Goal("webgpu: 15 operations and a sum", MILLISECONDS, (Against(("pyborch",)),), ())
FIRST = Goal("webgpu: import and first number", MILLISECONDS, (Against(("pyborch",), 4),), ())
WEBGPU: tuple[Goal, ...] = (RECORDED, DISPATCHES, SUBMISSIONS, READS, CHAIN, FIRST)

# Rows for a web worker of a page that is cross-origin isolated.
WORKERS: tuple[Goal, ...] = (
    *(_shared(f"matmul {edge}", Work("matmul", (edge,))) for edge in (512, 1024)),
    _shared("conv2d 3x3, 64 channels, 56x56", Work("conv2d", (56,))),
    _shared("attention, causal, 8 heads of 512x64", Work("scaled_dot_product_attention", (8, 512, 64)), MICROSECONDS),
)

BROWSER: tuple[Goal, ...] = (
    _matmul(64, (_PEERS,), (Reach(48),)),
    _matmul(128, (_PEERS, _NEAR_LIMIT), (Reach(48),)),
    *(
        _matmul(edge, (Reach(firm), _TFJS, _NEAR_LIMIT), _NEARER_LIMIT)
        for edge, firm in ((256, 46), (512, 46), (1024, 44))
    ),
    _matmul(2048, (_TFJS, _NEAR_LIMIT), _NEARER_LIMIT),
    Goal("conv2d 3x3, 64 channels, 56x56", GFLOPS, (_TFJS,), (Reach(48),), Work("conv2d", (56,))),
    Goal("add 1M", MICROSECONDS, _NEAR_TFJS, _LIMIT, Work("add", _MILLION)),
    Goal("relu 1M", MICROSECONDS, _NEAR_TFJS, _LIMIT, Work("relu", _MILLION)),
    _timed("exp 1M", Work("exp", _MILLION), 1000, 650),
    _timed("sigmoid 1M", Work("sigmoid", _MILLION), 900, 650),
    _timed("tanh 1M", Work("tanh", _MILLION), 900, 650),
    _timed("gelu tanh 1M", Work("gelu", _MILLION, {"approximate": "tanh"}), 1200, 900),
    _timed("gelu erf 1M", Work("gelu", _MILLION), 2000, 1400),
    Goal("softmax rows 1024x1024", MICROSECONDS, _BOTH, (Reach(600),), Work("softmax", _ROWS)),
    Goal("layer_norm rows 1024x1024", MICROSECONDS, _BOTH, (Reach(250),), Work("layer_norm", _ROWS)),
    _timed("sum 1M", Work("sum", _MILLION), 75, 45),
    _timed("row sum 1024x1024", Work("sum", _ROWS, {"axis": 1}), 75, 45),
    Goal("call, n = 4", NANOSECONDS, (Reach(150),), (Reach(80),), Work("add", (4,))),
    Goal(WHEEL_SIZE, KILOBYTES, (Reach(455),), (Reach(200),)),
    Goal(IMPORT, MILLISECONDS, (Reach(150),), (Reach(50),)),
    *WORKERS,
    *WEBGPU,
)
