"""Tests the cache of freed memory: its size, what it frees first, page faults it saves, and what it must not reuse."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lanewise as lw

MEGABYTE = 1 << 20
BACKEND = lw.empty(0).backend


def block(megabytes: float) -> lw.Tensor:
    """Returns a tensor of this many megabytes."""
    return lw.empty((int(megabytes * MEGABYTE),), dtype="bool")


@pytest.fixture(autouse=True)
def empty():
    """Each test starts with an empty cache and a limit of 64 MB."""
    gc.collect()
    lw.empty_cache()
    before = lw.set_cache_limit(64 * MEGABYTE)
    yield
    lw.set_cache_limit(before)


def stats() -> dict[str, int]:
    """Returns the statistics of the default backend."""
    return lw.memory_stats(BACKEND)


def changes(before: dict[str, int]) -> dict[str, int]:
    """Returns the statistics that changed, with their differences."""
    return {name: value - before[name] for name, value in stats().items() if value != before[name]}


def test_every_step_is_counted():
    assert lw.memory_stats()["cache_limit_bytes"] == 64 * MEGABYTE
    lw.reset_peak_memory_stats()
    start = stats()
    assert start["reserved_bytes"] == start["allocated_bytes"] == start["peak_allocated_bytes"]
    assert start["cached_bytes"] == 0
    x = block(1)
    one = {"allocated_bytes": MEGABYTE, "peak_allocated_bytes": MEGABYTE, "reserved_bytes": MEGABYTE}
    assert changes(start) == {**one, "num_allocs": 1}
    del x
    cached = {"peak_allocated_bytes": MEGABYTE, "reserved_bytes": MEGABYTE, "cached_bytes": MEGABYTE}
    assert changes(start) == {**cached, "num_allocs": 1}
    x = block(1)
    assert changes(start) == {**one, "num_allocs": 2, "num_cache_hits": 1}
    y = lw.empty((MEGABYTE + 1,), dtype="bool")  # after 1 MB, the next larger block size is 1.25 MB
    both = dict.fromkeys(one, MEGABYTE * 9 // 4)
    assert changes(start) == {**both, "num_allocs": 3, "num_cache_hits": 1}
    view = y[10:]
    del y
    assert changes(start) == {**both, "num_allocs": 3, "num_cache_hits": 1}
    del view, x
    lw.empty_cache()
    peak = {"peak_allocated_bytes": MEGABYTE * 9 // 4}
    assert changes(start) == {**peak, "num_allocs": 3, "num_cache_hits": 1}
    lw.reset_peak_memory_stats()
    assert changes(start) == {"num_allocs": 3, "num_cache_hits": 1}


@pytest.mark.host
def test_borrowed_memory_is_not_counted():
    array = np.ones(MEGABYTE, np.float32)
    start = stats()
    x = lw.asarray(array)
    assert changes(start) == {}
    del x
    assert changes(start) == {}


def test_the_limit_holds():
    """The cache stays within its limit whatever the tensors' sizes, in whatever order they are deleted."""
    generator = np.random.default_rng(1)
    for limit in (0, 5000, 3 * MEGABYTE, 64 * MEGABYTE):
        lw.set_cache_limit(limit)
        tensors = []
        for _ in range(300):
            tensors.append(lw.empty((int(2 ** generator.uniform(0, 22)),), dtype="bool"))
            if len(tensors) > 10:
                del tensors[int(generator.integers(len(tensors)))]
            stats = lw.memory_stats()
            assert stats["cached_bytes"] <= limit
            assert stats["reserved_bytes"] == stats["allocated_bytes"] + stats["cached_bytes"]
        del tensors
        assert lw.memory_stats()["cached_bytes"] <= limit


@pytest.mark.host
def test_blocks_unused_for_longest_are_freed_first():
    lw.set_cache_limit(6 * MEGABYTE)
    tensors = [block(1), block(2), block(3)]
    while tensors:
        del tensors[0]
    assert lw.memory_stats()["cached_bytes"] == 6 * MEGABYTE
    x = block(1.25)
    del x  # the first two blocks (3 MB) are freed to make room for this one
    assert lw.memory_stats()["cached_bytes"] == 4.25 * MEGABYTE
    before = lw.memory_stats()["num_cache_hits"]
    cached = [block(3), block(1.25), block(2)]
    assert lw.memory_stats()["num_cache_hits"] == before + 2
    del cached


@pytest.mark.host
@pytest.mark.parametrize(("second", "cached"), [(8, 1), (2, 2)], ids=["beyond the limit", "of the limit's size"])
def test_a_block_replaces_others_only_if_it_fits_the_limit(second, cached):
    lw.set_cache_limit(2 * MEGABYTE)
    x = block(1)
    del x
    x = block(second)
    del x
    assert lw.memory_stats()["cached_bytes"] == cached * MEGABYTE


