"""Tests lw.calibrate(): what it measures, and how AUTO uses it. test_calibration_file.py tests the file."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
import time

import pytest

import lanewise as lw
from lanewise import _ext, calibration, cli, rates, selection, tuning, waking
from lanewise.calibration import KINDS, RATED

# On loopback, each calibration measures a GPU, too, for half a minute; tests/loopback/test_promotion.py tests that.
pytestmark = [pytest.mark.host, pytest.mark.usefixtures("folder")]

HOSTS = [info.name for info in lw.backends() if info.available and not info.name.is_gpu]
BEST, LAST = HOSTS[0], HOSTS[-1]
SHOW = "import lanewise as lw; print(lw.ones(2).backend)"


@pytest.fixture
def clock(monkeypatch):
    """Replaces the measurement. Returns a dict in which a test sets the time of a backend; the others take 100 ns (the
    first backend), 200 ns (the second) and so on."""
    times = {}

    def fake_samples(backends):
        each = {backend: times.get(backend, 100.0 + 100 * at) for at, backend in enumerate(backends)}
        return {kind: [each, each] for kind in KINDS}

    monkeypatch.setattr(tuning, "_sampled", fake_samples)
    monkeypatch.setattr(waking, "measured", lambda backend: None)
    monkeypatch.setattr(rates, "measured", lambda backend: None)
    return times


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=False
    )


@pytest.mark.host
def test_auto_uses_the_fastest_backend(clock):
    clock[LAST] = 1.0
    result = lw.calibrate(save=False)
    assert result.backend is LAST and result.path is None
    assert result is lw.get_calibration()
    assert lw.ones(1).backend is LAST and lw.best_available_backend() is LAST
    assert lw.init_backend("cpu") is LAST
    lw.reset_calibration()
    assert lw.get_calibration() is None and lw.ones(1).backend is BEST


def test_backends_that_a_priority_leaves_out_keep_the_measured_order(clock):
    fastest = HOSTS[-2] if len(HOSTS) > 1 else LAST
    clock[fastest] = 1.0
    lw.calibrate(save=False)
    try:
        lw.set_backend_priority(["scalar"])
        left_out = [backend for backend in (fastest, *HOSTS) if backend is not lw.Backend.SCALAR]
        expected = [lw.Backend.SCALAR, *dict.fromkeys(left_out)]
        assert selection.available(selection.parse_backend("cpu")) == expected
    finally:
        lw.set_backend_priority(["auto"])


def test_differences_within_noise_keep_the_order(clock):
    clock.update({backend: 100.0 + 2 * (len(HOSTS) - at) / len(HOSTS) for at, backend in enumerate(HOSTS)})
    assert lw.calibrate(save=False).order == tuple(HOSTS)


def test_each_kind_counts_the_same():
    times = {
        lw.Backend.AVX2: dict.fromkeys(KINDS, 1.0) | {"matrices": 2.0},
        lw.Backend.AVX: dict.fromkeys(KINDS, 1.1) | {"matrices": 1.0},
    }
    result = calibration.Calibration(times, "2026-11-21")
    assert result.order == (lw.Backend.AVX, lw.Backend.AVX2)
    assert result.overall(lw.Backend.AVX2) == pytest.approx(2 ** (1 / len(KINDS)))
    assert result.reason() == "AVX; AVX2 takes 1.06 times as long"
    assert str(result).splitlines()[1].split() == ["AVX", "1.10", "1.10", "1.10", "1.10", "1.00", "1.08"]
    assert len({len(line) for line in str(result).splitlines()}) == 1


def test_times_are_relative_to_the_fastest_of_a_kind():
    fast, slow = lw.Backend.AVX2, lw.Backend.SCALAR
    sampled = {"rows": [{fast: 20.0, slow: 10.0}, {fast: 1.0, slow: 32.0}], "matrices": [{fast: 3.0, slow: 2.0}]}
    assert tuning.relative(sampled) == {fast: {"rows": 1.0, "matrices": 1.5}, slow: {"rows": 4.0, "matrices": 1.0}}


def test_a_real_measurement(monkeypatch):
    monkeypatch.setattr(tuning, "SIZES", (10, 100))
    monkeypatch.setattr(tuning, "EDGES", (4,))
    monkeypatch.setattr(tuning, "REPEATS", 2)
    monkeypatch.setattr(tuning, "SAMPLE_SECONDS", 1e-5)
    monkeypatch.setattr(waking, "SAMPLE_SECONDS", 1e-5)
    monkeypatch.setattr(rates, "SAMPLE_SECONDS", 1e-5)
    with lw.use_backend(LAST):
        result = lw.calibrate(save=False)
    assert set(result.order) == set(HOSTS)
    assert all(tuple(row) == KINDS for row in result.times.values())
    assert (result.waking is None) == (_ext.get_running_threads() == 1)
    assert tuple(result.rates) == RATED
    assert all(min(row[kind] for row in result.times.values()) == 1 for kind in KINDS)


def test_works_have_the_documented_sizes():
    """The sizes are those in the docstring of tuning.py: from 10 to a million elements."""
    counts = {math.prod(work.shapes[0]) for work in tuning._works() if work.kind in ("arithmetic", "functions")}
    assert counts == {10, 1_000, 30_000, 1_000_000}
    edges = [work.shapes for work in tuning._works() if work.operation == "matmul"]
    assert edges == [((edge, edge), (edge, edge)) for edge in (4, 32, 128, 256)]
    (convolution,) = (work for work in tuning._works() if work.operation == "conv2d")
    assert lw.conv2d(*map(lw.ones, convolution.shapes)).shape == (1, 16, 26, 26)


def test_every_contestant_runs_on_its_own_backend():
    works = list(tuning._works())
    assert {work.kind for work in works} == set(KINDS)
    with lw.use_backend(LAST):
        contestants = tuning._contestants(works[0], HOSTS)
        assert [each.run().backend for each in contestants] == HOSTS


def test_later_processes_use_the_saved_calibration(clock, folder):
    clock[LAST] = 1.0
    result = lw.calibrate()
    assert result.path == str(folder / "calibration.json")
    assert os.listdir(folder) == ["calibration.json"]
    text = (folder / "calibration.json").read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), indent=1) + "\n"  # indented, so that people can read it
    assert python(SHOW).stdout.strip() == LAST
    code = "import lanewise as lw; result = lw.get_calibration(); print(result.date, result.path, *result.order)"
    assert python(code).stdout.strip() == " ".join([result.date, result.path, *result.order])
    assert calibration.load() == result
    lw.reset_calibration()
    assert os.listdir(folder) == [] and python(SHOW).stdout.strip() == BEST
    lw.reset_calibration()  # does nothing, because the file no longer exists


def test_the_users_choice_takes_precedence(clock, monkeypatch):
    if len(HOSTS) < 2:
        pytest.skip("this machine has one CPU backend only")
    clock[LAST] = 1.0
    lw.calibrate()
    assert python(SHOW, LANEWISE_BACKEND=BEST.value).stdout.strip() == BEST
    named = f"import lanewise as lw; lw.calibrate(save=False); print(lw.ones(1).backend, '{BEST}')"
    monkeypatch.setattr(tuning, "SIZES", ())
    assert set(python(named, LANEWISE_BACKEND=BEST.value).stdout.split()) == {BEST}
    with lw.use_backend(BEST):
        assert lw.ones(1).backend is BEST
    try:
        assert lw.set_backend_priority([BEST, LAST]) is BEST
        lw.calibrate(save=False)
        assert lw.ones(1).backend is BEST
        assert lw.set_backend_priority(["cpu"]) is LAST
    finally:
        lw.set_backend_priority(["auto"])
    assert lw.ones(1).backend is LAST


@pytest.mark.host
def test_a_folder_that_cannot_be_written_to(clock, folder, monkeypatch, capsys):
    folder.parent.mkdir()
    folder.write_text("a file in place of the folder")
    clock[LAST] = 1.0
    with pytest.warns(RuntimeWarning, match="calibrate: .* cannot write to .*LANEWISE_CACHE_DIR.*save=False"):
        result = lw.calibrate()
    assert result.path is None and lw.ones(1).backend is LAST
    assert cli.main(["calibrate"]) == 1
    assert "cannot write to" in capsys.readouterr().err


def test_a_file_that_cannot_be_removed(folder):
    (folder / "calibration.json").mkdir(parents=True)
    with pytest.raises(lw.BackendError, match=r"reset_calibration: cannot write to"):
        lw.reset_calibration()


@pytest.mark.host
def test_an_interrupted_measurement_changes_nothing(clock, folder, monkeypatch):
    clock[LAST] = 1.0
    before = lw.calibrate()

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tuning, "_sampled", interrupted)
        with pytest.raises(KeyboardInterrupt):
            lw.calibrate()
    clock.clear()
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            lw.calibrate()
    assert lw.get_calibration() is before and lw.ones(1).backend is LAST
    assert os.listdir(folder) == ["calibration.json"] and calibration.load() == before


def test_concurrent_calibrations_run_one_at_a_time(monkeypatch, folder):
    inside, most = [], []

    def fake_samples(backends):
        inside.append(None)
        most.append(len(inside))
        time.sleep(0.01)
        inside.pop()
        return {kind: [dict.fromkeys(backends, 1.0)] for kind in KINDS}

    monkeypatch.setattr(tuning, "_sampled", fake_samples)
    threads = [threading.Thread(target=lw.calibrate) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 8
    assert lw.get_calibration() == calibration.load()


@pytest.mark.host
def test_without_a_folder_the_result_applies_to_the_process(clock, monkeypatch, recwarn):
    monkeypatch.setattr(calibration, "folder", lambda: None)
    clock[LAST] = 1.0
    assert lw.calibrate().path is None and lw.ones(1).backend is LAST
    assert not recwarn.list
    lw.reset_calibration()
    assert lw.ones(1).backend is BEST


def test_the_summary_says_what_was_chosen_and_why(clock, capsys):
    lw.print_backend_summary()
    assert "Calibration: none; lw.calibrate() measures" in capsys.readouterr().out
    clock[LAST] = 50.0
    result = lw.calibrate()
    lw.print_backend_summary()
    out = capsys.readouterr().out
    assert f"Calibration: of {result.date}, {result.path}: {LAST.label}; " in out
    if len(HOSTS) > 1:
        assert f"{BEST.label} takes 2.00 times as long" in out
        selection._set_default(BEST)
        lw.print_backend_summary()
        assert f"; overridden by the user: {BEST.label} is used" in capsys.readouterr().out


@pytest.mark.host
def test_the_command(clock, folder, capsys):
    clock[LAST] = 1.0
    assert cli.main(["calibrate", "--no-save"]) == 0
    out = capsys.readouterr().out
    assert f"AUTO chooses {LAST.label}" in out and "matrices" in out and not folder.exists()
    assert "overrides" not in out
    assert cli.main(["calibrate"]) == 0
    assert f"Stored in {folder / 'calibration.json'}" in capsys.readouterr().out
    assert cli.main(["calibrate", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["order"][0] == LAST and set(said["times"][LAST]) == set(KINDS)
    assert cli.main(["info", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["default_backend"] == LAST and said["calibration"]["path"] == str(folder / "calibration.json")
    assert said["calibration"]["order"][0] == LAST
    assert cli.main(["calibrate", "--reset"]) == 0
    assert capsys.readouterr().out == f"Removed {folder / 'calibration.json'}\n"
    assert cli.main(["calibrate", "--reset"]) == 0
    assert capsys.readouterr().out == "No measurement is stored.\n"
    (folder / "calibration.json").write_text('{"format": 1}')  # not one that this version can use
    assert lw.get_calibration() is None and cli.main(["calibrate", "--reset"]) == 0
    assert capsys.readouterr().out == f"Removed {folder / 'calibration.json'}\n"
    with pytest.raises(SystemExit, match="2"):
        cli.main(["calibrate", "--reset", "--no-save"])
    assert os.listdir(folder) == [] and lw.get_calibration() is None


@pytest.mark.host
def test_the_command_says_that_a_named_backend_stays(clock, monkeypatch, capsys):
    if len(HOSTS) < 2:
        pytest.skip("this machine has one CPU backend only")
    clock[LAST] = 1.0
    monkeypatch.setattr(selection, "_is_named", True)  # as if LANEWISE_BACKEND had named the default at import
    assert cli.main(["calibrate", "--no-save"]) == 0
    assert f"LANEWISE_BACKEND overrides it: {BEST.label} is used.\n" in capsys.readouterr().out
