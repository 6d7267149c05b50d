"""Tests ran.py: from the lines that gcov and coverage.py report, it finds all lines that run, with their continuation
lines and the definitions that they name."""

from __future__ import annotations

from pathlib import Path

from tests.mutants import instrument, ran
from tests.mutants.project import Project
from tests.mutants.source import statements

HEADER = """#define USED 1
#define UNUSED 2
#define LOOP(name) \\
    for (int i = 0; i < USED; i++) { \\
        name[i] += i; \\
    }
enum { ROWS = 4, /* a comment, OTHER = 5 */
       COLUMNS = ROWS * 2 };
static const float table[2] = {
    1.5f, 2.5f};
#define ABSENT 3
"""
SOURCE = """#include "a.h"
void f(float *x) {
    LOOP(x)
    x[0] = table[1] +
           COLUMNS;
    if (x[1] < 0) {
        x[2] = UNUSED;
    }
}
"""


def test_definitions_that_running_lines_name(tmp_path: Path) -> None:
    (tmp_path / "project.toml").write_text('sources = ["core"]\n')
    (tmp_path / "core").mkdir()
    header, source = tmp_path / "core" / "a.h", tmp_path / "core" / "b.c"
    header.write_text(HEADER)
    source.write_text(SOURCE)
    compiled = {
        "ran": {str(source): [2, 3, 4, 6]},
        "known": {str(source): [2, 3, 4, 6, 7]},
        "active": {str(header): list(range(1, 11)), str(source): list(range(1, 10))},
    }
    found = ran.collect(Project(tmp_path / "project.toml", tmp_path), tmp_path, {}, compiled)
    assert found["core/b.c"] == [2, 3, 4, 5, 6]  # line 5 continues a statement; line 7 did not run
    assert found["core/a.h"] == [1, 3, 4, 5, 6, 7, 8, 9, 10]


def test_statements_of_several_lines(tmp_path: Path) -> None:
    text = "def f(\n    a,\n):\n    return g(\n        a)\n"
    assert sorted(statements(text)) == [(1, 3), (4, 5)]
    (tmp_path / "project.toml").write_text('sources = ["lanewise"]\n')
    (tmp_path / "lanewise").mkdir()
    (tmp_path / "lanewise" / "a.py").write_text(text)
    project = Project(tmp_path / "project.toml", tmp_path)
    nothing: dict[str, dict[str, list[int]]] = {"ran": {}, "known": {}, "active": {}}
    found = ran.collect(project, tmp_path, {"lanewise/a.py": {"executed_lines": [1]}}, nothing)
    assert found == {"lanewise/a.py": [1, 2, 3]}


def test_lines_of_preprocessed_text() -> None:
    text = '# 1 "a.c"\n# 1 "b.h" 1\n#define X 1\n\nint x;\n# 2 "a.c" 2\nint y;\n'
    assert list(instrument._markers(text)) == [("b.h", 1), ("b.h", 3), ("a.c", 2)]
