"""Tests the tables of performance goals, and whether a measurement meets a goal."""

import pytest

from lanewise.errors import ArgumentError
from tests.bench import goals
from tests.bench.browser.table import BROWSER, IMPORT, WEBGPU, WHEEL_SIZE
from tests.bench.cpu.table import AUTO, AVX2, AVX512, CPU
from tests.bench.goals import Against, Goal, Measured, OfLimit, Reach


@pytest.mark.parametrize("goal", CPU, ids=lambda goal: goal.name)
def test_every_goal_of_the_cpu_can_be_measured(goal):
    assert goal.firm
    assert goal.text(goal.firm)
    if goal.work is None:
        assert goal is AUTO
        return
    assert goal.backend in (AVX512, AVX2)
    if max(goal.work.size) < 1 << 20:  # drawing the inputs of larger cases would take too long
        case = goal.work.case()
        assert case.dtype == "float32"
        assert case.bytes > 0
        assert goal.unit != goals.GFLOPS or case.flops


@pytest.mark.parametrize("goal", BROWSER, ids=lambda goal: goal.name)
def test_every_goal_of_the_browser_can_be_measured(goal):
    assert goal.firm
    assert goal.aim or goal in WEBGPU
    assert goal.text(goal.firm)
    if goal.work is None:
        assert goal.name in (WHEEL_SIZE, IMPORT) or goal in WEBGPU
    else:
        case = goal.work.case()
        assert case.bytes > 0
        assert (goal.unit == goals.GFLOPS) == (case.operation.kind in ("matrix", "window"))


@pytest.mark.parametrize("table", [BROWSER, CPU])
def test_names_are_unique(table):
    names = [goal.name for goal in table]
    assert len(set(names)) == len(names)


def test_a_row_sum_reduces_each_row_to_one_element():
    (goal,) = goals.find(BROWSER, ["row sum"])
    case = goal.work.case()
    assert (case.result, case.keywords) == (1024, {"axis": 1})


@pytest.mark.parametrize(
    ("unit", "bar", "expected"),
    [
        (goals.GFLOPS, Reach(2), True),  # the measurement is 2000 operations in 1000 ns
        (goals.GFLOPS, Reach(2.1), False),
        (goals.MICROSECONDS, Reach(1), True),
        (goals.NANOSECONDS, Reach(999), False),
        (goals.KILOBYTES, Reach(1), True),
        (goals.NANOSECONDS, Against(("a",), 0.9), True),
        (goals.NANOSECONDS, Against(("a", "b")), False),
        (goals.NANOSECONDS, Against(("b", "elsewhere")), True),  # the peer `elsewhere` has no such operation
        (goals.NANOSECONDS, Against(("b", "absent")), None),  # the peer `absent` did not run and might be faster
        (goals.NANOSECONDS, Against(("a", "absent")), False),
        (goals.NANOSECONDS, Against(("absent",)), None),
        (goals.NANOSECONDS, OfLimit(0.5), True),
        (goals.NANOSECONDS, OfLimit(0.51), False),
    ],
)
def test_bars(unit, bar, expected):
    measured = Measured(1000.0, 1100.0, {"a": 950.0, "b": 1200.0}, 500.0, 2000, frozenset({"absent"}))
    goal = Goal("x", unit, (bar,), (bar,))
    assert goal.met(goal.firm, measured) is expected


def test_a_goal_is_met_only_if_all_bars_are_known_to_hold():
    measured = Measured(1000.0, 1100.0)
    goal = Goal("x", goals.NANOSECONDS, (Reach(1000), OfLimit(0.5)), (Reach(999), OfLimit(0.5)))
    assert goal.met(goal.firm, measured) is None
    assert goal.met(goal.aim, measured) is False


def test_a_goal_for_another_machine_is_not_judged():
    goal = Goal("x", goals.NANOSECONDS, (Reach(1),), (Reach(2000),))
    measured = Measured(1000.0, 1100.0, judged=False)
    assert goal.met(goal.firm, measured) is goal.met(goal.aim, measured) is None


def test_a_missed_bar_says_by_how_much():
    goal = Goal("x", goals.NANOSECONDS, (Against(("a",), 2), OfLimit(0.6)), ())
    row = goals.row(goal, Measured(1000.0, 1100.0, {"a": 1500.0}, limit=500.0), ("a",))
    assert row[6:9] == ["NO 75%", "", ""]


def test_a_row_has_a_cell_under_every_heading():
    peers = ("numpy", "tfjs")
    measured = Measured(2000.0, 2500.0, {"numpy": 4000.0}, limit=500.0)
    goal = Goal("x", goals.MICROSECONDS, (Reach(3),), (Against(("tfjs",)),))
    heading, row, absent = goals.headings(peers), goals.row(goal, measured, peers), goals.row(goal, None, peers)
    assert len(row) == len(absent) == len(heading)
    assert all(heading)
    assert row == ["x", "us", "2", "2.5", "25%", "<= 3", "yes", ">= 1x tfjs", "?", "4", "-"]
    assert absent[:3] == ["x", "us", ""]
    assert absent[6] == "?"


def test_90th_percentiles_follow_the_figures():
    measured = Measured(2000.0, 2000.0, {"torch": 3000.0}, tails={"lanewise": 2500.0, "torch": 123456.0})
    row = goals.row(Goal("x", goals.MICROSECONDS, (), ()), measured, ("torch", "numpy"))
    assert row[2:4] == ["2 (2.5)", "2"]
    assert row[-2:] == ["3 (123)", "-"]


def test_goals_are_found_by_the_beginning_of_their_names():
    assert [goal.name for goal in goals.find(BROWSER, ["matmul 64", "call"])] == ["matmul 64", "call, n = 4"]
    assert len(goals.find(BROWSER, [])) == len(BROWSER)
    with pytest.raises(ArgumentError, match="no goal begins with 'fly'; there are matmul 64"):
        goals.find(BROWSER, ["fly"])
