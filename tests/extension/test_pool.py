"""Tests the thread pool of the extension: many callers, fork, interruption, and the cost of idle threads.

tests/native/test_threads.py tests native/pool/threads.c alone; tests/sweep checks that results do not depend on the
pool.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import lanewise as lw

HAS_FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")


@pytest.fixture(autouse=True)
def several() -> Iterator[None]:
    before = lw.get_num_threads()
    lw.set_num_threads(4)
    yield
    lw.set_num_threads(before)


def resident_bytes() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def work(seed: int, calls: int) -> int:
    """Makes calls of many sizes, on one thread and on several, and checks each result."""
    ones = lw.ones((1 << 18,), dtype=lw.int32)
    for turn in range(calls):
        size = (seed * 7919 + turn * 104_729) % (1 << 18) + 1
        part = ones[:size]
        assert int(lw.sum(part + part)) == 2 * size
        if turn % 50 == 0:
            side = 64 + size % 200
            m = lw.ones((side, side))
            assert float(lw.min(m @ m)) == side
    return calls


def test_ten_thousand_calls_from_eight_threads():
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(8), [1250] * 8)) == 10_000


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_eight_threads_leak_nothing():
    """Eight threads that happen to hold large results at once make the allocator take more memory, in any round, but
    not in all of them; a leak takes more in each."""
    growths = []
    with ThreadPoolExecutor(8) as pool:
        for _ in range(6):
            before = resident_bytes()
            list(pool.map(work, range(8), [250] * 8))
            gc.collect()
            growths.append(resident_bytes() - before)
    assert min(growths) < 4 << 20, growths


def test_the_number_changes_while_calls_run():
    is_over = threading.Event()

    def change(seed: int) -> None:
        turn = seed
        while not is_over.is_set():
            turn += 1
            lw.set_num_threads(1 + turn * 7 % 9)
            assert 1 <= lw.get_num_threads() <= 9
            time.sleep(0.0005)

    changing = [threading.Thread(target=change, args=(seed,)) for seed in range(3)]
    for thread in changing:
        thread.start()
    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(work, range(4), [300] * 4)) == [300] * 4
    finally:
        is_over.set()
        for thread in changing:
            thread.join()


@HAS_FORK
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")  # this test forks while threads run
@pytest.mark.host
def test_fork_while_the_pool_is_in_use():
    is_over = threading.Event()

    def go_on() -> None:
        while not is_over.is_set():
            work(1, 20)

    others = [threading.Thread(target=go_on) for _ in range(3)]
    for thread in others:
        thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    work(2, 20)
                    status = 0
                finally:
                    os._exit(status)
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 0
    finally:
        is_over.set()
        for thread in others:
            thread.join()


@HAS_FORK
@pytest.mark.host
def test_multiprocessing_by_fork():
    work(0, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context("fork").Pool(3) as pool:
            assert pool.starmap(work, [(seed, 50) for seed in range(9)]) == [50] * 9


def test_an_idle_pool_uses_no_processor_time():
    """Threads spin briefly for the next call, then sleep. On a busy machine, they may spin later than
    expected, so it is enough if one of several intervals is idle."""
    x = lw.rand((1 << 20,))

    def idle_seconds() -> float:
        for _ in range(20):
            lw.exp(x, out=x)
        time.sleep(0.02)
        before = time.process_time()
        time.sleep(0.5)
        return time.process_time() - before

    assert any(idle_seconds() < 0.02 for _ in range(5))


@pytest.mark.host
def test_no_more_threads_than_set_and_processors(thread_counts):
    """set_num_threads() counts the caller's thread, too. The count `alone` includes threads of other libraries. A
    surplus thread ends only when the system next schedules it."""
    program = """
x = lw.rand((1 << 20,))
lw.set_num_threads(1)
alone = count()
for number in (2, 5):
    lw.set_num_threads(number)
    for _ in range(20):
        lw.exp(x, out=x)
    print(count() - alone + 1, _ext.get_running_threads())
lw.set_num_threads(1)
while count() > alone:
    time.sleep(0.01)
"""
    two, of_two, five, of_five = thread_counts("lw.set_num_threads(1)" + program)
    assert (two, five) == (of_two, of_five) and of_two <= 2


# A daemon thread calls, and Python ends meanwhile, which takes half a second. Prints how many threads there are then.
ENDING = """
import threading

class Slow:
    def __del__(self, count=count, sleep=time.sleep, write=os.write):
        sleep(0.5)
        write(1, b"%d" % count())

sys.modules["slow"] = slow = type(sys)("slow")
slow.slow = Slow()
del slow
lw.set_num_threads(2)
x, begins = lw.ones(SHAPE), threading.Event()

def call():
    with lw.use_backend("scalar"):
        begins.set()
        CALL

threading.Thread(target=call, daemon=True).start()
begins.wait()
time.sleep(0.1)
"""


@pytest.mark.parametrize("call", ["x @ x", "while True: x + x"])
@pytest.mark.host
def test_python_ends_while_a_daemon_thread_calls(thread_counts, call):
    """Python ends a thread that acquires the GIL then (3.14 stops it). A thread does so after its call, but not during
    a call that takes seconds, because workers use its stack."""
    (count,) = thread_counts(ENDING.replace("SHAPE", "(4000, 4000)").replace("CALL", call))
    assert count == 3 or (count == 2 and "while" in call)


def test_control_c_interrupts_a_call_in_the_child_of_a_thread(thread_counts):
    """The thread that forked is the one in which the child's Python runs signal handlers."""
    program = """
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)

def fork():
    if child := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        return
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        with lw.use_backend("scalar"):
            x @ x
    except KeyboardInterrupt:
        os._exit(7)
    os._exit(1)

x = lw.ones((4000, 4000))
thread = threading.Thread(target=fork)
thread.start()
thread.join()
"""
    assert thread_counts(program) == [7]
