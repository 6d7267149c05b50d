"""The rounding errors that comments in core/ claim are those that contracts (contracts/*.yaml) state: "Error < 1.1 ulp"
in core/ops/exp.h is the measured error of exp, rounded up to one decimal. If the error was measured over random draws
only, which may miss a larger one, a claim may be anywhere between the measured error and the tolerance. A comment in
core/math names the operation in which the error was measured."""

import math
import re
from pathlib import Path

import pytest
from generator.load import load_contracts

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = {contract.operation: contract for contract in load_contracts(ROOT / "contracts")}
CLAIM = re.compile(r"<\s(?:\*\s)?(\d[\d.]*)\s(?:\*\s)?ulp(?:,\s(?:\*\s)?measured\s(?:\*\s)?through\s(?:\*\s)?(\w+))?")
HEADERS = sorted((ROOT / "core").glob("*/*.h"))


def measured(operation):
    """Returns the measured errors of an operation in ulp, rounded up to one decimal, ascending: one, or two if backends
    with fused multiply-add differ from those without."""
    found = CONTRACTS[operation].accuracy("float32").measured
    errors = [each.bound.ulp for each in found.worst.values()] if found else []
    return sorted({math.ceil(round(error * 10, 6)) / 10 for error in errors})


def claims(path):
    """Returns the errors claimed in a file, each with the operation in which it was measured."""
    text = path.read_text(encoding="utf-8")
    return [(float(error), through or path.stem) for error, through in CLAIM.findall(text)]


@pytest.mark.parametrize("path", [each for each in HEADERS if claims(each)], ids=lambda each: each.stem)
def test_claims_are_what_was_measured(path):
    for error, operation in claims(path):
        assert operation in CONTRACTS, f"{path}: claims < {error} ulp; add: measured through OPERATION"
        found, accuracy = measured(operation), CONTRACTS[operation].accuracy("float32")
        assert found, f"{path}: claims < {error} ulp, but nothing was measured in ulp of {operation}"
        if accuracy.measured.draws:
            assert found[-1] <= error <= accuracy.tolerance.bound.ulp, (
                f"{path}: claims < {error} ulp, measured: {found}"
            )
        else:
            assert error in found, f"{path}: claims < {error} ulp, measured, rounded up: {found}"


def is_in_ulp(contract):
    accuracy = contract.accuracy("float32")
    bound = accuracy.tolerance.bound
    return accuracy.measured and accuracy.measured.draws is None and bound == type(bound)(ulp=bound.ulp)


@pytest.mark.parametrize("operation", [name for name, contract in CONTRACTS.items() if is_in_ulp(contract)])
def test_the_largest_error_is_claimed(operation):
    path = ROOT / "core" / "ops" / f"{operation}.h"
    errors = [error for error, through in claims(path) if through == operation]
    assert errors, f"{path}: expected a claim, Error < {measured(operation)[-1]} ulp"
    assert max(errors) == measured(operation)[-1]
