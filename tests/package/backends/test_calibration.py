"""Tests lw.calibrate(): what it measures, and how AUTO uses it. test_calibration_file.py tests the file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time

import pytest

import lanewise as lw
from lanewise import _ext, cli
from lanewise.backends import selection
from lanewise.costs import calibration, thread_cost, timing, tuning
from lanewise.costs.calibration import THREAD_COSTS

# On loopback, each calibration measures a GPU, too, for half a minute; tests/loopback/test_offload.py tests that.
pytestmark = [pytest.mark.host, pytest.mark.usefixtures("folder")]

HOSTS = [info.name for info in lw.backends() if info.available and not info.name.is_gpu]
BEST, LAST = HOSTS[0], HOSTS[-1]
SHOW = "import lanewise as lw; print(lw.ones(2).backend)"


@pytest.fixture
def clock(monkeypatch):
    """Replaces the measurement. Returns a dict in which a test sets the rate of a backend; the others have 100 (the
    first backend), 200 (the second) and so on."""
    rates = {}

    def fake_rates(backends):
        return {backend.value: rates.get(backend, 100.0 + 100 * at) for at, backend in enumerate(backends)}

    monkeypatch.setattr(tuning, "_rates", fake_rates)
    monkeypatch.setattr(thread_cost, "measured", lambda backend: {})
    return rates


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


def test_the_order_and_its_reason():
    result = calibration.Calibration({"avx2": 1.25, "avx": 1.0, "spinning": 0.5, "sleeping": 0.5}, "2026-11-21")
    assert result.order == (lw.Backend.AVX, lw.Backend.AVX2) and result.backend is lw.Backend.AVX
    assert result.reason() == "AVX; AVX2 takes 1.25 times as long"
    assert str(result) == " AVX  1.00\nAVX2  1.25"
    assert calibration.Calibration({"avx2": 1.04, "avx": 1.0}, "2026-11-21").backend is lw.Backend.AVX
    assert calibration.Calibration({"avx2": 1.02, "avx": 1.0}, "2026-11-21").backend is lw.Backend.AVX2
    assert calibration.Calibration({"scalar": 9.0}, "2026-11-21").reason() == "scalar; it is the only one"


def test_a_rate_is_the_geometric_mean_of_times_divided_by_those_of_the_contracts(monkeypatch):
    """On one thread, on the backend that is measured, wherever the process computes."""
    seen = []

    def measure(contestants, **options):
        costs = _ext.get_costs()
        assert costs["spinning"] == costs["sleeping"] == 1e12
        found = []
        for at, each in enumerate(contestants):
            inputs = [value for name, value in each.names.items() if name != "function"]
            assert {value.backend for value in inputs} == {HOSTS[at]} and each.run().backend is HOSTS[at]
            name = tuning.WORKS[len(seen)][0]
            factor = {"add": 16.0, "fma": 1.0 / 16}.get(name, 1.0) * (1 + at)
            found.append(timing.Timing(each.name, 1, (factor * _ext.expected_times(name, *inputs)[0],)))
        seen.append(found)
        return found

    monkeypatch.setattr(timing, "measure", measure)
    with lw.use_backend(LAST):
        rates = tuning._rates(HOSTS)
    assert len(seen) == len(tuning.WORKS)
    assert rates == pytest.approx({backend.value: 1.0 + at for at, backend in enumerate(HOSTS)})


def test_a_real_measurement(monkeypatch):
    monkeypatch.setattr(tuning, "REPEATS", 2)
    monkeypatch.setattr(tuning, "SAMPLE_SECONDS", 1e-5)
    monkeypatch.setattr(thread_cost, "SAMPLE_SECONDS", 1e-5)
    before = _ext.get_costs()
    with lw.use_backend(LAST):
        result = lw.calibrate(save=False)
    assert set(result.order) == set(HOSTS)
    threads = THREAD_COSTS if _ext.get_running_threads() > 1 else ()
    assert set(result.costs) == {*HOSTS, *threads} and result.gpu is None
    assert _ext.get_costs() == before | result.costs


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


@pytest.mark.host
def test_an_interrupted_measurement_changes_nothing(clock, folder, monkeypatch):
    clock[LAST] = 1.0
    before = lw.calibrate()

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(tuning, "_rates", interrupted)
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

    def fake_rates(backends):
        inside.append(None)
        most.append(len(inside))
        time.sleep(0.01)
        inside.pop()
        return dict.fromkeys(map(str, backends), 1.0)

    monkeypatch.setattr(tuning, "_rates", fake_rates)
    monkeypatch.setattr(thread_cost, "measured", lambda backend: {})
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
    assert f"AUTO chooses {LAST.label}" in out and f"{LAST.label}  1.00" in out and not folder.exists()
    assert "overrides" not in out
    assert cli.main(["calibrate"]) == 0
    assert f"Stored in {folder / 'calibration.json'}" in capsys.readouterr().out
    assert cli.main(["calibrate", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["order"][0] == LAST and set(said["costs"]) == set(HOSTS)
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
