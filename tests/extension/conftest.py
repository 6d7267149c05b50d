"""What several files here share: a program that Ctrl-C stops while it computes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

PROGRAM = """
import os, signal, threading, time
import lanewise as lw
signal.signal(signal.SIGINT, signal.default_int_handler)  # the caller may run in the background, and ignore it
{before}
begin = time.perf_counter()
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    with lw.use_backend("scalar"):
        {work}
except KeyboardInterrupt:
    assert time.perf_counter() - begin < 5
    assert int(lw.sum(lw.ones((1 << 20,), dtype=lw.int32))) == 1 << 20  # the next call works
    print("interrupted")
"""


def _interrupted(before: str, work: str) -> None:
    program = PROGRAM.format(before=before, work=work)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert result.stdout.strip() == "interrupted", result.stderr


@pytest.fixture
def interrupted() -> Callable[[str, str], None]:
    """Runs a statement `work`, on a slow backend, after those of `before`: Ctrl-C ends it soon, and calls go on."""
    if sys.platform == "win32":
        pytest.skip("os.kill cannot send Ctrl-C to itself there")
    return _interrupted
