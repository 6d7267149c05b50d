"""Tests `python -m tests.bench --goals --backends browser`, and its errors.

In Chromium, only the time of one small matrix product, with Lanewise and every other library, and the wheel's size are
measured. The whole table of goals takes minutes and needs a quiet machine, so people start it by hand.
"""

import contextlib
import io
import json
import os
import shutil
import sys

import pytest

from lanewise.errors import ArgumentError
from tests.bench.browser import chromium_page, command, packages, webgpu
from tests.bench.browser.table import WEBGPU
from tests.bench.command import main

FAST = ["--seconds", "0.005", "--repeats", "2"]
GOALS = ["--goals", "--backends", "browser"]


def missing():
    """Returns what this machine lacks for the benchmark in the browser, or an empty string."""
    try:
        chromium_page.require()
    except ArgumentError as error:
        return str(error)
    return "" if shutil.which("npm") else "npm is not installed"


def measured(*arguments):
    """Returns what the command prints as JSON."""
    if reason := missing():
        if "chromium" in os.environ.get("LANEWISE_REQUIRE", "").split(","):
            pytest.fail(reason)
        pytest.skip(reason)
    with contextlib.redirect_stdout(io.StringIO()) as text:
        code = main([*arguments, "--json", *FAST])
    assert code == 0
    return json.loads(text.getvalue())


@pytest.fixture(scope="module")
def report():
    return measured("matmul 64", "wheel", *GOALS)


@pytest.fixture(scope="module")
def on_workers():
    return measured("two workers: matmul 512", "two workers: attention", *GOALS)


@pytest.fixture(scope="module")
def on_webgpu():
    """What is measured without pyborch, whose import takes most of a minute on a software adapter."""
    return measured("--browser", "--goals", "webgpu", "--peers", *webgpu.JAVASCRIPT)


def test_every_contestant_is_right_and_timed(report):
    matmul = report["goals"][0]["details"]
    assert matmul["wrong"] == {}
    assert matmul["not_timed"] == {}
    assert matmul["checked_against"] == "NumPy in float64"
    names = {each["name"] for each in matmul["contestants"]}
    assert names == {"simd128", "relaxed_simd", *command.PEERS}


def test_workers_are_compared_with_one_thread_and_threaded_peers(on_workers):
    assert len(on_workers["goals"]) == 2
    for row in on_workers["goals"]:
        details = row["details"]
        assert details["wrong"] == {} and details["not_timed"] == {}
        assert {each["name"] for each in details["contestants"]} == {"relaxed_simd", "one thread", *command.THREADED}
        assert row["of_limit"] is None
    assert set(on_workers["workers"]["peers"]) == set(command.THREADED)
    assert all("threads: 2" in text for text in on_workers["workers"]["peers"].values())


def test_the_limit_is_measured_in_the_same_run(report):
    assert report["goals"][0]["of_limit"] > 0
    assert all(value > 0 for value in report["limits"].values())
    assert len(report["limits"]) == 8


def test_the_size_of_the_wheel_is_reported(report):
    wheel = report["goals"][1]
    assert wheel["unit"] == "KB"
    assert 100 < wheel["figure"] < 1000


def test_webgpu_is_measured_on_the_adapter_of_the_browser(on_webgpu):
    assert [row["goal"] for row in on_webgpu["goals"]] == [goal.name for goal in WEBGPU]
    assert all(row["figure"] > 0 for row in on_webgpu["goals"])
    assert on_webgpu["webgpu"].startswith("lanewise ")


@pytest.mark.parametrize("name", ["lanewise", *webgpu.JAVASCRIPT])
def test_every_library_is_right_on_webgpu(on_webgpu, name):
    details = on_webgpu["goals"][0]["details"]
    assert details["wrong"] == {}
    for answer in details["answers"][name]:
        assert "failure" not in answer
        assert answer["settings"] in on_webgpu["webgpu"]
        assert min(answer["first"], *answer["recorded"], *answer["chained"]) > 0


def test_the_work_of_every_library_is_counted(on_webgpu):
    """Libraries that run each operation by itself take 15 dispatches, and one for the sum."""
    answers = on_webgpu["goals"][0]["details"]["answers"]
    last = {name: each[-1]["runs"][-1] for name, each in answers.items()}
    assert {name: run["dispatches"] for name, run in last.items()} == {
        "lanewise": 2,
        "jax": 16,
        "jax_jit": 1,
        "tfjs": 16,
        "onnxruntime": 16,
    }
    assert all(run["submissions"] >= 1 and run["reads"] == 1 for run in last.values())


def test_a_compiled_chain_takes_few_dispatches(on_webgpu):
    counts = {row["goal"]: row for row in on_webgpu["goals"] if row["unit"] == "count"}
    assert len(counts) == 3
    assert all(row["firm_met"] for row in counts.values())


def test_import_computes_and_calibrates_nothing(on_webgpu):
    answers = on_webgpu["goals"][0]["details"]["answers"]["lanewise"]
    assert len(answers) == 2
    assert all(answer["imported"] == {"calibration": "None", "dispatches": 0} for answer in answers)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--browser"], "a browser can only measure the goals; use --goals --backends browser"),
        ([*GOALS, "--sizes", "4"], "excludes --sizes"),
        (["fly", *GOALS], "no goal begins with 'fly'"),
        ([*GOALS, "fly"], "no goal begins with 'fly'"),
        ([*GOALS, "--peers", "torch"], "expected peers among numpy, scipy"),
    ],
)
def test_mistakes_are_explained(arguments, message, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_a_missing_browser_is_named(monkeypatch, capsys):
    monkeypatch.delenv("LANEWISE_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "")
    assert main(GOALS) == 2
    assert "Chromium is not installed; apt-get install chromium" in capsys.readouterr().err


def test_a_missing_playwright_is_named(monkeypatch, capsys):
    monkeypatch.setenv("LANEWISE_CHROMIUM", "/usr/bin/chromium")
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    assert main(GOALS) == 2
    assert "pip install playwright" in capsys.readouterr().err


def script(source):
    """A source of packages that runs a Python program in place of npm or pip."""
    return packages.Source("script", ("pyborch.txt",), (sys.executable, "-c", source))


def test_packages_are_fetched_once(tmp_path):
    writes = script("open('wheel', 'w').write(open('pyborch.txt').read())")
    folder = packages.fetch(writes, tmp_path)
    assert (folder / "wheel").read_text().startswith("pyborch==")
    assert packages.fetch(script("raise SystemExit('not fetched again')"), tmp_path) == folder
    assert list(tmp_path.iterdir()) == [folder]


def test_a_failed_fetch_leaves_nothing_behind(tmp_path):
    with pytest.raises(ArgumentError, match="fetching the peers from script failed: no route"):
        packages.fetch(script("open('part', 'w'); raise SystemExit('no route')"), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_npm_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ArgumentError, match="apt-get install npm"):
        packages.fetch(packages.NPM, tmp_path)
