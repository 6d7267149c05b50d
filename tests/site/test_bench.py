"""Tests the landing page's benchmark without a browser: bench.py in this Python, and what results.mjs computes."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import yaml
from event_loop import call_in_thread
from support import absent

import lanewise as lw
from lanewise.costs.timing import threads

ROOT = Path(__file__).parents[2]
LANDING = ROOT / "site" / "landing"
CALLS = 2


def load_bench():
    spec = importlib.util.spec_from_file_location("landing_bench", LANDING / "bench.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for their module
    spec.loader.exec_module(module)
    return module


bench = load_bench()


@pytest.fixture
def quick(monkeypatch):
    """The benchmark with short samples, with a backend that every machine has, and without the GPU, which this process
    may have used in other ways."""

    async def closed():
        return "not in this test"

    monkeypatch.setattr(bench, "BACKENDS", ("scalar", *bench.BACKENDS))
    monkeypatch.setattr(bench, "CONTESTANTS", ("numpy", "scalar", *bench.CONTESTANTS[1:]))
    monkeypatch.setattr(bench, "SAMPLE_SECONDS", 1e-4)
    monkeypatch.setattr(bench, "REPEATS", 1)
    monkeypatch.setattr(bench, "_open_gpu", closed)


@pytest.fixture
def one_thread():
    """Starts with one thread, as a page does."""
    with threads(1):
        yield


def run_events(**options):
    events = []
    call_in_thread(asyncio.run, bench.run(events.append, **options))
    return events


def node(expression, *arguments):
    """Evaluates an expression of results.mjs, with `given` for the arguments, in Node."""
    source = f"""
        import * as results from {json.dumps((LANDING / "results.mjs").as_uri())};
        const given = JSON.parse(process.argv[1]);
        console.log(JSON.stringify({expression}));
    """
    command = ["node", "--input-type=module", "-e", source, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_tolerances_are_those_of_the_contracts():
    for operation, tolerance in bench.TOLERANCES.items():
        contract = yaml.safe_load((ROOT / "contracts" / f"{operation}.yaml").read_text())
        assert contract["tolerance"] == tolerance


def test_the_page_and_python_name_the_same_things():
    assert node("results.WORKS.map(({ name }) => name)") == list(bench.WORKS)
    assert node("results.CONTESTANTS") == list(bench.CONTESTANTS)
    shared = [name for name, make in bench.WORKS.items() if make().threaded]
    assert node("results.WORKS.filter(({ threaded }) => threaded).map(({ name }) => name)") == shared


def test_events(quick):
    facts, *measured, done = run_events()
    assert facts["type"] == "facts" and facts["lanewise"] == lw.__version__
    assert set(facts["missing"]) >= {"simd128", "relaxed_simd", "wgpu"} and "scalar" not in facts["missing"]
    assert facts["workers"] == 0
    assert done == {"type": "done"}
    results = [event for event in measured if event["type"] == "result"]
    assert [(each["work"], each["contestant"]) for each in results] == [
        (work, contestant) for work in bench.WORKS for contestant in ("numpy", "scalar")
    ]
    assert all(each["agrees"] is (None if each["contestant"] == "numpy" else True) for each in results)
    json.dumps([facts, *measured])


def test_threads_share_matrix_products_only(quick, one_thread):
    """Outside of a browser, init_threads() starts threads in place of web workers."""
    counts = {}

    def report(event):
        if event["type"] == "facts":
            counts["facts"] = event["workers"]
        elif event["type"] == "measuring":
            current[:] = event["work"], event["contestant"]
        elif event["type"] in ("sample", "result"):
            counts.setdefault((*current, event["type"]), lw.get_num_threads())
            assert event.get("agrees") is not False

    current = []
    call_in_thread(asyncio.run, bench.run(report, processors=3))
    shared = {each for each in counts if "workers" in each}
    works = ("matmul-256", "matmul-512")
    assert shared == {(work, "workers", event) for work in works for event in ("sample", "result")}
    assert counts.pop("facts") == 3
    assert {each for each, count in counts.items() if count == 3} == {(work, "workers", "sample") for work in works}
    assert set(counts.values()) == {1, 3}


@pytest.mark.parametrize(("processors", "workers"), [(1, 0), (2, 2), (64, 4)])
def test_the_number_of_workers(one_thread, processors, workers):
    opening = bench._open_workers(min(processors, bench.MAX_WORKERS))
    assert call_in_thread(asyncio.run, opening) == workers
    assert lw.get_num_threads() == 1


def test_a_page_that_is_not_isolated_has_no_workers(quick, monkeypatch):
    def refuse(count):
        raise lw.BackendError("expected a page that is cross-origin isolated")

    monkeypatch.setattr(lw, "init_threads", refuse)
    events = run_events(processors=2)
    assert events[0]["workers"] == 0
    assert not [event for event in events if event.get("contestant") == "workers" or event["type"] == "failure"]


def test_lost_workers_have_no_result(quick, one_thread, monkeypatch):
    """Calls run on one thread then, whose time is not that of workers."""

    async def lose(count):
        pass

    monkeypatch.setattr(lw, "init_threads", lose)
    found = [event for event in run_events(processors=2) if event.get("contestant") == "workers"]
    assert [event["type"] for event in found] == ["measuring", "failure"] * 2
    assert found[1]["message"] == "the web workers ended before the measurement did"


@pytest.mark.parametrize("work", bench.WORKS)
def test_a_wrong_answer_is_found(work):
    made = bench.WORKS[work]()
    with lw.use_backend("scalar"):
        right = np.asarray(made.lanewise("scalar")())
    wrong = right.copy()
    if work == "digits":
        wrong[7] = np.roll(wrong[7], 1)
    else:
        wrong.flat[right.argmax()] *= np.float32(1.01)
    assert made.error(right) <= 1 < made.error(wrong)
    assert bench._judge(made, "scalar", wrong)["agrees"] is False


def test_nan_is_a_wrong_answer():
    made = bench.WORKS["exp"]()
    wrong = made.numpy()().copy()
    wrong[3] = np.nan
    assert bench._judge(made, "scalar", wrong)["agrees"] is False


def test_an_error_ends_only_one_measurement(quick, monkeypatch):
    def fail(*_):
        raise lw.DeviceError("wgpu: the device was lost")

    monkeypatch.setattr(bench.Digits, "lanewise", fail)
    events = run_events()
    (failure,) = [event for event in events if event["type"] == "failure"]
    assert failure == {
        "type": "failure",
        "work": "digits",
        "contestant": "scalar",
        "message": "wgpu: the device was lost",
    }
    assert events[-1] == {"type": "done"}


def test_a_browser_that_never_opens_the_gpu(monkeypatch):
    class Never:
        def __await__(self):
            return asyncio.sleep(60).__await__()

    monkeypatch.setattr(bench, "GPU_OPEN_SECONDS", 0.01)
    monkeypatch.setattr(lw, "init_backend", lambda name: Never())
    assert "has not opened the GPU" in call_in_thread(asyncio.run, bench._open_gpu())


@pytest.mark.parametrize("work", bench.WORKS)
def test_the_gpu_computes_every_call(work):
    """Lanewise leaves out elementwise results that nobody reads; a benchmark must read them or not allow that."""
    if not any(info.name == "wgpu" and info.available for info in lw.backends()):
        absent("no WebGPU adapter", "wgpu")
    made = bench.WORKS[work]()
    with lw.use_backend("wgpu"):
        function = made.lanewise("wgpu")
        function()
        lw.synchronize("wgpu")
        before = lw.memory_stats("wgpu")["dispatches"]
        for _ in range(CALLS):
            result = function()
        lw.synchronize("wgpu")
        assert lw.memory_stats("wgpu")["dispatches"] - before >= CALLS
    assert made.error(np.asarray(result)) <= 1


REPORT = """(() => {
    const report = results.newReport({ userAgent: "Firefox/153.0", hardwareConcurrency: 8 });
    delete report.userAgent; // a link leaves it out
    report.results.exp = { numpy: { nanoseconds: 2e6, error: 0.5, agrees: null } };
    return Object.assign(report, given[0]);
})()"""


@pytest.mark.parametrize("text", ["", "\N{HORIZONTAL ELLIPSIS} 123456789"])
def test_the_checksum_is_that_of_zlib(text):
    assert node("results.checksum(new TextEncoder().encode(given[0]))", text) == f"{zlib.crc32(text.encode()):08x}"


def test_a_link_holds_texts_of_any_length():
    """Texts of drivers and errors may be long; the link holds only their beginnings."""
    long = "x" * 2000
    changes = {
        "missing": {"simd128": long, "relaxed_simd": "short"},
        "adapter": {"name": long, "software": False},
        "results": {"exp": {"numpy": {"nanoseconds": 2e6, "error": 0.5, "agrees": None}, "wgpu": {"failure": long}}},
    }
    read = node(f"results.fromFragment(results.toFragment({REPORT}))", changes)
    cut = read["missing"]["simd128"]
    assert long.startswith(cut.removesuffix("\N{HORIZONTAL ELLIPSIS}")) and 100 < len(cut) < 1000
    assert read["missing"]["relaxed_simd"] == "short"
    assert read["adapter"]["name"] == read["results"]["exp"]["wgpu"]["failure"] == cut


def test_a_link_with_another_character_is_damaged():
    """Tries every position. A change of the last one may leave the report as it was, because Base64 does not use all
    bits of the last character."""
    outcomes = node(
        f"""(() => {{
            const report = {REPORT};
            const link = results.toFragment(report);
            const outcomes = new Set();
            for (let i = "#result=".length; i < link.length; i++) {{
                const changed = link.slice(0, i) + (link[i] === "B" ? "C" : "B") + link.slice(i + 1);
                try {{
                    const same = JSON.stringify(results.fromFragment(changed)) === JSON.stringify(report);
                    outcomes.add(i === link.length - 1 && same);
                }} catch (error) {{
                    outcomes.add(error.message.startsWith("This link is damaged"));
                }}
            }}
            return [...outcomes];
        }})()""",
        {},
    )
    assert outcomes == [True]


def read_link(content):
    """Returns the report in a link with this content, or the message of the error."""
    return node(
        """(() => {
            const bytes = new TextEncoder().encode(JSON.stringify(given[0]));
            try {
                return results.fromFragment("#result=" + results.checksum(bytes) + btoa(JSON.stringify(given[0])));
            } catch (error) {
                return error.message;
            }
        })()""",
        content,
    )


@pytest.mark.parametrize("version", [0, 4, 1.5, "1", None])
def test_a_link_of_another_version_is_refused(version):
    assert "another version of this page" in read_link({**FIRST_VERSION, "version": version})


# What links held when scalar kernels were measured, and web workers were not: a row for each work, a cell for each
# contestant.
FIRST_VERSION = {
    "version": 1,
    "date": "2026-11-20",
    "browser": "Firefox 153",
    "logicalProcessors": 8,
    "lanewise": "0.1.0",
    "numpy": "2.0.2",
    "pyodide": "0.27.7",
    "adapter": None,
    "missing": {},
    "background": False,
    "complete": True,
    "rows": [[[5e6, 0.5, None], [4e6, 0.25, True], 0, [1e6, 0.25, True], [2e6, 0.125, True]], *[[0] * 5] * 4],
}
OUTCOMES = {
    "numpy": {"nanoseconds": 5e6, "error": 0.5, "agrees": None},
    "relaxed_simd": {"nanoseconds": 1e6, "error": 0.25, "agrees": True},
    "wgpu": {"nanoseconds": 2e6, "error": 0.125, "agrees": True},
}


def test_a_link_of_the_first_version_is_read():
    report = read_link(FIRST_VERSION)
    assert report["results"] == {"matmul-256": OUTCOMES}
    assert report["workers"] == 0 and report["date"] == "2026-11-20"


def test_a_link_holds_what_workers_reached():
    outcomes = {**OUTCOMES, "workers": {"nanoseconds": 5e5, "error": 0.25, "agrees": True}}
    changes = {"workers": 2, "results": {"matmul-256": outcomes}}
    read = node(f"results.fromFragment(results.toFragment({REPORT}))", changes)
    assert read["workers"] == 2 and read["results"] == {"matmul-256": outcomes}


@pytest.mark.parametrize("workers", [-1, 1.5, "2", None])
def test_a_link_with_a_wrong_number_of_workers_is_refused(workers):
    content = {**FIRST_VERSION, "version": 2, "workers": 2, "rows": [[0] * 6] * 5}
    assert read_link(content)["workers"] == 2
    assert "cannot be read" in read_link({**content, "workers": workers})


def test_workers_are_shown_only_where_they_were_measured():
    names = (
        "results.WORKS.filter((work) => results.contestants(work, given[0]).includes('workers')).map(({name}) => name)"
    )
    assert node(names, {"workers": 2}) == ["matmul-256", "matmul-512"]
    assert node(names, {"workers": 0}) == node(names, None) == []
    assert node("results.label('workers', given[0])", {"workers": 4}) == "4 workers"


def test_numbers():
    shown = {0.1234: "0.12", 1.234: "1.23", 9.999: "10.0", 12.34: "12.3", 99.99: "100", 12345: "12,300"}
    assert node("given.map((each) => results.digits(each))", *shown) == [*shown.values()]


def test_ratios():
    shown = {0.423: "0.42", 0.996: "1.0", 3.14: "3.1", 9.96: "10", 31.4: "31", 312.4: "312"}
    expected = [f"{text}\N{MULTIPLICATION SIGN}" for text in shown.values()]
    assert node("given.map((each) => results.times(each))", *shown) == expected


def test_browsers():
    names = {
        "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0": "Firefox 153 on Linux",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/27.0 "
        "Safari/605.1.15": "Safari 27.0 on macOS",
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile "
        "Safari/537.36": "Chromium 156 on Android",
        "something": "unknown browser",
    }
    assert node("given.map((userAgent) => results.describeBrowser({ userAgent }))", *names) == [*names.values()]
