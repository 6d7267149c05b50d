"""Tests the commands of `python -m lanewise`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import lanewise as lw
from lanewise import cli
from lanewise.backends import registry

AVAILABLE = [info.name for info in lw.backends() if info.available]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lanewise", *words], capture_output=True, text=True, encoding="utf-8", check=False
    )


@pytest.mark.host
def test_info_lists_every_backend():
    done = run("info")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if not line.startswith("LANEWISE_HIDE hides")]
    assert lines[0].startswith(f"lanewise {lw.__version__}, Python ")
    assert lines[1:4] == [f"This CPU has {', '.join(registry.cpu_features())}.", "", "=== Available Backends ==="]
    assert lines[-2] == f"Default backend: {lw.ones(1).backend.name}"
    for info in lw.backends():
        assert f"{'✓' if info.available else '✗'} {info.name.name} (" in done.stdout


@pytest.mark.parametrize("hidden", ["", "relaxed_simd,neon"])
def test_info_says_what_is_hidden(hidden, monkeypatch):
    monkeypatch.setenv("LANEWISE_HIDE", hidden)
    lines = run("info").stdout.splitlines()
    said = [line for line in lines if line.startswith("LANEWISE_HIDE")]
    assert said == (["LANEWISE_HIDE hides NEON, relaxed SIMD."] if hidden else [])


def test_info_of_a_cpu_without_vector_instructions(monkeypatch):
    monkeypatch.setenv("LANEWISE_HIDE", "sse2,avx,avx2,fma,f16c,avx512,neon")
    assert "This CPU has none of the vector instructions that Lanewise uses." in run("info").stdout.splitlines()


def test_info_as_json():
    text = run("info", "--json").stdout
    said = json.loads(text)
    assert text == json.dumps(said, indent=2) + "\n"
    assert said["version"] == lw.__version__
    assert said["threads"] == lw.get_num_threads()
    assert [entry["name"] for entry in said["backends"]] == [info.name.value for info in lw.backends()]
    assert said["backends"][-1]["devices"][0]["index"] == 0


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_help(words, capsys):
    assert cli.main(words) == 0
    out = capsys.readouterr().out
    assert all(command in out for command in ("info", "demo", "bench"))


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == lw.__version__


def test_unknown_commands(capsys):
    assert cli.main(["inform"]) == 2
    assert "there is no command 'inform'; give one of info, demo, bench" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["mmx", "neon" if lw.Backend("neon") not in AVAILABLE else "avx"])
def test_a_wrong_environment_is_reported_in_one_line(name, monkeypatch):
    monkeypatch.setenv("LANEWISE_BACKEND", name)
    done = run("info")
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.startswith("lanewise: LANEWISE_BACKEND: ") and done.stderr.count("\n") == 1
    command = [sys.executable, "-c", "import lanewise", "lanewise"]  # a plain import raises the error
    plain = subprocess.run(command, capture_output=True, text=True, check=False)
    assert plain.returncode == 1 and plain.stderr.startswith("Traceback ")


def test_errors_are_reported_without_a_traceback(monkeypatch, capsys):
    def fail(arguments):
        raise lw.BackendUnavailableError("wgpu: no adapter")

    monkeypatch.setitem(cli._COMMANDS, "info", fail)
    assert cli.main(["info"]) == 1
    assert capsys.readouterr().err == "lanewise info: wgpu: no adapter\n"
