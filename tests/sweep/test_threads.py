"""The number of threads changes no bit: every operation on large inputs, whether its contract promises the same bits on
all instruction sets or not, because tasks are cut by shapes alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from generator.schema import Contract

import lanewise as lw
from tests.bench import operations
from tests.bench.cases import build
from tests.bench.inputs import ITEM_BYTES
from tests.bench.runner import on_backend

SIZES = {"matrix": (300,), "window": (3, 30, 40, 41), "attention": (3, 500, 40), "eigen": (150,)}  # by kind
SIZES |= {"matvec": (1500,), "vecmat": (1500,), "outer": (700,)}
ELEMENTS = (300_001,)
DRAWN = ("rand", "randn")  # each call has numbers of its own


@pytest.fixture(autouse=True)
def number() -> Iterator[None]:
    before = lw.get_num_threads()
    yield
    lw.set_num_threads(before)


def bits(result: object) -> list[bytes]:
    several = result if isinstance(result, list | tuple) else [result]
    return [each.tobytes() for each in several]


@pytest.mark.contracts(lambda contract: not contract.internal and contract.operation not in DRAWN)
def test_the_number_of_threads_changes_no_bit(contract: Contract) -> None:
    operation = operations.find(contract.operation)
    size = SIZES.get(operation.name, SIZES.get(operation.kind, ELEMENTS))
    dtypes = sorted(ITEM_BYTES.keys() & operation.dtypes.keys()) if operation.inputs else []
    for dtype in dtypes or ["float32"]:
        case = build(operation, size, dtype)
        call = on_backend(case, lw.ones((1,)).backend)
        lw.set_num_threads(1)
        wanted = bits(call.run())
        for threads in (2, 3, 8):
            lw.set_num_threads(threads)
            assert bits(call.run()) == wanted, (dtype, threads)


@pytest.mark.parametrize(
    "shapes",
    [
        [(17, 130, 70), (17, 70, 90)],  # shared out whole
        [(3, 200, 300), (3, 300, 100)],  # one after another, each in tasks
        [(40, 33, 20), (20, 70)],
        [(1, 3000), (3000, 5000)],
        [(5000, 3000), (3000,)],
    ],
    ids=str,
)
def test_products(shapes: list[tuple[int, ...]]) -> None:
    x, y = (lw.rand(shape, seed=seed) for seed, shape in enumerate(shapes))
    found = []
    for threads in (1, 2, 3, 8):
        lw.set_num_threads(threads)
        found.append(bits(lw.matmul(x, y)))
    assert found.count(found[0]) == 4


def test_batches_of_convolutions() -> None:
    x, weight = lw.rand((20, 8, 40, 40)), lw.rand((16, 8, 3, 3))
    found = []
    for threads in (1, 2, 3, 8):
        lw.set_num_threads(threads)
        found.append(bits(lw.conv2d(x, weight)))
    assert found.count(found[0]) == 4


@pytest.mark.parametrize("draw", DRAWN)
def test_random_numbers(draw: str) -> None:
    found = []
    for threads in (1, 2, 3, 8):
        lw.set_num_threads(threads)
        found.append(bits(getattr(lw, draw)(ELEMENTS, seed=5)))
    assert found.count(found[0]) == 4


@pytest.mark.parametrize("axis", [0, 1])
def test_the_first_bad_index_is_named(axis: int) -> None:
    indices = lw.zeros((400_000,), dtype=lw.int32)
    indices[350_000:] = 7
    indices[123_456] = -9
    indices[200_000:200_100] = 8
    x = lw.zeros((4, 4))
    for threads in (1, 2, 8):
        lw.set_num_threads(threads)
        for _ in range(20):
            with pytest.raises(lw.IndexOutOfRangeError, match="index -9 is out of range"):
                lw.take(x, indices, axis=axis)
