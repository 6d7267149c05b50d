"""The formula of a contract, which documentation shows, says what the reference computes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from generator import oracle
from generator.cases import Case, cases
from generator.load import load_contracts
from generator.schema import FLOATS, Contract

from tests.contracts import formulas

CONTRACTS = {each.operation: each for each in load_contracts(Path(__file__).resolve().parents[2] / "contracts")}
EXPRESSIONS = {name: formulas.expression(each, CONTRACTS) for name, each in CONTRACTS.items() if each.reference}
# Of these kinds, only the named operations have a formula in words.
READ = ("elementwise", "reduction", "rows", "matrix")
IN_WORDS = {"atan2", "ceil", "cumulative_sum", "erf", "floor", "linear", "round"}


def test_formulas_are_expressions() -> None:
    unread = {name for name, text in EXPRESSIONS.items() if not text and CONTRACTS[name].kind.name in READ}
    assert unread == IN_WORDS, "write the formula as tests/contracts/formulas.py reads it, or add it to IN_WORDS"


@pytest.mark.parametrize("operation", [name for name, text in EXPRESSIONS.items() if text])
def test_formulas_agree_with_references(operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    contract, text, compared = CONTRACTS[operation], EXPRESSIONS[operation], 0
    usual = [case for case in cases(contract) if not _is_unusual(contract, case, text)]
    by_formula = replace(contract, reference={"": text})
    for case in usual[:: 1 + len(usual) // 50]:
        expected = oracle.expected(contract, case)
        last = np.indices(expected.shape[-2:])
        with monkeypatch.context() as patch:
            patch.setattr(oracle, "NAMES", {**formulas.NAMES, **dict(zip("ij", last, strict=False))})
            got = oracle._evaluate(by_formula, case, case.inputs, case.parameters)
        got = np.broadcast_to(got.reshape(expected.shape) if got.size == expected.size else got, expected.shape)
        with np.errstate(all="ignore"):
            if expected.dtype.kind == "f":
                same = np.abs(got - expected) <= 1e-7 * np.abs(expected) + 1e-9
                in_range = np.isfinite(got) & (np.abs(got) < 1e30)  # float64 does not overflow or cancel everything
            else:
                same = got.astype(expected.dtype) == expected
                in_range = np.abs(got) < 2**31 if got.dtype.kind == "f" else np.ones_like(same)
        assert same[in_range].all(), f"{text}: {case.name}"
        compared += np.count_nonzero(in_range)
    assert compared >= 10


def _is_unusual(contract: Contract, case: Case, text: str) -> bool:
    """Whether it has special or missing arguments, numbers that overflow or that float64 lacks, no elements, vectors
    in place of matrices, or weights along another axis than the last: formulas need not say what these give."""
    inputs = [*case.inputs.values()]
    optional = [value for name, value in case.parameters.items() if name not in ("axis", "dtype")]
    rounds = case.dtype == "uint64" and contract.result(case.dtype) in FLOATS
    if case.special or "everywhere" in case.name or rounds or any(each is None for each in (*inputs, *optional)):
        return True
    dimensions = {each.ndim for each in inputs}
    if (
        contract.kind.name == "rows"
        and len(dimensions) > 1
        and case.parameters["axis"] not in (-1, max(dimensions) - 1)
    ):
        return True
    has_vector = re.search("einsum.'...i[jk]", text) and min(dimensions) < 2
    return bool(has_vector) or any(each.size == 0 for each in inputs)
