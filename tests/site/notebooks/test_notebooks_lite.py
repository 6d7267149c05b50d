"""Runs the notebooks of site/notebooks in JupyterLite, and draws a digit with the mouse."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lab
import pytest
from accessibility import serious
from served import serving
from visit import Visit

if TYPE_CHECKING:
    import playwright.sync_api as playwright

NOTEBOOKS = sorted(path.name for path in (Path(__file__).parents[3] / "site" / "notebooks").glob("*.ipynb"))
THREADS, DIGITS = "02-same-answers.ipynb", "03-digits.ipynb"  # each has a test of its own
# A five, from 0 to 1 in the paper's width and height
FIVE = [(0.7, 0.1), (0.35, 0.1), (0.33, 0.45), (0.55, 0.42), (0.7, 0.6), (0.6, 0.85), (0.35, 0.85)]
# The elements that come from this project; the rest of the page is JupyterLab's.
OURS = ".jp-OutputArea-output, .jp-RenderedMarkdown"
# Rules of axe-core that JupyterLab 4.4 itself breaks
JUPYTERLAB_BREAKS = {
    "aria-allowed-attr",  # aria-pressed of its buttons, whose role is in their shadow trees
    "aria-input-field-name",  # the editors of code cells have no name
    "aria-required-children",  # the list of cells has the role feed, which expects articles
}
# The lab draws only the visible cells of a notebook, so the window is as high as all of them.
WINDOW_HEIGHT = 9000
SHOW_ALL = """() => {
    window.jupyterapp.shell.collapseLeft();
    document.querySelector(".jp-WindowedPanel-outer").scrollTop = 0;
}"""
WAIT_LATE = """
const waitAsync = Atomics.waitAsync;
Atomics.waitAsync = (memory, index, value) => {
    const end = performance.now() + 100;
    while (performance.now() < end && Atomics.load(memory, index) === value) {}
    return waitAsync(memory, index, value);
};
"""
DRAWN = "(count) => document.querySelectorAll('.jp-Notebook .jp-Cell').length === count"


def check_accessibility(page: playwright.Page, cells: list[dict[str, Any]]) -> None:
    """Asserts that the outputs and texts of the open notebook have no problems, and the lab has only known ones."""
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": WINDOW_HEIGHT})
        page.evaluate(SHOW_ALL)
        page.wait_for_function(DRAWN, arg=len(cells))
        assert serious(page, OURS) == []
        assert {problem.partition(":")[0] for problem in serious(page)} <= JUPYTERLAB_BREAKS


def run_and_check(visit: Visit, name: str) -> list[dict[str, Any]]:
    """Opens the lab and a notebook, runs the notebook, checks what it shows, and returns its cells."""
    lab.open_lab(visit)
    lab.open_notebook(visit, name)
    assert not visit.page.evaluate(lab.IS_CHANGED)
    cells = lab.run_all(visit)  # raises an error if a cell fails, so also if one of its assertions does
    blank = "() => [...document.querySelectorAll('.jp-OutputArea img')].filter((img) => !img.naturalWidth).length"
    assert visit.page.evaluate(blank) == 0
    check_accessibility(visit.page, cells)
    return cells


@pytest.mark.parametrize("name", [name for name in NOTEBOOKS if name not in (THREADS, DIGITS)])
def test_notebooks_run(visit: Visit, name: str) -> None:
    run_and_check(visit, name)


def test_threads_are_used_in_an_isolated_lab(browser: playwright.Browser, site: Path) -> None:
    """Everything in the lab loads under cross-origin isolation, and init_threads() starts web workers there. Also if
    the kernel always answers before the page begins to wait, as it may on a busy machine."""
    with serving(site, isolated=True) as isolated, closing(Visit(browser.new_context(), isolated)) as visit:
        visit.context.add_init_script(WAIT_LATE)
        cells = lab.run_notebook(visit, THREADS)
        assert visit.page.evaluate("self.crossOriginIsolated") is True
        (threads,) = [cell for cell in cells if "lw.init_threads(2)" in "".join(cell["source"])]
        assert lab.text(threads) == "threads: 2\n"
        assert visit.errors == [] and visit.foreign == []


def test_without_isolation_a_notebook_says_what_threads_need(visit: Visit) -> None:
    cells = run_and_check(visit, THREADS)
    (threads,) = [cell for cell in cells if "lw.init_threads(2)" in "".join(cell["source"])]
    refusal, count = lab.text(threads).splitlines()
    assert "Cross-Origin-Opener-Policy: same-origin" in refusal
    assert "Cross-Origin-Embedder-Policy: require-corp" in refusal
    assert count == "threads: 1"


def test_a_digit_is_classified_while_it_is_drawn(visit: Visit) -> None:
    run_and_check(visit, DIGITS)
    visit.page.set_viewport_size({"width": 1280, "height": WINDOW_HEIGHT})
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
