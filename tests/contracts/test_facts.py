"""Tests the facts about dtypes against NumPy and ml_dtypes."""

from __future__ import annotations

import itertools
import re
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from generator.facts import FACTS
from generator.fields import read_yaml
from generator.load import CLASSES, load_contracts

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = load_contracts(ROOT / "contracts")
DTYPES = FACTS.dtypes.values()


def test_promotion_is_numpys_within_a_class_and_among_integers() -> None:
    """NumPy promotes uint64 with signed integers, and integers with floats, to wider floats."""
    for a, b in itertools.product(DTYPES, repeat=2):
        if "bfloat16" in (a.name, b.name):
            continue
        expected = np.promote_types(a.name, b.name)
        floats = [each for each in (a, b) if each.group.name == "floating"]
        if len(floats) == 1:
            expected = np.dtype(floats[0].name)
        elif not floats and expected.kind == "f":
            expected = None
        result = FACTS.promoted(a, b)
        assert (result and result.name) == (expected and expected.name), (a.name, b.name)


def test_promotion_of_bfloat16() -> None:
    results = {name: FACTS.promoted(FACTS.dtypes["bfloat16"], each) for name, each in FACTS.dtypes.items()}
    wider = {"float16": "float32", "float32": "float32", "float64": "float64"}
    assert {name: result.name for name, result in results.items() if result} == {
        name: wider.get(name, "bfloat16") for name in FACTS.dtypes
    }


def test_formats_and_sizes_are_numpys() -> None:
    for each in DTYPES:
        dtype = np.dtype(each.name)
        assert dtype.itemsize * 8 == each.bits
        if each.format:
            assert dtype.kind == each.group.kind
            assert np.dtype(each.format) == dtype and each.format in each.group.letters
        if each.fraction:
            assert ml_dtypes.finfo(dtype).nmant == each.fraction


def test_dtypes_are_computed_in_one_that_includes_them() -> None:
    for each in DTYPES:
        assert FACTS.promoted(each, FACTS.dtypes[each.elements]) is FACTS.dtypes[each.elements]
        assert not FACTS.dtypes[each.elements].computed
        if each.signless:
            assert FACTS.dtypes[each.signless].bits == each.bits


SOURCES = (".c", ".cu", ".cuh", ".h", ".js", ".mjs", ".py", ".toml", ".ts", ".wgsl", ".yaml")
FEW = 2  # dtypes that a file may name beside their size, as examples do


def pairs(text: str) -> dict[str, str]:
    """Returns where a text names dtypes beside their size, format letter or short name."""
    found = {}
    for each in DTYPES:
        own = {str(each.bits), str(each.bits // 8), f"{each.group.kind}{each.bits // 8}", each.format} - {""}
        name, fact = rf"(?<![a-zA-Z0-9]){each.name}\b", rf"(?<![\w.])[<=|]?(?:{'|'.join(map(re.escape, own))})(?![\w.])"
        field = r"\{[^}\n]*\b(?:bits|bytes|size|itemsize|format|letter)[\"']?: [\"']?"
        name_first = rf"{name}[\"']?\]? ?[:=,] ?(?:[\"']|{field})?{fact}"
        fact_first = rf"{fact}[\"']?[:=,] ?[\"']?(?:\w+\.|LW_)?{name}"
        if match := re.search(f"{name_first}|{fact_first}", text, re.IGNORECASE):
            found[each.name] = match[0]
    return found


def test_facts_yaml_alone_lists_dtypes_with_their_size_or_format() -> None:
    """Others read its facts, so that a dtype can be added in one place. C names the types of vectors (vi32), which are
    of a size, not a dtype."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if not tracked:
        pytest.skip("git does not list the files here")
    paths = [ROOT / name for name in tracked.splitlines() if name.endswith(SOURCES)]
    found = {path: pairs(path.read_text(encoding="utf-8")) for path in paths if path.exists()}
    listing = {str(path.relative_to(ROOT)): hits for path, hits in found.items() if len(hits) > FEW}
    assert listing.pop("contracts/facts.yaml").keys() == FACTS.dtypes.keys()
    assert not listing


@pytest.mark.parametrize("text", [
    '{"int16": 2, "float64": 8}',
    "[(lw.int16, 2), (lw.float64, 8)]",
    """{'h': "int16", 'd': "float64"}""",
    '{"<i2": lw.int16, "f8": lw.float64}',
    "[LW_INT16] = 2, [LW_FLOAT64] = 8",
    "int16: {class: signed, bits: 16}, float64: 64",
])  # fmt: skip
def test_a_list_of_dtypes_is_noticed(text: str) -> None:
    assert pairs(text).keys() == {"int16", "float64"}


@pytest.mark.parametrize("contract", CONTRACTS, ids=[each.operation for each in CONTRACTS])
def test_an_operation_names_classes_of_dtypes(contract):
    """So that a new dtype of a class reaches it. Only bool is a class of its own."""
    assert read_yaml(contract.path)["dtypes"].keys() <= {*CLASSES, "bool", "any"}
