"""`python -m tests.bench crossover`: times small to large sizes, to find where a second thread begins to pay."""

from __future__ import annotations

from collections.abc import Sequence

from tests.bench import scaling
from tests.bench.cases import Size
from tests.bench.settings import Settings

SIZES: Sequence[tuple[str, tuple[Size, ...]]] = (
    ("add", tuple((1 << k,) for k in range(15, 20))),
    ("exp", tuple((1 << k,) for k in range(13, 19))),
    ("tan", tuple((1 << k,) for k in range(12, 18))),
    ("sum", tuple((1 << k,) for k in range(15, 21))),
    ("softmax", ((32, 512), (64, 512), (128, 512), (256, 512))),
    ("matmul", ((48,), (64,), (96,), (128,), (192,), (256,))),
    ("matvec", ((256,), (512,), (1024,), (2048,))),
    ("conv2d", ((1, 16, 14, 14), (1, 32, 14, 14), (1, 64, 14, 14), (1, 64, 28, 28))),
    ("scaled_dot_product_attention", ((4, 32, 64), (4, 64, 64), (8, 64, 64), (8, 128, 64))),
    ("sort", ((16, 512), (64, 512), (256, 512))),
    ("take", tuple((1 << k,) for k in range(14, 19))),
    ("eigh", ((16,), (32,), (64,), (128,))),
)


def run(names: Sequence[str], settings: Settings) -> int:
    """Prints the times on one thread and on two for each operation and size in SIZES, or for named operations."""
    works = [(name, size) for name, sizes in SIZES for size in sizes]
    return scaling.compare(works, names, settings)
