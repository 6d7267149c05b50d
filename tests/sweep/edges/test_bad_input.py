"""Tests that every operation rejects invalid arguments with a LanewiseError that names the operation.

Each contract provides a valid call; then one argument at a time is replaced by a value that is always invalid.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from generator.schema import FLOATS, INTEGERS
from judge import as_array
from test_laws import inputs_of
from tested import oracle_of

import lanewise as lw


class Odd:
    """An object that is neither a number nor an index nor a sequence."""

    def __repr__(self):
        return "<odd>"


NO_ARRAY = [None, "3", b"3", Odd(), {1.0}, {1: 2}, 1j, ..., len]
NO_TENSOR = [
    *(*NO_ARRAY, [1, "2"], [[1.0], [2.0, 3.0]], [Odd()]),
    *(np.ones((2, 2), "c8"), np.array(["1"]), np.array([Odd()]), np.zeros(2, "M8[s]"), np.zeros(2, "i4,f4")),
    *(np.ones((1,) * 9, "f4"), [[[[[[[[[1.0]]]]]]]]]),
]
NO_INT = [1.5, "1", b"1", Odd(), float("nan"), float("inf"), 1j, {1}, np.float32(1)]
NO_INTS = [None, *NO_INT, (1.5,), (Odd(),), [None], {1: 2}]
NO_NUMBER = [None, "1", Odd(), 1j, {1}, [1.0]]
NO_TRUTH = ["yes", 2.5, Odd(), [], np.ones(2)]
BEYOND = [2**63, -(2**63) - 1, 2**100]
NO_AXES = [*NO_INTS, *BEYOND, 8, -9, (0, 99)]
NO_PAIR = [*NO_INTS, *BEYOND, -1, (1, -1), (1, 2, 3), (1.5, 1)]

# Invalid values by type of parameter.
WRONG = {
    "axis": [*NO_AXES, (0,), (0, 0)],
    "axes": NO_AXES,
    "keepdims": NO_TRUTH,
    "float": NO_NUMBER,
    "int": NO_INTS,
    "bool": NO_TRUTH,
    "scalar": NO_NUMBER,
    "choice": ["nothing", "", 1, None, b"none", Odd()],
    "dtype": ["complex64", "nothing", 3, Odd(), np.dtype("c8"), complex],
    "shape": NO_INTS,
    "pair": [*NO_PAIR, (), 2**31],
    "pairs": [*NO_PAIR, (-1, 0), ((1, 2, 3),)],
}
NO_SHAPE = [*BEYOND, -2, (2, -2), (2**40, 2**40), (1,) * 65]


def wrong_values(contract, parameter):
    """Yields values that are invalid for a parameter of the contract."""
    none_is_valid = parameter.default is None or parameter.optional
    yield from (value for value in WRONG[parameter.type] if value is not None or not none_is_valid)
    if parameter.name == "shape":
        yield from NO_SHAPE
    if parameter.for_kernel and parameter.type == "int":
        yield from BEYOND
    yield from beyond_limits(parameter)
    if parameter.type == "axes" and contract.operation != "roll":  # roll allows repeated axes, whose shifts add up
        yield (0, 0)


def beyond_limits(parameter):
    """Yields a number just below the lower limit, and one just above an int's upper limit. For a float parameter, also
    yields NaN, infinities and a number too large for a float."""
    if parameter.type == "float":
        yield from (10**400, math.nan, math.inf, -math.inf)
    if parameter.limits and parameter.limits.says:
        is_int = parameter.type == "int"
        yield int(parameter.limits.low) - 1 if is_int else math.nextafter(parameter.limits.low, -math.inf)
        if is_int and parameter.limits.high < math.inf:
            yield int(parameter.limits.high) + 1


def valid_call(contract):
    """Returns inputs and parameters of a valid call."""
    if contract.reference:
        cases = [case for case in oracle_of(contract.operation).cases if case.reference.size > 1]
        for case in cases:
            inputs = [None if each is None else as_array(each) for each in case.inputs]
            return [inputs] if contract.inputs and contract.inputs[0].sequence else inputs, case.keywords
    parameters = dict(contract.cases[0].parameters) if contract.cases else {}
    return list(inputs_of(contract, contract.computed[-1]).values()) if contract.inputs else [], parameters


def complaint(contract, inputs, keywords, argument):
    """Returns None if a call raises a LanewiseError that names the operation, else a message."""
    try:
        result = getattr(lw, contract.operation)(*inputs, **keywords)
    except lw.LanewiseError as error:
        if re.match(rf"{contract.operation}: .*[a-z]{{3}}", str(error)):
            return None
        return f"{argument}: does not name the operation: {type(error).__name__}: {error}"
    except Exception as error:
        return f"{argument}: raises {type(error).__name__}: {error}"
    return f"{argument}: returns {result!r:.80}"


def check(contract, replacements):
    """Checks that a valid call succeeds, and that the operation rejects the same call with any one of the replacements.
    A replacement is (place, value), where place is an input's position or a keyword."""
    inputs, keywords = valid_call(contract)
    assert getattr(lw, contract.operation)(*inputs, **keywords) is not None
    complaints = []
    for place, value in replacements:
        if isinstance(place, int):
            changed = [value if number == place else each for number, each in enumerate(inputs)]
            complaints.append(complaint(contract, changed, keywords, f"{contract.inputs[place].name}={value!r:.60}"))
        else:
            complaints.append(complaint(contract, inputs, {**keywords, place: value}, f"{place}={value!r:.60}"))
    complaints = [each for each in complaints if each]
    assert not complaints, "\n".join(complaints)


