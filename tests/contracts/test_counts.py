"""counts.txt lists, for each contract, how many special values, laws (properties that tests check) and test cases it
has, whether it promises the same bits on every CPU backend, and a checksum. The checksum covers the special values,
the laws, the cases, the ranges of random inputs and the tolerances of GPU backends. A change that removes or weakens
any of these must change counts.txt too, so that a review shows it."""

from pathlib import Path
from zlib import crc32

import pytest
from generator.cases import cases
from generator.load import load_contracts
from generator.schema import MEASURES

COUNTS = Path(__file__).with_name("counts.txt")
CONTRACTS = load_contracts(Path(__file__).resolve().parents[2] / "contracts")


def listed():
    lines = COUNTS.read_text(encoding="utf-8").splitlines()
    return {line.split()[0]: line for line in lines if not line.startswith("#")}


def _judged(contract):
    """Yields the special values and laws of a contract, and its tolerances for GPU backends, which no rule compares
    with measured errors. Leaves out the texts that explain them."""
    for row in contract.special:
        yield row.inputs, row.parameters, row.out, row.raises, row.dtypes, sorted(row.unless)
    for law in contract.laws:
        yield law.name, law.holds, law.dtypes
    for backend, bound in sorted(contract.tolerance.backends.items()):
        yield backend, [getattr(bound, measure) for measure in MEASURES]


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda each: each.operation)
def test_contracts_have_what_is_listed(contract):
    promise = " reproducible" if contract.reproducible else ""
    names = [case.name for case in cases(contract)]  # the name of a case contains its shapes and parameters
    checksum = crc32(repr([*_judged(contract), *names, contract.domain]).encode())
    counts = f"{len(contract.special)} {len(contract.laws)} {len(names)}"
    line = f"{contract.operation} {counts} {checksum:08x}{promise}"
    old = listed().get(contract.operation, "no line")
    assert line == old, f"counts.txt has '{old}', the contract '{line}'; if that is right, change the line in {COUNTS}"


def test_every_line_has_a_contract():
    assert list(listed()) == [contract.operation for contract in CONTRACTS], "expected a line for each contract, sorted"
