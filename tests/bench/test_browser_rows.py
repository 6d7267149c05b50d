"""Tests, without a browser, how answers of the benchmark's web page become rows of the goals table."""

import json
from pathlib import Path

import pytest

from tests.bench import goal_report, goals
from tests.bench.browser import command, webgpu
from tests.bench.browser.chromium_page import PageError
from tests.bench.browser.table import BROWSER, DISPATCHES, FIRST, RECORDED, WEBGPU
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


def answer(first, recorded, *dispatches, total=17546.875):
    """What a program for WebGPU returns."""
    runs = [{"dispatches": count, "submissions": 1, "readbacks": 1} for count in dispatches]
    return {
        "settings": "",
        "first": first,
        "recorded": recorded,
        "runs": runs,
        "results": [30.0, *(total for _ in runs)],
    }


OURS = [answer(5e8, [4e3, 3e3], 16, 16, 2), answer(4e8, [5e3], 16, 2, 2)]


def on_webgpu(pyborch, absent=()):
    found = {"lanewise": OURS, "pyborch": pyborch}
    return {row.goal: row for row in webgpu.rows(WEBGPU, found, frozenset(absent))}


def test_rows_of_webgpu_have_the_least_time_and_the_largest_count():
    rows = on_webgpu([answer(4e10, [8e4], 17, 17, 17)])
    assert rows[RECORDED].measured.value == 3e3
    assert rows[RECORDED].measured.peers == {"pyborch": 8e4}
    assert rows[FIRST].measured.value == 4e8
    assert rows[DISPATCHES].measured.value == 2
    assert rows[DISPATCHES].measured.peers == {"pyborch": 17}
    assert rows[DISPATCHES].notes == ("dispatches of each run of the first page: 16, 16, 2",)
    assert all(row.goal.met(row.goal.firm, row.measured) for row in rows.values())


def test_a_chain_that_is_not_fused_misses_its_goal():
    (row,) = webgpu.rows(
        [DISPATCHES], {"lanewise": [answer(1, [1], 16, 16, 16)], "pyborch": []}, frozenset({"pyborch"})
    )
    assert row.measured.value == 16
    assert row.goal.met(row.goal.firm, row.measured) is False


def test_a_peer_that_is_wrong_on_webgpu_has_no_figure():
    rows = on_webgpu([answer(4e10, [8e4], 17, 17, 17, total=3.0)])
    assert rows[RECORDED].measured.peers == {}
    assert rows[RECORDED].notes == ("pyborch is WRONG and was not timed (expected 17546.875, got 3.0)",)
    assert rows[FIRST].goal.met(FIRST.firm, rows[FIRST].measured) is None


def test_a_wrong_result_on_webgpu_has_no_figure():
    found = {"lanewise": [answer(1, [1], 16, 16, 2, total=3.0)]}
    rows = webgpu.rows(WEBGPU, found, frozenset({"pyborch"}))
    assert not any(row.measured for row in rows)
    assert not goal_report.complete(rows)


def test_a_slow_program_is_not_run_again():
    calls = []

    class Slow:
        def load(self):
            pass

        def call(self, function, packages, url):
            calls.append(url)
            return json.dumps({"first": 1e9 if "lanewise" in url else 1e11})

    webgpu.answers(Slow(), {"lanewise": ["a"], "pyborch": ["b"]}, 3)
    assert calls.count("/page/gpu_lanewise.py") == 3
    assert calls.count("/page/gpu_pyborch.py") == 1


def test_every_pinned_peer_has_a_checksum():
    lock = json.loads((Path(command.__file__).parent / "package-lock.json").read_text())
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert packages
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
    # `resolved` would be the URL of a server; without it, any mirror may serve the packages.
    assert not any("resolved" in package for package in packages.values())