@pytest.mark.contracts(lambda contract: contract.inputs and not contract.internal)
def test_invalid_tensors(contract):
    wrong = []
    for place, each in enumerate(contract.inputs):
        values = [*NO_ARRAY, *([value] for value in NO_TENSOR), []] if each.sequence else NO_TENSOR
        wrong += [(place, value) for value in values if value is not None or not each.optional]
    check(contract, wrong)


@pytest.mark.contracts(lambda contract: contract.parameters and not contract.internal)
def test_invalid_parameters(contract):
    check(contract, [(each.name, value) for each in contract.parameters for value in wrong_values(contract, each)])


@pytest.mark.contracts(lambda contract: not contract.internal)
def test_unknown_keywords(contract):
    known = {"out": contract.has_out, "device": contract.device}
    check(contract, [(name, None) for name in ("nothing", "where", "out", "device") if not known.get(name)])


@pytest.mark.contracts(lambda contract: not contract.internal)
def test_too_few_and_too_many_arguments(contract):
    inputs, keywords = valid_call(contract)
    complaints = [complaint(contract, [*inputs, *[1] * 9], keywords, "nine more arguments")]
    needed = [each.name for each in contract.parameters if each.required]
    if needed or any(not each.optional for each in contract.inputs):
        complaints.append(complaint(contract, [], {}, "nothing"))
    complaints = [each for each in complaints if each]
    assert not complaints, "\n".join(complaints)


def recast(contract, inputs, dtype):
    """Replaces each input, unless its dtype is fixed, by an array filled with 1 in another dtype."""
    if contract.inputs[0].sequence:
        return [[np.ones(each.shape, dtype) for each in inputs[0]]]
    pairs = zip(inputs, contract.inputs, strict=False)
    return [array if array is None or each.dtype else np.ones(array.shape, dtype) for array, each in pairs]


@pytest.mark.contracts(
    lambda contract: contract.dtypes and contract.inputs and not contract.internal and contract.kind.name != "composed"
)
def test_dtypes_without_kernels(contract):
    """An operation refuses a dtype that it does not accept, unless it is an integer dtype that becomes a float one. Its
    error suggests astype."""
    inputs, keywords = valid_call(contract)
    inputs = [np.asarray(each) if isinstance(each, lw.Tensor) else each for each in inputs]
    for dtype in INTEGERS + FLOATS:
        if dtype not in contract.dtypes and (dtype in FLOATS or "float64" not in contract.dtypes):
            with pytest.raises(lw.DTypeError, match=f"^{contract.operation}: .*{dtype}.*astype"):
                getattr(lw, contract.operation)(*recast(contract, inputs, dtype), **keywords)


@pytest.mark.contracts(lambda contract: contract.inputs and not contract.internal)
def test_empty_inputs(contract):
    """Inputs without elements give a result or a proper error, never a crash."""
    inputs, keywords = valid_call(contract)
    if contract.inputs[0].sequence:
        inputs = [[each[..., :0] for each in inputs[0]]]
    for axis in range(max(np.ndim(each) for each in inputs if each is not None)):
        empty = [np.take(each, [], axis) if each is not None and axis < np.ndim(each) else each for each in inputs]
        try:
            getattr(lw, contract.operation)(*empty, **keywords)
        except lw.LanewiseError as error:
            assert str(error).startswith(f"{contract.operation}: ")


@pytest.mark.contracts(lambda contract: contract.has_out and not contract.internal)
def test_invalid_out(contract):
    """An `out` that is not a tensor is refused. test_out.py tests `out` of the wrong shape, dtype or memory."""
    check(contract, [("out", value) for value in ("x", 1, np.zeros(2, "f4"), [0.0], Odd(), (lw.zeros(2),))])
