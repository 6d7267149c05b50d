"""Tests the file that stores the result of lw.calibrate(): where it is, and that each field is checked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lanewise as lw
from lanewise.backends.backend import CPU_BACKENDS
from lanewise.costs import calibration

pytestmark = [pytest.mark.host, pytest.mark.usefixtures("folder")]

HOSTS = [info.name for info in lw.backends() if info.available and not info.name.is_gpu]
BEST, LAST = HOSTS[0], HOSTS[-1]
SHOW = "import lanewise as lw; print(lw.ones(2).backend)"
GPU = {"backend": "wgpu", "name": "NVIDIA H200", "driver": None}
GPU_COSTS = {"launch": 50000.0, "transfer": 0.25, "gpu": 0.03}
THREAD_COSTS = {"spinning": 2000.0, "sleeping": 30000.0}


def stored(folder, **changed):
    """Returns the content of a valid calibration file, in which LAST is fastest, with some fields changed."""
    content = {"format": calibration.FORMAT, "machine": calibration._machine(), "date": "2026-11-21", "gpu": None}
    content["costs"] = {backend.value: 1.0 + at for at, backend in enumerate(reversed(HOSTS))}
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


@pytest.mark.parametrize(
    ("more", "gpu"), [(THREAD_COSTS, None), (GPU_COSTS, GPU), (THREAD_COSTS | GPU_COSTS, GPU | {"driver": "570"})]
)
def test_costs_of_threads_and_a_gpu_are_stored(folder, more, gpu):
    costs = {"scalar": 1.5} | more
    write(folder, stored(folder, costs=costs, gpu=gpu))
    found = calibration.load()
    assert found.costs == costs and (found.gpu and found.gpu._asdict()) == gpu
    calibration.save(found)
    assert calibration.load() == found


def test_an_earlier_format_is_ignored(folder, recwarn):
    write(folder, {"format": 1, "machine": {}, "date": "", "times": {}})
    assert calibration.load() is None and not recwarn.list


def test_a_file_at_the_limits_is_used(folder):
    costs = {backend.value: 1e6 for backend in CPU_BACKENDS} | {"scalar": 1e-6, "spinning": 0.0, "sleeping": 1e12}
    write(folder, json.dumps(stored(folder, costs=costs)).ljust(1 << 16))
    assert calibration.load().order[0] is lw.Backend.SCALAR
    above = costs | {"avx": 1e6 + 1}
    for wrong in (stored(folder, costs=above), json.dumps(stored(folder)).ljust((1 << 16) + 1)):
        write(folder, wrong)
        with pytest.warns(
            RuntimeWarning, match="expected floats from 1e-06 to 1e\\+06 in costs|at most 65536 bytes, got 65537"
        ):
            assert calibration.load() is None


def test_a_folder_without_a_file_is_not_a_mistake(folder, recwarn):
    folder.mkdir(parents=True)
    assert calibration.load() is None and not recwarn.list


@pytest.mark.parametrize("of", ["lanewise", "kernels", "system", "cpu", "features"])
def test_a_measurement_of_another_machine_is_ignored(folder, of, recwarn):
    machine = calibration._machine() | {of: "another"}
    write(folder, stored(folder, machine=machine))
    assert calibration.load() is None and not recwarn.list


NO_COSTS = {
    "NaN": float("nan"), "infinity": float("inf"), "-1": -1.0, "a text": "1.0", "true": True, "an int": 1, "a list": [],
}  # fmt: skip
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
    "no costs": {"costs": {}},
    "costs of a list": {"costs": ["scalar"]},
    "a number of costs": {"costs": 1},
    "no rate": {"costs": THREAD_COSTS},
    "no such backend": {"costs": {"scalar": 1.0, "mmx": 1.0}},
    "the rate of a GPU by its name": {"costs": {"scalar": 1.0, "cuda": 1.0}},
    "AUTO": {"costs": {"scalar": 1.0, "auto": 1.0}},
    **{f"a rate of {text}": {"costs": {"scalar": rate}} for text, rate in NO_COSTS.items()},
    "a rate of 0": {"costs": {"scalar": 0.0}},
    "one cost of threads": {"costs": {"scalar": 1.0, "spinning": 2000.0}},
    "another cost": {"costs": {"scalar": 1.0, "opening": 1.0}},
    **{f"a cost of {text}": {"costs": {"scalar": 1.0} | THREAD_COSTS | {"sleeping": each}}
       for text, each in NO_COSTS.items()},
    "no costs of the GPU": {"gpu": GPU},
    "costs of no GPU": {"costs": {"scalar": 1.0} | GPU_COSTS},
    "a cost of the GPU less": {"gpu": GPU, "costs": {"scalar": 1.0, "launch": 1.0, "gpu": 1.0}},
    **{f"a transfer of {text}": {"gpu": GPU, "costs": {"scalar": 1.0} | GPU_COSTS | {"transfer": each}}
       for text, each in NO_COSTS.items()},
    **{f"a GPU with {name} {each!r}": {"gpu": GPU | {name: each}, "costs": {"scalar": 1.0} | GPU_COSTS}
       for name, each in (("backend", "scalar"), ("backend", []), ("name", None), ("driver", 5), ("more", 1))},
    "a GPU without fields": {"gpu": {}},
    "a GPU by its name": {"gpu": "wgpu"},
}  # fmt: skip


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


def fill(path: Path) -> None:
    path.mkdir()
    (path / "file").touch()


# opening a FIFO would block
NO_FILES = [Path.mkdir, fill, *([] if os.name == "nt" else [os.mkfifo, lambda path: path.symlink_to(path.parent)])]


@pytest.mark.parametrize("make", NO_FILES)
@pytest.mark.parametrize("is_saved", [True, False])
def test_the_warning_about_what_is_not_a_file_says_what_helps(folder, make, is_saved):
    """If the warning recommends calls, both work; otherwise neither does."""
    valid = calibration._parse(json.dumps(stored(folder)), "")
    folder.mkdir(parents=True)
    make(path := folder / calibration.NAME)
    with pytest.warns(RuntimeWarning, match="expected a regular file") as caught:
        assert calibration.load() is None
    message, call = str(caught[0].message), (lambda: calibration.save(valid)) if is_saved else lw.reset_calibration
    if message.endswith("; remove this folder"):
        with pytest.raises((OSError, lw.BackendError)):
            call()
        assert path.is_dir()
    else:
        assert message.endswith("; lw.calibrate() replaces it, lw.reset_calibration() removes it")
        call()
        assert path.is_file() if is_saved else not os.path.lexists(path)


def test_the_warning_where_nothing_can_be_written(folder, monkeypatch):
    write(folder, "wrong")
    monkeypatch.setattr(os, "access", lambda path, mode: path != folder)
    with pytest.warns(RuntimeWarning, match="; set LANEWISE_CACHE_DIR to a folder that you may write to$"):
        assert calibration.load() is None


@pytest.mark.parametrize("value", ["maybe", "2", "-"])
def test_wrong_texts_in_variables_of_gpus_stop_no_program_for_the_cpu(folder, value):
    """Not even if the calibration has costs of a GPU. Who asks for a GPU gets to know of them."""
    write(folder, stored(folder, gpu=GPU, costs={BEST.value: 1.0} | GPU_COSTS))
    variables = dict.fromkeys(("LANEWISE_FORCE_CPU", "LANEWISE_FUSE", "LANEWISE_WGPU_MEMORY"), value)
    code = """
import lanewise as lw
big = lw.ones((1024, 1024))
print((big @ big)[0, 0].item(), lw.best_available_backend().is_gpu, [each.reason for each in lw.backends()][:2])
lw.init_backend("wgpu")
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True)
    expected = f"LANEWISE_FORCE_CPU: expected 1 or 0, got {value!r}"
    assert done.stdout.strip() == f"1024.0 False {[expected] * 2}", done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("lanewise.errors.BackendUnavailableError: init_backend: ") and expected in last


@pytest.mark.parametrize("option", [(), ("-W", "error")])
def test_an_invalid_file_does_not_fail_the_import(folder, option):
    write(folder, "wrong")
    done = subprocess.run([sys.executable, *option, "-c", SHOW], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == BEST, done.stderr
    assert done.stderr.count("ignoring") == (0 if option else 1)


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
