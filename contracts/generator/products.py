"""Lists the shapes of matrix products A B at which GEMM changes its path: matmul with A and B in row-major order,
linear with B transposed. The sizes cover the constants of all instruction sets, so each set takes every path.
The files of core/gemm explain the paths, blocks, panels and strips."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .constants import largest, values
from .schema import Contract

MR, NR, LANES = largest("GEMM_MR"), largest("GEMM_NR"), largest("VF32_LANES")
SMALL = largest("GEMM_SMALL_WORK")  # products of at least this many multiply-adds are divided into tasks
WORK = largest("UNPACKED_MAX_WORK")  # products of at most this many multiply-adds are not packed
FEW = largest("UNPACKED_MR")  # products with fewer rows than this are not packed
SKINNY = largest("SKINNY_MAX_ROWS")
NARROW = largest("GEMM_NARROW_ONE_TASK_N")

Product = tuple[int, int, int]  # m, k, n: A is m x k, and B is k x n


def rows(contract: Contract, dtype: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yields the inputs' shapes and the parameters of each case."""
    if contract.operation == "linear":
        for m, k, n in _transposed():
            yield {"x": (m, k), "weight": (n, k), "bias": (n,)}, {}
        for m, k, n in _one_for_each_path():
            yield {"x": (m, k), "weight": (n, k), "bias": (n,)}, {"activation": "relu"}
            yield {"x": (m, k), "weight": (n, k)}, {"activation": "relu"}
        return
    for m, k, n in _all() if dtype == "float32" else _one_for_each_path():
        yield {"x1": (m, k), "x2": (k, n)}, {}
    side = 40  # tasks divide the products of a batch among themselves
    batch = 2 + SMALL // side**3
    yield {"x1": (batch, side, side), "x2": (batch, side, side)}, {}
    yield {"x1": (2, 110, 110), "x2": (2, 110, 90)}, {}  # large products: one after another, each divided into tasks
    yield {"x1": (3, 7, 5), "x2": (5, 9)}, {}


def _unpacked() -> Iterator[Product]:
    """Small products: every n up to slightly more columns than the registers hold, then several blocks of k."""
    columns = largest("UNPACKED_NR_VECTORS") * LANES
    for n in range(1, columns + LANES + 2):
        yield FEW + n % FEW, 5, n
    block = largest("UNPACKED_KC")
    for k in (block, block + 1, 2 * block, 2 * block + 1, 3 * block + 5):
        yield FEW - 1, k, 9
        yield 9, k, 1
    yield 9, 7, FEW
    yield 300, 150, FEW - 1


def _streamed() -> Iterator[Product]:
    """A with few rows, and a large B, which is read once."""
    wide, columns = largest("UNPACKED_STREAM_NC"), largest("UNPACKED_NC")
    for n in (*range(columns + 1, columns + LANES + 2, 3), columns + LANES):
        yield FEW - 1, WORK // ((FEW - 1) * n) + 9, n
    yield 1, WORK // columns + 1, columns + 1
    yield FEW - 1, 13, wide + 9
    yield FEW - 1, SMALL // ((FEW - 1) * wide) + 1, wide + 9  # two tasks


def _divided() -> Iterator[Product]:
    """Products with a long k and so few rows and columns that tasks divide k: parts, the last of which is short."""
    long = 2 * largest("PART_MOST") + 9
    for m, n in ((1, 1), (FEW - 1, 9), (9, FEW - 1), (17, 33)):
        yield m, long, n


def _skinny() -> Iterator[Product]:
    """A with few rows, B in row-major order: every width of the last panel; several blocks of k, strips and tasks."""
    block, strip, most = largest("SKINNY_KC"), largest("SKINNY_NC"), largest("SKINNY_KC") * largest("SKINNY_MAX_BLOCKS")
    for n in range(NR + 1, 2 * NR + 1):
        m = FEW + n % (MR + 1)
        yield m, WORK // (m * n) // block * block + block + 3, n
    yield SKINNY, block, NR + 9
    yield FEW + 1, most, 9
    yield FEW + 1, most + 1, 9  # too many blocks of k: A and B are packed
    yield MR + 4, 2 * block + 3, 2 * strip + 9  # several strips in a task
    yield SKINNY, 3 * block - 3, strip + 9  # several tasks


def _packed() -> Iterator[Product]:
    """Every m modulo MR and every n modulo NR; several blocks of k; several tasks; panels that tasks share."""
    for n in range(NR + 1, 2 * NR + 1):
        yield SKINNY + 1 + n % MR, 17, n
    for n in (NARROW, NARROW + 1, NARROW + 9, NARROW + NR):
        yield SKINNY + 1 + n % MR, 11, n
    for block in values("GEMM_KC"):
        for k in (block, block + 1, 2 * block + 1, 3 * block + 1):
            yield SKINNY + 1, k, NR + 9
    for n in (largest("GEMM_NARROW_LONG_N"), largest("GEMM_NARROW_LONG_N") + 9):
        yield SKINNY + 1, largest("GEMM_KC") - 3, n
    yield SKINNY + MR, 120, NARROW + NR + 8
    yield largest("GEMM_MC") + MR - 4, 150, NARROW + 9
    yield largest("GEMM_MC") + 9, largest("GEMM_KC") + 9, NR + 9
    yield largest("GEMM_MC") // 2 + 4, largest("GEMM_KC"), largest("GEMM_TASK_NC") + 9  # panels larger than L1
    for block in values("GEMM_KC"):  # more of A than one task multiplies
        yield largest("GEMM_ONE_TASK_A") // values("GEMM_KC")[0] + 9, block, NR + 9
    yield largest("GEMM_PACKED_ROWS") + 3, 5, 17
    yield largest("GEMM_PACKED_ROWS") + 3, 2, largest("GEMM_NC") + 9  # two blocks of columns of B, which tasks share


def _transposed() -> Iterator[Product]:
    """B transposed: small products and those whose A has few rows are computed as dot products, others are packed."""
    columns, block = largest("UNPACKED_NC"), largest("UNPACKED_KC")
    for k in range(1, 2 * LANES + 2):
        yield 1 + k % (2 * FEW), k, 1 + k % 9
    for n in (columns - 1, columns, columns + 1, 2 * columns + 5):
        yield FEW + 1, 5, n
    for lanes in values("VF32_LANES"):
        for k in (block * lanes, block * lanes + 1, 2 * block * lanes + lanes // 2 + 1):
            yield FEW - 1, k, 5
    yield 2 * FEW, block, 40  # the most rows for which dot products are used
    yield 2 * FEW + 1, block, 40
    yield 2 * FEW, block - 1, 40
    yield FEW, block, SMALL // (FEW * block) + 9  # several tasks
    for n in range(NR + 1, 2 * NR + 1, 5):
        yield 2 * FEW + 1 + n % MR, 4 * columns, n


def _all() -> Iterator[Product]:
    yield from (*_unpacked(), *_streamed(), *_divided(), *_skinny(), *_packed())


def _one_for_each_path() -> Iterator[Product]:
    yield 3, 5, 9
    yield 9, 5, 9
    yield 3, 2 * largest("PART_MOST") + 9, 5
    yield SKINNY + 1, 17, NR + 9
    yield SKINNY + MR, 19, NARROW + NR + 1
    yield SKINNY + 1, largest("GEMM_KC") + 1, NR + 9
