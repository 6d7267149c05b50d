"""A tick in the support matrix, a cross on its page and a gap in the summary of a run are what the tests found."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from itertools import product
from pathlib import Path

import pytest

from tests import support

ROOT = Path(__file__).resolve().parents[2]
# What two folders of tests find of one operation on one backend: the outcomes of their tests, in order.
FOUND = list(product(([], [True], [False], [True, False], [False, True], [True, True]), repeat=2))


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Returns a function that records what each of some folders of tests finds."""
    for name in ("REPORTS", "SAVED", "TABLE"):
        monkeypatch.setattr(support, name, tmp_path / name.lower())
    monkeypatch.delenv("LANEWISE_NO_MATRIX", raising=False)

    def record(*folders: Callable[[], None]) -> None:
        for number, find in enumerate(folders):
            monkeypatch.setattr(support, "_seen", {})  # each folder is tested in a process of its own
            find()
            support.save(f"folder {number}")

    return record


@pytest.fixture
def cells(tables: Callable[..., None]) -> list[str]:
    """Records FOUND, each for an operation of its own, and returns the sign that each ought to have."""

    def find(number: int) -> None:
        for row, outcomes in enumerate(FOUND):
            for passed in outcomes[number]:
                support.note(f"operation_{row:02}", "avx2", passed)
        support.note("add", "scalar", True)

    tables(partial(find, 0), partial(find, 1))
    return ["✓" if all([*a, *b]) else "✗" for a, b in FOUND if a or b]


@pytest.fixture
def dtypes(tables: Callable[..., None]) -> None:
    """Records outcomes by dtype in two folders."""

    def first() -> None:
        support.note("add", "avx2", True, ["int8", "float32", "float64"])
        support.note("add", "avx2", True)
        support.note("add", "wgpu", True, ["int8", "float32", "float64"], left=["float64"])
        support.note("exp", "avx2", False, ["float32"])

    def second() -> None:
        support.note("add", "scalar", True, ["float32"])
        support.note("add", "scalar", False, ["float64"])
        support.note("add", "scalar", True, ["float64"])

    tables(first, second)


def rows(head: str) -> list[list[str]]:
    """Returns the cells of the table whose second column is `head`."""
    text = support.TABLE.read_text(encoding="utf-8")
    table = next(each for each in text.split("\n\n") if each.startswith(f"| operation | {head} |"))
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]


def test_a_tick_says_that_every_test_passed(cells: list[str]) -> None:
    head, _, add, *others = rows("avx2")
    assert head == ["operation", "avx2", "scalar"]
    assert add == ["add", "", "✓"]
    assert [row[1] for row in others] == cells


def test_every_pair_without_a_tick_is_a_gap(cells: list[str]) -> None:
    names = [f"operation_{row:02}" for row in range(len(FOUND))]
    expected = [name for name, (a, b) in zip(names, FOUND, strict=True) if not (a or b) or not all([*a, *b])]
    assert support.gaps(dict.fromkeys(names, ()), ["avx2"]) == [f"{name}: no tick for avx2" for name in expected]
    assert support.gaps({"add": []}, ["avx2", "scalar"]) == ["add: no tick for avx2"]


@pytest.mark.usefixtures("dtypes")
def test_a_dtype_has_a_tick_or_names_the_backends_that_differ() -> None:
    assert rows("wgpu")[2:] == [["add", "✓", "✓", "✗"], ["exp", "", "✗", ""]]
    head, _, add, exp = rows("float32")
    assert head == ["operation", "float32", "float64", "int8"]
    assert add == ["add", "✓", "wgpu: cpu, scalar: ✗", "scalar: not run"]
    assert exp == ["exp", "avx2: ✗", "", ""]


@pytest.mark.usefixtures("dtypes")
def test_a_dtype_that_no_test_compared_on_a_backend_is_a_gap() -> None:
    every = ["wgpu", "avx2", "scalar"]
    assert support.gaps({"add": ["float32"]}, every[:2]) == []
    assert support.gaps({"add": ["float32", "float64", "int8"]}, every[:2]) == []
    assert support.gaps({"add": ["int8"]}, every) == ["add: no tick for scalar (int8)"]
    assert support.gaps({"add": ["float32"]}, every) == ["add: no tick for scalar"]  # float64 failed
    assert support.gaps({"add": ["bool", "int8"]}, every) == [
        "add: no tick for wgpu (bool), avx2 (bool), scalar (bool, int8)"
    ]
    assert support.gaps({"exp": ["float32"]}, ["avx2", "neon"]) == ["exp: no tick for avx2 (float32), neon"]


def test_the_page_shows_and_counts_the_signs(cells: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "site" / "reference"))
    text = import_module("support_matrix").page((), support.TABLE.read_text(encoding="utf-8"))
    ticks, crosses = cells.count("✓") + 1, cells.count("✗")
    assert f"\n{ticks} of the {ticks + crosses} pairs of an operation and a backend that ran have a tick." in text
    assert text.count('class="tick" role="img" aria-label="passed">✓') == text.count("✓") == ticks
    assert text.count('class="cross" role="img" aria-label="failed">✗') == text.count("✗") == crosses
