"""Tests operations from Python against the expected results in the oracle's files: sizes around vector widths,
broadcasts, axes, special values. Also tests that CPU backends give the same bits, where a contract promises it."""

import calls
import numpy as np
import pytest
from generator.draw import draw
from judge import bits, complaint
from tested import HOSTS, is_left_to_the_cpu

import lanewise as lw
from tests.bench.peers import convert
from tests.bench.runner import tensor
from tests.cases import operations
from tests.cases.cases import build

LARGE = (300_001,)
LARGE_BY_KIND = {"window": (3, 30, 40, 41), "eigen": (150,)}
LARGE_BY_NAME = {"outer": (700,)}
STREAMS = ("rand", "randn")  # operations that need a seed, which benchmark cases do not have


def of_dtype(oracle, dtype):
    return [case for case in oracle.cases if case.computed_dtype == dtype]


@pytest.mark.contracts(lambda contract: contract.reference and not contract.internal)
def test_results(contract, dtype, backend, oracle, compared):
    cases = of_dtype(oracle, dtype)
    assert cases
    compared.dtypes.add(dtype)
    complaints = [
        complaint(case, calls.run(contract, case), backend.value) for case in cases if backend.value not in case.excused
    ]
    wrong = [each for each in complaints if each]
    assert not wrong, f"{len(wrong)} of {len(cases)} cases are wrong:\n" + "\n".join(wrong[:10])


def arrays_of(result):
    """Returns the results of a call as NumPy arrays. Errors that a device reports late are raised here."""
    return [np.asarray(each) for each in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.contracts(lambda contract: contract.reference and not contract.internal and contract.inputs)
def test_the_stride_of_an_axis_of_extent_1_does_not_matter(contract, backend, oracle):
    """It is arbitrary in a view such as x[:, None], which is contiguous all the same."""
    function, compared = getattr(lw, contract.operation), 0
    for case in oracle.cases:
        first, *others = calls.arguments(contract, case)
        if not isinstance(first, lw.Tensor) or not 2 <= first.ndim <= 4 or first.size > 1000 or not first.size:
            continue
        for axis in range(first.ndim):
            one = first[(slice(None),) * axis + (slice(1),)].copy()
            view = lw.expand_dims(lw.squeeze(one, axis=axis), axis=axis)
            try:
                expected = arrays_of(function(one, *others, **case.keywords))
            except lw.LanewiseError:  # the others do not suit a first input of this shape
                continue
            result = arrays_of(function(view, *others, **case.keywords))
            for got, right in zip(result, expected, strict=True):
                assert np.array_equal(bits(got), bits(right)), (case.name, axis)
            compared += 1
    if contract.operation in ("add", "linear", "matmul", "softmax", "sum", "conv2d"):
        assert compared, "no case has an axis that can be shortened"


# Operations that read a tensor although the contract declares no fallback: why
READS = {"repeat": "the shape of the result depends on the elements of repeats"}


@pytest.mark.contracts(
    lambda contract: contract.reference and not contract.internal and contract.operation not in READS
)
def test_a_gpu_computes_without_the_cpu(contract, gpu, oracle, compared):
    """No tensor is read back to compute a result: there is a kernel for every case, except in operations and dtypes
    that the contracts leave to the CPU."""
    for case in oracle.cases:
        if gpu.value not in case.excused:
            arguments, keywords, dtype = calls.arguments(contract, case), case.keywords, case.computed_dtype
            before = lw.memory_stats()["readbacks"]
            getattr(lw, contract.operation)(*arguments, **keywords)
            if lw.memory_stats()["readbacks"] != before:
                assert contract.fallback or is_left_to_the_cpu(gpu, dtype, case.kernel), case.name
                compared.left.add(dtype)


def assert_same_bits(call, what):
    """Asserts that a call, which returns one tensor or several, gives the same bits on every CPU backend."""
    first = None
    for backend in HOSTS:
        with lw.use_backend(backend):
            results = call()
        several = results if isinstance(results, list | tuple) else [results]
        found = [bits(np.asarray(each)) for each in several]
        first = first or found
        same = [np.array_equal(*each) for each in zip(found, first, strict=True)]
        assert all(same), f"{what}: {backend} differs from {HOSTS[0]}"


@pytest.mark.contracts(lambda contract: contract.reproducible and contract.reference and not contract.internal)
def test_same_bits_on_every_cpu_backend(contract, dtype, oracle):
    for case in of_dtype(oracle, dtype):
        assert_same_bits(lambda case=case: calls.run(contract, case), case.name)


@pytest.mark.contracts(lambda contract: contract.reproducible and not contract.internal)
def test_same_bits_of_large_inputs(contract, dtype):
    """All CPU backends give the same bits, also for inputs so large that kernels split their work into tasks."""
    function = getattr(lw, contract.operation)
    if contract.operation in STREAMS:
        assert_same_bits(lambda: function(LARGE, seed=5, offset=3), LARGE)
    elif contract.kind.name == "cast":
        x = lw.asarray(draw(contract, "x", dtype, LARGE, "large"))
        for target in contract.computed:
            assert_same_bits(lambda target=target: function(x, target), target)
    elif contract.kind.name == "elementwise":
        arrays = [lw.asarray(draw(contract, each.name, dtype, LARGE, "large")) for each in contract.inputs]
        assert_same_bits(lambda: function(*arrays), LARGE)
    elif contract.inputs or dtype == "float32":  # tests/models tests creation operations in other dtypes
        size = LARGE_BY_NAME.get(contract.operation, LARGE_BY_KIND.get(contract.kind.name, LARGE))
        case = build(operations.find(contract.operation), size, dtype)
        arguments = convert(case.arguments, tensor)
        assert_same_bits(lambda: function(*arguments, **case.keywords), size)


@pytest.mark.contracts(
    lambda contract: (
        contract.reproducible
        and contract.kind.name.endswith("reduction")
        and any(each.type == "axis" for each in contract.parameters)
    )
)
def test_same_bits_of_large_reductions(contract, dtype):
    """All CPU backends give the same bits for reductions of many blocks on many threads, along any axes."""
    arrays = [draw(contract, each.name, dtype, (5, 200_003), "large") for each in contract.inputs]
    function = getattr(lw, contract.operation)
    for axis in (0, 1, None):
        assert_same_bits(lambda axis=axis: function(*map(lw.asarray, arrays), axis=axis), f"axis {axis}")
