"""Tests `python -m tests.bench` without goals, from end to end, on small sizes."""

import json

import pytest

import lanewise as lw
from tests.bench.command import main
from tests.bench.peers import PEERS

FAST = ["--seconds", "0.0001", "--repeats", "2"]


def available():
    return [str(info.name) for info in lw.backends() if info.available]


def test_a_row_for_each_operation_and_size(capsys):
    assert main(["add", "softmax", "search", "--sizes", "100", "8x16", "--backends", "scalar", *FAST]) == 0
    out = capsys.readouterr().out
    for name in ("add float32 100 ", "add float32 8 x 16 ", "softmax float32 10 x 10 ", "searchsorted float32 100 "):
        assert f"\n  {name}" in out
    assert "  scalar  " in out and "met" not in out
    assert main(["mul", "--dtype", "int32", "--sizes", "100", "--backends", "scalar", *FAST]) == 0
    assert "multiply int32 100 " in capsys.readouterr().out


def test_json_alone_is_printed(capsys):
    arguments = ["matmul", "--sizes", "8", "--peers", "--backends", "scalar", "--threads", "1", "2"]
    assert main([*arguments, "--json", *FAST]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["machine"]["lanewise"] == lw.__version__ and report["settings"]["threads"] == [1, 2]
    (case,) = [row["details"] for row in report["goals"]]
    assert (case["operation"], case["size"], case["flops"]) == ("matmul", [8, 8, 8], 1024)
    threads = {"scalar, 2 threads"} if not case["not_timed"] else set()  # which one core does not have
    assert {entry["name"] for entry in case["contestants"]} == {"scalar"} | threads
    entry = case["contestants"][0]
    assert entry["bytes_per_second"] == pytest.approx(
        3 * 64 * 4 / entry["minimum_ns"] * 1e9, rel=1e-5
    )  # that is rounded
    assert entry["flops_per_second"] == pytest.approx(1024 / entry["minimum_ns"] * 1e9, rel=1e-5)
    assert len(entry["samples_ns"]) == 2 and entry["calls_a_sample"] >= 1 and case["wrong"] == {}


def test_every_operation_is_right_on_every_backend_and_peer(capsys):
    assert main(["--sizes", "24", "--json", *FAST]) == 0
    for case in (row["details"] for row in json.loads(capsys.readouterr().out)["goals"]):
        assert case["wrong"] == {}, case["operation"]
        names = [entry["name"] for entry in case["contestants"]]
        missing = set(available()) - set(names) - {"cuda", "wgpu"}
        assert not missing, f"{case['operation']}: {case['not_timed']}"
        assert not {why for name, why in case["not_timed"].items() if name in PEERS} - {"no such operation"}


BROWSER = ["--goals", "--backends", "browser"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["addd"], "no operation 'addd'; did you mean add"),
        (["add", "--sizes", "big"], "expected a size such as 1024, 64K, 1M or 512x64, got 'big'"),
        (["add", "--backends", "mmx"], "bench: expected a backend, got 'mmx'; "),
        (["add", "--backends", "wgpu:9"], "bench: expected a backend of this machine, got wgpu:9: "),
        (["add", "--peers", "fortran"], "expected peers from numpy, numpy-out"),
        (["exp", "--dtype", "bool"], "exp: expected a dtype of float32, float64, got bool"),
        (["add", "--firm"], "--firm works only with --goals; add it"),
        (["add", "--markdown", "README.md"], "--markdown works only with --goals; add it"),
        (["add", "--wheel", "x.whl"], "a browser can only measure the goals"),
        (["--browser"], "a browser can only measure the goals; use --goals --backends browser"),
        (["fly", "--goals"], "no goal begins with 'fly'; there are x + y 1K, whole call"),
        (["fly", *BROWSER], "no goal begins with 'fly'"),
        (["sort", "--goals", "--backends", "wgpu"], "no goal begins with 'sort'; there are add 2^26"),
        (["--goals", "--peers", "tfjs"], "expected peers from numpy, numpy-out"),
        ([*BROWSER, "--peers", "torch"], "expected peers among numpy, scipy"),
        (["--goals", "--sizes", "4"], "excludes --sizes"),
        (["--goals", "--threads", "2"], "excludes --sizes, --dtype and --threads"),
        (["--goals", "--wheel", "x.whl"], "--wheel is for --backends browser"),
        (["--goals", "--backends", "avx2"], "expected cpu, browser or wgpu as --backends with --goals, got avx2"),
        (["--goals", "--markdown", "nowhere.md"], "nowhere.md cannot be read: No such file or directory"),
    ],
)
def test_mistakes_are_explained(arguments, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main([*arguments, *FAST]) == 2
    captured = capsys.readouterr()
    assert message in captured.err and captured.out == ""


def test_repeats_must_be_positive():
    with pytest.raises(SystemExit):
        main(["add", "--repeats", "0"])
