"""Tests the rule of promotion with the dtypes of facts.yaml, and with all real dtypes of NumPy and bfloat16."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from generator import facts
from generator.facts import FACTS, Facts

FURTHER = """
  int8: {class: signed, bits: 8, format: b}
  int16: {class: signed, bits: 16, format: h}
  uint8: {class: unsigned, bits: 8, format: B}
  uint16: {class: unsigned, bits: 16, format: H}
  uint32: {class: unsigned, bits: 32, format: I}
  uint64: {class: unsigned, bits: 64, format: Q}
  bfloat16: {class: floating, bits: 16, format: E, fraction: 7}
"""


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """The facts with all real dtypes of NumPy, and bfloat16."""
    path = tmp_path_factory.mktemp("facts") / "facts.yaml"
    path.write_text(facts.FILE.read_text().rstrip("\n") + FURTHER)
    return facts.load(path)


def test_promotion_is_numpys_within_a_class_and_among_integers(every: Facts) -> None:
    """NumPy promotes uint64 with signed integers, and integers with floats, to wider floats."""
    for a, b in itertools.product(every.dtypes.values(), repeat=2):
        if "bfloat16" in (a.name, b.name):
            continue
        expected = np.promote_types(a.name, b.name)
        floats = [each for each in (a, b) if each.group.name == "floating"]
        if len(floats) == 1:
            expected = np.dtype(floats[0].name)
        elif not floats and expected.kind == "f":
            expected = None
        result = every.promoted(a, b)
        assert (result and result.name) == (expected and expected.name), (a.name, b.name)


def test_promotion_of_bfloat16(every: Facts) -> None:
    results = {name: every.promoted(every.dtypes["bfloat16"], each) for name, each in every.dtypes.items()}
    wider = {"float16": "float32", "float32": "float32", "float64": "float64"}
    assert {name: result.name for name, result in results.items() if result} == {
        name: wider.get(name, "bfloat16") for name in every.dtypes
    }


def test_formats_and_sizes_are_numpys() -> None:
    for each in FACTS.dtypes.values():
        dtype = np.dtype(each.name)
        assert (dtype.itemsize * 8, dtype.kind) == (each.bits, each.group.kind)
        assert np.dtype(each.format) == dtype and each.format in each.group.letters
        if each.fraction:
            assert np.finfo(dtype).nmant == each.fraction
