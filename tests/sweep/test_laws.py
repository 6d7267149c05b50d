"""Tests the laws of the contracts, which are properties written in Python, on inputs drawn from the operation's domain.
Also tests the calls that must raise errors according to the contracts."""

import math

import calls
import numpy as np
import pytest
from generator.draw import draw, indices
from judge import bits

import lanewise as lw

SHAPES = {
    "elementwise": (3, 37),
    "cast": (3, 37),
    "reduction": (5, 7, 11),
    "index_reduction": (5, 7, 11),
    "rows": (6, 41),
    "sort": (6, 41),
}
LARGEST = 5000  # elements


def shapes_of(contract):
    """Returns each input's shape in one of the contract's cases: among those with the most inputs, the largest with at
    most LARGEST elements. Without cases, returns default shapes."""

    def fullness(row):
        size = sum(math.prod(shape) for shape in row.inputs.values())
        return len(row.inputs), size if size <= LARGEST else 0

    if any(each.sequence for each in contract.inputs):
        return {}
    if contract.cases:
        return dict(max(contract.cases, key=fullness).inputs)
    shape = SHAPES.get(contract.kind.name, ())
    rows = contract.kind.name == "rows"
    return {each.name: shape if i == 0 or not rows else shape[-1:] for i, each in enumerate(contract.inputs)}


def inputs_of(contract, dtype):
    shapes = shapes_of(contract)
    made = {}
    for each in contract.inputs:
        if each.sequence or each.name not in shapes:
            continue
        if contract.kind.name == "gather" and each.dtype:
            array = indices(min(shapes[contract.inputs[0].name]), shapes[each.name], "law")
        else:
            array = draw(contract, each.name, dtype, shapes[each.name], "law")
        made[each.name] = lw.asarray(array)
    return made


def arrays_of(result):
    """Returns a list of arrays from a tensor or a tuple of tensors."""
    return [np.asarray(each) for each in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.contracts(lambda contract: contract.laws)
def test_laws(contract, dtype, backend, compared):
    inputs = inputs_of(contract, dtype) if contract.inputs else {}
    names = {"op": getattr(lw, contract.operation), "lw": lw, "np": np, **inputs}
    compared.dtypes |= {dtype for law in contract.laws if dtype in law.dtypes}
    broken = [
        f"{law.name}: {law.says}: {law.holds}"
        for law in contract.laws
        if dtype in law.dtypes and not (backend.is_gpu and law.name == "shares_memory")  # with NumPy's arrays
        if not np.asarray(eval(law.holds, names)).all()
    ]
    assert not broken, "\n".join(broken)


@pytest.mark.contracts(lambda contract: any(special.raises for special in contract.special))
def test_errors(contract, backend):
    for special in contract.special:
        if special.raises and backend.value not in special.unless:
            for dtype in special.dtypes:
                inputs = [
                    lw.asarray(np.array(special.inputs[each.name], each.dtype or dtype))
                    for each in contract.inputs
                    if each.name in special.inputs
                ]
                with pytest.raises(getattr(lw, special.raises), match=f"^{contract.operation}: .*[a-z]{{3}}"):
                    getattr(lw, contract.operation)(*inputs, **special.parameters)


@pytest.mark.contracts(lambda contract: not contract.internal)
def test_aliases_and_methods(contract, backend):
    """The aliases and methods of an operation exist, and its methods give its results."""
    for name in contract.names:
        assert callable(getattr(lw, name))
        assert hasattr(lw.Tensor, name) == contract.method
    if not contract.method or any(each.required for each in contract.parameters):
        return
    inputs = list(inputs_of(contract, contract.computed[-1]).values())
    keywords = calls.with_axis(contract)
    expected = arrays_of(getattr(lw, contract.operation)(*inputs, **keywords))
    for name in contract.names:
        results = arrays_of(getattr(inputs[0], name)(*inputs[1:], **keywords))
        for result, other in zip(results, expected, strict=True):
            assert np.array_equal(bits(result), bits(other))
