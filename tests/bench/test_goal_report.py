"""Tests goal_report.py, which writes tables of performance goals and measurements into documents."""

import pytest

from lanewise.errors import ArgumentError
from tests.bench import goal_report, goals
from tests.bench.goal_report import Row, Table
from tests.bench.goals import Against, Goal, Measured, Reach

ADD = Goal("add", goals.MICROSECONDS, (Reach(3),), (Against(("numpy",), 2),))
EXP = Goal("exp", goals.MICROSECONDS, (Reach(1),), ())
ROWS = [Row(ADD, Measured(2000.0, 2500.0, {"numpy": 3000.0}, 1000.0), ()), Row(EXP, None, ("no figure",))]
PAGE = """\
# Speed

<!-- python -m tests.bench --goals exp -->
<!-- end -->
<!-- python -m tests.bench --goals -->
what was here before
<!-- end -->

<!-- python -m tests.bench --goals --backends browser -->
of the browser
<!-- end -->
"""


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    path.write_text(PAGE, encoding="utf-8")
    return path


def test_tables_replace_what_is_between_their_marks(page, monkeypatch):
    monkeypatch.setattr(goal_report.machine, "today", lambda: "2026-01-31")
    places = goal_report.places([page], ["--goals"], [ADD, EXP])
    for _ in range(2):  # writing the tables again changes nothing
        for place in places:
            place.write(Table(ROWS, ["numpy", "torch"], ["a machine", "limits"], {}))
    table = [
        "2026-01-31; a machine  ",
        "limits  ",
        "",
        "| goal | unit | lanewise | of limit | firm | met | aim | met | numpy |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| add | us | 2 | 50% | <= 3 | yes | >= 2x numpy | NO 75% | 3 |",
    ]
    exp = "| exp | us |  |  | <= 1 | ? |  |  |  |"
    text = page.read_text(encoding="utf-8")
    assert "\n".join(["--goals -->", "", *table, exp, "", "<!-- end -->"]) in text
    assert text.startswith("# Speed\n\n<!-- python -m tests.bench --goals exp -->\n\n2026-01-31; a machine")
    assert text.endswith("of the browser\n<!-- end -->\n")
    assert "before" not in text
    assert text.count("| add |") == 1
    assert text.count("| exp |") == 2


def test_the_browsers_table_has_separate_places(page):
    (place,) = goal_report.places([page], ["--goals", "--backends", "browser"], [ADD])
    place.write(Table(ROWS, [], [], {}))
    assert "what was here before" in page.read_text(encoding="utf-8")
    assert "of the browser" not in page.read_text(encoding="utf-8")


def test_a_document_without_a_place_is_refused(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("nothing", encoding="utf-8")
    with pytest.raises(ArgumentError, match="has no place for a table; put the lines"):
        goal_report.places([path], ["--goals"], [ADD])


def test_a_place_that_names_an_unmeasured_goal_is_refused(page):
    with pytest.raises(ArgumentError, match="no goal begins with 'exp'"):
        goal_report.places([page], ["--goals"], [ADD])
