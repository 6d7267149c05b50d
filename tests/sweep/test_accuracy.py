"""Tests unary functions on float32 values of every exponent and sign, and at the argument with the largest error."""

import numpy as np
import pytest
from generator import oracle as generated
from generator.cases import Case
from judge import allowed, near, ratio

import lanewise as lw

STEP = 2**13 - 1  # distance between the tested bit patterns; prime, so that the low bits take all values


def whole(contract):
    return len(contract.inputs) == 1 and any(
        contract.range(contract.inputs[0].name, d).whole for d in contract.computed
    )


@pytest.mark.contracts(
    lambda contract: contract.kind.name == "elementwise" and not contract.internal and whole(contract)
)
def test_every_exponent(contract, backend):
    name = contract.inputs[0].name
    x = np.arange(0, 2**32, STEP, dtype="uint32").view("float32")
    x = x[np.isfinite(x)]
    bound = contract.accuracy("float32").judged_by(backend.value)
    for choice in contract.variants.stems if contract.variants else (None,):
        settings = {each.name: each.default for each in contract.parameters}
        if choice:
            variant = contract.variants.stems.index(choice)
            settings[contract.variants.parameter] = contract.parameter(contract.variants.parameter).choices[variant]
        expected = generated.expected(contract, Case("everywhere", "float32", {name: x}, settings))
        result = np.asarray(getattr(lw, contract.operation)(lw.asarray(x), **settings))
        good = near(result, expected, bound, 0.0, False)
        first = int(np.argmin(good))
        assert good.all(), (
            f"{np.count_nonzero(~good)} wrong, first at {x[first]!r}: "
            f"expected {expected[first]!r}, got {result[first]!r}"
        )


@pytest.mark.contracts(lambda contract: (found := contract.accuracy("float32").measured) and found.draws is None)
def test_the_largest_error_is_the_one_measured(contract, host):
    """At the argument for which the contract states its largest error, the error is that large, and not larger."""
    worst = contract.accuracy("float32").measured.of(host.value)
    x = np.array([worst.at], "float32").reshape(-1)
    settings = {each.name: each.default for each in contract.parameters} | dict(worst.parameters)
    expected = generated.expected(contract, Case("worst", "float32", {contract.inputs[0].name: x}, settings))
    result = np.asarray(getattr(lw, contract.operation)(lw.asarray(x), **settings))
    (error,) = ratio(result, expected, allowed(expected, "float32", worst.bound, 0.0))
    advice = "run: python tests/native/measure.py --write"
    assert 0.99 < error <= 1, f"{error:.3g} times what was measured at {worst.at}; {advice} {contract.operation}"
