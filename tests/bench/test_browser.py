"""Tests `python -m tests.bench --goals --backends browser`, and its errors.

In Chromium, only the times of a few small rows, with Lanewise and every other library, and the wheel's size are
measured. The whole table of goals takes minutes and needs a quiet machine, so people start it by hand. Other tests give
answers in place of the page.
"""

import contextlib
import io
import json
import math
import os
import shutil
import sys
from dataclasses import asdict
from types import SimpleNamespace

import pytest

from lanewise.errors import ArgumentError
from tests.bench import goals
from tests.bench.browser import chromium_page, command, packages, surface, webgpu
from tests.bench.browser.chromium_page import PageError
from tests.bench.command import main
from tests.bench.limits import compiled
from tests.bench.report import complete
from tests.bench.settings import Settings
from tests.bench.surface import cells
from tests.bench.surface.judge import Outcome

FAST = ["--seconds", "0.005", "--repeats", "2"]
GOALS = ["--goals", "--backends", "browser"]
SETTINGS = Settings(repeats=2, seconds=0.01)
BY_NAME = {goal.name: goal for goal in goals.load("browser")}
WORKERS, WEBGPU = ([goal for goal in BY_NAME.values() if goal.part == part] for part in ("workers", "webgpu"))
THREADED = WORKERS[0].peers  # libraries that can use web workers
ON_GPU = {goal.how: goal for goal in WEBGPU}
JAVASCRIPT = [name for name in WEBGPU[0].peers if name != webgpu.PYBORCH]


def measured(*arguments):
    """Returns what the command prints as JSON."""
    try:
        chromium_page.require()
        reason = "" if shutil.which("npm") else "npm is not installed"
    except ArgumentError as error:
        reason = str(error)
    if reason:
        if "chromium" in os.environ.get("LANEWISE_REQUIRE", "").split(","):
            pytest.fail(reason)
        pytest.skip(reason)
    with contextlib.redirect_stdout(io.StringIO()) as text:
        assert main([*arguments, "--json", *FAST]) == 0
    return json.loads(text.getvalue())


@pytest.fixture(scope="module")
def report():
    return measured("matmul 64", "add 1M", "wheel", "two workers: matmul 512", "two workers: attention", *GOALS)


@pytest.fixture(scope="module")
def wheel(report):
    """The wheel that was built for `report`."""
    return str(max(compiled.FOLDER.glob("*.whl"), key=lambda path: path.stat().st_mtime))


@pytest.fixture(scope="module")
def on_webgpu(wheel):
    """What is measured without pyborch, whose import takes most of a minute on a software adapter."""
    return measured("--browser", "--goals", "webgpu", "--wheel", wheel, "--peers", *JAVASCRIPT)


def test_every_contestant_is_right_and_timed(report):
    rows = {row["goal"]: row for row in report["goals"]}
    for name in ("matmul 64", "add 1M", *(goal.name for goal in WORKERS[:1])):
        details, goal = rows[name]["details"], BY_NAME[name]
        ours = {"relaxed_simd", "one thread"} if goal in WORKERS else {"simd128", "relaxed_simd"}
        absent = {peer for peer, why in details["not_timed"].items() if why == "no such operation"}
        assert details["wrong"] == {} and set(details["not_timed"]) == absent <= {"scipy"}
        assert details["checked_against"] == "NumPy in float64"
        assert {each["name"] for each in details["contestants"]} == ours | set(goal.peers) - absent
        assert (rows[name]["of_limit"] is None) == (goal in WORKERS)
    assert set(report["workers"]["peers"]) == set(THREADED)
    assert all("threads: 2" in text for text in report["workers"]["peers"].values())
    assert len(report["limits"]) == 14 and all(value > 0 for value in report["limits"].values())
    assert rows["wheel size"]["unit"] == "KB" and 100 < rows["wheel size"]["figure"] < 1000


def test_cells_of_a_surface(wheel, capsys):
    assert main(["surface", "--seed", "4", "--browser", "--wheel", wheel, "--kinds", "product", "--count", "3"]) == 0
    assert main(["surface", "--seed", "4", "--browser", "--wheel", wheel, "--kinds", "product", "--cell", "1"]) == 0
    (outcome,) = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    assert outcome["text"] == cells.cell(4, 1, ["product"], cells.IN_PAGE).text
    assert outcome["peers_ns"].keys() == {"numpy", "scipy"} and outcome["note"] == ""


