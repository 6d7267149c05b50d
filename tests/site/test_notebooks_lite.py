"""Runs the notebooks of site/notebooks in JupyterLite, and draws a digit with the mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from lab import run_notebook
from visit import Visit

NOTEBOOKS = sorted(path.name for path in (Path(__file__).parents[2] / "site" / "notebooks").glob("*.ipynb"))
# A five, from 0 to 1 in the paper's width and height
FIVE = [(0.7, 0.1), (0.35, 0.1), (0.33, 0.45), (0.55, 0.42), (0.7, 0.6), (0.6, 0.85), (0.35, 0.85)]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_run(visit: Visit, name: str) -> None:
    run_notebook(visit, name)  # raises an error if a cell fails, so also if one of its assertions does
    blank = "() => [...document.querySelectorAll('.jp-OutputArea img')].filter((img) => !img.naturalWidth).length"
    assert visit.page.evaluate(blank) == 0


def test_a_digit_is_classified_while_it_is_drawn(visit: Visit) -> None:
    run_notebook(visit, "03-digits.ipynb")
    page, pad = visit.page, visit.page.locator(".digit-pad")
    pad.locator("button").click()
    page.wait_for_function("document.querySelector('.digit-pad output').textContent === 'Draw a digit.'")
    box = pad.locator(".paper").bounding_box()
    assert box is not None
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in FIVE]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=8)
    # the button of the mouse is still down
    page.wait_for_function("document.querySelector('.digit-pad output').textContent.startsWith('This is a 5,')")
    page.mouse.up()
    assert pad.locator(".paper polyline").count() == 1
