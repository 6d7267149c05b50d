"""What a contract may not say, and how it is told so: file, entry, what was found, what was wanted."""

import re
from pathlib import Path

import pytest
from generator.fields import ContractError
from generator.load import load_contracts

CONTRACTS = Path(__file__).resolve().parents[2] / "contracts"

SPOILED = [
    ("kind: elementwise", "kind: elementwize", "unknown kind 'elementwize'; one of elementwise, cast"),
    ("operation: slant", "operation: LeakyRelu", "operation is 'LeakyRelu'; must be a lower-case name"),
    ("operation: slant", "operation: relu", "describes operation 'relu'; rename the file to relu.yaml"),
    ("complexity: low", "complexity: easy", "unknown complexity 'easy'; one of low, medium, high"),
    ("complexity: low", "complexty: low", "complexity is missing"),
    ("complexity: low", "complexity: low\ncolour: red", "unknown field 'colour'; one of "),
    ("complexity: low", "complexity: low\ncomplexity: low", "'complexity' is written twice"),
    ("reproducible: true", "reproducible: yes please", "reproducible is 'yes please'; must be true or false"),
    ("{float32: float32}", "{float31: float32}", "dtypes names 'float31'; one of bool, int32"),
    ("{float32: float32}", "{}", "dtypes is empty"),
    ("type: float, default: 0.01", "type: floating, default: 0.01", "slope: unknown type 'floating'; one of float"),
    ("default: 0.01", "default: true", "slope: default is True, which is no float"),
    ("default: 0.01", "default: 0.01, at_least: 1", "slope: default is 0.01, which is not at least 1"),
    ("default: 0.01", "default: 0.01, at_least: 0, above: 0", "at_least and above are the same limit; name one"),
    ("type: float, default: 0.01", "type: bool, default: true, above: 0", "above goes with type: float or int"),
    ("type: float, default: 0.01", "type: choice, default: a", "choices go with type: choice"),
    ("  slope:", "  x:", "an input and a parameter have the same name"),
    ("  x: {doc", "  out: {doc", "'out' cannot be the name of an input or parameter"),
    ("low: -100", "low: 200", "domain of 'x': 200 is not below 100"),
    ("{x: {low", "{y: {low", "domain names 'y', which is no input"),
    ("{x: .nan, out: .nan}", "{x: .nan}", "special: row 1: out is missing"),
    ("{x: .nan, out: .nan}", "{x: 1e3, out: .nan}", "special: row 1: '1e3' is no number; YAML wants a point"),
    ("{x: .nan, out: .nan}", "{x: 7, out: 7}", "special: row 1: fits none of the dtypes float32"),
    ("{x: .nan, out: .nan}", "{out: .nan}", "special: row 1: gives no 'x'"),
    ("slope_1_is", "Slope 1 is", "expected a lower-case identifier as the law's name, got 'Slope 1 is_the_identity'"),
    ('"op(x, slope=1.0) == x"', '"op(x, slope=1.0) = x"', "holds is no Python expression"),
    ('"np.where(x > 0, x, slope * x)"', '"np.where(x > 0"', "reference is no Python expression"),
    ('summary: "Each', 'summary: "Each.\n\nEach', "summary must be one sentence on one line"),
    ("complexity: low", "complexity: low\ntolerance: {ulp: 1e-6}", "ulp is '1e-6'; must be a number; YAML wants"),
    ("complexity: low", "complexity: low\ntolerance: {backends: {mmx: {ulp: 1}}}", "tolerance of mmx: no such backend"),
    (
        "complexity: low",
        "complexity: low\ntolerance: {backends: {wgpu: {ulp: 1}}}",
        "tolerance of wgpu: why is missing",
    ),
    ("complexity: low", "complexity: low\nwebgpu: {fallback: gpu, why: x}", "unknown fallback 'gpu'; one of cpu"),
    ("complexity: low", "complexity: low\nvariants: {parameter: slope}", "name a parameter of type choice"),
    ("complexity: low", "complexity: low\naliases: [slant]", "'slant' belongs to slant already"),
    ("complexity: low", "complexity: low\nrefuses_empty: true", "expected refuses_empty only in contracts of kind red"),
    (
        "0.01, doc",
        "0.01, doc: a}\n  to: {type: int, positional: true, doc",
        "expected positional parameters first",
    ),
    ("complexity: low", "complexity: low\nkernels: relu", "kernels are those of 'relu'; only an operation whose"),
    ("complexity: low", 'complexity: low\nreturns: "list[Tensor]"', "has a reference, but returns several tensors"),
    ("complexity: low", "complexity: [", "while parsing"),
]


