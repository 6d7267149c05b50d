"""Invalid contracts are refused, with an error that names the file, the entry, what was expected and what was found."""

import re
from pathlib import Path

import pytest
from generator.fields import ContractError
from generator.load import load_contracts

CONTRACTS = Path(__file__).resolve().parents[2] / "contracts"

# Each row: fields to add to the contract in conftest.py, and the error that they cause.
ADDED = [
    ("bench: {shape: 3}", "bench: expected one of size, sizes"),
    ("color: red", "got 'color'; remove it"),
    ("complexity: low", "expected each key once, got 'complexity' again"),
    ("webgpu: {fallback: gpu, why: x}", "expected fallback to be one of cpu"),
    ("variants: {parameter: slope}", "to name a parameter of type choice"),
    ("aliases: [slant]", "expected each name once, got 'slant', already"),
    ("refuses_empty: true", "expected refuses_empty only in contracts of kind red"),
    ("kernels: relu", "expected field 'kernels' to name an operation with"),
    ('returns: "list[Tensor]"', "expected no reference for several results"),
    ("tolerance: {ulp: 1e-6}", "expected ulp to be a number, got '1e-6'; YAML"),
    ("tolerance: {ulp: 1}", "expected `measured` beside tolerance, got none; run: py"),
    ("tolerance: {backends: {mmx: {ulp: 1}}}", "tolerance of mmx: expected a GPU backend"),
    ("tolerance: {backends: {wgpu: {ulp: 1}}}", "tolerance of wgpu: expected field why, got none"),
    ("tolerance: {backends: {avx2: {ulp: 9}}}", "expected a GPU backend (cuda, "),
    ("measured: {all: {ulp: 1, at: 2.0}}", "expected no `measured` beside a tolerance of 0, got one"),
    ("tolerance: {ulp: 2}\nmeasured: {all: {relative: 2, at: 2.0}}", "ulp in both tolerance and measured or"),
    ("tolerance: {ulp: 2}\nmeasured: {fma: {ulp: 2, at: 2.0}}", "field 'all' or fields 'fma' and 'plain', got fma"),
    ("tolerance: {ulp: 2}\nmeasured: {all: {ulp: 2}}", "measured: all: expected field at, got none"),
    ("tolerance: {ulp: 2}\nmeasured: {all: {ulp: 2, at: {}}}", "expected field 'at' to be a number, a list"),
    ("tolerance: {ulp: 2}\nmeasured: {draws: 5000, all: {ulp: 2, at: 2.0}}", "no draws, because every float"),
    ("tolerance: {ulp: 2}\nfloat64: {tolerance: {ulp: 2}}", "expected a section float64 if the operation has a"),
]

# Each row: text of the contract, its replacement, and the error that the replacement causes.
INVALID = [
    *(("complexity: low", f"complexity: low\n{fields}", message) for fields, message in ADDED),
    ("complexity: low", "complexity: [", "while parsing"),
    ("complexity: low", "complexity: easy", "expected complexity to be one of low, medium, high, got 'easy'"),
    ("complexity: low", "complexty: low", "expected field complexity, got none; add it"),
    ("kind: elementwise", "kind: elementwize", "expected kind to be one of elementwise, cast"),
    ("operation: slant", "operation: LeakyRelu", "expected operation to be a lower-case name, got 'LeakyRelu'"),
    ("operation: slant", "operation: relu", "rename the file to relu.yaml"),
    ('inputs:\n  x: {doc: "any shape"}\n', "inputs: x\n", "expected inputs to be a list of lower-case names, got 'x'"),
    ("reproducible: true", "tolerance: {ulp: 1}", "expected field reproducible, got none; add it"),
    ("reproducible: true", "reproducible: yes please", "expected reproducible to be true or false, got 'yes please'"),
    ("{float32: float32}", "{float64: same, float32: same}", "expected floating, got its dtypes one by one: float32, "),
    ("{x: .nan, out: .nan}", "{x: 1, out: 1, dtypes: [int32, int64]}", "expected signed, got its dtypes one by one"),
    ("{float32: float32}", "{}", "expected at least one dtype, got none"),
    ("{float32: float32}", "{floating: same}\ntolerance: {ulp: 2}", "expected a section float64 if the operation"),
    ("type: float, default: 0.01", "type: floating, default: 0.01", "slope: expected type to be one of float"),
    ("type: float, default: 0.01", "type: bool, default: true, above: 0", "expected above only with type: float"),
    ("type: float, default: 0.01", "type: choice, default: a", "expected choices with type: choice"),
    ("default: 0.01", "default: true", "slope: expected a default of type float, got True"),
    ("default: 0.01", "default: 0.01, at_least: 0, above: 0", "expected one lower limit, got at_least and above"),
    ("default: 0.01", "default: 0.01, choices: [a]", "expected choices only with type: choice, got type: float"),
    ("0.01, doc", "0.01, doc: a}\n  to: {type: int, positional: true, doc", "expected positional parameters first"),
    ("  slope:", "  x:", "expected distinct names of inputs and parameters"),
    ("  x: {doc", "  out: {doc", "expected inputs and parameters not named out, device"),
    ("{x: {low", "{y: {low", "expected domain to name inputs, got 'y'"),
    ("{x: .nan, out: .nan}", "{x: .nan}", "special: row 1: expected field out, got none"),
    ("{x: .nan, out: .nan}", "{x: 1e3, out: .nan}", "special: row 1: expected a number, got '1e3'; YAML requires"),
    ("{x: .nan, out: .nan}", "{x: 7, out: 7}", "special: row 1: expected values of float32, got others"),
    ("{x: .nan, out: .nan}", "{out: .nan}", "special: row 1: expected a value of 'x', got none"),
    ("slope_1_is", "Slope 1 is", "expected laws to have lower-case names, got 'Slope 1 is_the_identity'"),
    ('"op(x, slope=1.0) == x"', '"op(x, slope=1.0) = x"', "expected holds to be an expression"),
    ('"np.where(x > 0, x, slope * x)"', '"np.where(x > 0"', "expected reference to be an expression"),
    ('summary: "Each', 'summary: "Each.\n\nEach', "expected summary to be one sentence on one line"),
]


