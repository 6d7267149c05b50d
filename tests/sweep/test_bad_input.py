"""What makes no sense is refused, whatever the operation: by an error of lanewise that names the operation.

From each contract comes a call that works; then one argument after another is given something that no operation of
its kind can take.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from judge import as_array
from test_laws import inputs_of
from tested import oracle_of

import lanewise as lw


class Odd:
    """No number, no index, no sequence."""

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

# By the type of a parameter: what is none.
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
    """What a parameter cannot be."""
    means_something = parameter.default is None or parameter.optional
    yield from (value for value in WRONG[parameter.type] if value is not None or not means_something)
    if parameter.name == "shape":
        yield from NO_SHAPE
    if parameter.for_kernel and parameter.type == "int":
        yield from BEYOND
    yield from beyond_limits(parameter)
    if parameter.type == "axes" and contract.operation != "roll":  # which adds up what it is told of one axis
        yield (0, 0)


def beyond_limits(parameter):
    """The numbers next to those that the contract allows, and those that no float parameter may be."""
    if parameter.type == "float":
        yield from (10**400, math.nan, math.inf, -math.inf)
    if parameter.limits and parameter.limits.says:
        is_int = parameter.type == "int"
        yield int(parameter.limits.low) - 1 if is_int else math.nextafter(parameter.limits.low, -math.inf)
        if is_int and parameter.limits.high < math.inf:
            yield int(parameter.limits.high) + 1


def call_that_works(contract):
    """Inputs and parameters by name."""
    if contract.reference:
        cases = [case for case in oracle_of(contract.operation).cases if case.reference.size > 1]
        for case in cases:
            inputs = [None if each is None else as_array(each) for each in case.inputs]
            keywords = {name: tuple(v) if isinstance(v, list) else v for name, v in case.keywords.items()}
            if contract.inputs and contract.inputs[0].sequence:
                return [inputs], keywords
            return inputs, keywords
    parameters = dict(contract.cases[0].parameters) if contract.cases else {}
    return list(inputs_of(contract, contract.computed[-1]).values()) if contract.inputs else [], parameters


def complaint(contract, inputs, keywords, given):
    """What is wrong with the way in which a call is refused, or None."""
    try:
        result = getattr(lw, contract.operation)(*inputs, **keywords)
    except lw.LanewiseError as error:
        if re.match(rf"{contract.operation}: .*[a-z]{{3}}", str(error)):
            return None
        return f"{given}: says {type(error).__name__}: {error}"
    except Exception as error:
        return f"{given}: raises {type(error).__name__}: {error}"
    return f"{given}: gives {result!r:.80}"


def check(contract, replacements):
    """Calls in which one argument, a position or a name, is something else."""
    inputs, keywords = call_that_works(contract)
    assert getattr(lw, contract.operation)(*inputs, **keywords) is not None
    found = []
    for place, value in replacements:
        if isinstance(place, int):
            given = [value if number == place else each for number, each in enumerate(inputs)]
            found.append(complaint(contract, given, keywords, f"{contract.inputs[place].name}={value!r:.60}"))
        else:
            found.append(complaint(contract, inputs, {**keywords, place: value}, f"{place}={value!r:.60}"))
    found = [each for each in found if each]
    assert not found, "\n".join(found)


@pytest.mark.contracts(lambda contract: contract.inputs and not contract.internal)
def test_what_is_no_tensor(contract):
    wrong = []
    for place, each in enumerate(contract.inputs):
        values = [*NO_ARRAY, *([value] for value in NO_TENSOR), []] if each.sequence else NO_TENSOR
        wrong += [(place, value) for value in values if value is not None or not each.optional]
    check(contract, wrong)


@pytest.mark.contracts(lambda contract: contract.parameters and not contract.internal)
def test_what_is_no_parameter(contract):
    check(contract, [(each.name, value) for each in contract.parameters for value in wrong_values(contract, each)])


@pytest.mark.contracts(lambda contract: not contract.internal)
def test_names_that_there_are_not(contract):
    known = {"out": contract.has_out, "device": contract.device}
    check(contract, [(name, None) for name in ("nothing", "where", "out", "device") if not known.get(name)])


@pytest.mark.contracts(lambda contract: not contract.internal)
def test_too_few_and_too_many(contract):
    inputs, keywords = call_that_works(contract)
    found = [complaint(contract, [*inputs, *[1] * 9], keywords, "nine more positions")]
    needed = [each.name for each in contract.parameters if each.required]
    if needed or any(not each.optional for each in contract.inputs):
        found.append(complaint(contract, [], {}, "nothing"))
    found = [each for each in found if each]
    assert not found, "\n".join(found)


def recast(contract, inputs, dtype):
    """Ones in another dtype, but for inputs that have a dtype of their own."""
    if contract.inputs[0].sequence:
        return [[np.ones(each.shape, dtype) for each in inputs[0]]]
    pairs = zip(inputs, contract.inputs, strict=False)
    return [array if array is None or each.dtype else np.ones(array.shape, dtype) for array, each in pairs]


@pytest.mark.contracts(lambda contract: contract.dtypes and contract.inputs and not contract.internal)
def test_dtypes_that_do_not_compute(contract):
    """test_dtypes.py says which ones are promoted, kind by kind."""
    inputs, keywords = call_that_works(contract)
    inputs = [np.asarray(each) if isinstance(each, lw.Tensor) else each for each in inputs]
    for dtype in ("int64", "float16", "float64"):
        if dtype not in contract.computed:
            with pytest.raises(lw.DTypeError, match=f"^{contract.operation}: .*{dtype}.*astype"):
                getattr(lw, contract.operation)(*recast(contract, inputs, dtype), **keywords)


@pytest.mark.contracts(lambda contract: contract.inputs and not contract.internal)
def test_nothing_at_all(contract):
    """Inputs without elements: a result or an error, as the contract says; never a crash."""
    inputs, keywords = call_that_works(contract)
    if contract.inputs[0].sequence:
        inputs = [[each[..., :0] for each in inputs[0]]]
    for axis in range(max(np.ndim(each) for each in inputs if each is not None)):
        none = [np.take(each, [], axis) if each is not None and axis < np.ndim(each) else each for each in inputs]
        try:
            getattr(lw, contract.operation)(*none, **keywords)
        except lw.LanewiseError as error:
            assert str(error).startswith(f"{contract.operation}: ")


@pytest.mark.contracts(lambda contract: contract.has_out and not contract.internal)
def test_what_is_no_out(contract):
    """Shapes, dtypes and memory that do not fit are in test_out.py."""
    check(contract, [("out", value) for value in ("x", 1, np.zeros(2, "f4"), [0.0], Odd(), (lw.zeros(2),))])
