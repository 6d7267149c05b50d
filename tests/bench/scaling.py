"""The group `threads` of the benchmark command: how much faster a call is on several threads than on one.

Each round times the call both ways, in one process. The column `faster` is the ratio of the shortest times; `median` is
the median of the ratios of all rounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import lanewise as lw
from lanewise.errors import ArgumentError
from lanewise.timing import Contestant, duration, measure, ratio, threads
from tests.bench import machine, operations
from tests.bench.cases import Size, build, parse_size
from tests.bench.report import table
from tests.bench.runner import on_backend
from tests.bench.settings import Settings

Work = tuple[str, Size]

# The speed-ups over one thread that must be reached: the firm goals of THREADS in cpu/table.py.
FIRM: Mapping[Work, float] = {("matmul", (1024,)): 1.8, ("exp", (1 << 18,)): 1.8}
WORKS: Sequence[Work] = (
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


def run(names: Sequence[str], settings: Settings) -> int:
    """Prints a row for each of WORKS, or for the named operations."""
    return compare(WORKS, names, settings)


def compare(works: Sequence[Work], names: Sequence[str], settings: Settings) -> int:
    """Prints a row for each of `works` (operations and sizes), or for the named operations only.

    A named operation that `works` lacks is measured at size 1M. Sizes in the settings replace all others.
    """
    number = settings.threads or 2
    if number < 2:
        raise ArgumentError("bench: expected --threads of at least 2, got 1; several threads are compared with one")
    chosen = [(operations.find(name).name, size) for name, size in works]
    if names:
        named = [operations.find(name).name for name in names]
        chosen = [work for work in chosen if work[0] in named]
        chosen += [(name, (1 << 20,)) for name in named if name not in [work[0] for work in chosen]]
    if settings.sizes:
        sizes = [parse_size(text) for text in settings.sizes]
        chosen = [(name, size) for name in dict.fromkeys(work[0] for work in chosen) for size in sizes]
    facts = machine.facts()
    print(f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']}; {lw.ones((1,)).backend}")
    rows: list[tuple[str, ...]] = [("", "1 thread", f"{number} threads", "faster", "median", "firm")]
    rows += [_row(work, number, settings) for work in chosen]
    print(table(rows))
    return 0


def _contestants(work: Work, most: int) -> list[Contestant]:
    """Returns two contestants that make the same call: on one thread and on `most` threads."""
    name, size = work
    case = build(operations.find(name), size)
    contestants = []
    for number in (1, most):
        call = on_backend(case, str(lw.ones((1,)).backend))
        contestants.append(Contestant(str(number), call.expression, call.names, partial(threads, number)))
    return contestants


def _row(work: Work, most: int, settings: Settings) -> tuple[str, ...]:
    contestants = _contestants(work, most)
    one, several = measure(contestants, repeats=settings.repeats, sample_seconds=settings.seconds)
    faster = ratio(one, several)
    label = f"{work[0]} {' x '.join(f'{extent:,}' for extent in work[1])}"
    times = (duration(one.minimum), duration(several.minimum), f"{faster.minimum:.2f}", f"{faster.median:.2f}")
    return (label, *times, str(FIRM.get(work, "")))
