"""Tests lw.calibrate(): what it measures, how AUTO uses it, and the file that stores it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import lanewise as lw
from lanewise import calibration, cli, selection, tuning, waking
from lanewise.backend import CPU_BACKENDS
from lanewise.calibration import KINDS, PROMOTED

# On loopback, each calibration measures a GPU, too, for half a minute; tests/loopback/test_promotion.py tests that.
pytestmark = pytest.mark.host

HOSTS = [info.name for info in lw.backends() if info.available and not info.name.is_gpu]
BEST, LAST = HOSTS[0], HOSTS[-1]
SHOW = "import lanewise as lw; print(lw.ones(2).backend)"
ROW = dict.fromkeys(KINDS, 1.0)
GPU = {
    "backend": "wgpu",
    "adapter": "NVIDIA H200",
    "driver": None,
    "threads": 2,
    "opening": 1e9,
    "latency": 50000.0,
    "upload": 0.25,
    "download": 0.5,
    "rates": {name: [1.0, 0.1] for name in PROMOTED},
    "tiles": {"matmul": ["64x64", "64x128"], "linear": []},
}

WAKING = {"ready": 2000.0, "in_a_series": 6000.0, "sleeping": 30000.0}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Gives each test its own cache folder, and stops using any calibration before and after the test."""
    path = tmp_path / "cache" / "of lanewise"
    monkeypatch.setenv("LANEWISE_CACHE_DIR", str(path))
    monkeypatch.delenv("LANEWISE_BACKEND", raising=False)
    selection.follow(None)
    yield path
    selection.follow(None)


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
    with lw.use_backend(LAST):
        result = lw.calibrate(save=False)
    assert set(result.order) == set(HOSTS)
    assert all(tuple(row) == KINDS for row in result.times.values())
    assert (result.waking is None) == (lw.get_num_threads() == 1)
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


def stored(folder, **changed):
    """Returns the content of a valid calibration file, in which LAST is fastest, with some fields changed."""
    times = {backend.value: dict.fromkeys(KINDS, 1.0 + at) for at, backend in enumerate(reversed(HOSTS))}
    content = {"format": calibration.FORMAT, "machine": calibration._machine()}
    content |= {"date": "2026-11-21", "times": times, "gpu": None, "waking": None}
    return content | changed


def write(folder: Path, content) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "calibration.json"
    text = content if isinstance(content, str | bytes) else json.dumps(content)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_valid_file_is_used(folder):
    write(folder, stored(folder))
    assert calibration.load().backend is LAST


def test_times_of_a_gpu_are_stored(folder):
    write(folder, stored(folder, gpu=GPU))
    found = calibration.load()
    assert found.gpu._asdict() == GPU | {
        "rates": dict.fromkeys(PROMOTED, (1.0, 0.1)),
        "tiles": {"matmul": ("64x64", "64x128"), "linear": ()},
    }
    calibration.save(found)
    assert calibration.load() == found


def test_prices_of_threads_are_stored(folder):
    write(folder, stored(folder, waking=WAKING))
    found = calibration.load()
    assert found.waking._asdict() == WAKING
    calibration.save(found)
    assert calibration.load() == found


def test_an_earlier_format_is_ignored(folder, recwarn):
    write(folder, {"format": 1, "machine": {}, "date": "", "times": {}})
    assert calibration.load() is None and not recwarn.list


def test_a_file_at_the_limits_is_used(folder):
    times = {backend: dict.fromkeys(KINDS, 1e6) for backend in CPU_BACKENDS} | {"scalar": ROW}
    write(folder, json.dumps(stored(folder, times=times)).ljust(1 << 16))
    assert calibration.load().order[0] is lw.Backend.SCALAR
    above = times | {"avx": dict.fromkeys(KINDS, 1e6 + 1)}
    for wrong in (stored(folder, times=above), json.dumps(stored(folder)).ljust((1 << 16) + 1)):
        write(folder, wrong)
        with pytest.warns(RuntimeWarning, match="from 1.0 to 1e\\+06|at most 65536 bytes, got 65537"):
            assert calibration.load() is None


def test_a_folder_without_a_file_is_not_a_mistake(folder, recwarn):
    folder.mkdir(parents=True)
    assert calibration.load() is None and not recwarn.list


@pytest.mark.parametrize("of", ["lanewise", "kernels", "system", "cpu", "features"])
def test_a_measurement_of_another_machine_is_ignored(folder, of, recwarn):
    machine = calibration._machine() | {of: "another"}
    write(folder, stored(folder, machine=machine))
    assert calibration.load() is None and not recwarn.list


