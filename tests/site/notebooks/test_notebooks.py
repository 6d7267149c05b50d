"""Runs the notebooks of site/notebooks in Jupyter's kernel on this machine, and checks their pictures."""

from __future__ import annotations

import ast
import base64
import hashlib
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from PIL import Image

FOLDER = Path(__file__).parents[3] / "site" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PICTURE = re.compile(r'<img alt="([^"]+)" src="data:image/png;base64,([^"]+)">')
CODE_COLUMNS = 105  # a code cell of the lab has room for these in a window of 1280 pixels
SECONDS = 300  # for one cell, on a busy machine
# How many pictures the outputs of each notebook have
PICTURES = {"01-first-steps": 0, "02-same-answers": 0, "03-digits": 3, "04-gpu": 1, "05-images": 5}

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code(path: Path) -> list[Any]:
    return [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]


class CellError(Exception):
    """A cell of a notebook raised an error."""


def run(path: Path, folder: Path) -> Any:
    """Returns the notebook with its outputs, which are also written to `folder`. The kernel and its client run in
    processes of their own."""
    program = Path(sys.executable).with_name("jupyter-execute")
    copy = folder / f"run-{path.name}"
    command = [program, f"--timeout={SECONDS}", f"--output={copy}", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * SECONDS, check=False)
    if done.returncode:
        raise CellError(done.stderr[-4000:])
    return nbformat.read(copy, 4)


def pictures(notebook: Any) -> Iterator[tuple[str, Image.Image]]:
    """Yields the pictures among the outputs of a notebook, each with its alternative text. They are HTML, because in
    JupyterLab, outputs of the type image/png cannot have alternative text."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            assert "image/png" not in data
            for text, png in PICTURE.findall(data.get("text/html", "")):
                yield text, Image.open(io.BytesIO(base64.b64decode(png)))


def printed(notebook: Any) -> str:
    return "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))


def test_the_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == list(PICTURES)


@every_notebook
def test_notebooks_are_committed_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"  # JupyterLite takes its own kernel for this language
    for cell in code(path):
        assert cell.outputs == [] and cell.execution_count is None and cell.metadata == {}


@every_notebook
def test_notebooks_explain_and_check_what_they_do(path: Path) -> None:
    cells = nbformat.read(path, 4).cells
    assert cells[0].source.startswith("# ")
    explained = sum(cell.cell_type == "markdown" for cell in cells)
    assert explained >= len(code(path)) - 1
    checked = [
        cell.id
        for cell in code(path)
        if any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(cell.source, mode="exec")))
    ]
    assert len(checked) >= 5
    assert all(len(line) <= 120 for cell in cells for line in cell.source.splitlines())
    assert all(len(line) <= CODE_COLUMNS for cell in code(path) for line in cell.source.splitlines())


@every_notebook
def test_links_between_notebooks_work(path: Path) -> None:
    text = "".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        assert target.startswith("https://") or (FOLDER / target).is_file(), target


def test_the_first_notebook_has_ten_cells() -> None:
    assert len(code(NOTEBOOKS[0])) == 10


@every_notebook
def test_notebooks_run_and_draw_pictures(path: Path, tmp_path: Path) -> None:
    found = list(pictures(run(path, tmp_path)))
    assert len(found) == PICTURES[path.stem]
    assert len({text for text, _ in found}) == len(found)
    for _, picture in found:
        gray = np.asarray(picture.convert("L"), dtype=float)
        assert gray.std() > 10, "a picture is blank"
        assert len(np.unique(gray)) > 8


def test_without_a_gpu_its_notebook_runs_on_the_cpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LANEWISE_FORCE_CPU", "1")
    notebook = run(FOLDER / "04-gpu.ipynb", tmp_path)
    text = printed(notebook)
    assert "LANEWISE_FORCE_CPU" in text and "This notebook computes on cpu\n" in text
    assert len(list(pictures(notebook))) == 1


def test_a_wrong_result_stops_a_notebook(tmp_path: Path) -> None:
    path = FOLDER / "01-first-steps.ipynb"
    source = path.read_text(encoding="utf-8")
    assert source.count("500002.78125") == 1
    wrong = tmp_path / path.name
    wrong.write_text(source.replace("500002.78125", "500002.75"), encoding="utf-8")
    with pytest.raises(CellError, match="AssertionError"):
        run(wrong, tmp_path)


def test_the_photograph_is_the_one_that_the_notice_credits() -> None:
    notice = (FOLDER / "NOTICE").read_text(encoding="utf-8")
    photo = (FOLDER / "flower.jpg").read_bytes()
    assert hashlib.sha256(photo).hexdigest() in notice and len(photo) <= 150_000
    credit = "".join(cell.source for cell in nbformat.read(FOLDER / "05-images.ipynb", 4).cells[:1])
    for words in ("vultilion", "https://creativecommons.org/licenses/by/2.0/", "scikit-learn"):
        assert words in notice and words in credit
