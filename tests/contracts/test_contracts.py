"""What contracts say, held against itself: special values against references, examples against the package."""

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
def test_special_values_are_the_references(contract):
    """Where both are finite: a slip of the pen in a special value would be believed by every backend."""
    for case in cases(contract) if contract.reference else ():
        if case.special:
            wanted = oracle.expected(contract, case)
            drawn = type(case)(case.name, case.dtype, case.inputs, case.parameters)
            reference = np.broadcast_to(oracle.expected(contract, drawn), wanted.shape)
            if wanted.dtype.kind != "f":
                assert np.array_equal(wanted, reference), case.name
                continue
            # A reference is not meant for infinities and NaN, but where it has a number, that is the number.
            with np.errstate(all="ignore"):
                finite = np.isfinite(reference) & np.isfinite(wanted)
                near = np.abs(wanted - reference) <= 1e-6 * np.abs(reference) + 1e-44
                near |= reference.astype(contract.result(case.dtype)) == wanted
            assert near[finite].all(), f"{case.name}: {wanted} where the reference is {reference}"


@pytest.mark.parametrize("contract", [each for each in CONTRACTS if each.example], ids=lambda each: each.operation)
def test_examples(contract):
    test = doctest.DocTestParser().get_doctest(contract.example, {"lw": lw}, contract.operation, contract.path.name, 0)
    report = []
    doctest.DocTestRunner().run(test, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize("contract", [each for each in CONTRACTS if not each.internal], ids=lambda each: each.operation)
def test_help_has_the_contract(contract):
    text = getattr(lw, contract.operation).__doc__
    assert contract.summary in text
    assert contract.example.strip().splitlines()[0] in text
    assert all(f"{each.name} : " in text for each in (*contract.inputs, *contract.parameters))
