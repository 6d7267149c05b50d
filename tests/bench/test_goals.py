"""Tests the tables of performance goals, whether a measurement meets a goal, and the reports of both."""

import json

import pytest

from lanewise.errors import ArgumentError
from tests.bench import goals, report
from tests.bench.command import TABLES
from tests.bench.goals import Goal, Measured
from tests.bench.report import Row, Table
from tests.bench.settings import Settings

ALL = {name: goals.load(name) for name in TABLES}
EVERY = [pytest.param(goal, id=f"{table}: {goal.name}") for table in ALL for goal in ALL[table]]


@pytest.mark.parametrize("goal", EVERY)
def test_every_goal_can_be_measured_and_judged(goal):
    """Bars are written as text: measurements that reach nothing and everything show that each is understood."""
    assert (goal.firm or goal.aim) and goal.text(goal.firm or goal.aim)
    names = goal.against()
    for value, met in ((1e-9, True), (1e12, False)):
        measured = Measured(value, value, dict.fromkeys(names, 1.0), 1.0, 10, tails={"lanewise": value, "torch": 1.0})
        bars = [bar for bar in (*goal.firm, *goal.aim) if bar != goals.STEADY]
        assert [goal.met([bar], measured) for bar in bars] == [met] * len(bars)
    if goal.work and max(goal.size()) < 1 << 20:  # drawing the inputs of larger cases would take too long
        case = goal.case()
        assert case.dtype == (goal.dtype or "float32") and case.bytes > 0
        assert goal.unit not in ("GFLOP/s", "TFLOP/s") or case.flops


def test_alternatives_in_a_name_stand_for_rows():
    expanded = goals._expanded("(a|b) rows (1|2), more", {"unit": "us", "work": "f $2 mode=$1", "firm": 4})
    assert [(goal.name, goal.work) for goal in expanded] == [
        ("a rows 1, more", "f 1 mode=a"),
        ("a rows 2, more", "f 2 mode=a"),
        ("b rows 1, more", "f 1 mode=b"),
        ("b rows 2, more", "f 2 mode=b"),
    ]
    (plain,) = goals._expanded("two workers: f(x * y) 2, more", {"unit": "us", "firm": [4, "1x a"]})
    assert (plain.work, plain.firm, plain.aim) == ("f(x * y) 2", (4, "1x a"), ())


def test_keywords_and_expressions_are_part_of_the_case():
    case = Goal("", "us", work="sum 32x8 axis=1").case()
    assert (case.result, case.keywords) == (32, {"axis": 1})
    case = Goal("", "us", work="matmul 8 dtype=int32", dtype="int8").case()
    assert (case.bytes, case.keywords, case.flops) == (64 + 64 + 4 * 64, {"dtype": "int32"}, None)
    case = Goal("", "us", work="gelu 8 approximate=tanh", call="gelu(x * 2) + x.T").case()
    assert (case.call, case.keywords) == ("function(argument0 * 2) + argument0.T", {"approximate": "tanh"})


@pytest.mark.parametrize(
    ("unit", "bar", "expected"),
    [
        ("GFLOP/s", 2, 1),  # the measurement is 2000 operations in 1000 ns
        ("GFLOP/s", 2.5, 0.8),
        ("us", 1, 1),
        ("ns", 800, 0.8),
        ("KB", 1, 1),
        ("ns", "0.95x a", 1),
        ("ns", "1x a and b", 0.95),
        ("ns", "1x b and elsewhere", 1.2),  # the peer `elsewhere` has no such operation
        ("ns", "1x b and absent", None),  # the peer `absent` did not run and might be faster
        ("ns", "1x a and absent", 0.95),
        ("ns", "1x absent", None),
        ("ns", "1x the best peer", 0.95),
        ("ns", "50% of the limit", 1),
        ("ns", "80% of the limit", 0.625),
        ("ns", "steady", None),
    ],
)
def test_bars(unit, bar, expected):
    measured = Measured(1000.0, 1100.0, {"a": 950.0, "b": 1200.0}, 500.0, 2000, frozenset({"absent"}))
    goal = Goal("x", unit, (bar,), peers=("a", "b"))
    assert goal.reached(goal.firm, measured) == (expected and pytest.approx(expected))
    assert goal.met(goal.firm, measured) == (None if expected is None else expected >= 1)


def test_a_row_is_steady_by_its_own_median_or_by_the_peer():
    for median, tail, theirs, reached in ((10, 20, 0, 1), (10, 40, 0, 0.5), (10, 40, 50, 1.5), (10, 60, 25, 0.5)):
        measured = Measured(median, median, tails={"lanewise": tail, "torch": theirs})
        assert Goal("x", "us").reached(["steady"], measured) == pytest.approx(reached)


def test_a_goal_is_met_only_if_all_bars_are_known_to_hold():
    goal, measured = Goal("x", "ns"), Measured(1000.0, 1100.0)
    assert goal.met((1000, "50% of the limit"), measured) is None
    assert goal.met((999, "50% of the limit"), measured) is False
    assert goal.met((2000,), Measured(1000.0, 1100.0, judged=False)) is None
    assert goal.met((), measured) is None


