"""Tests the thread pool without Python: compiles the pool with threads.c, workers.c and spinning.c by gcc, with and
without ThreadSanitizer, and runs each test."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from native.build import KERNEL_INCLUDE

ROOT = Path(__file__).parents[2]
SOURCES = [
    ROOT / folder / name
    for folder, names in (
        ("native/system", ("clock.c",)),
        ("native/pool", ("cores.c", "job.c", "start_thread.c", "threads.c")),
        ("tests/native/programs", ("spinning.c", "threads.c", "workers.c")),
    )
    for name in names
]
WRAPPED = ("lw_clock_nanoseconds", "fopen")  # calls of these go to spinning.c
NAMES = (
    *("callers", "failures", "interruption", "nested", "context", "modes", "flags", "room", "demand", "many", "places"),
    *("two_calls", "claims", "limit", "signals", "no_threads", "stack", "crowded", "stopped", "no_spin", "idle"),
    *("surplus", "beside_callers", "quota", "late", "busy", "spin_time", "rest", "fork"),
    "fork_inside",
)
# What ThreadSanitizer cannot test: it needs memory itself (no_threads), has a thread that wakes up regularly, which
# rest would count, refuses new threads in the child of a process with threads (fork), and takes the mutex that a child
# initializes again for one that is still locked (stopped).
UNCHECKED = {"no_threads", "rest", "fork", "stopped"}

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux") or shutil.which("gcc") is None, reason="needs gcc on Linux"
)


def _build(folder: Path, *flags: str) -> Path:
    program = folder / "threads"
    command = [
        "gcc",
        "-std=gnu11",
        "-Wall",
        "-Wextra",
        "-Wno-unused-parameter",
        "-Werror",
        "-g",
        "-frounding-math",
        *flags,
    ]
    includes = [f"-I{each}" for each in (ROOT / "native", *KERNEL_INCLUDE)]
    wraps = [f"-Wl,--wrap={function}" for function in WRAPPED]
    done = subprocess.run(
        [*command, *includes, *map(str, SOURCES), *wraps, "-o", str(program), "-lpthread", "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return program


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(tmp_path_factory.mktemp("plain"), "-O2")


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(tmp_path_factory.mktemp("checked"), "-O1", "-fsanitize=thread")


def _run(*words: str | Path) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-4000:]}"


@pytest.mark.parametrize("name", NAMES)
def test_the_pool(program: Path, name: str) -> None:
    _run(program, name)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in UNCHECKED])
def test_the_pool_has_no_races(checked: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # How long the sanitizer looks for races with threads that still run when the test has ended: a second by default.
    monkeypatch.setenv("TSAN_OPTIONS", "atexit_sleep_ms=100")
    # Newer Linux kernels randomize addresses over a wider range than the sanitizer supports.
    _run(*(["setarch", "--addr-no-randomize"] if shutil.which("setarch") else []), checked, name)


BOTH = {
    "proc/self/cgroup": "3:cpu:/one\n0::/two\n",
    "sys/fs/cgroup/cpu/one/cpu.cfs_period_us": "100000\n",
    "sys/fs/cgroup/two/cpu.max": "400000 100000\n",
}
# Name of the case -> files in /proc and /sys that describe control groups, and the number of cores to which they limit
# the process (0: no limit).
GROUPS = {
    "no limit": ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, 0),
    "nothing there": ({}, 0),
    "version 2": ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "200000 100000\n"}, 2),
    "less than one": ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 0.5),
    "a fraction": ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "250000 100000\n"}, 2.5),
    "almost all": ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "350000 100000\n"}, 3.5),
    "the tightest of those around": (
        {
            "proc/self/cgroup": "0::/slice/unit\n",
            "sys/fs/cgroup/slice/cpu.max": "300000 100000\n",
            "sys/fs/cgroup/slice/unit/cpu.max": "800000 100000\n",
        },
        3,
    ),
    "version 1": (
        {
            "proc/self/cgroup": "12:memory:/docker/1\n3:cpu,cpuacct:/docker/1\n1:cpuset:/\n0::/docker/1\n",
            "sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us": "400000\n",
            "sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us": "100000\n",
        },
        4,
    ),
    "version 1, seen from inside": (
        {
            "proc/self/cgroup": "3:cpuacct,cpu:/docker/1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "150000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
        1.5,
    ),
    "version 1 without a quota": (
        {"proc/self/cgroup": "3:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"},
        0,
    ),
    "version 1 without a limit": (
        {
            "proc/self/cgroup": "3:cpu:/\n2:cpuset:/\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
        0,
    ),
    "a lower limit of an ancestor": (
        {
            "proc/self/cgroup": "0::/slice/unit",
            "sys/fs/cgroup/cpu.max": "700000 100000\n",
            "sys/fs/cgroup/slice/cpu.max": "500000 100000\n",
            "sys/fs/cgroup/slice/unit/cpu.max": "max 100000\n",
        },
        5,
    ),
    "both versions, the first tighter": (BOTH | {"sys/fs/cgroup/cpu/one/cpu.cfs_quota_us": "200000\n"}, 2),
    "both versions, the second tighter": (BOTH | {"sys/fs/cgroup/cpu/one/cpu.cfs_quota_us": "600000\n"}, 4),
    "version 1 with a limit of another group": (
        {
            "proc/self/cgroup": "4:cpuacct,cpuset:/\n3:memory:/\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
        0,
    ),
    **{
        f"quota and period {text!r}": (
            {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": f"{text}\n"},
            expected,
        )
        for text, expected in {
            "0 100000": 0,
            "-1 100000": 0,
            "1 100000": 0.00001,
            "100000 100000": 1,
            "100001 100000": 1.00001,
            "100000 0": 0,
            "100000 -1": 0,
            "3 1": 3,
            "100000": 0,
            "3": 0,
            "1638300000 100000": 16383,  # 2^14 periods or more set no limit, because no machine has that many cores
            "1638399999 100000": 16383.99999,
            "1638400000 100000": 0,
            "9000000000000000 100000": 0,
            "": 0,
        }.items()
    },
    "nonsense": ({"proc/self/cgroup": "\n::\n0::unit\n", "sys/fs/cgroup/cpu.max": "1 1\n"}, 0),
}


@pytest.mark.parametrize("case", GROUPS)
def test_control_groups(program: Path, tmp_path: Path, case: str) -> None:
    files, expected = GROUPS[case]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    done = subprocess.run([program, "cores", tmp_path], capture_output=True, text=True, check=True)
    limit, cores, has_quota = done.stdout.split()
    assert float(limit) == expected
    assert int(cores) == (min(4, math.ceil(expected)) if expected else 4)
    assert bool(int(has_quota)) == (0 < expected < 4)
