"""Tests `python -m lanewise bench`: what a user's benchmark prints, and what it says about mistakes."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

import lanewise as lw
from lanewise import bench, cli

AVAILABLE = [str(info.name) for info in lw.backends() if info.available]
FAST = ["--seconds", "0.00001"]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(bench, "SIZES", (64, 400))
    monkeypatch.setattr(bench, "REPEATS", 1)


def test_a_line_for_each_operation_and_size(capsys):
    assert bench.main(FAST) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "one thread" in lines[0]
    assert lines[2].split()[: len(AVAILABLE)] == AVAILABLE
    assert [line.split()[:2] for line in lines[3:5]] == [["add", "64"], ["add", "400"]]
    assert len(lines) == 3 + 2 * len(bench.WORKS)
    assert len({len(line) for line in lines[2:]}) == 1  # the columns are aligned
    assert lines[2].split()[-1] == "numpy"


def test_json_names_every_backend_and_nothing_is_wrong(capsys):
    assert bench.main(["matmul", "sort", "--json", *FAST]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["operation"], row["shape"]) for row in rows] == [
        ("sort", [64]),
        ("sort", [400]),
        ("matmul", [8, 8]),
        ("matmul", [20, 20]),
    ]
    assert all(row["wrong"] == [] and min(row["minimum_ns"].values()) > 0 for row in rows)
    cpu = {str(info.name) for info in lw.backends() if info.available and not info.name.is_gpu}
    assert {*cpu, "numpy"} <= set(rows[0]["minimum_ns"])


def test_matrices_have_at_most_512_rows():
    shapes = next(work.shapes for work in bench.WORKS if work.operation == "matmul")
    assert shapes(511**2) == ((511, 511), (511, 511))
    assert shapes(512**2) == shapes(513**2) == ((512, 512), (512, 512))


def test_without_numpy_backends_are_compared_with_scalar(capsys, monkeypatch):
    monkeypatch.setattr(bench, "find_spec", lambda name: None)
    assert bench.main(["exp", *FAST]) == 0
    assert "numpy" not in capsys.readouterr().out


def test_a_wrong_result_is_not_timed_and_fails_the_command(capsys, monkeypatch):
    monkeypatch.setattr(bench, "_differs", lambda result, expected: True)
    assert bench.main(["add", "--backends", "scalar", *FAST]) == 1
    assert "WRONG" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("result", "differs"),
    [
        ([0.0, 5000.0], False),
        ([0.0, 5000.49], False),
        ([0.0, 5000.51], True),
        ([0.49, 5000.0], False),
        ([0.51, 5000.0], True),
        ([[0.0, 5000.0]], True),
        ([0.0, math.nan], True),
    ],
)
def test_errors_are_relative_to_the_largest_element(result, differs):
    assert bench._differs(lw.asarray(result), lw.asarray([0.0, 5000.0])) == differs


def test_zeros_equal_zeros():
    assert not bench._differs(lw.zeros(3), lw.zeros(3))


def test_one_thread_computes(monkeypatch):
    seen = []
    monkeypatch.setattr(bench, "limit_blas_threads", seen.append)
    monkeypatch.setattr(bench, "measure", lambda *_, **keywords: seen.append(lw.get_num_threads()) or [])
    assert bench.main(["add", *FAST]) == 0
    assert seen == [1, 1, 1]


def test_a_result_of_another_backend_is_not_timed(monkeypatch):
    """A GPU backend without a kernel leaves the operation to the CPU, whose time must not count as the GPU's."""

    class Elsewhere:
        _backend_name = "wgpu"

    monkeypatch.setattr(lw, "add", lambda x, y: Elsewhere())
    row = bench._measured(bench.WORKS[0], 64, ["scalar"], None, 1e-5)
    assert (row.operation, row.timings, row.wrong) == ("add", {}, ())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fly"], "bench: expected one of add, fma"),
        (["--backends", "mmx"], "bench: expected a backend, got 'mmx'; "),
        (["--backends", "wgpu:9"], "bench: expected a backend of this machine, got wgpu:9: "),
    ],
)
def test_mistakes_are_explained(arguments, message, capsys):
    assert bench.main(arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_backends_are_resolved_and_timed_once(capsys):
    assert bench.main(["add", "--backends", "auto", "cpu", "--json", *FAST]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert set(rows[0]["minimum_ns"]) - {"numpy"} == {str(lw.init_backend(name)) for name in ("auto", "cpu")}


@pytest.mark.parametrize("seconds", ["nan", "-1", "0", "inf", "soon"])
def test_seconds_are_positive(seconds, capsys):
    with pytest.raises(SystemExit, match="2"):
        bench.main(["add", f"--seconds={seconds}"])
    assert "argument --seconds: " in capsys.readouterr().err


def test_a_browsers_wheel_says_what_is_missing(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "lanewise.bench", None)
    assert cli.main(["bench"]) == 1
    assert "lanewise bench: this wheel is for browsers and has no benchmark" in capsys.readouterr().err


def test_it_is_one_small_file():
    assert len(Path(bench.__file__).read_text(encoding="utf-8").splitlines()) <= 200
