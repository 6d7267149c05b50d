"""Tests `python -m lanewise demo` on every backend of this machine."""

import io
import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from itertools import chain
from types import SimpleNamespace

import pytest

import lanewise as lw
from lanewise.costs.timing import Timing
from lanewise.demo import command, digits, main, plot
from lanewise.demo.network import Network, tensor
from tests import support


def available():
    return [str(info.name) for info in lw.backends() if info.available]


def test_prints_a_line_for_each_backend_and_that_they_agree(monkeypatch, capsys):
    monkeypatch.setattr(command, "measure", partial(command.measure, repeats=1))
    assert main([]) == 0
    out = capsys.readouterr().out
    for backend in available():
        (line,) = [line for line in out.splitlines() if line.split()[:1] == [backend]]
        assert "accuracy 99.1 %" in line
        assert line.endswith("images/s") or (backend == "wgpu" and line.endswith("images/s  (a software adapter)"))
    assert len({line.index("accuracy") for line in out.splitlines() if "accuracy" in line}) == 1  # one column
    assert "All 540 predictions agree" in out


@pytest.fixture
def wgpu():
    if "wgpu" not in available():
        support.absent("WebGPU is not available", "wgpu")


def test_readbacks(wgpu):
    """The network's predictions are read back once, and nothing else is."""
    reader = command._on_backend(digits.load(), "wgpu")
    expected = reader.predict()
    before = lw.memory_stats("wgpu")
    assert reader.predict() == expected
    after = lw.memory_stats("wgpu")
    assert (after["readbacks"] - before["readbacks"], after["uploads"] - before["uploads"]) == (1, 0)


@pytest.fixture
def untimed(monkeypatch):
    """Makes the command predict only: timing WebGPU on the CPU takes long."""
    monkeypatch.setattr(command, "measure", lambda readers: [Timing(each.name, 1, (1e9,)) for each in readers])


def test_webgpu_predicts_what_the_cpu_does(wgpu, untimed, capsys):
    reports = []
    for backend in ("scalar", "wgpu"):
        assert main(["--backend", backend, "--json"]) == 0
        reports.append(json.loads(capsys.readouterr().out))
    assert reports[1]["readers"][0]["name"] == "wgpu"
    assert reports[1]["predictions"] == reports[0]["predictions"]


@pytest.mark.parametrize("is_software", [False, True])
def test_a_software_adapter_is_marked(capsys, monkeypatch, is_software):
    monkeypatch.setattr(command, "_run", lambda *_, **__: [command.Outcome("wgpu", 1.0, 5.0, (1,) * 540)])
    info = SimpleNamespace(name="wgpu", available=True, devices=(SimpleNamespace(software=is_software),))
    monkeypatch.setattr(lw, "backends", lambda: [info])
    assert main([]) == 0
    line, *_ = capsys.readouterr().out.splitlines()
    assert line.endswith("5 images/s" + "  (a software adapter)" * is_software)


def test_the_text(capsys, monkeypatch):
    outcomes = [
        command.Outcome(name, accuracy, speed, (1,) * 540)
        for name, accuracy, speed in (("scalar", 0.99074, 123456.7), ("numpy", 0.97, 9876543.2))
    ]
    monkeypatch.setattr(command, "_run", lambda *_, **__: outcomes)
    assert main([]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "  scalar  accuracy 99.1 %      123,457 images/s",
        "  numpy   accuracy 97.0 %    9,876,543 images/s  (for comparison)",
        "",
        "All 540 predictions agree: scalar, numpy.",
    ]


def test_the_heading_is_shown_before_the_time_is_measured(monkeypatch):
    stdout = io.TextIOWrapper(io.BytesIO())  # buffers what is written until it is flushed, like a pipe
    shown = []

    def measure(readers):
        shown.append(stdout.buffer.getvalue().decode())
        return [Timing(each.name, 1, (1e9,)) for each in readers]

    monkeypatch.setattr(command, "measure", measure)
    monkeypatch.setattr(sys, "stdout", stdout)
    assert main(["--backend", "scalar"]) == 0
    assert [text.splitlines() for text in shown] == [
        [
            "540 of 1,797 handwritten digits, held out from training; "
            "a convolutional network with 6,090 weights; one thread",
            "",
        ]
    ]


