"""Tests the keyword `out`: the call writes its result to that tensor, or is rejected."""

import calls
import numpy as np
import pytest
from judge import as_array, bits
from tested import is_left_to_the_cpu

import lanewise as lw


def first_case(oracle, dtype):
    """Returns the first case with several elements in its result, or with one if no case has more."""
    cases = [case for case in oracle.cases if case.computed_dtype == dtype and case.reference.size]
    return max(cases, key=lambda case: case.reference.size > 1)


@pytest.mark.contracts(lambda contract: contract.has_out and not contract.internal)
def test_out(contract, dtype, backend, oracle):
    case = first_case(oracle, dtype)
    expected = calls.run(contract, case)
    function = getattr(lw, contract.operation)
    arguments, keywords = calls.arguments(contract, case), case.keywords
    for shape in ((*expected.shape, 2), (2, *expected.shape), ()):
        if shape != expected.shape:
            with pytest.raises(lw.ShapeError, match=f"^{contract.operation}: .*out"):
                function(*arguments, **keywords, out=lw.zeros(shape, expected.dtype.name))
    other = "int64" if expected.dtype != "int64" else "int32"
    with pytest.raises(lw.DTypeError, match=f"^{contract.operation}: .*out"):
        function(*arguments, **keywords, out=lw.zeros(expected.shape, other))
    out = lw.full(expected.shape, 1, expected.dtype.name)
    assert function(*arguments, **keywords, out=out) is out
    assert np.array_equal(bits(np.asarray(out)), bits(expected))


@pytest.mark.contracts(lambda contract: contract.kind.in_place != "none" and not contract.internal)
def test_in_place(contract, dtype, backend, oracle):
    case = first_case(oracle, dtype)
    expected = calls.run(contract, case)
    arguments = calls.arguments(contract, case)
    for position, each in enumerate(case.inputs[: 1 if contract.kind.in_place == "first" else None]):
        if each is not None and each.dtype == expected.dtype and each.shape == expected.shape:
            inputs = list(arguments)
            inputs[position] = lw.asarray(as_array(each).copy())
            result = getattr(lw, contract.operation)(*inputs, **case.keywords, out=inputs[position])
            assert result is inputs[position]
            assert np.array_equal(bits(np.asarray(result)), bits(expected))


@pytest.mark.contracts(lambda contract: contract.kind.in_place == "first" and not contract.internal)
def test_in_place_along_every_axis(contract, dtype, backend):
    """`out` may be the first input, even if rows take several blocks or are strided, or if values must be rescaled."""
    function = getattr(lw, contract.operation)
    for shape in ((3, 2500), (1200, 6), (2, 40, 8)):
        for axis in range(len(shape) - (contract.kind.name == "rotation")):
            whole = np.random.default_rng(5).uniform(-9, 9, shape)
            whole.reshape(-1)[::1000] *= 1e30 if dtype == "float32" else 1e3
            x = whole.astype(dtype)
            others = [np.linspace(0.5, 2, shape[axis], dtype=dtype) for _ in contract.inputs[1:]]
            expected = function(lw.asarray(x), *others, axis=axis)
            out = lw.asarray(x.copy())
            assert function(out, *others, axis=axis, out=out) is out
            assert np.array_equal(bits(np.asarray(out)), bits(np.asarray(expected)))


@pytest.mark.contracts(lambda contract: contract.kind.in_place == "first" and not contract.internal)
def test_out_that_overlaps_an_input_is_rejected(contract, dtype, backend):
    if is_left_to_the_cpu(backend, dtype, contract.kernel(dtype)):
        return  # which reads copies of the inputs
    function = getattr(lw, contract.operation)
    memory = lw.ones((5, 4), dtype=dtype)
    for x, out in ((memory[:4], memory[1:]), (memory[:4, ::-1], memory[:4]), (memory[:4].mT, memory[:4])):
        with pytest.raises(
            lw.ArgumentError, match=f"^{contract.operation}: expected an out that shares no memory .* overlaps input 1"
        ):
            function(x, axis=0, out=out)
    for position in range(1, len(contract.inputs)):
        row = lw.ones(4, dtype=dtype)
        others = [row if each == position else None for each in range(1, len(contract.inputs))]
        with pytest.raises(
            lw.ArgumentError,
            match=f"^{contract.operation}: expected an out that shares no memory .* overlaps input {position + 1}",
        ):
            function(lw.ones(4, dtype=dtype), *others, out=row)


@pytest.mark.contracts(lambda contract: contract.has_out and not contract.internal)
def test_out_that_is_not_writable(contract, backend, oracle):
    case = first_case(oracle, contract.computed[-1])
    expected = calls.run(contract, case)
    locked = lw.broadcast_to(lw.zeros(expected.shape, expected.dtype.name), expected.shape)
    gaps = lw.zeros((*expected.shape, 2), expected.dtype.name)[..., 0]
    rejected = [(locked, lw.ReadOnlyError), (gaps, lw.LanewiseError)]
    for out, error in rejected if expected.size > 1 else rejected[:1]:  # gaps need at least two elements
        with pytest.raises(error, match=f"^{contract.operation}: .*out"):
            getattr(lw, contract.operation)(*calls.arguments(contract, case), **case.keywords, out=out)


@pytest.mark.parametrize("name", ["matvec", "vecmat"])
def test_out_of_several_vectors(name, backend):
    """matvec and vecmat internally add an axis to `out` and remove it again, but errors describe the caller's `out`."""
    matrices, vectors, function = lw.rand((2, 1, 3, 3), seed=1), lw.rand((2, 4, 3), seed=2), getattr(lw, name)
    inputs = (matrices, vectors) if name == "matvec" else (vectors, matrices)
    out = lw.zeros((2, 4, 3))
    assert function(*inputs, out=out) is out
    assert np.array_equal(bits(np.asarray(out)), bits(np.asarray(function(*inputs))))
    for other, error, message in (
        (lw.zeros((2, 4, 3, 1)), lw.ShapeError, r"expected out of shape \(2, 4, 3\), got \(2, 4, 3, 1\)"),
        (lw.zeros((2, 3, 4)).mT, lw.ArgumentError, "expected a contiguous tensor for out"),
        (vectors, lw.ArgumentError, "expected an out that shares no memory"),
        ([0.0], lw.ArgumentTypeError, r"expected a tensor for out, got \[0\.0\]"),
    ):
        with pytest.raises(error, match=f"^{name}: {message}"):
            function(*inputs, out=other)
    with pytest.raises(lw.ShapeError, match=f"^{name}: expected batch dimensions"):
        function(*(each[:, :0] if each is vectors else lw.rand((3, 1, 3, 3)) for each in inputs), out=out)
