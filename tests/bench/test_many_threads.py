"""Tests `python -m tests.bench --goals threads`. The times need a quiet machine with many cores."""

from __future__ import annotations

import json

import pytest

import lanewise as lw
from tests.bench import many_threads
from tests.bench.command import main
from tests.bench.goals import Measured, Steady


@pytest.fixture
def in_no_time(monkeypatch):
    """Lets rounds follow each other, and no row have more than it has to."""
    monkeypatch.setattr(many_threads, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(many_threads, "ROW_SECONDS", 0.0)


@pytest.mark.usefixtures("in_no_time")
def test_the_rows_are_measured(capsys):
    before = lw.get_num_threads()
    assert main(["--goals", "threads 1: exp", "threads 1: sum", "--repeats", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["goals"]
    assert [row["goal"] for row in rows] == ["threads 1: exp 256K", "threads 1: sum 1M"]
    for row in rows:
        assert len(row["details"]["times_ns"]["lanewise"]) == 2 * many_threads.TIMED
        assert row["figure"] > 0
    assert lw.get_num_threads() == before


@pytest.mark.usefixtures("in_no_time")
def test_more_threads_than_cores_are_compared_with_as_many(capsys, monkeypatch):
    monkeypatch.setattr("tests.bench.machine.cores", lambda: 2)
    assert main(["--goals", many_threads.CROWDED.name, "--repeats", "2", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["goals"]
    times = row["details"]["times_ns"]
    assert {name: len(each) for name, each in times.items()} == dict.fromkeys(
        (many_threads.OURS, many_threads.FEWER), 2 * many_threads.TIMED
    )
    assert row["firm_met"] in (False, True) and not row["details"]["wrong"]


def test_a_row_takes_at_least_some_time(capsys, monkeypatch):
    now = iter(range(1000))  # one second from one round to the next; the clock is not read before the first
    monkeypatch.setattr(many_threads, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr("time.perf_counter", lambda: next(now))
    assert main(["--goals", "threads 1: sum", "--repeats", "1", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["goals"]
    assert len(row["details"]["times_ns"]["lanewise"]) == many_threads.ROW_SECONDS * many_threads.TIMED


def test_only_as_many_threads_as_cores(capsys, monkeypatch):
    monkeypatch.setattr("tests.bench.machine.cores", lambda: 3)
    assert main(["--goals", "threads 4"]) == 2
    error = capsys.readouterr().err
    assert "no goal begins with 'threads 4'" in error
    assert "threads 2: matmul 256" in error


@pytest.mark.parametrize(
    ("median", "tail", "theirs", "reached"),
    [(10, 20, 0, 1), (10, 40, 0, 0.5), (10, 40, 50, 1.5), (10, 60, 25, 0.5)],
)
def test_a_row_is_steady_by_its_own_median_or_by_the_peer(median, tail, theirs, reached):
    measured = Measured(median, median, tails={"lanewise": tail, "torch": theirs})
    assert Steady("torch").reached(measured, "us") == pytest.approx(reached)


def test_a_row_without_percentiles_is_not_judged_by_them():
    assert Steady("torch").reached(Measured(10, 10), "us") is None


@pytest.mark.parametrize("number", many_threads.NUMBERS)
def test_names_say_how_many_threads(number):
    names = [goal.name for goal in many_threads.goals_of(number)]
    assert len(set(names)) == len(many_threads.WORKS)
    assert all(name.startswith(f"threads {number}: ") for name in names)