@pytest.mark.host
def test_a_lower_limit_frees_memory_at_once():
    tensors = [block(size) for size in (1, 2, 4, 8)]
    del tensors
    x = lw.rand((512, 512))
    lw.matmul(x, x)  # matmul's scratch memory is cached too
    assert lw.memory_stats()["cached_bytes"] >= 15 * MEGABYTE
    assert lw.set_cache_limit(3 * MEGABYTE) == 64 * MEGABYTE
    assert lw.memory_stats()["cached_bytes"] <= 3 * MEGABYTE
    lw.set_cache_limit(0)
    assert lw.memory_stats()["cached_bytes"] == 0


@pytest.mark.host
def test_scratch_memory_that_just_fits_is_kept():
    x, out = lw.rand((640, 640)), lw.zeros((640, 640))
    before = lw.get_num_threads()
    lw.set_num_threads(1)  # on one thread, matmul allocates a single block of scratch memory
    try:
        lw.matmul(x, x, out=out)
        size = lw.memory_stats()["cached_bytes"]
        assert size >= MEGABYTE
        for limit, cached in ((size, size), (size - 1, 0)):
            lw.empty_cache()
            lw.set_cache_limit(limit)
            lw.matmul(x, x, out=out)
            assert lw.memory_stats()["cached_bytes"] == cached
    finally:
        lw.set_num_threads(before)


def test_the_default_limit():
    from lanewise.backends import hardware

    lw.set_cache_limit(None)
    assert lw.memory_stats()["cache_limit_bytes"] == hardware.total_memory() // 16 > 0


@pytest.mark.host
def test_views_keep_their_memory():
    """Memory is not reused while an array, a memoryview, a view or a DLPack capsule still refers to it."""
    for look in (np.asarray, memoryview, np.from_dlpack, lambda x: x[5:], lambda x: x.__dlpack__()):
        for elements in (100, 1 << 20):
            x = lw.full((elements,), 7.0)
            seen = look(x)
            del x
            others = [lw.full((elements,), 8.0) for _ in range(4)]
            taken = {each.__array_interface__["data"][0] for each in others}
            if not hasattr(seen, "__len__"):  # `seen` is a DLPack capsule
                seen = lw._ext.from_dlpack_capsule(seen)
            array = np.asarray(seen)
            assert (array == 7).all()
            assert array.__array_interface__["data"][0] not in taken
            address = array.__array_interface__["data"][0] if len(array) == elements else None
            del seen, array, others
            others = [lw.empty((elements,)) for _ in range(6)]  # the freed memory is reused now
            assert address is None or address in {each.__array_interface__["data"][0] for each in others}


def test_eight_threads_share_the_cache():
    """Threads use tensors of changing sizes and scratch memory, and free tensors that others created."""
    start = lw.memory_stats()["allocated_bytes"]
    handed: list[tuple[float, lw.Tensor]] = []
    barrier = threading.Barrier(8)

    def work(seed: int) -> None:
        generator = np.random.default_rng(seed)
        barrier.wait()
        for step in range(200):
            value = float(generator.integers(1000))
            x = lw.full((int(2 ** generator.uniform(0, 18)),), value)
            handed.append((value, x))
            if len(handed) > 20:
                expected, other = handed.pop(0)
                assert float(other[0]) == float(other[-1]) == expected
            if step % 20 == 0:
                m = lw.full((int(generator.integers(64, 200)),) * 2, 1.0)
                assert float(lw.matmul(m, m)[3, 5]) == m.shape[0]
                assert int(lw.sort(x)[0]) == value
            if step % 50 == 0:
                lw.empty_cache()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    handed.clear()
    gc.collect()
    stats = lw.memory_stats()
    assert stats["allocated_bytes"] == start
    assert stats["cached_bytes"] <= 64 * MEGABYTE


def run(program: str, **environment: str) -> str:
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


