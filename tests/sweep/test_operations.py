"""Tests operations from Python against the oracle: sizes around vector widths, broadcasts, axes, special values."""

import calls
import numpy as np
import pytest
from generator.draw import draw
from judge import bits, complaint
from tested import HOSTS

import lanewise as lw


def of_dtype(oracle, dtype):
    return [case for case in oracle.cases if case.computed_dtype == dtype]


@pytest.mark.contracts(lambda contract: contract.reference and not contract.internal)
def test_results(contract, dtype, backend, oracle):
    cases = of_dtype(oracle, dtype)
    assert cases
    complaints = [
        complaint(case, calls.run(contract, case), backend.value) for case in cases if backend.value not in case.excused
    ]
    wrong = [each for each in complaints if each]
    assert not wrong, f"{len(wrong)} of {len(cases)} cases are wrong:\n" + "\n".join(wrong[:10])


@pytest.mark.contracts(lambda contract: contract.reproducible and contract.reference and not contract.internal)
def test_same_bits_on_every_cpu_backend(contract, dtype, oracle):
    for case in of_dtype(oracle, dtype):
        results = []
        for backend in HOSTS:
            with lw.use_backend(backend):
                results.append(bits(calls.run(contract, case)))
        for backend, result in zip(HOSTS, results, strict=True):
            assert np.array_equal(result, results[0]), f"{case.name}: {backend} differs from {HOSTS[0]}"


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
        results = []
        for backend in HOSTS:
            with lw.use_backend(backend):
                results.append(bits(np.asarray(function(*map(lw.asarray, arrays), axis=axis))))
        for backend, result in zip(HOSTS, results, strict=True):
            assert np.array_equal(result, results[0]), f"axis {axis}: {backend} differs from {HOSTS[0]}"
