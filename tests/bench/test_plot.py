"""Tests the plot of rates that the benchmark's option --plot draws: ticks, labels and the legend."""

import pytest

from lanewise.timing import Timing
from tests.bench import operations
from tests.bench.cases import build
from tests.bench.runner import Entry, Result

pytest.importorskip("matplotlib", reason="it draws")
from tests.bench import plot

SIZES = (1 << 10, 1 << 16, 1 << 20)


@pytest.fixture
def drawn():
    def result(name, size):
        case = build(operations.find(name), (size,))
        entries = [Entry(who, who == "numpy", Timing(who, 1, (size * 0.1,))) for who in ("avx2", "scalar", "numpy")]
        return Result(case, tuple(entries), {}, {}, "nothing")

    figure = plot.figure_of([result(name, size) for name in ("add", "exp") for size in SIZES])
    figure.canvas.draw()
    return figure


def test_ticks_are_plain_numbers(drawn):
    for axes in drawn.axes:
        assert [label.get_text() for label in axes.get_xticklabels()] == ["1K", "64K", "1M"]
        rates = [label.get_text() for label in axes.get_yticklabels()]
        assert rates and all(float(text) > 0 for text in rates)


def test_square_matrices_are_labeled_by_their_edge():
    case = build(operations.find("matmul"), (40,))
    (axes,) = plot.figure_of([Result(case, (Entry("avx2", False, Timing("avx2", 1, (9.0,))),), {}, {}, "")]).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["40"]
    assert axes.get_xlabel() == "edge"


def test_one_legend_is_outside_of_the_panels(drawn):
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == ["avx2", "scalar", "numpy"]
    box = legend.get_window_extent()
    assert box.x0 >= 0 and box.x1 <= drawn.bbox.x1
    assert not any(box.overlaps(axes.get_window_extent()) for axes in drawn.axes)


@pytest.mark.parametrize(("number", "text"), [(40, "40"), (1000, "1000"), (3 << 19, "1.5M"), (1 << 30, "1G")])
def test_sizes(number, text):
    assert plot.plain_size(number) == text
