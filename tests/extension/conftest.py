"""Provides a fixture for several files here: a program that Ctrl-C stops while it computes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

PROGRAM = """
import os, signal, threading
import lanewise as lw
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start background jobs with it ignored
{before}
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    with lw.use_backend("scalar"):
        {work}
except KeyboardInterrupt:
    assert {unfinished}, "the call ran to its end first"
    assert int(lw.sum(lw.ones((1 << 20,), dtype=lw.int32))) == 1 << 20  # the next call works
    print("interrupted")
"""


def _interrupted(before: str, work: str, unfinished: str) -> None:
    program = PROGRAM.format(before=before, work=work, unfinished=unfinished)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert result.stdout.strip() == "interrupted", result.stderr


@pytest.fixture
def interrupted() -> Callable[[str, str, str], None]:
    """Returns a function of three Python texts, `before`, `work` and `unfinished`. In a new process, it runs the
    statements `before`, then `work`, a call that takes seconds on the scalar backend. It checks that Ctrl-C ends this
    call early, so that `unfinished`, an expression about its results, is true, and that later calls work."""
    if sys.platform == "win32":
        pytest.skip("os.kill cannot send Ctrl-C to its own process on Windows")
    return _interrupted
