"""Tests --figure, which draws a chart of goals, with measurements defined here."""

import re
from xml.etree import ElementTree

import pytest

from lanewise.errors import ArgumentError
from tests.bench import figure
from tests.bench.goals import Measured, find, load
from tests.bench.report import Row

BROWSER = load("browser")
FLOPS = 2 * 512**3
MEASURED = {
    "matmul 512": Measured(
        FLOPS / 42.8, 0.0, {"numpy": FLOPS / 1.69, "scipy": FLOPS / 8, "tfjs": FLOPS / 30}, amount=FLOPS
    ),
    "exp 1M": Measured(592e3, 0.0, {"numpy": 4460e3, "tfjs": 3500e3}),
    "sum 1M": Measured(150e3, 0.0, {"numpy": 380e3}),
}
ROWS = [
    Row(goal, MEASURED.get(goal.name), ()) for goal in BROWSER if goal.name in [*MEASURED, "softmax rows 1024x1024"]
]


@pytest.fixture
def drawn(tmp_path):
    """A function that draws rows into a file of a given name and returns the text of the file."""

    def draw(rows, name="speed-light.svg"):
        figure.draw(rows, tmp_path / name, "in a test")
        return (tmp_path / name).read_text(encoding="utf-8")

    return draw


def words(svg):
    return [element.text for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_each_chosen_row_has_a_panel_with_the_rates_of_its_contestants(drawn):
    text = words(drawn(ROWS))
    assert "Matrix product, 512 \u00d7 512" in text and "exp, 1M elements" in text
    assert not any("sum" in word for word in text)
    assert [text.count(name) for name in ("Lanewise", "NumPy", "tfjs", "scipy")] == [1, 1, 1, 0]
    assert {"42.8", "1.69", "30", "1.77", "0.24", "0.30"} <= set(text)
    assert "float32, one thread, in a test. Longer is faster." in text
    assert "sum 1M" in words(drawn([row for row in ROWS if row.goal.name == "sum 1M"]))  # if no row has a title
    assert all(len(find(BROWSER, [name])) == 1 for name in figure.TITLES)


def test_a_dark_figure_differs_only_in_colors(drawn):
    light, dark = drawn(ROWS), drawn(ROWS, "speed-dark.svg")
    assert light == drawn(ROWS)
    assert figure.LIGHT.accent in light and figure.DARK.accent in dark
    color = re.compile("#[0-9a-f]{6}")
    assert color.sub("", light) == color.sub("", dark)


@pytest.mark.parametrize(
    ("rows", "name", "message"),
    [(ROWS, "speed.png", "expected a figure with the suffix .svg"), ([], "speed.svg", "no row was measured")],
)
def test_mistakes_are_explained(rows, name, message, tmp_path):
    with pytest.raises(ArgumentError, match=re.escape(message)):
        figure.draw(rows, tmp_path / name, "in a test")