def test_a_cell_that_ends_the_page_fails_alone(monkeypatch):
    asked, started = [], []

    def ask(function, request):
        asked.append(request["number"])
        if len(asked) == 1:
            raise PageError("the page crashed")
        drawn = cells.cell(**request, largest=cells.IN_PAGE)
        return asdict(Outcome(drawn.number, drawn.kind, drawn.text, 1.0, {"numpy": 2.0}, 2.0))

    @contextlib.contextmanager
    def opened(folders):
        yield SimpleNamespace(ask=ask, load=lambda: None)

    def start(page, served, peers, threads):
        started.append(peers)
        return {"lanewise": "1.0", "default": "relaxed_simd", "python": ["numpy 2.0"]}

    monkeypatch.setattr(chromium_page, "require", lambda: None)
    monkeypatch.setattr(chromium_page, "opened", opened)
    monkeypatch.setattr(command, "served", lambda settings, peers: SimpleNamespace(folders={}))
    monkeypatch.setattr(command, "start", start)
    with surface.opened(1, ["rows"], SETTINGS) as place:
        assert place.heading[1] == "one thread: lanewise 1.0 on relaxed_simd; numpy 2.0"
        failed, measured = place.measure(0), place.measure(1)
    assert failed.note == "PageError: the page crashed" and failed.ratio is None and measured.ratio == 2.0
    assert (asked, len(started)) == ([0, 1], 2)


@pytest.mark.parametrize("name", ["lanewise", *JAVASCRIPT])
def test_every_library_is_right_on_webgpu(on_webgpu, name):
    details = on_webgpu["goals"][0]["details"]
    assert details["wrong"] == {}
    for answer in details["answers"][name]:
        assert "failure" not in answer
        assert answer["settings"] in on_webgpu["webgpu"]
        assert min(answer["first"], *answer["recorded"], *answer["chained"]) > 0


def test_the_work_of_every_library_is_counted(on_webgpu):
    """Libraries that run each operation by itself take 15 dispatches, and one for the sum."""
    assert [row["goal"] for row in on_webgpu["goals"]] == [goal.name for goal in WEBGPU]
    answers = on_webgpu["goals"][0]["details"]["answers"]
    last = {name: each[-1]["runs"][-1] for name, each in answers.items()}
    dispatches = {"lanewise": 2, "jax": 16, "jax_jit": 1, "tfjs": 16, "onnxruntime": 16}
    assert {name: run["dispatches"] for name, run in last.items()} == dispatches
    assert all(run["submissions"] >= 1 and run["reads"] == 1 for run in last.values())
    assert all(row["firm_met"] for row in on_webgpu["goals"] if row["unit"] == "count")


def test_import_computes_and_calibrates_nothing(on_webgpu):
    answers = on_webgpu["goals"][0]["details"]["answers"]["lanewise"]
    assert [answer["imported"] for answer in answers] == [{"calibration": "None", "dispatches": 0}] * 2


def entry(name, nanoseconds, peer=False):
    return {"name": name, "peer": peer, "minimum_ns": nanoseconds, "median_ns": nanoseconds * 2}


ANSWER = {
    "contestants": [entry("simd128", 90e3), entry("relaxed_simd", 60e3), entry("numpy", 240e3, peer=True)],
    "limit": entry("limit", 30e3),
    "flops": None,
    "wrong": {"tfjs": "element 3 is 1; 2 was expected"},
    "not_timed": {"scipy": "no such operation", "jax": "it cannot start here"},
}


