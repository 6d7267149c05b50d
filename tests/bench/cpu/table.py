"""The performance goals for a CPU with AVX-512, most of them for one thread; some are for AVX2.

Because processors differ in speed, rows that are limited by arithmetic or memory are judged by the share of that limit
that they reach, or against peers. Limits and peers are measured in the same run.
"""

from __future__ import annotations

from tests.bench.goals import (
    GFLOPS,
    MICROSECONDS,
    MILLISECONDS,
    NANOSECONDS,
    TIMES,
    Against,
    Bars,
    Goal,
    OfLimit,
    Reach,
    Work,
)

AVX512, AVX2 = "avx512", "avx2"

# The peers, in the order of their columns.
PEERS = ("numpy", "numpy-out", "numpy-skylakex", "torch", "jax", "numexpr", "numkong")
ONE_THREAD = "one thread"  # the baseline of the rows for two threads

SMALL = 1 << 10
# Numbers of elements, with labels: the arrays fit in L2, in L3, and only in DRAM.
CACHED, LARGE, BEYOND = (1 << 14, "16K"), (1 << 20, "1M"), (1 << 24, "16M")
THROUGHOUT = (CACHED, (1 << 17, "128K"), LARGE)


def _faster(*peers: str, by: float) -> Bars:
    return (Against(peers, by),)


def _best(factor: float) -> Bars:
    return (Against(PEERS, factor, "the best peer"),)


def _row(operation: str, size: tuple[int, str], firm: Bars, aim: Bars, backend: str = AVX512) -> Goal:
    elements, label = size
    name = f"{operation} {label}" + (", AVX2" if backend == AVX2 else "")
    return Goal(name, MICROSECONDS, firm, aim, Work(operation, (elements,)), backend)


def _gelu(form: str, size: tuple[int, str], firm: float, aim: float) -> Goal:
    work = Work("gelu", (size[0],), {"approximate": "tanh"} if form == "tanh" else {})
    name = f"gelu {form} {size[1]}"
    by = ("torch", "numpy")
    return Goal(name, MICROSECONDS, _faster(*by, by=firm), _faster(*by, by=aim), work, AVX512)


def _matmul(edge: int, firm: Bars, aim: Bars) -> Goal:
    return Goal(f"matmul {edge}", GFLOPS, firm, aim, Work("matmul", (edge,)), AVX512)


def _alone(operation: str, firm: float) -> Goal:
    return Goal(f"{operation} 1K, kernel alone", NANOSECONDS, (Reach(firm),), (), Work(operation, (SMALL,)), AVX2)


_NEAR_LIMIT = (OfLimit(0.9),)
_OPENBLAS = ("numpy", "numpy-skylakex")
_NEAR_PEAK = OfLimit(0.8)
_LIKE_OPENBLAS = (_NEAR_PEAK, Against(("numpy-skylakex",), 0.93))

# Rows that measure the cost of a whole call.
CALLS: tuple[Goal, ...] = (
    Goal("x + y 1K, whole call", NANOSECONDS, _faster("numpy", by=4), (Reach(40),), Work("add", (SMALL,)), AVX512),
    Goal(
        "x + y 1K, from NumPy arrays",
        NANOSECONDS,
        _faster("numpy", by=1 / 0.6),
        (Reach(120),),
        Work("add", (SMALL,)),
        AVX512,
    ),
)

# Rows that compare two threads with one.
THREADS: tuple[Goal, ...] = tuple(
    Goal(f"{name}, two threads", MICROSECONDS, _faster(ONE_THREAD, by=1.8), _faster(ONE_THREAD, by=1.95), work, AVX512)
    for name, work in (("matmul 1024", Work("matmul", (1024,))), ("exp 256K", Work("exp", (1 << 18,))))
)

# Rows that time a kernel without Python: a loop in C calls it.
KERNELS: tuple[Goal, ...] = (
    *(_alone(operation, 40) for operation in ("add", "multiply", "dot", "norm_l2", "relu")),
    _alone("gelu", 190),
)

# AUTO after lw.calibrate(), compared with the best backend for each of many operations and sizes (auto.py).
AUTO = Goal("AUTO, calibrated, over the best backend", TIMES, (Reach(1.1),), ())

CPU: tuple[Goal, ...] = (
    *CALLS,
    *(_row(name, size, _best(0.95), _NEAR_LIMIT) for name in ("add", "multiply", "fma", "relu") for size in THROUGHOUT),
    *(
        _row(name, BEYOND, _faster("numpy", by=1.3), _faster("numpy-out", by=1.5))
        for name in ("add", "multiply", "fma", "relu")
    ),
    *(
        row
        for name in ("sum", "max", "norm_l2")
        for row in (
            _row(name, CACHED, _faster("torch", "numkong", by=1.3), _faster("torch", "numkong", by=2)),
            _row(name, LARGE, _faster("torch", "numkong", by=1), _NEAR_LIMIT),
        )
    ),
    *(_row("dot", size, _faster(*_OPENBLAS, by=0.95), _NEAR_LIMIT) for size in (CACHED, LARGE, BEYOND)),
    *(_row("exp", size, _faster("numpy", by=2.5), _faster("numpy", by=3)) for size in (CACHED, LARGE)),
    *(_row("exp", size, _faster("numpy", by=1.5), (), AVX2) for size in (CACHED, LARGE)),
    *(
        _row(name, size, _faster("torch", by=1.5), _faster("torch", by=2))
        for name in ("sigmoid", "silu")
        for size in (CACHED, LARGE)
    ),
    *(_row("tanh", size, _faster("numpy", by=1.3), _faster("numpy", by=2)) for size in (CACHED, LARGE)),
    *(_gelu("tanh", size, 2.5, 4) for size in (CACHED, LARGE)),
    *(_gelu("erf", size, 1.5, 2.5) for size in (CACHED, LARGE)),
    *(
        Goal(
            f"{name} rows 1024x1024",
            MICROSECONDS,
            _faster("torch", "jax", by=firm),
            _faster("torch", "jax", by=3),
            Work(name, (1024, 1024)),
            AVX512,
        )
        for name, firm in (("softmax", 2), ("layer_norm", 2), ("rms_norm", 1.5))
    ),
    _matmul(64, _faster("numpy-skylakex", by=0.9), _best(1)),
    _matmul(128, (_NEAR_PEAK, *_faster("numpy-skylakex", by=0.9)), _best(1)),
    *(_matmul(edge, _LIKE_OPENBLAS, (OfLimit(0.9), *_best(1))) for edge in (256, 512, 1024, 2048)),
    Goal("matvec 4096", MILLISECONDS, _faster(*_OPENBLAS, by=1), _NEAR_LIMIT, Work("matvec", (4096,)), AVX512),
    Goal("conv2d 3x3, 64 channels, 56x56", GFLOPS, _faster("torch", by=0.8), _best(1), Work("conv2d", (56,)), AVX512),
    Goal(
        "attention, causal, 8 heads of 512x64",
        MICROSECONDS,
        _faster("torch", by=1),
        _faster("torch", by=1.5),
        Work("scaled_dot_product_attention", (8, 512, 64)),
        AVX512,
    ),
    *THREADS,
    *KERNELS,
    AUTO,
)
