"""Tests, without a browser, how answers of the benchmark's web page become rows of the goals table."""

import json
from pathlib import Path

import pytest

from tests.bench import goal_report, goals
from tests.bench.browser import command
from tests.bench.browser.chromium_page import PageError
from tests.bench.browser.table import BROWSER
from tests.bench.settings import Settings

PEERS = ("numpy", "scipy", "tfjs")
SETTINGS = Settings(repeats=2, seconds=0.01)


class FakePage:
    """Stands in for the page: gives the same answer to every request, or raises it if it is an exception."""

    def __init__(self, answer):
        self.answer = answer

    def ask(self, function, request=None):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def entry(name, nanoseconds, peer=False):
    return {"name": name, "peer": peer, "minimum_ns": nanoseconds, "median_ns": nanoseconds * 2}


ANSWER = {
    "contestants": [entry("simd128", 90e3), entry("relaxed_simd", 60e3), entry("numpy", 240e3, peer=True)],
    "limit": entry("limit", 30e3),
    "flops": None,
    "wrong": {"tfjs": "element 3 is 1; 2 was expected"},
    "not_timed": {"scipy": "no such operation", "jax": "it cannot start here"},
}


@pytest.fixture
def goal():
    return goals.find(BROWSER, ["sum 1M"])[0]


def test_the_figure_is_that_of_the_default_backend(goal):
    row = command.measured_row(FakePage(ANSWER), goal, PEERS, SETTINGS, "relaxed_simd")
    absent = frozenset({"tfjs", "jax", "onnxruntime"})  # tfjs was wrong, jax failed, onnxruntime was left out
    assert row.measured == goals.Measured(60e3, 120e3, {"numpy": 240e3}, 30e3, None, absent)
    assert row.notes == (
        "tfjs is WRONG and was not timed (element 3 is 1; 2 was expected)",
        "jax was not timed (it cannot start here)",
    )


def test_a_page_that_throws_costs_one_row(goal):
    row = command.measured_row(
        FakePage(PageError("out of memory\nat somewhere")), goal, PEERS, SETTINGS, "relaxed_simd"
    )
    assert (row.measured, row.notes) == (None, ("no figure (out of memory)",))


def test_the_table_counts_firm_goals_and_states_each_reason_once(goal):
    rows = [
        command.measured_row(FakePage(ANSWER), goal, PEERS, SETTINGS, "relaxed_simd"),
        command.measured_row(FakePage(ANSWER), goal, PEERS, SETTINGS, "simd128"),
    ]
    text = goal_report.text(goal_report.Table(rows, PEERS, (), {}))
    assert " ".join(text.splitlines()[1].split()) == "sum 1M us 60 120 50% <= 75 yes <= 45 NO 75% 240 - -"
    assert text.count("it cannot start here") == 1
    assert text.endswith("firm: 1 of 2 rows; aim: 0")


def test_every_pinned_peer_has_a_checksum():
    lock = json.loads((Path(command.__file__).parent / "package-lock.json").read_text())
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert packages
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
    # `resolved` would be the URL of a server; without it, any mirror may serve the packages.
    assert not any("resolved" in package for package in packages.values())
