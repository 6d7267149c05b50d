"""The first line of each contract says how many special rows and laws follow, and ends in a checksum of all that tests
compare with: special rows, laws, the shapes of `cases`, the ranges of random inputs, the tolerances of GPU backends,
and whether the bits are promised. So a row that is lost, or any other change that makes tests accept more, is noticed.
CASES is the same for the cases that the generator adds to those of the contracts, by kind."""

from pathlib import Path
from zlib import crc32

import pytest
from generator.cases import cases
from generator.load import load_contracts
from generator.schema import MEASURES

CONTRACTS = {each.operation: each for each in load_contracts(Path(__file__).resolve().parents[2] / "contracts")}

# Operations that stand for their kinds -> the number of their generated cases, and a checksum of the names of these,
# which contain shapes and parameters.
CASES = {
    "leaky_relu": (180, "934c25a1"),
    "gelu": (180, "985d7d29"),
    "add": (178, "e97ae3f8"),
    "where": (185, "4741ae19"),
    "sum": (254, "b560eebe"),
    "max": (360, "98f4be72"),
    "argmax": (300, "63cb4871"),
    "vecdot": (248, "baff557a"),
    "softmax": (82, "a8da8737"),
    "layer_norm": (492, "0437b633"),
    "sort": (343, "7f5f5d3a"),
    "astype": (1183, "c5a282d9"),
}


def _tested(contract):
    """Yields what tests compare with, without the texts that explain it."""
    yield contract.reproducible
    for row in contract.special:
        yield row.inputs, row.parameters, row.out, row.raises, row.dtypes, sorted(row.unless)
    for law in contract.laws:
        yield law.name, law.holds, law.dtypes
    for row in contract.cases:
        yield row.inputs, row.parameters, *row.dtypes
    for name, ranges in contract.domain.items():
        yield name, [(dtype, each.low, each.high, each.exclude_zero, each.whole) for dtype, each in ranges.items()]
    for accuracy in contract.accuracies.values():
        for backend, bound in sorted(accuracy.tolerance.backends.items()):
            yield backend, [getattr(bound, measure) for measure in MEASURES]


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)
def test_the_first_line_tells_what_is_tested(contract):
    counts = f"{len(contract.special)} special rows, {len(contract.laws)} laws"
    line = f"operation: {contract.operation}  # {counts}, {crc32(repr([*_tested(contract)]).encode()):08x}"
    first = contract.path.read_text(encoding="utf-8").partition("\n")[0]
    assert first == line, f"if contracts/{contract.path.name} is right, change its first line to:\n{line}"


@pytest.mark.parametrize("operation", CASES)
def test_cases_of_each_kind(operation):
    names = [case.name for case in cases(CONTRACTS[operation]) if not case.special]
    assert (len(names), f"{crc32(repr(names).encode()):08x}") == CASES[operation], "change CASES if that is right"
