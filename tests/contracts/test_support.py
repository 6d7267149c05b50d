"""A tick in the support matrix, a cross on its page and a gap in the summary of a run are what the tests found."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import product
from pathlib import Path

import pytest

from tests import support

ROOT = Path(__file__).resolve().parents[2]
# What two folders of tests find of one operation on one backend: the outcomes of their tests, in order.
FOUND = list(product(([], [True], [False], [True, False], [False, True], [True, True]), repeat=2))


@pytest.fixture
def cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Records FOUND, each for an operation of its own, and returns the sign that each ought to have."""
    for name in ("REPORTS", "SAVED", "TABLE"):
        monkeypatch.setattr(support, name, tmp_path / name.lower())
    monkeypatch.delenv("LANEWISE_NO_MATRIX", raising=False)
    for number, folder in enumerate(("first", "second")):
        monkeypatch.setattr(support, "_seen", {})  # each folder is tested in a process of its own
        for row, outcomes in enumerate(FOUND):
            for passed in outcomes[number]:
                support.note(f"operation_{row:02}", "avx2", passed)
        support.note("add", "scalar", True)
        support.save(folder)
    yield ["✓" if all([*a, *b]) else "✗" for a, b in FOUND if a or b]


def test_a_tick_says_that_every_test_passed(cells: list[str]) -> None:
    rows = [line.split("|")[1:-1] for line in support.TABLE.read_text(encoding="utf-8").splitlines()[2:]]
    assert [each.strip() for each in rows[0]] == ["operation", "avx2", "scalar"]
    assert [each.strip() for each in rows[2]] == ["add", "", "✓"]
    assert [row[1].strip() for row in rows[3:]] == cells


def test_every_pair_without_a_tick_is_a_gap(cells: list[str]) -> None:
    names = [f"operation_{row:02}" for row in range(len(FOUND))]
    expected = [name for name, (a, b) in zip(names, FOUND, strict=True) if not (a or b) or not all([*a, *b])]
    assert support.gaps(names, ["avx2"]) == [f"{name}: no tick for avx2" for name in expected]
    assert support.gaps(["add"], ["avx2", "scalar"]) == ["add: no tick for avx2"]


def test_the_page_shows_and_counts_the_signs(cells: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "site" / "reference"))
    text = import_module("support_matrix").page((), support.TABLE.read_text(encoding="utf-8"))
    ticks, crosses = cells.count("✓") + 1, cells.count("✗")
    assert f"\n{ticks} of the {ticks + crosses} pairs of an operation and a backend that ran have a tick." in text
    assert text.count('class="tick" role="img" aria-label="passed">✓') == text.count("✓") == ticks
    assert text.count('class="cross" role="img" aria-label="failed">✗') == text.count("✗") == crosses