def test_one_backend_as_json(capsys):
    assert main(["--backend", "scalar", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["readers"][0]["name"] == "scalar"
    assert report["readers"][0]["accuracy"] == 535 / 540
    assert report["agree"] is True
    assert len(report["predictions"]) == len(report["positions"]) == report["digits"] == 540


def test_the_speed_is_that_of_the_fastest_round(capsys, monkeypatch):
    monkeypatch.setattr(command, "measure", lambda readers: [Timing(each.name, 1, (3e9, 2e9)) for each in readers])
    assert main(["--backend", "scalar", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["readers"][0]["images_per_second"] == 270


def test_plot(untimed, tmp_path):
    pytest.importorskip("matplotlib", reason="--plot needs the extra lanewise[plot]")
    path = tmp_path / "sheet.png"
    assert main(["--backend", "scalar", "--plot", str(path)]) == 0
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG")
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    assert (width, height) == (1152, 984)  # 12 columns and 8 rows at 120 dots per inch


@pytest.fixture
def figures(monkeypatch):
    """Returns a list that collects the figures that would be drawn; test_plot draws one."""
    figure = pytest.importorskip("matplotlib.figure", reason="--plot needs the extra lanewise[plot]")
    figures = []

    class Recorded(figure.Figure):
        def __init__(self, *arguments, **keywords):
            super().__init__(*arguments, **keywords)
            figures.append(self)

        def savefig(self, *arguments, **keywords):
            pass

    monkeypatch.setattr(plot, "figure_class", lambda: Recorded)
    return figures


def test_a_plot_of_few_digits_shows_all(tmp_path, figures):
    held_out = digits.load()
    plot.draw(held_out, held_out.labels[:4], str(tmp_path / "sheet.svg"))
    (sheet,) = figures
    assert [cell.get_title() for cell in sheet.axes] == [str(label) for label in held_out.labels[:4]]


def test_the_plot_shows_misread_digits_first(tmp_path, figures):
    held_out = digits.load()
    predictions = list(held_out.labels)
    wrong = (3, 100)
    for index in wrong:
        predictions[index] = (predictions[index] + 1) % 10
    plot.draw(held_out, predictions, str(tmp_path / "sheet.svg"))
    (sheet,) = figures
    assert sheet.get_suptitle() == "540 held-out digits; 2 misread ones first"
    assert sheet.get_size_inches().tolist() == pytest.approx([0.8 * plot.COLUMNS, 0.95 * plot.ROWS + 0.6])
    cells = sheet.axes
    assert len(cells) == 96  # 12 columns and 8 rows
    right = [index for index in range(len(predictions)) if index not in wrong]
    step = len(right) // len(cells)
    for cell, index in zip(cells, [*wrong, *right[::step]], strict=False):
        (image,) = cell.get_images()
        assert image.get_array().ravel().tolist() == list(held_out.image(index))
        assert (image.get_cmap().name, *image.get_clim()) == ("gray_r", 0, digits.BRIGHTEST)
        assert not cell.axison
        label = held_out.labels[index]
        title = (f"{predictions[index]}, is {label}", "tab:red") if index in wrong else (str(label), "black")
        assert (cell.get_title(), cell.title.get_color(), cell.title.get_fontsize()) == (*title, 10)


def test_blas_is_configured_before_matplotlib_imports_numpy(monkeypatch):
    order = []

    def stop(path):
        order.append("matplotlib")
        raise lw.ArgumentError("stop")

    monkeypatch.setattr(command, "_configure_blas", lambda: order.append("BLAS"))
    monkeypatch.setattr(command, "check_picture_path", stop)
    assert main(["--plot", "sheet.png"]) == 2
    assert order == ["BLAS", "matplotlib"]


def test_an_unknown_backend_is_explained(capsys):
    assert main(["--backend", "mmx"]) == 2
    assert capsys.readouterr().err.startswith("demo: expected a backend, got 'mmx'; give one of auto, ")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("digits.json", None),
        ("images.u4", None),
        ("weights.f16", b"\0\0"),
        ("digits.json", b"{}"),
        ("digits.json", b"no JSON"),
        ("digits.json", b'{"labels": 3}'),
    ],
)
def test_missing_or_damaged_data_is_explained(name, content, tmp_path, monkeypatch, capsys):
    shutil.copytree(digits.files("lanewise.demo") / "data", tmp_path / "data")
    (tmp_path / "data" / name).unlink()
    if content is not None:
        (tmp_path / "data" / name).write_bytes(content)
    monkeypatch.setattr(digits, "files", lambda package: tmp_path)
    assert main(["--backend", "scalar"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("demo: the data in ") and "reinstall lanewise" in error and error.count("\n") == 1


def test_probabilities_sum_to_one():
    data = digits.load()
    rows = Network(data)(tensor(data)).tolist()
    assert len(rows) == 540
    assert all(sum(row) == pytest.approx(1, abs=1e-5) for row in rows)


@pytest.mark.parametrize("backend", available())
def test_logits_are_numpys(backend):
    np = pytest.importorskip("numpy", reason="compares with it")
    from lanewise.demo.numpy_peer import NumpyNetwork, array

    data = digits.load()
    with lw.use_backend(backend):
        mine = np.asarray(Network(data).logits(tensor(data)))
    np.testing.assert_allclose(mine, NumpyNetwork(data).logits(array(data)), atol=2e-4)


@pytest.mark.parametrize("scale", [1, 20])  # with images times 20, exp of the largest logit overflows float32
@pytest.mark.parametrize(
    ("library", "network", "images"), [("numpy", "NumpyNetwork", "array"), ("torch", "TorchNetwork", "tensor")]
)
def test_probabilities_are_those_of_the_peer(library, network, images, scale):
    pytest.importorskip(library, reason="compares with it")
    peer = import_module(f"lanewise.demo.{library}_peer")
    data = digits.load()
    theirs = getattr(peer, network)(data)(getattr(peer, images)(data) * scale)
    mine = Network(data)(tensor(data) * scale)
    assert [*chain(*mine.tolist())] == pytest.approx([*chain(*theirs.tolist())], abs=1e-3)


def test_logits_are_torchs():
    torch = pytest.importorskip("torch", reason="compares with it")
    from lanewise.demo import torch_peer

    data = digits.load()
    theirs = torch_peer.TorchNetwork(data).logits(torch_peer.tensor(data))
    mine = torch.tensor(Network(data).logits(tensor(data)).tolist())
    torch.testing.assert_close(mine, theirs, atol=1e-4, rtol=0)


def test_torch_is_compared_if_installed(capsys):
    pytest.importorskip("torch", reason="compares with it")
    assert main(["--backend", "scalar", "--json"]) == 0
    assert [reader["name"] for reader in json.loads(capsys.readouterr().out)["readers"]][-1] == "torch"


def test_all_run_on_one_thread(monkeypatch):
    seen = []
    real = command.measure
    monkeypatch.setattr(command, "measure", lambda contestants: seen.append(lw.get_num_threads()) or real(contestants))
    before = lw.get_num_threads()
    lw.set_num_threads(2)
    try:
        main(["--backend", "scalar", "--json"])
        assert (seen, lw.get_num_threads()) == ([1], 2)
    finally:
        lw.set_num_threads(before)


def test_torch_runs_on_one_thread_without_gradients():
    torch = pytest.importorskip("torch", reason="limits its threads")
    from lanewise.demo import torch_peer

    def state_in_use():
        torch.set_num_threads(2)
        torch_peer.use_one_thread()
        return torch.get_num_threads(), torch.is_grad_enabled()

    before = torch.get_num_threads()
    try:
        with ThreadPoolExecutor(1) as pool:  # a new thread, because use_one_thread() turns gradients off for its thread
            assert pool.submit(state_in_use).result() == (1, False)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize("has_avx512", [False, True])
def test_numpys_blas_runs_its_best_kernels_on_one_thread(monkeypatch, has_avx512, imported):
    monkeypatch.setattr(os, "environ", {})
    monkeypatch.setattr(lw, "backends", lambda: [SimpleNamespace(name="avx512", available=has_avx512)])
    if imported:
        monkeypatch.setitem(sys.modules, "numpy", SimpleNamespace())
    else:
        monkeypatch.delitem(sys.modules, "numpy", raising=False)
    command._configure_blas()
    kernels = os.environ.pop("OPENBLAS_CORETYPE", None)
    assert kernels == ("SkylakeX" if has_avx512 and not imported else None)
    assert set(os.environ.values()) == (set() if imported else {"1"})


def test_predictions_that_differ_fail_and_say_where(capsys, monkeypatch):
    real = command._in_numpy

    def broken(data):
        reader = real(data)
        return command.Reader(reader.contestant, lambda: [9, *reader.predict()[1:]])

    pytest.importorskip("numpy", reason="stands in for a broken backend")
    monkeypatch.setattr(command, "_in_numpy", broken)
    assert main(["--backend", "scalar"]) == 1
    out = capsys.readouterr().out
    assert "Predictions DIFFER" in out
    assert "numpy on 1 digits" in out


@pytest.fixture
def disagreeing(monkeypatch):
    """Makes three readers disagree. Returns their predictions and the digits."""
    held_out = digits.load()
    first, second = list(held_out.labels), list(held_out.labels)
    first[3] = (first[3] + 1) % 10
    second[3], second[100] = (second[3] + 2) % 10, (second[100] + 1) % 10
    predictions = {"scalar": tuple(first), "numpy": tuple(second), "torch": tuple(first)}
    outcomes = [command.Outcome(name, 0.99, 1000.0, each) for name, each in predictions.items()]
    monkeypatch.setattr(command, "_run", lambda *_, **__: outcomes)
    return predictions, held_out


def test_the_first_difference_of_each_reader_is_explained(disagreeing, capsys):
    predictions, held_out = disagreeing
    assert main([]) == 1
    verdict = capsys.readouterr().out.split("\n\n")[1]
    assert verdict.splitlines() == [
        "Predictions DIFFER:",
        f"  numpy on 2 digits; the first is number {held_out.positions[3]}: scalar says {predictions['scalar'][3]}, "
        f"numpy {predictions['numpy'][3]}, the label is {held_out.labels[3]}",
    ]


def test_the_predictions_of_the_first_reader_are_printed_and_drawn(disagreeing, monkeypatch, capsys):
    predictions, _ = disagreeing
    drawn = []
    monkeypatch.setattr(command, "check_picture_path", lambda path: None)
    monkeypatch.setattr(command, "draw", lambda digits, predictions, path: drawn.append((predictions, path)))
    assert main(["--json", "--plot", "sheet.png"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["predictions"] == list(predictions["scalar"])
    assert drawn == [(predictions["scalar"], "sheet.png")]
    assert err == "wrote sheet.png\n"


def test_a_missing_prediction_is_an_error(monkeypatch):
    outcomes = [command.Outcome(name, 0.99, 1000.0, (1,) * count) for name, count in (("scalar", 540), ("numpy", 539))]
    monkeypatch.setattr(command, "_run", lambda *_, **__: outcomes)
    with pytest.raises(ValueError, match="zip"):
        main([])


def test_a_missing_timing_is_an_error(monkeypatch):
    monkeypatch.setattr(command, "measure", lambda readers: [Timing(each.name, 1, (1e9,)) for each in readers[1:]])
    with pytest.raises(ValueError, match="zip"):
        main(["--backend", "scalar", "--json"])


@pytest.mark.parametrize(("accuracy", "status"), [(0.9699, 1), (0.97, 0)])
def test_too_low_an_accuracy_fails(accuracy, status, monkeypatch, capsys):
    outcome = command.Outcome("scalar", accuracy, 1000.0, (7,))
    monkeypatch.setattr(command, "_run", lambda *_, **__: [outcome])
    assert main(["--backend", "scalar"]) == status


@pytest.mark.parametrize("name", ["no such folder/sheet.png", ".", "sheet.doc"])
def test_a_plot_that_cannot_be_written_is_refused_before_computing(name, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib", reason="--plot needs the extra lanewise[plot]")
    monkeypatch.setattr(command, "_run", lambda *_, **__: pytest.fail("computed first"))
    assert main(["--backend", "scalar", "--plot", str(tmp_path / name)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("demo: expected --plot FILE") and str(tmp_path) in error
    assert error.count("\n") == 1 and ("ending in .png" in error) == (name == "sheet.doc")
    assert list(tmp_path.iterdir()) == []


def test_checking_the_path_of_a_plot_changes_no_file(tmp_path):
    pytest.importorskip("matplotlib", reason="--plot needs the extra lanewise[plot]")
    from lanewise.demo.plot import check_picture_path

    path = tmp_path / "sheet.png"
    check_picture_path(str(path))
    assert not path.exists()
    path.write_bytes(b"mine")
    check_picture_path(str(path))
    assert path.read_bytes() == b"mine"
