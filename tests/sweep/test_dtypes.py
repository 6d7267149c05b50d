"""Tests the dtype that a call computes in and the one it returns: the promotions of README.md, and what is rejected."""

import itertools

import calls
import numpy as np
import pytest
from generator.schema import DTYPES, FLOATS
from judge import bits

import lanewise as lw

# An operation without a kernel for a dtype computes in the next dtype of this list for which it has a kernel.
ORDER = ("bool", "int32", "float32")


def promoted(*dtypes):
    """Returns the dtype that tensors of these dtypes are promoted to: the last in the order of DTYPES."""
    return max(dtypes, key=DTYPES.index)


def computed(contract, dtype):
    """Returns the dtype that a call computes in, or None if it is rejected."""
    if dtype in contract.computed:
        return dtype
    later = ORDER[ORDER.index(dtype) + 1 :] if dtype in ORDER else ()
    return next((each for each in later if each in contract.computed), None)


def tensors(contract, dtypes):
    """Returns tensors of ones, which every operation accepts. Inputs whose dtype the contract fixes keep it."""
    free = iter(dtypes)
    return [
        lw.asarray(np.ones((2, 2)[: each.ndim], each.dtype or next(free)))
        for each in contract.inputs
        if not each.optional
    ]


def free_inputs(contract):
    return sum(each.dtype is None and not each.optional for each in contract.inputs)


@pytest.mark.contracts(
    lambda contract: contract.kind.has_out and contract.kind.name not in ("window", "gather", "search")
)
def test_promotion(contract, backend):
    function = getattr(lw, contract.operation, None)
    if contract.internal:
        return
    for dtypes in itertools.product(DTYPES, repeat=min(free_inputs(contract), 2)):
        together = promoted(*dtypes)
        inputs = tensors(contract, [*dtypes, dtypes[-1]])
        expected = computed(contract, together)
        if expected is None:
            with pytest.raises(lw.DTypeError, match="astype"):
                function(*inputs, **calls.with_axis(contract))
        else:
            assert function(*inputs, **calls.with_axis(contract)).dtype == contract.result(expected), dtypes


@pytest.mark.contracts(lambda contract: contract.kind.name == "elementwise" and free_inputs(contract) == 2)
def test_python_numbers_are_weak(contract, dtype, backend):
    """A Python number takes the tensor's dtype, unless its type comes after the dtype in the order bool, int, float."""
    function = getattr(lw, contract.operation)
    number, dtypes = {"b": (True, DTYPES), "i": (1, DTYPES[1:]), "f": (1.0, FLOATS)}, None
    for kind, (value, dtypes) in number.items():
        if dtype in dtypes:
            inputs = tensors(contract, [dtype, dtype])
            result = function(*inputs[:-1], value)
            assert result.dtype == contract.result(dtype), kind


@pytest.mark.parametrize(("target", "source"), list(itertools.product(DTYPES, DTYPES)))
def test_casts_agree_with_numpy(target, source):
    """The values are representable in both dtypes, so only one result is correct."""
    values = np.array([0, 1, 1, 0, 1] if "bool" in (target, source) else [0, 1, -7, 100, -2048], source)
    result = np.asarray(lw.astype(lw.asarray(values), target))
    assert result.dtype == target
    assert np.array_equal(bits(result), bits(values.astype(target)))
