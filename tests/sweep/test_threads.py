"""Tests that results are bit-identical for any number of threads, for every operation on large inputs, because only
shapes determine how work is split. This also holds if the contract lets instruction sets give different bits."""

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
SIZES |= {"matvec": (1500,), "vecmat": (1500,), "outer": (700,)}  # by operation
ELEMENTS = (300_001,)
DRAWN = ("rand", "randn")  # operations that return different numbers in every call


@pytest.fixture(autouse=True)
def number() -> Iterator[None]:
    before = lw.get_num_threads()
    yield
    lw.set_num_threads(before)


def bits(result: object) -> list[bytes]:
    several = result if isinstance(result, list | tuple) else [result]
    return [each.tobytes() for each in several]


@pytest.mark.contracts(lambda contract: not contract.internal and contract.operation not in DRAWN)
def test_threads_do_not_change_results(contract: Contract) -> None:
    operation = operations.find(contract.operation)
    size = SIZES.get(operation.name, SIZES.get(operation.kind, ELEMENTS))
    dtypes = sorted(ITEM_BYTES.keys() & operation.dtypes.keys()) if operation.inputs else []
    for dtype in dtypes or ["float32"]:
        case = build(operation, size, dtype)
        call = on_backend(case, lw.ones((1,)).backend)
        lw.set_num_threads(1)
        expected = bits(call.run())
        for threads in (2, 3, 8):
            lw.set_num_threads(threads)
            assert bits(call.run()) == expected, (dtype, threads)


@pytest.mark.parametrize(
    "shapes",
    [
        [(17, 130, 70), (17, 70, 90)],  # each task computes a whole product
        [(3, 200, 300), (3, 300, 100)],  # one product after another, each split into tasks
        [(40, 33, 20), (20, 70)],
        [(1, 3000), (3000, 5000)],
        [(5000, 3000), (3000,)],
    ],
    ids=str,
)
def test_products(shapes: list[tuple[int, ...]]) -> None:
    x, y = (lw.rand(shape, seed=seed) for seed, shape in enumerate(shapes))
    results = []
    for threads in (1, 2, 3, 8):
        lw.set_num_threads(threads)
        results.append(bits(lw.matmul(x, y)))
    assert results.count(results[0]) == 4


def test_batches_of_convolutions() -> None:
    x, weight = lw.rand((20, 8, 40, 40)), lw.rand((16, 8, 3, 3))
    results = []
    for threads in (1, 2, 3, 8):
        lw.set_num_threads(threads)
        results.append(bits(lw.conv2d(x, weight)))
    assert results.count(results[0]) == 4


@pytest.mark.parametrize("draw", DRAWN)
def test_random_numbers(draw: str) -> None:
    results = []
    for threads in (1, 2, 3, 8):
        lw.set_num_threads(threads)
        results.append(bits(getattr(lw, draw)(ELEMENTS, seed=5)))
    assert results.count(results[0]) == 4


@pytest.mark.parametrize("axis", [0, 1])
def test_first_index_out_of_range_is_reported(axis: int) -> None:
    indices = lw.zeros((400_000,), dtype=lw.int32)
    indices[350_000:] = 7
    indices[123_456] = -9
    indices[200_000:200_100] = 8
    x = lw.zeros((4, 4))
    for threads in (1, 2, 8):
        lw.set_num_threads(threads)
        for _ in range(20):
            with pytest.raises(lw.IndexOutOfRangeError, match=r"expected indices within .*, got -9"):
                lw.take(x, indices, axis=axis)
