"""The launches of each operation: how many operands they read, how many bytes they move, and how many FLOPs they do.

The benchmark's case of an operation states these numbers, too, from its arguments and from the contract.
"""

from __future__ import annotations

from functools import partial

import pytest

import lanewise as lw
from lanewise import _ext
from tests.bench.peers import convert
from tests.bench.runner import tensor
from tests.cases import cases, operations

OPERATIONS = operations.load()
SINGLE = [name for name, each in OPERATIONS.items() if each.kind not in ("composed", "view")]
# The composed operations that state FLOPs. All their FLOPs are in one launch.
PRODUCTS = [name for name, each in OPERATIONS.items() if each.kind == "composed" and "flops" in each.bench]
SIZES = {"small": 256, "large": 4096}
LARGEST = {"matrix": 128, "window": 24, "attention": 160, "eigen": 48}  # by kind, where time grows faster than size
# Operands, and elements of the dtype, that a launch reads in addition to the arrays of the case, and why. No launch of
# a case reads less: those of take and searchsorted do if they have fewer steps than elements (test_sparse_reads).
MORE = {"clip": (2, 2)}  # the limits are two numbers


def build(name: str, size: str, dtype: str | None = None) -> cases.Case:
    operation = OPERATIONS[name]
    largest = LARGEST.get(operation.kind, 128 if name in PRODUCTS else SIZES[size])
    return cases.build(operation, (min(SIZES[size], largest),), dtype)


def launches(case: cases.Case) -> list[tuple[str, tuple[int, int, int, int]]]:
    """Returns what the call of a case launches."""
    arguments = convert(case.arguments, partial(tensor, place="wgpu"))
    with lw.use_backend("wgpu"):
        _ext.launches()
        result = getattr(lw, case.operation.name)(*arguments, **case.keywords)
        done = _ext.launches()
    written = sum(each.size for each in result) if isinstance(result, tuple) else result.size
    assert written == case.result
    return done


def assert_plan(case: cases.Case) -> None:
    """Compares the only launch of a case with the case."""
    name = case.operation.name
    [(launched, (operands, steps, moved, flops))] = launches(case)
    more_operands, more_elements = MORE.get(name, (0, 0))
    assert launched == name
    assert operands == len(case.inputs) + more_operands
    assert case.bytes is not None and moved == case.bytes + more_elements * cases.ITEM_BYTES[case.dtype]
    assert steps > 0
    if case.flops is not None:
        assert flops == case.flops


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", SINGLE)
def test_operands_bytes_and_flops(name: str, size: str) -> None:
    assert_plan(build(name, size))


# Every other dtype of an operation. The value of full's case is a float, which becomes no integer.
DTYPES = [
    (name, dtype)
    for name in SINGLE
    for dtype in OPERATIONS[name].dtypes
    if dtype in cases.ITEM_BYTES and dtype != OPERATIONS[name].dtype and "dtype" not in OPERATIONS[name].bench
    if name != "full" or "int" not in dtype
]


@pytest.mark.parametrize(("name", "dtype"), DTYPES)
def test_operands_and_bytes_of_other_dtypes(name: str, dtype: str) -> None:
    assert_plan(build(name, "small", dtype))


@pytest.mark.parametrize("name", PRODUCTS)
def test_flops_of_composed_operations(name: str) -> None:
    case = build(name, "small")
    done = launches(case)
    assert max(flops for _, (_, _, _, flops) in done) == case.flops


def test_every_kind_is_here() -> None:
    """Composed operations launch those of the other kinds, and views launch nothing."""
    kinds = {each.kind for each in OPERATIONS.values()}
    assert {OPERATIONS[name].kind for name in SINGLE} == kinds - {"composed", "view"}
    counted = {name for name, each in OPERATIONS.items() if build(name, "small").flops is not None}
    assert counted <= {*SINGLE, *PRODUCTS} and len(counted) > 10
    for name in sorted(name for name, each in OPERATIONS.items() if each.kind == "view" and name != "split"):
        arguments = convert(build(name, "small").arguments, partial(tensor, place="wgpu"))
        _ext.launches()
        getattr(lw, name)(*arguments, **build(name, "small").keywords)
        assert _ext.launches() == [], name


def test_sparse_reads() -> None:
    """A launch counts each element of an operand at most once a step, so that indices into a large array are cheap."""
    x = lw.zeros(10_000).to("wgpu")
    indices = lw.asarray([1, 2, 3], dtype=lw.int32).to("wgpu")
    _ext.launches()
    lw.take(x, indices)
    lw.searchsorted(x, x[:2])
    x[::100] + 1
    assert [(name, moved) for name, (_, _, moved, _) in _ext.launches()] == [
        ("take", 3 * (4 + 4 + 4)),
        ("searchsorted", 2 * (14 * 4 + 4 + 4)),  # 14 comparisons for each element of x2
        ("add", 100 * (4 + 4) + 4),
    ]
