"""Settings of all tests. The tests use a cache folder that does not exist, so that a calibration saved by the user does
not affect them. Hypothesis draws the same inputs in every run, and sets no time limit, because machines may be slow."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

import pytest
from hypothesis import settings

os.environ["LANEWISE_CACHE_DIR"] = os.path.join(tempfile.gettempdir(), f"lanewise-tests-{os.getpid()}", "none")
settings.register_profile("lanewise", max_examples=100, derandomize=True, deadline=None, database=None)
settings.load_profile("lanewise")

if os.environ.get("LANEWISE_LOOPBACK"):  # tests/loopback/loopback.py built the package
    from tests.loopback.provider import register

    register()


def _use_loopback() -> None:
    """Makes the device loopback the default backend, if the tests are to run on it."""
    if os.environ.get("LANEWISE_LOOPBACK") == "default":
        import lanewise

        lanewise.set_backend_priority(["wgpu"])


_use_loopback()


@pytest.fixture(autouse=True)
def _default_backend() -> Iterator[None]:
    """Undoes what a test has done to the default backend."""
    yield
    _use_loopback()


COUNTING = """
import os, sys, time
import lanewise as lw
from lanewise import _ext
count = lambda: len(os.listdir("/proc/self/task"))
"""


@pytest.fixture
def thread_counts() -> Callable[..., list[int]]:
    """Returns a function that runs a program in a process of its own, where no thread of an earlier test is left, with
    arguments and environment variables. It returns the numbers that the program prints. In the program, count() returns
    how many threads the process has; COUNTING imports its modules."""
    if sys.platform != "linux":
        pytest.skip("counts threads in /proc")

    def run(program: str, *arguments: str, **variables: str) -> list[int]:
        command = [sys.executable, "-c", COUNTING + program, *arguments]
        done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return [int(word) for word in done.stdout.split()]

    return run