WRONG = {
    "nothing": "",
    "half": json.dumps(stored(None))[:-40],
    "no JSON": "# calibrated",
    "no text": b"\xff\xfe\x00",
    "a list": [],
    "a number": "1" * 5000,
    "depth": "[" * 60000,
    "size": " " * 70000,
    "a field less": {"format": calibration.FORMAT},
    "a field more": {"more": 1},
    "format": {"format": calibration.FORMAT + 1},
    "format true": {"format": True},
    "machine": {"machine": "this"},
    "date": {"date": "\x1b[2Jabcdef"},
    "date of a number": {"date": 20261121},
    "no times": {"times": {}},
    "times of a list": {"times": [1.0]},
    "no such backend": {"times": {"mmx": ROW}},
    "a GPU": {"times": {"cuda": ROW}},
    "AUTO": {"times": {"auto": ROW}},
    "a kind less": {"times": {"scalar": {"rows": 1.0}}},
    "NaN": {"times": {"scalar": ROW | {"rows": float("nan")}}},
    "infinity": {"times": {"scalar": ROW | {"rows": float("inf")}}},
    "zero": {"times": {"scalar": ROW | {"rows": 0.0}}},
    "negative": {"times": {"scalar": ROW | {"rows": -1.0}}},
    "text": {"times": {"scalar": ROW | {"rows": "1.0"}}},
    "true": {"times": {"scalar": ROW | {"rows": True}}},
    "no fastest": {"times": {"scalar": ROW | {"rows": 2.0}}},
    "no price of a thread": {"waking": {}},
    "a price less": {"waking": {"ready": 2000.0, "sleeping": 30000.0}},
    "a price of 0": {"waking": WAKING | {"ready": 0.0}},
    "an int as a price": {"waking": WAKING | {"ready": 2000}},
    "a list as a price": {"waking": WAKING | {"sleeping": []}},
    "an infinite price": {"waking": WAKING | {"sleeping": float("inf")}},
    "a price of NaN": {"waking": WAKING | {"in_a_series": float("nan")}},
    "prices that fall": {"waking": WAKING | {"sleeping": 3000.0}},
    "times of no GPU": {"gpu": {}},
    "a CPU in place of the GPU": {"gpu": GPU | {"backend": "scalar"}},
    "a list in place of the GPU": {"gpu": GPU | {"backend": []}},
    "no adapter": {"gpu": GPU | {"adapter": None}},
    "driver": {"gpu": GPU | {"driver": 5}},
    "threads": {"gpu": GPU | {"threads": 0}},
    "threads true": {"gpu": GPU | {"threads": True}},
    "opening": {"gpu": GPU | {"opening": -1.0}},
    "latency": {"gpu": GPU | {"latency": float("nan")}},
    "upload": {"gpu": GPU | {"upload": "1.0"}},
    "an operation less": {"gpu": GPU | {"rates": {"matmul": [1.0, 0.1]}}},
    "a tile that does not exist": {"gpu": GPU | {"tiles": {"matmul": ["65x64"], "linear": []}}},
    "a tile that is not a name": {"gpu": GPU | {"tiles": {"matmul": [[]], "linear": []}}},
    "too many tiles": {"gpu": GPU | {"tiles": {"matmul": 5 * ["64x64"], "linear": []}}},
    "one tile": {"gpu": GPU | {"tiles": {"matmul": "64x64", "linear": []}}},
    "tiles of no operation": {"gpu": GPU | {"tiles": {"linear": []}}},
    "one time": {"gpu": GPU | {"rates": {name: [1.0] for name in PROMOTED}}},
    "infinite time": {"gpu": GPU | {"rates": {name: [1.0, float("inf")] for name in PROMOTED}}},
}


@pytest.mark.parametrize("name", WRONG)
def test_an_invalid_file_is_ignored_with_a_warning(folder, name):
    wrong = WRONG[name]
    content = stored(folder) | wrong if isinstance(wrong, dict) and wrong != {"format": calibration.FORMAT} else wrong
    path = write(folder, content)
    with pytest.warns(
        RuntimeWarning, match="ignoring .* not a valid calibration .*lw.calibrate.. replaces it"
    ) as caught:
        assert calibration.load() is None
    assert len(caught) == 1 and str(path) in str(caught[0].message)
    assert len(str(caught[0].message)) < 500 and str(caught[0].message).isprintable()


@pytest.mark.parametrize("option", [(), ("-W", "error")])
def test_an_invalid_file_does_not_fail_the_import(folder, option):
    write(folder, "wrong")
    done = subprocess.run([sys.executable, *option, "-c", SHOW], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == BEST, done.stderr
    assert done.stderr.count("ignoring") == (0 if option else 1)


def test_only_a_regular_file_is_opened(folder):
    path = folder / "calibration.json"
    path.mkdir(parents=True)
    with pytest.warns(RuntimeWarning, match="expected a regular file"):
        assert calibration.load() is None
    if hasattr(os, "mkfifo"):
        path.rmdir()
        os.mkfifo(path)  # opening it would block
        with pytest.warns(RuntimeWarning, match="expected a regular file"):
            assert calibration.load() is None


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


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/var/x"}, "/var/x/lanewise"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/u/.cache/lanewise"),
        ("linux", {}, "/home/u/.cache/lanewise"),
        ("darwin", {"XDG_CACHE_HOME": "/var/x"}, "/home/u/Library/Caches/lanewise"),
        ("win32", {"LOCALAPPDATA": "/c/Local"}, "/c/Local/lanewise"),
        ("win32", {}, None),
        ("emscripten", {"XDG_CACHE_HOME": "/var/x"}, None),
        ("emscripten", {"LANEWISE_CACHE_DIR": "/mounted"}, "/mounted"),
        ("linux", {"LANEWISE_CACHE_DIR": "~/kept"}, "/home/u/kept"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="the paths are POSIX ones")
def test_the_folder_of_each_platform(platform, environment, expected, monkeypatch):
    for name in ("LANEWISE_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/u")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "platform", platform)
        result = calibration.folder()
    assert result == (expected and Path(expected))


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
    assert "Calibration: none; `python -m lanewise calibrate` measures" in capsys.readouterr().out
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
