"""Tests the number of threads that work on one call, as set by set_num_threads() or LANEWISE_NUM_THREADS."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest

import lanewise as lw


@pytest.fixture(autouse=True)
def number():
    before = lw.get_num_threads()
    yield
    lw.set_num_threads(before)


def imported(
    value: str | None, program: str = "print(lw.get_num_threads())", variable: str = "LANEWISE_NUM_THREADS"
) -> subprocess.CompletedProcess[str]:
    environment = {name: text for name, text in os.environ.items() if name != variable}
    if value is not None:
        environment[variable] = value
    command = [sys.executable, "-c", f"import lanewise as lw; {program}"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("n", [1, 2, 7, 1024])
def test_set_num_threads_sets_the_number(n):
    lw.set_num_threads(n)
    assert lw.get_num_threads() == n


@pytest.mark.parametrize("n", [0, -1, 1025, 1 << 70])
def test_numbers_out_of_range(n):
    with pytest.raises(
        lw.ArgumentError, match=f"^set_num_threads: expected a number of threads from 1 to 1024, got {n}$"
    ):
        lw.set_num_threads(n)


@pytest.mark.parametrize("n", [None, "2", 1.5, 2.0, [2]])
def test_arguments_of_a_wrong_type(n):
    with pytest.raises(lw.ArgumentTypeError, match=r"set_num_threads: expected an int for n, got "):
        lw.set_num_threads(n)


def test_objects_with_an_index_are_ints():
    lw.set_num_threads(lw.asarray(3))
    assert lw.get_num_threads() == 3


def test_init_threads_sets_the_number_at_once():
    waiting = lw.init_threads(3)
    assert lw.get_num_threads() == 3
    assert asyncio.run(waiting) is None


@pytest.mark.parametrize("n", [0, -1, 1025, True, 2.0, "2"])
def test_init_threads_checks_the_number(n):
    with pytest.raises(
        (lw.ArgumentError, lw.ArgumentTypeError), match=r"^init_threads: expected an? (int|number) .*got"
    ):
        lw.init_threads(n)


def test_the_environment_sets_the_number():
    assert imported("3").stdout == "3\n"
    assert imported(" 5 ").stdout == "5\n"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity on this platform")
def test_affinity_is_respected():
    """The process's CPU affinity is read at the first call, so a program can set it after the import."""
    one = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); print(lw.get_num_threads())"
    for value in (None, "", "  "):
        assert imported(value, one).stdout == "1\n"
    most = len(os.sched_getaffinity(0))
    assert 1 <= int(imported(None).stdout) <= most


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_series_of_calls_starts_threads_and_single_calls_do_not():
    program = """
import os, time
x = lw.ones((160, 160))
for pause in (0.005, 0):
    for _ in range(100):
        x @ x
        if pause:
            time.sleep(pause)
    print(len(os.listdir("/proc/self/task")))
"""
    if int(imported(None).stdout) < 2:
        pytest.skip("needs two processors")
    done = imported("2", program)
    assert (done.stdout, done.stderr) == ("1\n2\n", "")


@pytest.mark.parametrize("value", ["0", "-2", "two", "1.5", "2000", "1e3", "9" * 5000])
def test_a_malformed_environment_is_named(value):
    done = imported(value)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("lanewise.errors.ArgumentError: LANEWISE_NUM_THREADS: expected ")
    assert "a number of threads from 1 to 1024" in done.stderr


@pytest.mark.parametrize("value", ["0", " 50 ", "1000000"])
def test_the_environment_sets_how_long_threads_spin(value):
    assert imported(value, "print(lw.sum(lw.ones(1_000_000)).item())", "LANEWISE_SPIN_US").stdout == "1000000.0\n"


@pytest.mark.parametrize("value", ["-1", "soon", "1.5", "1000001", "9" * 5000])
def test_a_malformed_time_to_spin_is_named(value):
    done = imported(value, variable="LANEWISE_SPIN_US")
    assert done.returncode == 1
    assert "ArgumentError: LANEWISE_SPIN_US: expected microseconds from 0 to 1000000, got " in done.stderr


def test_the_summary_shows_the_number(capsys):
    lw.set_num_threads(3)
    lw.print_backend_summary()
    assert "CPU threads: 3" in capsys.readouterr().out.splitlines()
