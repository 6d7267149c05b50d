"""Tests how rules change lines of code, and in which order mutants are drawn."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.mutants.draw import draw, mutants_of
from tests.mutants.rules import RULES
from tests.mutants.source import code_lines

SMALL = Path(__file__).parent / "small" / "code"

EXAMPLES = [
    ("comparison", ".c", "if (i < n) {", {"if (i <= n) {"}),
    ("comparison", ".h", "vm32 m = vf32_lt(x, y);", {"vm32 m = vf32_le(x, y);"}),
    ("comparison", ".py", "return a == b", {"return a != b"}),
    ("bound", ".c", "n = min_int64(n, 4);", {"n = max_int64(n, 4);"}),
    ("logic", ".c", "if (a && b) {", {"if (a || b) {"}),
    ("logic", ".py", "if a is None and b:", {"if a is None or b:", "if a is not None and b:"}),
    ("sign", ".wgsl", "let y = a + b;", {"let y = a - b;"}),
    ("dropped_term", ".c", "y = a + b * c;", {"y = a;", "y = a + b;"}),
    ("dropped_term", ".c", "y = f(a - b, c);", {"y = f(a, c);"}),
    ("dropped_term", ".h", "q = vf32_fma(q, r, vf32_set(c));", {"q = ((q) * (r));"}),
    ("dropped_term", ".c", "y = a +", set()),
    ("dropped_term", ".py", "def f(x: int | None = None) -> int:", set()),
    ("dropped_term", ".py", "def f(x: a | b) -> a | b: return x | 2", {"def f(x: a | b) -> a | b: return x"}),
    ("off_by_one", ".c", "x = y[3];", {"x = y[4];", "x = y[2];"}),
    ("off_by_one", ".wgsl", "x = 0u;", {"x = 1u;"}),
    ("off_by_bit", ".c", "x = 0x1.8p-3f;", {"x = 0x1.cp-3f;", "x = 0x1.9p-3f;"}),
    ("off_by_bit", ".py", "x = 8", {"x = 0", "x = 12"}),
    ("off_by_bit", ".yaml", "a: 1.0e+20", {"a: 8.155326e+19", "a: 9.538831e+19"}),
    ("flag", ".yaml", "stable: true", {"stable: false"}),
    ("lost_reference", ".c", "    Py_DECREF(x);", {"    (void)0;"}),
    ("lost_reference", ".c", "    y = Py_NewRef(x);", {"    y = (x);"}),
    ("lost_reference", ".c", "    lw_storage_release(x->storage);", {"    (void)0;"}),
    ("lost_reference", ".py", "    view.release()", {"    pass"}),
    ("swapped_strides", ".c", "x = a_row + a_column;", {"x = a_column + a_column;", "x = a_row + a_row;"}),
    ("swapped_strides", ".c", "x = a_row;", set()),
    ("swapped_strides", ".py", "x = shape[-1]", {"x = shape[-2]"}),
    ("skipped_join", ".c", "    sum[i] += x;", {"    (void)0;"}),
    ("skipped_join", ".c", "    int64_t sum = x;", set()),
    ("skipped_join", ".wgsl", "    workgroupBarrier();", {"    "}),
    ("removed_row", ".yaml", "  - {x: 1.0, out: 1.0}", {""}),
    ("widened_tolerance", ".yaml", "tolerance: {ulp: 2}", {"tolerance: {ulp: 20.0}"}),
]


@pytest.mark.parametrize(("rule", "suffix", "line", "expected"), EXAMPLES)
def test_what_a_rule_changes(rule: str, suffix: str, line: str, expected: set[str]) -> None:
    found = mutants_of(f"file{suffix}", line).get(1, {})
    assert {mutant.after for mutant in found.get(rule, [])} == expected


def test_every_rule_has_an_example() -> None:
    assert {rule.name for rule in RULES} == {name for name, *_ in EXAMPLES}


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".c", "/* 1 < 2,\n   3 + 4 */ // 5"),
        (".c", "f(\"1 < 2\", '3');"),
        (".c", "#if A < 1 && \\\n    B < 2\n#include <c>"),
        (".py", '"""1 < 2\n3"""\nx = f("4 < 5")  # 6'),
        (".yaml", 'summary: "1 < 2\n  3"\nx: {doc: "4", why: 5}'),
    ],
)
def test_comments_strings_and_prose_do_not_change(suffix: str, text: str) -> None:
    assert not mutants_of(f"file{suffix}", text)
    assert [len(line) for line in code_lines(text, suffix)] == [len(line) for line in text.split("\n")]


def drawn(seed: int, count: int, lines: dict[str, list[int] | None]) -> list[str]:
    return [mutant.key for mutant in itertools.islice(draw(SMALL.parent, lines, seed), count)]


def test_a_seed_always_draws_the_same() -> None:
    lines = dict.fromkeys(f"code/{path.name}" for path in sorted(SMALL.iterdir()))
    assert drawn(1, 40, lines) == drawn(1, 40, dict(reversed(lines.items())))
    assert drawn(1, 40, lines)[:10] == drawn(1, 10, lines)
    assert drawn(1, 40, lines) != drawn(2, 40, lines)
    everything = drawn(1, 10_000, lines)
    assert len(everything) == len(set(everything)) > 150


def test_only_lines_that_run(tmp_path: Path) -> None:
    for folder in ("a", "b", "b/c"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.py").write_text("x = 1\ny = 2\nz = 3\n")
    lines: dict[str, list[int] | None] = {"a/x.py": [2], "b/x.py": None, "b/c/x.py": [1, 3]}
    mutants = list(itertools.islice(draw(tmp_path, lines, 7), 6))
    assert {mutant.line for mutant in mutants if mutant.file == "a/x.py"} == {2}
    assert 2 not in {mutant.line for mutant in mutants if mutant.file == "b/c/x.py"}
    for three in (mutants[:3], mutants[3:]):  # every folder in turn
        assert sorted(mutant.file for mutant in three) == sorted(lines)
