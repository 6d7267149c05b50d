"""Tests calls from several threads, interruption, fork, and memory leaks."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lanewise as lw


def test_eight_threads_at_once():
    """Eight threads compute at once. Each picks backends and sizes at random; all of them read the same tensor."""
    names = [info.name for info in lw.backends() if info.available]
    shared = lw.rand((1 << 16,))
    reference = np.asarray(shared).copy()
    start = threading.Barrier(8)

    def work(seed: int) -> int:
        generator = np.random.default_rng(seed)
        start.wait()
        for _ in range(150):
            size = int(generator.integers(1, 1 << 16))
            with lw.use_backend(names[int(generator.integers(len(names)))]):
                total = lw.sum(shared[:size] * 2 + 1)
                assert abs(float(total) - float((reference[:size].astype(float) * 2 + 1).sum())) < 1e-5 * size + 1e-3
                m = lw.matmul(shared[: 32 * 16].reshape(32, 16), shared[: 16 * 8].reshape(16, 8))
            expected = reference[:512].reshape(32, 16) @ reference[:128].reshape(16, 8)
            np.testing.assert_allclose(np.asarray(m), expected, rtol=1e-5)
        return seed

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == list(range(8))
    np.testing.assert_array_equal(np.asarray(shared), reference)


def test_use_backend_is_the_threads_own():
    inside, leave = threading.Event(), threading.Event()
    seen = {}

    def other() -> None:
        with lw.use_backend("scalar"):
            seen["inside"] = lw.ones((1,)).backend
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    assert inside.wait(10)
    assert lw.ones((1,)).backend != lw.Backend.SCALAR
    leave.set()
    thread.join()
    assert seen["inside"] == lw.Backend.SCALAR


def test_large_work_releases_the_gil():
    """This thread can run Python code while another thread multiplies matrices."""
    a = lw.rand((1024, 1024))
    with lw.use_backend("scalar"):
        done = threading.Event()

        def multiply() -> None:
            with lw.use_backend("scalar"):
                lw.matmul(a, a)
            done.set()

        thread = threading.Thread(target=multiply)
        thread.start()
        ticks = 0
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)
        thread.join()
    assert ticks > 3


def test_control_c_interrupts_long_work(interrupted):
    interrupted(
        "a = lw.ones((4096, 4096)); out = lw.zeros((4096, 4096))",
        "lw.matmul(a, a, out=out)",
        "lw.any(out != 4096)",
    )


INTERRUPTED_SORT = """
import signal
import lanewise as lw
signal.signal(signal.SIGALRM, signal.default_int_handler)
lw.set_num_threads({threads})
x, out = lw.rand({shape}), lw.zeros({shape})
try:
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    with lw.use_backend("scalar"):
        lw.sort(x, out=out)
except KeyboardInterrupt:
    assert float(lw.max(out)) == 0
    assert lw.sort(lw.asarray([2, 1])).tolist() == [1, 2]
    print("interrupted")
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timer on this platform")
@pytest.mark.parametrize(("threads", "shape"), [(1, "(1 << 24,)"), (2, "(2, 1 << 24)")], ids=["one", "two"])
def test_control_c_stops_a_sort_of_one_long_row(threads, shape):
    """Only the last pass over the row writes `out`. Ctrl-C, here a timer's signal, stops the sort before that pass, so
    `out` keeps its zeros."""
    program = INTERRUPTED_SORT.format(threads=threads, shape=shape)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert result.stdout.strip() == "interrupted", result.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.host
def test_fork_is_safe():
    parent = lw.rand((1000,))
    expected = lw.sum(parent).tolist()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for _ in range(100):
                assert lw.sum(parent).tolist() == expected
                assert lw.exp(lw.ones((5000,))).shape == (5000,)
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert lw.sum(parent).tolist() == expected


def resident_bytes() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.host
def test_nothing_leaks():
    """Makes results, views, borrowed buffers, capsules and several kinds of failing calls, a thousand times."""
    a = np.ones((64, 64), np.float32)
    bad = np.ones((3, 5), np.float32)

    def once() -> None:
        t = lw.asarray(a)
        (t + a)[1:, ::2].sum(axis=0)
        t.T.reshape(-1)
        np.from_dlpack(t)
        memoryview(t)
        t.__dlpack__()
        for call in (
            lambda: t + bad,
            lambda: lw.add(t, t, out=t[:3]),
            lambda: lw.matmul(t, bad),
            lambda: lw.sum(t, axis=9),
            lambda: lw.asarray([[1, 2], [3]]),
            lambda: lw.take(t, [100], axis=0),
            lambda: t[100],
            lambda: lw.gelu(t, approximate="no"),
            lambda: lw.exp(np.ones(3)),
        ):
            with pytest.raises(lw.LanewiseError):
                call()

    for _ in range(200):
        once()
    gc.collect()
    before = resident_bytes()
    references = sys.getrefcount(a), sys.getrefcount(None)
    for _ in range(1000):
        once()
    gc.collect()
    assert resident_bytes() - before < 4 << 20
    assert sys.getrefcount(a) == references[0]
