"""Tests that in each contract (contracts/*.yaml) the results listed for special values match those of the reference
formula, and that examples and docstrings match the package."""

import doctest
from pathlib import Path

import numpy as np
import pytest
from generator import oracle
from generator.cases import cases
from generator.load import load_contracts

import lanewise as lw

CONTRACTS = load_contracts(Path(__file__).resolve().parents[2] / "contracts")
names = [contract.operation for contract in CONTRACTS]


@pytest.mark.parametrize("contract", CONTRACTS, ids=names)
def test_special_values_agree_with_references(contract):
    """Compares the results that contracts list for special inputs with those of their references, because a typo in a
    listed result would look like a wrong kernel."""
    for case in cases(contract) if contract.reference else ():
        if case.special:
            expected = oracle.expected(contract, case)
            drawn = type(case)(case.name, case.dtype, case.inputs, case.parameters)
            reference = np.broadcast_to(oracle.expected(contract, drawn), expected.shape)
            if expected.dtype.kind != "f":
                assert np.array_equal(expected, reference), case.name
                continue
            # References need not handle infinities and NaN, so compare only where both results are finite.
            with np.errstate(all="ignore"):
                finite = np.isfinite(reference) & np.isfinite(expected)
                near = np.abs(expected - reference) <= 1e-6 * np.abs(reference) + 1e-44
                near |= reference.astype(contract.result(case.dtype)) == expected
            assert near[finite].all(), f"{case.name}: expected {reference}, got {expected}"


@pytest.mark.parametrize("contract", [each for each in CONTRACTS if each.example], ids=lambda each: each.operation)
def test_examples_run(contract):
    test = doctest.DocTestParser().get_doctest(contract.example, {"lw": lw}, contract.operation, contract.path.name, 0)
    report = []
    doctest.DocTestRunner(verbose=False).run(test, out=report.append)
    assert not report, "".join(report)


# Operations whose axis is keyword-only, for example because it is so in NumPy or PyTorch (vecdot, minmax), or because
# NumPy has another argument, ord, in its position (norm_l2).
KEYWORD_AXIS = {
    *("add_rms_norm", "correlation", "covariance", "layer_norm", "minmax", "norm_l1", "norm_l2", "norm_linf"),
    *("normalize", "rms_norm", "rope", "vecdot"),
}
WITH_AXIS = [each for each in CONTRACTS if not each.internal and "axis" in [one.name for one in each.parameters]]


@pytest.mark.parametrize("contract", WITH_AXIS, ids=lambda each: each.operation)
def test_axis_is_accepted_by_position(contract):
    """An operation accepts axis by position, after the inputs and the parameters before it, or it is in KEYWORD_AXIS
    and refuses an axis there."""
    case = next(each for each in cases(contract) if not each.special and each.parameters["axis"] is not None)
    inputs = [value for value in case.inputs.values() if value is not None]
    before = [each.name for each in contract.parameters]
    before = before[: before.index("axis")]
    others = [case.parameters[name] for name in before]
    function, axis = getattr(lw, contract.operation), case.parameters["axis"]
    if not contract.parameter("axis").positional:
        assert contract.operation in KEYWORD_AXIS
        with pytest.raises(lw.ArgumentTypeError, match="positional"):
            function(*inputs, *[None] * (len(contract.inputs) - len(inputs)), *others, axis)
        return
    expected = function(*inputs, **dict(zip(before, others, strict=True)), axis=axis)
    results = [function(*inputs, *others, axis)]
    if contract.method:
        results.append(getattr(lw.asarray(inputs[0]), contract.operation)(*inputs[1:], *others, axis))
    for result in results:
        compared = zip(result, expected, strict=True) if contract.returns != "Tensor" else [(result, expected)]
        for one, other in compared:
            np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_windows_are_accepted_by_position():
    x = lw.arange(32, dtype=lw.float32).reshape(1, 2, 4, 4)
    for pool in (lw.max_pool2d, lw.avg_pool2d):
        assert pool(x, 2).tolist() == pool(x, kernel_size=2).tolist()
        assert pool(x, 3, 1, 1).tolist() == pool(x, kernel_size=3, stride=1, padding=1).tolist()


@pytest.mark.parametrize("contract", [each for each in CONTRACTS if not each.internal], ids=lambda each: each.operation)
def test_docstrings_contain_the_contract(contract):
    text = getattr(lw, contract.operation).__doc__
    assert contract.summary in text
    assert contract.example.strip().splitlines()[0] in text
    assert all(f"{each.name} : " in text for each in (*contract.inputs, *contract.parameters))
