"""Tests the number of threads that work on one call, as set by set_num_threads() or LANEWISE_NUM_THREADS."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pytest

import lanewise as lw


@pytest.fixture(autouse=True)
def number():
    before = lw.get_num_threads()
    yield
    lw.set_num_threads(before)


def imported(
    value: str | None,
    program: str = "print(lw.get_num_threads())",
    variable: str = "LANEWISE_NUM_THREADS",
    under: Sequence[str] = (),
) -> subprocess.CompletedProcess[str]:
    environment = {name: text for name, text in os.environ.items() if name != variable}
    if value is not None:
        environment[variable] = value
    command = [*under, sys.executable, "-c", f"import lanewise as lw; {program}"]
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


@pytest.mark.skipif(not shutil.which("taskset"), reason="taskset is not installed")
def test_the_affinity_of_taskset_is_respected():
    """With one processor and, if there are more than two, with several."""
    processors = sorted(os.sched_getaffinity(0))
    most = int(imported(None).stdout)  # fewer than the processors if there is a quota
    for count in {1, max(len(processors) - 1, 1)}:
        chosen = ",".join(map(str, processors[-count:]))
        done = imported(None, under=("taskset", "--cpu-list", chosen))
        assert done.stdout == f"{min(count, most)}\n", done.stderr


@pytest.fixture
def half_a_processor():
    """A command that runs another in a control group with half the time of a processor. Skips the test if there can be
    no such group."""
    first = Path("/sys/fs/cgroup/cpu")  # the hierarchy of version 1; version 2 has only one for all controllers
    parent, limits = (
        (first, {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000"})
        if first.exists()
        else (first.parent, {"cpu.max": "50000 100000"})
    )
    group = parent / f"lanewise-test-{os.getpid()}"
    join = ("sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh")
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    try:
        for name, value in limits.items():
            (group / name).write_text(value)
        joined = subprocess.run([*join, "cat", "/proc/self/cgroup"], capture_output=True, text=True, check=False)
        if f":/{group.name}\n" not in joined.stdout:
            pytest.skip(f"no process can join the control group, or it has another name outside: {joined}")
        yield join
    except OSError as error:
        pytest.skip(f"the control group takes no limit: {error}")
    finally:
        group.rmdir()


def test_the_quota_of_a_control_group_is_respected(half_a_processor):
    if int(imported(None).stdout) < 2:
        pytest.skip("needs two processors")
    done = imported(None, under=half_a_processor)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_calls_start_threads_if_they_are_long_enough(thread_counts):
    """Twice what a thread that sleeps costs: 24 us. The products are expected to take 12.5 us and 51 us."""
    program = """
for rows in (100, 160):
    x = lw.ones((rows, rows))
    for _ in range(100):
        x @ x
    print(count())
print(_ext.get_running_threads())
"""
    *used, running = thread_counts(program, LANEWISE_NUM_THREADS="2")
    assert used == [1, running]


@pytest.mark.parametrize("value", ["0", "-2", "two", "1.5", "2000", "1e3", "9" * 5000])
def test_a_malformed_environment_is_named(value):
    done = imported(value)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("lanewise.errors.ArgumentError: LANEWISE_NUM_THREADS: expected ")
    assert "a number of threads from 1 to 1024" in done.stderr


def has_quota():
    """Returns whether a control group limits this process's processor time. Then no thread spins."""
    groups = Path("/proc/self/cgroup")
    paths = [line.split(":", 2)[2] for line in groups.read_text().splitlines()] if groups.exists() else []
    folders = {each for path in paths for each in (PurePosixPath(path), *PurePosixPath(path).parents)}
    files = [
        Path(f"/sys/fs/cgroup{name}")
        for each in folders
        for name in (f"{each}/cpu.max", f"/cpu{each}/cpu.cfs_quota_us")
    ]
    return any(file.read_text().split()[0] not in ("max", "-1") for file in files if file.exists())


def spun(value):
    """Returns how many nanoseconds of processor time a worker took in each of 100 pauses after calls, in order."""
    program = """
import time
from lanewise import _ext
lw.set_num_threads(2)
_ext.set_costs({"spinning": 1.0, "sleeping": 1.0})
x = lw.ones(1 << 18)

def of_the_worker():
    return time.process_time_ns() - time.thread_time_ns()

for _ in range(100):
    lw.exp(x)
    before = of_the_worker()
    time.sleep(0.01)
    print(of_the_worker() - before)
"""
    done = imported(value, program, "LANEWISE_SPIN_US")
    assert done.stderr == ""
    return sorted(map(int, done.stdout.split()))


def test_the_environment_sets_how_long_threads_spin():
    """A worker that spins after a call takes processor time: 50 us by default. On a busy machine, workers often do not
    spin, because others need their processors."""
    if int(imported(None).stdout) < 2:
        pytest.skip("needs two processors")
    if has_quota():
        pytest.skip("a quota of processor time keeps threads from spinning")
    assert any(spun("0")[50] < 40_000 for _ in range(5))
    assert any(spun("1000000")[-1] > 2_000_000 for _ in range(5))


def test_the_time_to_spin_may_have_spaces():
    assert imported(" 50 ", variable="LANEWISE_SPIN_US").returncode == 0


@pytest.mark.parametrize("value", ["-1", "soon", "1.5", "1000001", "9" * 5000])
def test_a_malformed_time_to_spin_is_named(value):
    done = imported(value, variable="LANEWISE_SPIN_US")
    assert done.returncode == 1
    assert "ArgumentError: LANEWISE_SPIN_US: expected microseconds from 0 to 1000000, got " in done.stderr


def test_the_summary_shows_the_number(capsys):
    lw.set_num_threads(3)
    lw.print_backend_summary()
    assert "CPU threads: 3" in capsys.readouterr().out.splitlines()