def row(name, answer, peers=("numpy", "scipy", "tfjs"), requests=None):
    """Returns the row that follows from an answer of the page, which may be an exception."""

    def ask(function, request):
        if requests is not None:
            requests.append(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    page = SimpleNamespace(ask=ask)
    return command.measured_row(page, BY_NAME[name], peers=peers, settings=SETTINGS, default="relaxed_simd")


def test_the_figure_is_that_of_the_default_backend():
    found = row("sum 1M", ANSWER)
    absent = frozenset({"tfjs", "jax", "onnxruntime"})  # tfjs was wrong, jax failed, onnxruntime was left out
    assert found.measured == goals.Measured(60e3, 120e3, {"numpy": 240e3}, 30e3, None, absent)
    assert found.notes == (
        "tfjs is WRONG and was not timed (element 3 is 1; 2 was expected)",
        "jax was not timed (it cannot start here)",
    )
    failed = row("sum 1M", PageError("out of memory\nat somewhere"))
    assert (failed.measured, failed.notes) == (None, ("no figure (out of memory)",))


def test_requests_have_the_peers_and_rounds_of_the_goal():
    requests = []
    for name in ("matmul 2048", "matmul 1024", "two workers: matmul 512"):
        row(name, ANSWER, ["numpy", "scipy", "jax"], requests)
    assert [request["peers"] for request in requests] == [["scipy", "jax"], ["numpy", "scipy", "jax"], ["jax"]]
    assert [request["repeats"] for request in requests] == [2, 2, 16]


def answer(first, recorded, *dispatches, chained=4e6, total=17546.875):
    """What the page returns for a library on WebGPU."""
    runs = [{"dispatches": count, "submissions": 1, "reads": 1} for count in dispatches]
    results = [30.0, *(10.0 for _ in recorded), *(total for _ in runs)]
    library = {"settings": "a library 1.0", "first": first, "recorded": recorded, "runs": runs}
    return {**library, "chained": [chained], "results": results}


OURS = [answer(5e8, [4e3, 3e3], 16, 16, 2, chained=3e6), answer(4e8, [5e3], 16, 2, 2)]


def gpu_rows(**found):
    return {row.goal.how: row for row in webgpu.rows(WEBGPU, {"lanewise": OURS, **found})}


def test_rows_of_webgpu_have_the_least_time_and_the_largest_count():
    rows = gpu_rows(
        pyborch=[answer(4e10, [8e4], 17, 17, 17)],
        tfjs=[answer(2e8, [9e3, 1e4], 16, 16, 16, chained=2e6)],
    )
    values = {how: (row.measured.value, *row.measured.peers.values()) for how, row in rows.items()}
    assert values == {
        "recorded": (3e3, 8e4, 9e3),
        "chained": (3e6, 4e6, 2e6),
        "first": (4e8, 4e10, 2e8),
        "dispatches": (2, 17, 16),
        "submissions": (1, 1, 1),
        "reads": (1, 1, 1),
    }
    assert rows["dispatches"].notes == ("dispatches of each run of the first page: 16, 16, 2",)
    assert all(row.met(row.goal.firm) for row in rows.values())
    (unfused,) = webgpu.rows([ON_GPU["dispatches"]], {"lanewise": [answer(1, [1], 16, 16, 16)]})
    assert (unfused.measured.value, unfused.met(unfused.goal.firm)) == (16, False)


WRONG = [answer(4e10, [8e4], 17, 17, 17, total=math.nan)]
FAILED = [answer(4e10, [8e4], 17, 17, 17), {"failure": "no adapter"}]


@pytest.mark.parametrize(
    ("answers", "note"),
    [
        (WRONG, "pyborch is WRONG and was not timed (expected 17546.875, got nan)"),
        (FAILED, "pyborch was not timed (no adapter)"),
    ],
)
def test_a_library_that_is_wrong_or_fails_on_webgpu_has_no_figure(answers, note):
    rows = gpu_rows(pyborch=answers)
    assert all(row.measured.peers == {} and row.notes[0] == note for row in rows.values())
    assert rows["first"].met(ON_GPU["first"].firm) is None
    assert complete(rows.values()) == (answers is FAILED)  # what is wrong fails the command
    assert not complete(gpu_rows(lanewise=answers).values())
    versions = webgpu.versions({"lanewise": OURS, "pyborch": answers})
    assert versions.startswith("a library 1.0; ") and ("no figures (no adapter)" in versions) == (answers is FAILED)


def test_a_missing_browser_or_driver_is_named(monkeypatch, capsys):
    monkeypatch.setenv("LANEWISE_CHROMIUM", "/usr/bin/chromium")
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    assert main(GOALS) == 2
    assert "pip install playwright" in capsys.readouterr().err
    monkeypatch.delenv("LANEWISE_CHROMIUM")
    monkeypatch.setenv("PATH", "")
    assert main(GOALS) == 2
    assert "Chromium is not installed; apt-get install chromium" in capsys.readouterr().err


def script(source):
    """A source of packages that runs a Python program in place of npm or pip."""
    return packages.Source("script", ("pyborch.txt",), (sys.executable, "-c", source))


def test_packages_are_fetched_once(tmp_path):
    writes = script("open('wheel', 'w').write(open('pyborch.txt').read())")
    folder = packages.fetch(writes, tmp_path)
    assert (folder / "wheel").read_text().startswith("pyborch==")
    assert packages.fetch(script("raise SystemExit('not fetched again')"), tmp_path) == folder
    assert list(tmp_path.iterdir()) == [folder]


def test_a_failed_fetch_leaves_nothing_behind(tmp_path, monkeypatch):
    with pytest.raises(ArgumentError, match="fetching the peers from script failed: no route"):
        packages.fetch(script("open('part', 'w'); raise SystemExit('no route')"), tmp_path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ArgumentError, match="apt-get install npm"):
        packages.fetch(packages.NPM, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_archive_with_another_hash_is_refused(tmp_path, monkeypatch):
    (tmp_path / "a-package-1.0.tgz").write_bytes(b"changed")
    monkeypatch.setattr(packages, "pins", lambda: {"@a/package@1.0": "sha512-AAAA"})
    with pytest.raises(ArgumentError, match=r"@a/package@1\.0 from npm: expected the hash sha512-AAAA, got sha512-"):
        packages.NPM.finish(tmp_path)
