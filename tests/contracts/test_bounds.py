"""Tests the rules that contracts (the YAML files that define operations) have to keep, each on both sides: a contract
that just keeps the rule is accepted, and one that just breaks it is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from generator.fields import ContractError
from generator.load import load_contracts

NUMBER = "parameters: {slope: {doc: a number, %s}}"
TWO = "special: [], inputs: {x: {doc: first}, y: {doc: second}}"
CHOICE = "parameters: {slope: {doc: a choice, type: choice, default: a, choices: [a, b]}}"
PAIR = "inputs: {x: {doc: first}, y: {doc: second%s}, z: {doc: third%s}}"
DTYPE = "parameters: {dtype: {type: dtype, default: null, doc: a dtype}}, special: [], cases: [{x: [2]%s}]"
ROW = "inputs: {x: {doc: tensors, sequence: true}}, special: [], cases: [{x: %s}]"
MEASURED = "tolerance: {ulp: %s}, measured: {%s}"
DRAWN = f"kind: reduction, {MEASURED % (2, '%sall: {ulp: 2, at: 2.0}')}"
VARIANTS = f"{CHOICE}, variants: {{parameter: slope, %s}}"


def _inputs(number: int) -> str:
    """Returns the field `inputs` with this many inputs: x, and optional ones after it."""
    more = "".join(f", y{i}: {{doc: more, optional: true}}" for i in range(1, number))
    return f"inputs: {{x: {{doc: first}}{more}}}"


# Each row has fields to put into a valid contract: first some that keep it valid, then some that make it invalid, and
# last the error that the invalid ones cause.
ROWS = [
    # inputs and aliases
    (_inputs(4), _inputs(5), "expected at most 4 inputs, got 5"),
    (f"kind: composed, {_inputs(5)}", _inputs(5), "expected at most 4 inputs, got 5"),
    (
        f"special: [], {PAIR % (', optional: true', ', optional: true')}",
        f"special: [], {PAIR % (', optional: true', '')}",
        "expected required inputs first, got 'z' after an optional one; move it up",
    ),
    (
        "inputs: {x: {doc: first}, y: {doc: second, optional: true, default: lowest}}",
        "inputs: {x: {doc: first}, y: {doc: second, default: lowest}}",
        "inputs: y: expected optional: true, because the input has a default; add it",
    ),
    ("aliases: [a]", "aliases: [A]", "expected aliases to be a list of lower-case names, got ['A']"),
    ("aliases: [a1_]", "aliases: [1a]", "expected aliases to be a list of lower-case names, got ['1a']"),
    ("aliases: []", 'aliases: ["a\\n"]', "expected aliases to be a list of lower-case names, got ['a\\n']"),
    ("aliases: [ab]", "aliases: a", "expected aliases to be a list of lower-case names, got 'a'"),
    ("aliases: [ab]", "aliases: [7]", "expected aliases to be a list of lower-case names, got [7]"),
    # values of a wrong type
    ("inputs: {x: {doc: first}}", "inputs: {x: first}", "inputs: x: expected a mapping, {key: value, ...}"),
    ("formula: a * b", "formula: 7", "expected formula to be text, got 7; quote it"),
    ("errors: {}", "errors: []", "expected errors to be a mapping, {key: value, ...}, got []"),
    ("special: []", "special: {}", "expected special to be a list of {key: value, ...}, got {}"),
    ("domain: {x: {low: 0, high: 1}}", "domain: {x: {low: false, high: 1}}", "expected low to be a number, got False"),
    # parameters
    (CHOICE, CHOICE.replace("default: a", "default: c"), "slope: expected the default to be one of a, b, got 'c'"),
    (CHOICE.replace("default: a, ", ""), CHOICE.replace("default: a", "default: null"), "one of a, b, got None"),
    *(
        (NUMBER % f"type: {kind}, default: {right}", NUMBER % f"type: {kind}, default: {wrong}", f"of type {kind}, got")
        for kind, right, wrong in (
            ("float", "1", "a"),
            ("int", "1", "1.0"),
            ("int", "null", "true"),
            ("bool", "true", "1"),
            ("keepdims", "false", "0"),
            ("pair", "1", "true"),
        )
    ),
    (
        NUMBER % "type: float, default: 1.7e+308",
        NUMBER % "type: float, default: .inf",
        "expected the default to be finite, got inf",
    ),
    *(
        (
            NUMBER % f"type: {kind}, default: {right}, {limit}: 1",
            NUMBER % f"type: {kind}, default: {wrong}, {limit}: 1",
            f"expected the default to be {limit.replace('_', ' ')} 1, got {wrong}",
        )
        for kind, limit, right, wrong in (
            ("float", "at_least", "1.0", "0.9999999999999999"),
            ("float", "above", "1.0000000000000002", "1.0"),
            ("float", "at_most", "1.0", "1.0000000000000002"),
            ("int", "at_least", "1", "0"),
            ("int", "above", "2", "1"),
            ("int", "at_most", "1", "2"),
        )
    ),
    # dtypes and variants
    ("kind: cast, dtypes: {any: chosen}", "kind: cast, dtypes: {any: same}", "dtypes: {any: chosen} for a cast"),
    ("dtypes: {any: same}, special: []", "dtypes: {any: chosen}", "or 'any: same' alone, got any: chosen"),
    ("dtypes: {floating: same}, special: []", "dtypes: {floats: same}", "got floats: same"),
    (
        VARIANTS % "a: slant, b: slant_b",
        f"kind: reduction, {VARIANTS % 'a: slant, b: slant_b'}",
        "expected variants only in contracts of kind elementwise, got kind reduction",
    ),
    (VARIANTS % "a: slant_a, b: slant", VARIANTS % "a: slant", "expected a variant for each of a, b, got a"),
    (VARIANTS % "a: slant, b: slant_b", VARIANTS % "a: slant, b: slant_b, c: slant_c", "each of a, b, got a, b, c"),
    (VARIANTS % "a: slant, b: slant_b", VARIANTS % "a: slant, b: slantb", "or slant_<choice>, got 'slantb'"),
    (VARIANTS % "a: slant_a, b: slant_b", VARIANTS % "a: slant_a, b: slant_a", "for each choice, got 'slant_a' twice"),
    (VARIANTS % "a: slant, b: slant_b", VARIANTS % "a: slant, b: slant_B", "expected lower-case names, got 'slant_B'"),
    # references
    (
        'reference: {float32: "x"}',
        'reference: {int32: "x"}',
        "expected reference to be an expression, or one for each of float32, got {'int32': 'x'}",
    ),
    ('reference: "x"', "reference: 7", "expected reference to be an expression, or one for each of float32, got 7"),
    (
        'dtypes: {int32: int32, float32: float32}, reference: {int32: "x", float32: "x"}',
        'dtypes: {int32: int32, float32: float32}, reference: {float32: "x"}',
        "expected a reference for int32, got none; add one",
    ),
    *(
        (f"reference: {{}}, {fields}", "reference: {}", "expected a reference for float32, got none; add one")
        for fields in ("internal: true", "kind: composed", "kind: creation", 'returns: "list[Tensor]"')
    ),
    # domains
    ("domain: {x: [1.0, 1.0000000000000002]}", "domain: {x: [1.0, 1.0]}", "expected low < high, got 1.0 and 1.0"),
    ("domain: {x: [0, 1]}", "domain: {x: [0, 1, 2]}", "expected domain of 'x' to be [low, high] or {low: x, high: y"),
    ("domain: {x: [0, 1]}", "domain: {x: [0]}", "expected domain of 'x' to be [low, high] or {low: x, high: y}"),
    (
        "domain: {x: {float32: [0, 1]}}",
        "domain: {x: {float32: [0, 1], int32: [0, 1]}}",
        "domain of 'x': expected only dtypes float32, got float32, int32",
    ),
    # cases, special values and laws
    ("cases: [{x: []}]", "cases: [{x: 3}]", "cases: row 1: expected x to be a shape such as [2, 3], or a list of"),
    (ROW % "[[2, 3], []]", ROW % "[2, 3]", "cases: row 1: expected x to be a shape such as [2, 3], or a list of"),
    (ROW % "[[]]", ROW % "3", "cases: row 1: expected x to be a shape such as [2, 3], or a list of"),
    (
        DTYPE % ", dtype: float32, dtypes: [float16]",
        DTYPE % ", dtype: float32",
        "cases: row 1: expected dtypes of float16, bfloat16, float32 beside the parameter dtype, and only there, got",
    ),
    (DTYPE % "", DTYPE % ", dtypes: [float16]", "beside the parameter dtype, and only there, got float16"),
    (
        DTYPE % ", dtype: float32, dtypes: [float16]",
        DTYPE % ", dtype: float32, dtypes: [int8]",
        "beside the parameter dtype, and only there, got int8",
    ),
    (
        f"{NUMBER % 'type: float'}, cases: [{{x: [2], slope: 1.0}}]",
        f"{NUMBER % 'type: float'}, cases: [{{x: [2]}}]",
        "cases: row 1: expected a value of 'slope', got none; add it",
    ),
    (
        "special: [{x: 1.0, out: 1.0, unless: {avx2: a reason}}]",
        "special: [{x: 1.0, out: 1.0, unless: {mmx: a reason}}]",
        "special: row 1: unless: expected one of cuda, wgpu, avx512, ",
    ),
    (
        "special: [{x: 1.0, out: 1.0, dtypes: [float32]}]",
        "special: [{x: 1.0, out: 1.0, dtypes: [float32, int32]}]",
        "special: row 1: expected values of float32, got float32, int32",
    ),
    (
        'laws: {one: {says: a, holds: "True", dtypes: [float32]}}',
        'laws: {one: {says: a, holds: "True", dtypes: [float32, int32]}}',
        "laws: one: expected only dtypes float32, got float32, int32",
    ),
    # measured errors
    (DRAWN % "draws: 1000, ", DRAWN % "draws: 999, ", "measured: expected at least 1000 draws, got 999; run: python"),
    (DRAWN % "draws: 1000, ", DRAWN % "", "measured: expected draws, the number of results compared, got none"),
    (
        f"{TWO}, {MEASURED % (2, 'draws: 1000, all: {ulp: 2, at: [2.0, 1.0]}')}",
        f"{TWO}, {MEASURED % (2, 'all: {ulp: 2, at: [2.0, 1.0]}')}",
        "measured: expected draws, the number of results compared, got none",
    ),
    *(
        (
            MEASURED % (accepted, "all: {ulp: 2, at: 2.0}"),
            MEASURED % (refused, "all: {ulp: 2, at: 2.0}"),
            f"expected a tolerance of 1 to 1.5 times 2, the largest ulp measured, got {refused:g}; change",
        )
        for accepted, refused in ((2, 1.999), (3, 3.001))
    ),
    (
        MEASURED % (2, "fma: {ulp: 1.5, at: 2.0}, plain: {ulp: 2, at: x}"),
        MEASURED % (2, "plain: {ulp: 2, at: x}"),
        "measured: expected either field 'all' or fields 'fma' and 'plain', got plain; run: python",
    ),
    (
        MEASURED % (2, "fma: {ulp: 1.5, at: 2.0}, plain: {ulp: 2, at: x}"),
        MEASURED % (2, "all: {ulp: 2, at: 2.0}, fma: {ulp: 1.5, at: 2.0}, plain: {ulp: 2, at: x}"),
        "measured: expected either field 'all' or fields 'fma' and 'plain', got all, fma, plain",
    ),
    (
        MEASURED % (2, "all: {ulp: 2, at: [2.0]}"),
        MEASURED % (2, "all: {ulp: 2, at: []}"),
        "expected field 'at' to be a number, a list of numbers or a case's name, got []",
    ),
]  # fmt: skip


@pytest.fixture
def base(slant: str) -> dict[str, Any]:
    """The fields of a valid contract, which the rows of ROWS change."""
    content: dict[str, Any] = yaml.safe_load(slant)
    return content


def _load_with(folder: Path, base: dict[str, Any], fields: str) -> None:
    content = base | yaml.safe_load(f"{{{fields}}}")
    (folder / "slant.yaml").write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    load_contracts(folder)


@pytest.mark.parametrize(("accepted", "refused", "message"), ROWS, ids=[each[1] for each in ROWS])
def test_rules_accept_and_refuse(folder: Path, base: dict[str, Any], accepted: str, refused: str, message: str) -> None:
    _load_with(folder, base, accepted)
    with pytest.raises(ContractError, match=f"^contracts/slant.yaml: .*{re.escape(message)}"):
        _load_with(folder, base, refused)
