"""Tests calls from several threads, and interruption."""

from __future__ import annotations

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


@pytest.mark.parametrize("threads", [1, 3])
def test_control_c_interrupts_long_work(interrupted, threads):
    interrupted(
        f"lw.set_num_threads({threads}); a = lw.ones((4096, 4096)); out = lw.zeros((4096, 4096))",
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
