"""Tests the benchmark's reports as text and JSON."""

import json

import pytest

from lanewise.timing import Timing, duration
from tests.bench import operations, report
from tests.bench.cases import build
from tests.bench.runner import Entry, Result


@pytest.fixture
def result():
    case = build(operations.find("add"), (1000,))
    entries = (
        Entry("scalar", False, Timing("scalar", 10, (400.0, 500.0))),
        Entry("sse2", False, Timing("sse2", 10, (100.0, 110.0))),
        Entry("numpy", True, Timing("numpy", 10, (200.0, 200.0))),
    )
    return Result(case, entries, {"jax": "no such operation"}, {"torch": "element 3 is 1"}, "NumPy in float64")


def test_the_table_is_sorted_and_compares_with_the_best_peer(result):
    lines = report.text(result).splitlines()
    assert lines[0] == "add  float32  1,000"
    assert lines[1].split() == ["minimum", "median", "GB/s", "GFLOP/s", "numpy", "=", "1"]
    assert lines[2].split() == ["sse2", "100", "ns", "105", "ns", "120", "10.0", "2.00x"]
    assert [line.split()[0] for line in lines[2:5]] == ["sse2", "numpy", "scalar"]
    assert "torch is WRONG" in lines[5]
    assert lines[6] == "  not timed: jax (no such operation)"


def test_json_has_units_in_its_names(result):
    out = json.loads(json.dumps(report.as_json({"cpu": "x"}, {"repeats": 2}, [result])))
    (case,) = out["results"]
    assert (case["operation"], case["size"], case["bytes"]) == ("add", [1000], 12_000)
    assert case["contestants"][1] == {
        "name": "sse2",
        "peer": False,
        "calls_a_sample": 10,
        "samples_ns": [100.0, 110.0],
        "minimum_ns": 100.0,
        "median_ns": 105.0,
        "bytes_per_second": 120e9,
        "flops_per_second": 10e9,
    }
    assert case["wrong"] == {"torch": "element 3 is 1"}


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0.5, "0.50 ns"),
        (35.94, "35.9 ns"),
        (999.4, "999 ns"),
        (999.6, "1.00 us"),
        (2.5e6, "2.50 ms"),
        (12e9, "12.0 s"),
    ],
)
def test_durations_have_three_digits(nanoseconds, text):
    assert duration(nanoseconds) == text