@pytest.mark.parametrize(("text", "replacement", "message"), INVALID, ids=[each[2] for each in INVALID])
def test_errors_name_the_file_and_the_remedy(folder, text, replacement, message):
    path = folder / "slant.yaml"
    contract = path.read_text(encoding="utf-8")
    assert text in contract
    path.write_text(contract.replace(text, replacement, 1), encoding="utf-8")
    with pytest.raises(ContractError, match=f"^contracts/slant.yaml: .*{re.escape(message)}"):
        load_contracts(folder)


def test_an_example_is_required(folder):
    path = folder / "slant.yaml"
    path.write_text(path.read_text(encoding="utf-8").partition("example:")[0], encoding="utf-8")
    with pytest.raises(ContractError, match=r"^contracts/slant.yaml: expected an example, got none; add doctest lines"):
        load_contracts(folder)


@pytest.mark.parametrize(
    ("operation", "fact", "row"),
    [("max", "refuses_empty", r"\[\], raises: ShapeError"), ("softmax", "takes_number", r"[^\[]*, out")],
)
def test_facts_agree_with_special_rows(folder, operation, fact, row):
    path = folder / f"{operation}.yaml"
    text = (CONTRACTS / path.name).read_text(encoding="utf-8")
    path.write_text(text.replace(f"{fact}: true\n", ""), encoding="utf-8")
    message = f"^contracts/{operation}.yaml: expected {fact}: true, as a special row demonstrates"
    with pytest.raises(ContractError, match=message):
        load_contracts(folder)
    lines = [line for line in text.splitlines() if not re.search(r"\{x: " + row, line)]
    path.write_text("\n".join(lines), encoding="utf-8")
    message = f"^contracts/{operation}.yaml: expected a special row that demonstrates {fact}"
    with pytest.raises(ContractError, match=message):
        load_contracts(folder)


@pytest.mark.parametrize(
    ("text", "replacement", "message"),
    [
        ("layout: lw_layout", "layout: lw_rows", "expected layout to be one of lw_layout"),
        (", cuda: now}", "}", "expected now or later or none for each of cpu, webgpu, cuda, got"),
        (", cuda: now}", ", cuda: now, metal: now}", "expected now or later or none for each of cpu, webgpu, cuda"),
        ("cuda: now", "cuda: soon", "expected now or later or none for each of cpu, webgpu, cuda, got"),
    ],
)
def test_kinds_are_checked_too(folder, text, replacement, message):
    path = folder / "kinds.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace(text, replacement, 1), encoding="utf-8")
    with pytest.raises(ContractError, match=f"^contracts/kinds.yaml: elementwise: {message}"):
        load_contracts(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"- operation: slant", "expected 'key: value' lines, got [{'operation': 'slant'}]"),
        (b"", "expected 'key: value' lines, got None"),
        (b"operation: \xff", "'utf-8' codec can't decode byte 0xff"),
    ],
)
def test_files_are_mappings(folder, content, message):
    (folder / "slant.yaml").write_bytes(content)
    with pytest.raises(ContractError, match=f"^contracts/slant.yaml: {re.escape(message)}"):
        load_contracts(folder)


def test_a_missing_file_is_an_error_of_the_contracts(folder):
    (folder / "kinds.yaml").unlink()
    with pytest.raises(ContractError, match=r"^contracts/kinds.yaml: expected a file in .*, got none"):
        load_contracts(folder)


def test_kernels_are_named_and_ordered():
    contracts = {contract.operation: contract for contract in load_contracts(CONTRACTS)}
    assert list(contracts) == sorted(contracts)
    names = [kernel.name for kernel in contracts["gelu"].kernels]
    assert names == ["gelu_float32", "gelu_float64", "gelu_tanh_float32", "gelu_tanh_float64"]
    assert [kernel.name for kernel in contracts["take"].kernels][:2] == ["take_bits8", "take_bits16"]
    assert contracts["where"].kernel("float64") == "where_bits64"
    assert len(contracts["astype"].kernels) == 13 * 12
    assert contracts["linear"].expression_parameters[0][1].choices[0] == "none"
    assert not contracts["reshape"].kernels


def test_every_public_operation_has_a_source_and_laws():
    for contract in load_contracts(CONTRACTS):
        if not contract.internal:
            assert contract.source, contract.operation
            assert len(contract.laws) >= 2, contract.operation


@pytest.mark.parametrize(
    "text", ["reproducible: true\n", 'inputs:\n  x: {doc: "any shape"}\n', '  x: {doc: "any shape"}\n']
)
def test_what_follows_from_the_rest_can_be_left_out(folder, text):
    path = folder / "slant.yaml"
    contract, whole = path.read_text(encoding="utf-8"), load_contracts(folder)
    assert text in contract
    path.write_text(contract.replace(text, "").replace("inputs:\npara", "inputs: [x]\npara"), encoding="utf-8")
    assert load_contracts(folder) == whole
