"""Tests `python -m tests.bench` from end to end, on small sizes."""

import json
import sys

import pytest

import lanewise as lw
from tests.bench import webgpu
from tests.bench.command import main
from tests.bench.peers import PEERS

FAST = ["--seconds", "0.0001", "--repeats", "2"]


def available():
    return [str(info.name) for info in lw.backends() if info.available]


def test_a_table_for_each_operation_and_size(capsys):
    assert main(["add", "softmax", "--sizes", "100", "8x16", *FAST]) == 0
    out = capsys.readouterr().out
    for heading in ("add  float32  100", "add  float32  8 x 16", "softmax  float32  10 x 10"):
        assert heading in out
    assert all(out.count(f"\n  {backend} ") == 4 for backend in available())


def test_json_alone_is_printed(capsys):
    assert main(["matmul", "--sizes", "8", "--peers", "--backends", "scalar", "--json", *FAST]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["machine"]["lanewise"] == lw.__version__
    (case,) = report["results"]
    assert (case["operation"], case["size"], case["flops"]) == ("matmul", [8, 8, 8], 1024)
    assert [entry["name"] for entry in case["contestants"]] == ["scalar"]
    assert case["wrong"] == {}


def test_every_operation_is_right_on_every_backend_and_peer(capsys):
    assert main(["--sizes", "24", "--json", *FAST]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    for case in results:
        assert case["wrong"] == {}, case["operation"]
        names = [entry["name"] for entry in case["contestants"]]
        missing = set(available()) - set(names) - {"cuda", "wgpu"}
        assert not missing, f"{case['operation']}: {case['not_timed']}"
        assert not {why for name, why in case["not_timed"].items() if name in PEERS} - {"no such operation"}


def test_aliases_and_other_dtypes(capsys):
    assert main(["mul", "--dtype", "int32", "--sizes", "100", "--backends", "scalar", *FAST]) == 0
    assert "multiply  int32  100" in capsys.readouterr().out


def test_plot(tmp_path):
    pytest.importorskip("matplotlib", reason="--plot needs the extra lanewise[plot]")
    path = tmp_path / "rates.png"
    assert main(["add", "reshape", "--sizes", "10", "100", "--plot", str(path), *FAST]) == 0
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["addd"], "no operation 'addd'; did you mean add"),
        (["add", "--sizes", "big"], "expected a size such as 1024, 64K, 1M or 512x64, got 'big'"),
        (["add", "--backends", "mmx"], "bench: expected a backend, got 'mmx'; "),
        (["add", "--backends", "wgpu:9"], "bench: expected a backend of this machine, got wgpu:9: "),
        (["add", "--peers", "fortran"], "expected peers from numpy, numpy-out"),
        (["exp", "--dtype", "bool"], "exp: expected a dtype of float32, got bool"),
        (["threads", "--threads", "1"], "expected --threads of at least 2"),
        (["call", "fly"], "expected the beginning of a name among x + y 1K, whole call"),
        (["add", "--firm"], "--firm works only with --goals; add it"),
    ],
)
def test_mistakes_are_explained(arguments, message, capsys):
    assert main([*arguments, *FAST]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["speedup", "negative", "--sizes", "64"], "| negative |"),
        (["threads", "exp", "--sizes", "64"], "exp 64"),
        (["crossover", "eigh", "--sizes", "4"], "eigh 4"),
        (["call", "import"], "import lanewise: "),
        (["search", "--sizes", "64", "--backends", "scalar"], "searchsorted  float32  64"),
    ],
)
def test_groups(words, expected, capsys):
    assert main([*words, *FAST]) == 0
    assert expected in capsys.readouterr().out


def test_webgpu_measures_operations_with_a_shader():
    names = webgpu.with_shader()
    assert {"add", "exp", "sum", "matmul"} <= set(names)
    assert "eigh" not in names


def test_webgpu_is_measured_or_its_absence_explained(capsys):
    (info,) = [info for info in lw.backends() if info.name == "wgpu"]
    if not info.available:
        assert main(["webgpu", "add", *FAST]) == 2
        assert f"bench: webgpu: {info.reason}" in capsys.readouterr().err
        return
    assert main(["webgpu", "add", "--sizes", "64", *FAST]) == 0
    assert "wgpu" in capsys.readouterr().out


def test_repeats_must_be_positive(capsys):
    with pytest.raises(SystemExit):
        main(["add", "--repeats", "0"])
    assert "must be positive" in capsys.readouterr().err


def test_a_missing_matplotlib_is_noticed_before_anything_is_timed(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert main(["add", "--plot", "rates.png", *FAST]) == 2
    captured = capsys.readouterr()
    assert "--plot needs matplotlib; pip install 'lanewise[plot]'" in captured.err
    assert captured.out == ""
