"""Tests that results are bit-identical for any number of threads, for every operation on large inputs, because only
shapes determine how work is split. This also holds if the contract lets instruction sets give different bits.

Calls are divided among as many threads as are set, however short they are. Where there are fewer processors, so many
threads do not run at once, but the work is split into tasks for all of them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from generator.schema import Contract

import lanewise as lw
from lanewise import _ext
from lanewise.backends import libraries
from lanewise.costs.calibration import using_costs
from native import compiler
from tests.bench.runner import on_backend
from tests.cases import operations
from tests.cases.cases import build
from tests.cases.inputs import ITEM_BYTES

THREADS = (2, 3, 7, 8, 16)  # whose results are compared with those of one thread
SIZES = {"matrix": (300,), "window": (3, 30, 40, 41), "attention": (3, 500, 40), "eigen": (150,)}  # by kind
SIZES |= {"matvec": (1500,), "vecmat": (1500,), "outer": (700,)}  # by operation
ELEMENTS = (300_001,)
LONG_ROWS = [(1, 300_001), (5, 70_001)]  # if there are fewer rows than threads, each long row is divided
DRAWN = ("rand", "randn")  # operations that return different numbers in every call


@pytest.fixture(autouse=True)
def divided() -> Iterator[None]:
    """Lets a thread cost next to nothing, or else calls as short as most of these would run on one thread."""
    before = lw.get_num_threads()
    with using_costs(spinning=1.0, sleeping=1.0):
        yield
    lw.set_num_threads(before)


def bits(result: object) -> list[bytes]:
    several = result if isinstance(result, list | tuple) else [result]
    return [each.tobytes() for each in several]


def compare(call: Callable[[], object], what: object = None) -> None:
    """Makes a call on each number of threads, and compares the bits of its results with those of one thread."""
    lw.set_num_threads(1)
    expected = bits(call())
    for threads in THREADS:
        lw.set_num_threads(threads)
        same = bits(call()) == expected
        assert same, (what, threads)


def compare_dtypes(name: str, size: tuple[int, ...]) -> None:
    """Compares the results of an operation on inputs of this size, in each dtype that it computes in."""
    operation = operations.find(name)
    dtypes = sorted(ITEM_BYTES.keys() & operation.dtypes.keys()) if operation.inputs else []
    for dtype in dtypes or ["float32"]:
        compare(on_backend(build(operation, size, dtype), lw.ones((1,)).backend).run, dtype)


@pytest.mark.contracts(lambda contract: not contract.internal and contract.operation not in DRAWN)
def test_threads_do_not_change_results(contract: Contract) -> None:
    operation = operations.find(contract.operation)
    compare_dtypes(operation.name, SIZES.get(operation.name, SIZES.get(operation.kind, ELEMENTS)))


@pytest.mark.parametrize("shape", LONG_ROWS, ids=str)
@pytest.mark.contracts(lambda contract: contract.kind.name in ("rows", "sort") or contract.operation == "topk")
def test_long_rows(contract: Contract, shape: tuple[int, ...]) -> None:
    compare_dtypes(contract.operation, shape)


def bounds(length: int, part: int, parts: int) -> tuple[int, int]:
    """Returns the first and the last index of one of several parts of a row."""
    return part * length // parts, (part + 1) * length // parts - 1


def test_selection_near_the_bounds_of_parts() -> None:
    """The largest elements of a long row are those at both ends of each part from which topk selects results."""
    (length,) = ELEMENTS
    x = lw.zeros(length)
    ends = {end for threads in THREADS for part in range(threads) for end in bounds(length, part, threads)}
    for value, end in enumerate(sorted(ends), 1):
        x[end] = value
    compare(lambda: lw.topk(x, len(ends)))


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
    compare(lambda: lw.matmul(x, y))


def test_batches_of_convolutions() -> None:
    x, weight = lw.rand((20, 8, 40, 40)), lw.rand((16, 8, 3, 3))
    compare(lambda: lw.conv2d(x, weight))


@pytest.mark.parametrize("draw", DRAWN)
def test_random_numbers(draw: str) -> None:
    compare(lambda: getattr(lw, draw)(ELEMENTS, seed=5))


@pytest.fixture
def division(tmp_path: Path) -> Iterator[Callable[[], list[int]]]:
    """A function that makes a call of the kernel in division.c, and returns its numbers of threads and tasks."""
    library = tmp_path / "division.so"
    words = ["-O2", "-shared", "-fPIC", "-ffreestanding", "-nostdlib", f"-I{libraries.DIRECTORY / 'include'}"]
    source = Path(__file__).with_name("division.c")
    subprocess.run([*compiler.choose().command, *words, source, "-o", library], check=True)
    with lw.use_backend("scalar"):
        x = lw.zeros(ELEMENTS, dtype=lw.int32)
        _ext.open_library(str(library), "scalar", None)
        yield lambda: memoryview(lw.negative(x))[:2].tolist()
        _ext.open_library(str(libraries.checked_path("scalar")), "scalar", None)


def test_calls_are_divided_among_the_threads_that_are_set(division: Callable[[], list[int]]) -> None:
    """Even if there are fewer processors: the tasks are those of a machine that has enough."""
    for number in (1, *THREADS):
        lw.set_num_threads(number)
        threads, tasks = division()
        assert threads == number
        assert tasks >= number
        assert tasks % number == 0


@pytest.mark.parametrize("axis", [0, 1])
def test_first_index_out_of_range_is_reported(axis: int) -> None:
    indices = lw.zeros((400_000,), dtype=lw.int32)
    indices[350_000:] = 7
    indices[123_456] = -9
    indices[200_000:200_100] = 8
    x = lw.zeros((4, 4))
    for threads in (1, *THREADS):
        lw.set_num_threads(threads)
        for _ in range(20):
            with pytest.raises(lw.IndexOutOfRangeError, match=r"expected indices within .*, got -9"):
                lw.take(x, indices, axis=axis)
