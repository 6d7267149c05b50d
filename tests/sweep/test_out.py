"""out=: the result goes where it is told to, or the call says why not."""

import calls
import numpy as np
import pytest
from judge import as_array, bits

import lanewise as lw


def first_case(oracle, dtype):
    """One that has elements."""
    cases = [case for case in oracle.cases if case.computed_dtype == dtype and case.reference.size]
    return max(cases, key=lambda case: case.reference.size > 1)


@pytest.mark.contracts(lambda contract: contract.kind.has_out and not contract.internal)
def test_out(contract, dtype, backend, oracle):
    case = first_case(oracle, dtype)
    wanted = calls.run(contract, case)
    function = getattr(lw, contract.operation)
    arguments, keywords = calls.arguments(contract, case), calls.keywords(case)
    for shape in ((*wanted.shape, 2), (2, *wanted.shape), ()):
        if shape != wanted.shape:
            with pytest.raises(lw.ShapeError, match=f"^{contract.operation}: .*out"):
                function(*arguments, **keywords, out=lw.zeros(shape, wanted.dtype.name))
    other = "int64" if wanted.dtype != "int64" else "int32"
    with pytest.raises(lw.DTypeError, match=f"^{contract.operation}: .*out"):
        function(*arguments, **keywords, out=lw.zeros(wanted.shape, other))
    out = lw.full(wanted.shape, 1, wanted.dtype.name)
    assert function(*arguments, **keywords, out=out) is out
    assert np.array_equal(bits(np.asarray(out)), bits(wanted))


@pytest.mark.contracts(lambda contract: contract.kind.name == "elementwise" and not contract.internal)
def test_an_input_may_be_out(contract, dtype, backend, oracle):
    case = first_case(oracle, dtype)
    wanted = calls.run(contract, case)
    arguments = calls.arguments(contract, case)
    for position, each in enumerate(case.inputs):
        if each is not None and each.dtype == wanted.dtype and each.shape == wanted.shape:
            inputs = list(arguments)
            inputs[position] = lw.asarray(as_array(each).copy())
            result = getattr(lw, contract.operation)(*inputs, **calls.keywords(case), out=inputs[position])
            assert result is inputs[position]
            assert np.array_equal(bits(np.asarray(result)), bits(wanted))


@pytest.mark.contracts(lambda contract: contract.kind.has_out and not contract.internal)
def test_out_that_may_not_be_written(contract, backend, oracle):
    case = first_case(oracle, contract.computed[-1])
    wanted = calls.run(contract, case)
    locked = np.zeros(wanted.shape, wanted.dtype)
    locked.flags.writeable = False
    gaps = lw.zeros((*wanted.shape, 2), wanted.dtype.name)[..., 0]
    refused = [(lw.asarray(locked), lw.ReadOnlyError), (gaps, lw.LanewiseError)]
    for out, error in refused if wanted.size > 1 else refused[:1]:  # one element has no gaps
        with pytest.raises(error, match=f"^{contract.operation}: .*out"):
            getattr(lw, contract.operation)(*calls.arguments(contract, case), **calls.keywords(case), out=out)