FAULTS = """
    import resource, sys
    import lanewise as lw

    def faults(call):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        call()
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    lw.set_cache_limit(1 << 30)
    x = lw.ones((1 << 24,))
    lw.empty_cache()
    first = faults(lambda: (x + x)[0])
    second = min(faults(lambda: (x + x)[0]) for _ in range(5))
    print(first, second)
    m = lw.ones((1024, 1024))
    first = faults(lambda: lw.matmul(m, m))
    second = min(faults(lambda: lw.matmul(m, m)) for _ in range(5))
    print(first, second)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="page faults are counted as Linux does")
def test_a_second_large_result_costs_no_page_faults():
    """The first result of 64 MB costs 32 page faults with huge pages and 16384 without. A second result reuses the
    memory and costs none. Scratch memory is reused as well."""
    for line in run(FAULTS).splitlines():
        first, second = map(int, line.split())
        assert first >= 2
        assert second < 0.01 * first


EXHAUSTED = """
    import resource
    import lanewise as lw

    lw.set_cache_limit(1 << 30)
    m, out = lw.ones((1024, 1024)), lw.empty((1024, 1024))
    cached = lw.empty((1 << 28,), dtype="bool")
    del cached
    with open("/proc/self/statm") as statm:
        size = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 20), -1))
    {call}
    stats = lw.memory_stats()
    print(stats["num_alloc_retries"], stats["cached_bytes"] < 1 << 28)
    try:
        lw.ones((1 << 30,))
    except lw.OutOfMemoryError as error:
        print(error)
    print(lw.sum(lw.ones((10,))).tolist())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
@pytest.mark.parametrize(
    ("call", "retries"),
    [("x = lw.zeros((1 << 25,))", 1), ("lw.matmul(m, m, out=out)", 0)],
    ids=["tensor", "scratch"],
)
def test_the_cache_is_freed_when_memory_runs_out(call: str, retries: int):
    lines = run(EXHAUSTED.format(call=call)).splitlines()
    assert lines[0] == f"{retries} True"
    assert lines[1].startswith("ones: cannot allocate 4294967296 bytes")
    assert lines[2] == "10.0"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
@pytest.mark.host
def test_a_forked_child_has_its_own_cache():
    """Cached blocks are copied to the child; neither process sees what the other does with them."""
    x = lw.full((1 << 20,), 3.0)
    lw.empty((1 << 20,))
    m = lw.ones((300, 300))
    lw.matmul(m, m)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            for _ in range(20):
                assert float(lw.full((1 << 20,), 4.0)[-1]) == 4
                assert float(lw.matmul(m, m)[0, 0]) == 300
            lw.empty_cache()
            assert lw.memory_stats()["cached_bytes"] == 0
            status = 0
        finally:
            os._exit(status)
    y = lw.full((1 << 20,), 5.0)
    assert float(lw.matmul(m, m)[0, 0]) == 300
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert float(lw.sum(x)) == 3 * 2**20 and float(lw.sum(y)) == 5 * 2**20


@pytest.mark.parametrize(
    ("limit", "error", "words"),
    [
        (-1, lw.ArgumentError, "expected limit of at least 0, got -1"),
        (2**63, lw.ArgumentError, r"expected limit below 2\*\*63, got 9223372036854775808"),
        (float("nan"), lw.ArgumentTypeError, "expected an int for limit, got nan"),
        (1e6, lw.ArgumentTypeError, "expected an int for limit, got 1000000.0"),
        ("1", lw.ArgumentTypeError, "expected an int for limit, got '1'"),
    ],
)
def test_impossible_limits(limit, error, words):
    with pytest.raises(error, match=f"set_cache_limit: {words}"):
        lw.set_cache_limit(limit)
    assert lw.memory_stats()["cache_limit_bytes"] == 64 * MEGABYTE


@pytest.mark.host
def test_the_largest_limit():
    lw.set_cache_limit(2**63 - 1)
    x = block(8)
    del x
    assert lw.memory_stats()["cached_bytes"] == 8 * MEGABYTE
    lw.empty_cache()
    assert lw.memory_stats()["cached_bytes"] == 0


LIMIT = "import lanewise as lw; x = lw.ones((1 << 20,)); del x; s = lw.memory_stats(); print(*list(s.values())[2:5])"


def test_the_limit_of_the_environment():
    assert run(LIMIT, LANEWISE_CACHE_LIMIT=" 5000000 ") == "4194304 4194304 5000000"
    assert run(LIMIT, LANEWISE_CACHE_LIMIT="0") == "0 0 0"
    assert run(LIMIT, LANEWISE_CACHE_LIMIT="").startswith("4194304 4194304 ")


@pytest.mark.parametrize("text", ["-1", "1GB", "nan", "1.5", "99999999999999999999", "9" * 5000])
def test_an_invalid_limit_of_the_environment(text):
    for words in (["-c", "import lanewise"], ["-P", "-m", "lanewise", "info"]):
        environment = {**os.environ, "LANEWISE_CACHE_LIMIT": text}
        done = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True)
        assert done.returncode == 1
        last = done.stderr.splitlines()[-1]
        assert f"LANEWISE_CACHE_LIMIT: expected a number of bytes below 2**63, got '{text[:40]}" in last
