"""Tests, without a browser, how answers of the benchmark's web page become rows of the goals table."""

import json
import math
from pathlib import Path

import pytest

from tests.bench import goal_report, goals
from tests.bench.browser import command, webgpu
from tests.bench.browser.chromium_page import PageError
from tests.bench.browser.table import BROWSER, CHAIN, DISPATCHES, FIRST, RECORDED, WEBGPU, WORKERS
from tests.bench.settings import Settings

PEERS = ("numpy", "scipy", "tfjs")
SETTINGS = Settings(repeats=2, seconds=0.01)


class FakePage:
    """Stands in for the page: gives the same answer to every request, or raises it if it is an exception."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = []

    def ask(self, function, request=None):
        self.requests.append(request)
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


@pytest.mark.parametrize("edge", [128, 256, 512, 1024, 2048])
def test_matrix_products_reach_a_share_of_the_limit(edge):
    (goal,) = goals.find(BROWSER, [f"matmul {edge}"])
    shares = [bar.share for bar in goal.firm if isinstance(bar, goals.OfLimit)]
    assert shares == [0.8]


def test_numpy_is_not_asked_for_a_large_product():
    page = FakePage(ANSWER)
    for name in ("matmul 2048", "matmul 1024"):
        command.measured_row(page, *goals.find(BROWSER, [name]), PEERS, SETTINGS, "relaxed_simd")
    assert [request["peers"] for request in page.requests] == [["scipy", "tfjs"], ["numpy", "scipy", "tfjs"]]


@pytest.mark.parametrize("goal", WORKERS, ids=lambda goal: goal.name)
@pytest.mark.parametrize(("one_thread", "firm", "aim"), [(186, True, True), (161, True, False), (159, False, False)])
def test_workers_are_judged_by_one_thread(goal, one_thread, firm, aim):
    theirs = [entry("one thread", one_thread, peer=True), *(entry(name, 101, peer=True) for name in command.THREADED)]
    found = {"contestants": [entry("relaxed_simd", 100), *theirs], "limit": None, "flops": 1000}
    answer = {**ANSWER, **found, "wrong": {}, "not_timed": {}}
    row = command.measured_row(FakePage(answer), goal, command.THREADED, SETTINGS, "relaxed_simd")
    assert (goal.met(goal.firm, row.measured), goal.met(goal.aim, row.measured)) == (firm, aim)


def test_workers_have_to_be_ahead_of_threaded_peers():
    theirs = [entry(name, time, peer=True) for name, time in (("one thread", 190), ("jax", 99), ("onnxruntime", 120))]
    answer = {**ANSWER, "contestants": [entry("relaxed_simd", 100), *theirs], "flops": 1000, "not_timed": {}}
    row = command.measured_row(FakePage(answer), WORKERS[0], command.THREADED, SETTINGS, "relaxed_simd")
    assert WORKERS[0].met(WORKERS[0].firm, row.measured) is False


def test_the_table_counts_firm_goals_and_states_each_reason_once(goal):
    rows = [
        command.measured_row(FakePage(ANSWER), goal, PEERS, SETTINGS, "relaxed_simd"),
        command.measured_row(FakePage(ANSWER), goal, PEERS, SETTINGS, "simd128"),
    ]
    text = goal_report.text(goal_report.Table(rows, PEERS, (), {}))
    assert " ".join(text.splitlines()[1].split()) == "sum 1M us 60 120 50% <= 75 yes <= 45 NO 75% 240 - -"
    assert text.count("it cannot start here") == 1
    assert text.endswith("firm: 1 of 2 rows; aim: 0")


def answer(first, recorded, *dispatches, chained=4e6, total=17546.875):
    """What the page returns for a library on WebGPU."""
    runs = [{"dispatches": count, "submissions": 1, "reads": 1} for count in dispatches]
    return {
        "settings": "a library 1.0",
        "first": first,
        "recorded": recorded,
        "runs": runs,
        "chained": [chained],
        "results": [30.0, *(10.0 for _ in recorded), *(total for _ in runs)],
    }


OURS = [answer(5e8, [4e3, 3e3], 16, 16, 2, chained=3e6), answer(4e8, [5e3], 16, 2, 2)]


def on_webgpu(*absent, **peers):
    found = {"lanewise": OURS, **peers}
    return {row.goal: row for row in webgpu.rows(WEBGPU, found, frozenset(absent))}


def test_rows_of_webgpu_have_the_least_time_and_the_largest_count():
    rows = on_webgpu(pyborch=[answer(4e10, [8e4], 17, 17, 17)], tfjs=[answer(2e8, [9e3, 1e4], 16, 16, 16, chained=2e6)])
    assert rows[RECORDED].measured.value == 3e3
    assert rows[RECORDED].measured.peers == {"pyborch": 8e4, "tfjs": 9e3}
    assert rows[CHAIN].measured.value == 3e6
    assert rows[CHAIN].measured.peers == {"pyborch": 4e6, "tfjs": 2e6}
    assert rows[FIRST].measured.value == 4e8
    assert rows[DISPATCHES].measured.value == 2
    assert rows[DISPATCHES].measured.peers == {"pyborch": 17, "tfjs": 16}
    assert rows[DISPATCHES].notes == ("dispatches of each run of the first page: 16, 16, 2",)
    assert all(row.goal.met(row.goal.firm, row.measured) for row in rows.values())


def test_a_chain_that_is_not_fused_misses_its_goal():
    (row,) = webgpu.rows([DISPATCHES], {"lanewise": [answer(1, [1], 16, 16, 16)]}, frozenset(webgpu.PEERS))
    assert row.measured.value == 16
    assert row.goal.met(row.goal.firm, row.measured) is False


@pytest.mark.parametrize("total", [3.0, math.nan])
def test_a_peer_that_is_wrong_on_webgpu_has_no_figure(total):
    rows = on_webgpu(pyborch=[answer(4e10, [8e4], 17, 17, 17, total=total)])
    assert rows[RECORDED].measured.peers == {}
    assert rows[RECORDED].notes == (f"pyborch is WRONG and was not timed (expected 17546.875, got {total})",)
    assert rows[FIRST].goal.met(FIRST.firm, rows[FIRST].measured) is None


def test_a_peer_that_fails_on_webgpu_is_named_with_the_reason():
    found = {"lanewise": OURS, "tfjs": [answer(2e8, [9e3], 16, 16, 16), {"failure": "no adapter"}]}
    rows = webgpu.rows(WEBGPU, found, frozenset())
    assert all(row.measured.peers == {} for row in rows)
    assert all("tfjs was not timed (no adapter)" in row.notes for row in rows)
    assert goal_report.complete(rows)
    assert webgpu.versions(found) == "a library 1.0; tfjs: no figures (no adapter)"


@pytest.mark.parametrize("ours", [answer(1, [1], 16, 16, 2, total=3.0), {"failure": "no adapter"}])
def test_without_a_right_result_on_webgpu_there_is_no_figure(ours):
    rows = webgpu.rows(WEBGPU, {"lanewise": [ours]}, frozenset(webgpu.PEERS))
    assert not any(row.measured for row in rows)
    assert not goal_report.complete(rows)


class FakeGpuPage:
    """Stands in for the page: answers for each library from a list, or raises what it finds there."""

    def __init__(self, **answers):
        self.answers = answers
        self.calls = []

    def load(self):
        pass

    def call(self, function, *arguments):
        self.calls.append((function, *arguments))
        found = self.answers[arguments[-1].removeprefix("/page/gpu_").removesuffix(".py")]
        if isinstance(found, Exception):
            raise found
        return json.dumps(found)


def test_a_slow_or_failing_library_is_not_measured_again():
    page = FakeGpuPage(lanewise={"first": 1e9}, pyborch={"first": 1e11}, tfjs=PageError("no adapter\nat somewhere"))
    asked = webgpu.requests(("lanewise", "pyborch", "tfjs"), "/p.zip", {"lanewise": ["a"], "pyborch": ["numpy", "b"]})
    found = webgpu.answers(page, asked, 3)
    assert found == {
        "lanewise": [{"first": 1e9}] * 3,
        "pyborch": [{"first": 1e11}],
        "tfjs": [{"failure": "no adapter"}],
    }
    assert page.calls[:3] == [
        ("measurePython", ["a"], "/p.zip", "/page/gpu_lanewise.py"),
        ("measurePython", ["numpy", "b"], "/p.zip", "/page/gpu_pyborch.py"),
        ("measureJavaScript", "tfjs"),
    ]


@pytest.mark.parametrize("name", ["lanewise", *webgpu.PEERS])
def test_every_library_on_webgpu_has_its_program(name):
    suffix = "mjs" if name in webgpu.JAVASCRIPT else "py"
    assert (Path(command.__file__).parent / "page" / f"gpu_{name}.{suffix}").is_file()


def test_every_pinned_peer_has_a_checksum():
    lock = json.loads((Path(command.__file__).parent / "package-lock.json").read_text())
    packages = {name: package for name, package in lock["packages"].items() if name}
    assert packages
    assert all(package["integrity"].startswith("sha512-") for package in packages.values())
    # `resolved` would be the URL of a server; without it, any mirror may serve the packages.
    assert not any("resolved" in package for package in packages.values())