def test_goals_are_found_by_the_beginning_of_their_names():
    for table in ALL.values():
        assert len({goal.name for goal in table}) == len(table) > 10
    browser = ALL["browser"]
    assert [goal.name for goal in goals.find(browser, ["matmul 64", "call"])] == ["matmul 64", "call, n = 4"]
    assert goals.find(browser, []) == browser
    with pytest.raises(ArgumentError, match="no goal begins with 'fly'; there are matmul 64"):
        goals.find(browser, ["fly"])


ADD = Goal("add", "us", (3,), ("2x numpy",), peers=("tfjs", "numpy", "torch"))
EXP = Goal("exp", "us", (1,))
TAIL = Goal("tail", "us", ("2x numpy", "60% of the limit"))
ROWS = [
    Row(ADD, Measured(2000.0, 2500.0, {"one thread": 4000.0, "numpy": 3000.0}, 1000.0), ()),
    Row(EXP, None, ("no figure",)),
    Row(TAIL, Measured(2e6, 2e6, {"numpy": 3e6}, 1e6, tails={"lanewise": 2.5e6, "numpy": 123456.0}), ("slow", "late")),
]
TABLE = Table(ROWS, ["a machine", "limits"], {"peers": ["numpy 2"]})


def test_the_table_has_a_cell_under_every_heading():
    head, *rows = report.cells(TABLE)
    bars = ">= 2x numpy, 60% of the limit"
    assert head[:5] == ["goal", "unit", "lanewise", "median", "of limit"]
    assert head[5:] == ["firm", "met", "aim", "met", "numpy", "one thread"]
    assert rows == [
        ["add", "us", "2", "2.5", "50%", "<= 3", "yes", ">= 2x numpy", "NO 75%", "3", "4"],
        ["exp", "us", "", "", "", "<= 1", "?", "", "", "", ""],
        ["tail", "us", "2,000 (2,500)", "2,000", "50%", bars, "NO 75%", "", "", "3,000 (123)", "-"],
    ]
    lines = report.text(TABLE).splitlines()
    assert lines[4:] == ["  no figure: exp", "  slow: tail", "  late: tail", lines[-1]]
    assert lines[-1] == "firm: 1 of 3 rows; aim: 0; firm, but not judged: 1"
    found = json.loads(json.dumps(report.as_json(TABLE)))
    assert found["peers"] == ["numpy 2"] and found["machine"]["lanewise"]
    judged = [(row["goal"], row["figure"], row["firm_met"]) for row in found["goals"]]
    assert judged == [("add", 2, True), ("exp", None, None), ("tail", 2000, False)]


@pytest.mark.parametrize(
    ("rows", "firm", "status"),
    [
        (ROWS[:1], True, 0),
        (ROWS[2:], False, 0),
        (ROWS[2:], True, 1),
        (ROWS[1:2], False, 1),  # a row without a figure
        ([Row(ADD, ROWS[0].measured, (), {"wrong": {"numpy": "element 3"}})], False, 1),
        ([Row(Goal("x", "us", ("2x torch",)), Measured(1.0, 1.0), ())], True, report.NOT_JUDGED),
        ([Row(Goal("x", "us", ("2x torch",)), Measured(1.0, 1.0), ())], False, 0),
        ([Row(Goal("x", "us", ("2x torch",)), Measured(1.0, 1.0), ()), ROWS[2]], True, 1),
    ],
)
def test_the_exit_status_tells_what_was_missed_or_not_judged(rows, firm, status, capsys):
    assert report.publish(Table(rows, [], {}), Settings(firm=firm)) == status
    assert ("cannot be judged here: x" in capsys.readouterr().err) == (status == report.NOT_JUDGED)


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
    monkeypatch.setattr(report.machine, "today", lambda: "2026-01-31")
    places = report.places([page], ["--goals"], [ADD, EXP])
    for _ in range(2):  # writing the tables again changes nothing
        for place in places:
            report.write(place, TABLE)
    table = [
        "2026-01-31; a machine  ",
        "limits  ",
        "",
        "| goal | unit | lanewise | of limit | firm | met | aim | met | numpy | one thread |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| add | us | 2 | 50% | <= 3 | yes | >= 2x numpy | NO 75% | 3 | 4 |",
        "| exp | us |  |  | <= 1 | ? |  |  |  |  |",
    ]
    text = page.read_text(encoding="utf-8")
    assert "\n".join(["--goals -->", "", *table, "", "<!-- end -->"]) in text
    assert text.startswith("# Speed\n\n<!-- python -m tests.bench --goals exp -->\n\n2026-01-31; a machine")
    assert text.endswith("of the browser\n<!-- end -->\n") and "before" not in text
    assert (text.count("| add |"), text.count("| exp |")) == (1, 2)
    (place,) = report.places([page], ["--goals", "--backends", "browser"], [ADD])
    report.write(place, TABLE)
    assert "of the browser" not in page.read_text(encoding="utf-8")


def test_a_document_without_a_place_is_refused(page):
    with pytest.raises(ArgumentError, match="no goal begins with 'exp'"):  # which was not measured
        report.places([page], ["--goals"], [ADD])
    page.write_text("nothing", encoding="utf-8")
    with pytest.raises(ArgumentError, match="has no place for a table; put the lines"):
        report.places([page], ["--goals"], [ADD])
