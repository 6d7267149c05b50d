"""Tests that the README's example, typed into a console, prints what the README shows, natively and in all engines."""

from __future__ import annotations

import code
import contextlib
import io
import re
from pathlib import Path

import pytest
from engines import Engine

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).parent / "programs" / "console.py"
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.search(r"## Example\n.*?```python\n(.*?)```.*?```text\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture(scope="session")
def ten_lines() -> str:
    assert BLOCKS, "expected a block of Python in README.md under `Example`, and then a block of what it prints"
    return BLOCKS[1]


@pytest.fixture(scope="session")
def shown() -> str:
    assert BLOCKS
    return BLOCKS[2]


def test_the_example_has_ten_lines(ten_lines: str) -> None:
    assert len([line for line in ten_lines.splitlines() if line.strip()]) == 10


def test_a_native_console_prints_what_the_readme_shows(ten_lines: str, shown: str) -> None:
    output = io.StringIO()
    console = code.InteractiveConsole()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        for line in ten_lines.split("\n"):
            console.push(line)
    assert output.getvalue() == shown


def test_a_pyodide_console_prints_the_same(ten_lines: str, shown: str, engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text(ten_lines, encoding="utf-8")
    assert engine.run(PROGRAM, mounts={"/lines": tmp_path}) == shown
