"""How much faster a call is on several threads than on one.

    python tests/bench/threads.py                 the rows of the goals, and one of each kind of kernel; two threads
    python tests/bench/threads.py exp matmul --threads 4
    python tests/bench/threads.py --small         where another thread begins to pay: sizes from small to large

Both take turns in one process. The first ratio is that of the minima, the second the median over the rounds.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial

import lanewise as lw
from lanewise.timing import Contestant, duration, measure, ratio, threads
from tests.bench import machine, operations
from tests.bench.cases import Size, build
from tests.bench.report import table
from tests.bench.runner import on_backend

FIRM: Mapping[tuple[str, Size], float] = {("matmul", (1024,)): 1.8, ("exp", (1 << 18,)): 1.8}  # of the goals
ROWS: Sequence[tuple[str, Size]] = (
    ("matmul", (1024,)),
    ("exp", (1 << 18,)),
    ("sum", (1 << 24,)),
    ("softmax", (1024, 1024)),
    ("conv2d", (56,)),
    ("add", (1 << 20,)),
    ("add", (1 << 24,)),
    ("gelu", (1 << 20,)),
    ("argmax", (1 << 22,)),
    ("var", (1 << 22,)),
    ("layer_norm", (1024, 1024)),
    ("cumulative_sum", (1024, 1024)),
    ("matmul", (256,)),
    ("matmul", (512,)),
    ("matvec", (4096,)),
    ("scaled_dot_product_attention", (512,)),
    ("max_pool2d", (4, 64, 112, 112)),
    ("rope", (8, 1024, 64)),
    ("take", (1 << 20,)),
    ("sort", (1024, 1024)),
    ("searchsorted", (1 << 18,)),
    ("rand", (1 << 20,)),
    ("eigvalsh", (256,)),
    ("eigh", (256,)),
)
SMALL: Sequence[tuple[str, tuple[Size, ...]]] = (
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


def contestants(name: str, size: Size, most: int) -> list[Contestant]:
    """The same call on one thread and on several."""
    case = build(operations.find(name), size)
    backend = lw.ones((1,)).backend
    found = []
    for number in (1, most):
        each = on_backend(case, backend)
        found.append(Contestant(str(number), each.expression, each.names, partial(threads, number)))
    return found


def row(name: str, size: Size, most: int, repeats: int, seconds: float) -> tuple[str, ...]:
    """What a case took on one thread and on several, and how much faster that is."""
    one, several = measure(contestants(name, size, most), repeats=repeats, sample_seconds=seconds)
    faster = ratio(one, several)
    firm = FIRM.get((name, size))
    label = f"{name} {' x '.join(f'{extent:,}' for extent in size)}"
    times = (duration(one.minimum), duration(several.minimum), f"{faster.minimum:.2f}", f"{faster.median:.2f}")
    return (label, *times, f"{firm}" if firm else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operations", nargs="*", help="default: every row")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.02)
    options = parser.parse_args()
    wanted = ROWS if not options.small else [(name, size) for name, sizes in SMALL for size in sizes]
    facts = machine.facts()
    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']}; {lw.ones((1,)).backend}")
    rows: list[tuple[str, ...]] = [("", "1 thread", f"{options.threads} threads", "faster", "median", "firm")]
    for name, size in wanted:
        if not options.operations or name in options.operations:
            rows.append(row(name, size, options.threads, options.repeats, options.seconds))
    print(table(rows))


if __name__ == "__main__":
    main()
