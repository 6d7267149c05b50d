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

ROOT = Path(__file__).parents[2]
LANDING = ROOT / "site" / "landing"
CALLS = 5


def load_bench():
    spec = importlib.util.spec_from_file_location("landing_bench", LANDING / "bench.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look for their module
    spec.loader.exec_module(module)
    return module


bench = load_bench()


@pytest.fixture
def quick(monkeypatch):
    """The benchmark with short samples, and without the GPU, which this process may have used in other ways."""

    async def closed():
        return "not in this test"

    monkeypatch.setattr(bench, "SAMPLE_SECONDS", 1e-4)
    monkeypatch.setattr(bench, "REPEATS", 1)
    monkeypatch.setattr(bench, "_open_gpu", closed)


def run_events():
    events = []
    call_in_thread(asyncio.run, bench.run(events.append))
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
    assert node("results.CONTESTANTS") == [bench.NUMPY, *bench.BACKENDS]


def test_events(quick):
    facts, *measured, done = run_events()
    assert facts["type"] == "facts" and facts["lanewise"] == lw.__version__
    assert set(facts["missing"]) >= {"simd128", "relaxed_simd", "wgpu"} and "scalar" not in facts["missing"]
    assert done == {"type": "done"}
    results = [event for event in measured if event["type"] == "result"]
    assert [(each["work"], each["contestant"]) for each in results] == [
        (work, contestant) for work in bench.WORKS for contestant in ("numpy", "scalar")
    ]
    assert all(each["agrees"] is (None if each["contestant"] == "numpy" else True) for each in results)
    json.dumps([facts, *measured])


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


def test_a_link_of_another_version_is_refused():
    message = node(
        """(() => {
            const json = JSON.stringify({ version: 999 });
            try {
                results.fromFragment("#result=" + results.checksum(new TextEncoder().encode(json)) + btoa(json));
            } catch (error) {
                return error.message;
            }
        })()"""
    )
    assert "another version of this page" in message


@pytest.mark.parametrize(
    ("given", "expected"),
    [(0.1234, "0.12"), (1.234, "1.23"), (9.999, "10.0"), (12.34, "12.3"), (99.99, "100"), (12345, "12,300")],
)
def test_numbers(given, expected):
    assert node("results.digits(...given)", given) == expected


@pytest.mark.parametrize(
    ("given", "expected"), [(0.423, "0.42"), (0.996, "1.0"), (3.14, "3.1"), (9.96, "10"), (31.4, "31"), (312.4, "312")]
)
def test_ratios(given, expected):
    assert node("results.times(...given)", given) == expected + "\N{MULTIPLICATION SIGN}"


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0", "Firefox 153 on Linux"),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/27.0 "
            "Safari/605.1.15",
            "Safari 27.0 on macOS",
        ),
        (
            "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile "
            "Safari/537.36",
            "Chromium 156 on Android",
        ),
        ("something", "unknown browser"),
    ],
)
def test_browsers(agent, expected):
    assert node("results.describeBrowser({ userAgent: given[0] })", agent) == expected