@pytest.mark.parametrize(("found", "spoiled", "complaint"), SPOILED, ids=[each[2] for each in SPOILED])
def test_errors_say_what_is_wrong_and_where(folder, found, spoiled, complaint):
    path = folder / "slant.yaml"
    text = path.read_text(encoding="utf-8")
    assert found in text
    path.write_text(text.replace(found, spoiled, 1), encoding="utf-8")
    with pytest.raises(ContractError, match=f"^contracts/slant.yaml: .*{re.escape(complaint)}"):
        load_contracts(folder)


def test_an_example_is_wanted(folder):
    path = folder / "slant.yaml"
    path.write_text(path.read_text(encoding="utf-8").partition("example:")[0], encoding="utf-8")
    with pytest.raises(ContractError, match=r"^contracts/slant.yaml: has no example; write doctest lines"):
        load_contracts(folder)


@pytest.mark.parametrize(
    ("operation", "fact", "row", "complaint"),
    [
        (
            "max",
            "refuses_empty",
            r"\[\], raises: ShapeError",
            "expected refuses_empty: true, as a special row shows",
        ),
        ("softmax", "takes_number", r"[^\[]*, out", "expected takes_number: true, as a special row shows, got false"),
    ],
)
def test_facts_agree_with_special_rows(folder, operation, fact, row, complaint):
    path = folder / f"{operation}.yaml"
    text = (CONTRACTS / path.name).read_text(encoding="utf-8")
    path.write_text(text.replace(f"{fact}: true\n", ""), encoding="utf-8")
    with pytest.raises(ContractError, match=f"^contracts/{operation}.yaml: {complaint}"):
        load_contracts(folder)
    lines = [line for line in text.splitlines() if not re.search(r"\{x: " + row, line)]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ContractError, match=f"^contracts/{operation}.yaml: expected a special row that shows {fact}"):
        load_contracts(folder)


def test_kinds_are_checked_too(folder):
    path = folder / "kinds.yaml"
    path.write_text(
        path.read_text(encoding="utf-8").replace("layout: lw_layout", "layout: lw_rows", 1), encoding="utf-8"
    )
    with pytest.raises(ContractError, match=r"^kinds.yaml: elementwise: unknown layout 'lw_rows'; one of lw_layout"):
        load_contracts(folder)


def test_kernels_are_named_and_ordered():
    contracts = {contract.operation: contract for contract in load_contracts(CONTRACTS)}
    assert list(contracts) == sorted(contracts)
    assert [kernel.name for kernel in contracts["gelu"].kernels] == ["gelu_float32", "gelu_tanh_float32"]
    assert [kernel.name for kernel in contracts["take"].kernels][:2] == ["take_bits8", "take_bits16"]
    assert contracts["where"].kernel("float64") == "where_bits64"
    assert len(contracts["astype"].kernels) == 30
    assert contracts["linear"].expression_parameters[0][1].choices[0] == "none"
    assert not contracts["reshape"].kernels


def test_every_operation_has_what_the_reader_needs():
    """A source, and two laws; internal ones are nobody's to read."""
    for contract in load_contracts(CONTRACTS):
        if not contract.internal:
            assert contract.source, contract.operation
            assert len(contract.laws) >= 2, contract.operation
