"""Tests chains on the CPU (native/extension/device/host_chain.c): elementwise operations whose results wait, and then
are computed in blocks."""

from __future__ import annotations

import copy
import ctypes
import os
import pickle
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import lanewise as lw
from lanewise import _ext
from lanewise.backends import registry
from lanewise.backends.backend import CPU_BACKENDS
from lanewise.costs.timing import NEVER, chains
from tests.webgpu.chains import programs

pytestmark = pytest.mark.host

SEEDS = range(40)
EDGES = (1, 63, 64, 65, 1023, 1024, 1025, 4095, 4097, 100_003)  # lengths around blocks of 4 KB


@pytest.fixture(autouse=True)
def always() -> Iterator[None]:
    """Results wait, however small they are."""
    with chains(0):
        yield


def own(values: Any, dtype: str = "float32") -> lw.Tensor:
    """Returns a tensor in memory of its own: what NumPy shares is read at once."""
    return lw.asarray(np.asarray(values, dtype), copy=True)


def numbers(*shape: int, seed: int = 0) -> lw.Tensor:
    return own(np.random.default_rng(seed).standard_normal(shape))


def run() -> int:
    """Returns how many chains have run as one."""
    return lw.memory_stats()["chains_run"]


def bits(x: lw.Tensor) -> bytes:
    return x.tobytes()


def python(program: str, **variables: str) -> list[str]:
    """Returns the lines that a program prints in a process of its own."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    environment = {**os.environ, **variables}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.splitlines()


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs_read_the_same_as_single_operations(seed: int) -> None:
    statements = programs.draw(seed, programs.environment("cpu", []))
    _, chained = programs.on_cpu(statements)
    with chains(NEVER):
        _, single = programs.on_cpu(statements)
    assert [programs.difference(x, y, None) for (x, _), (y, _) in zip(chained, single, strict=True)] == [None] * len(
        single
    )


def test_programs_run_chains() -> None:
    before = run()
    programs.on_cpu(programs.draw(SEEDS[0], programs.environment("cpu", [])))
    assert run() > before


@pytest.mark.parametrize("backend", [str(each) for each in CPU_BACKENDS if registry.opens(each)])
@pytest.mark.parametrize("length", EDGES)
def test_lengths_around_blocks(backend: str, length: int) -> None:
    def call(x: lw.Tensor, y: lw.Tensor, n: lw.Tensor, row: lw.Tensor) -> list[bytes]:
        shape = (3, length)
        wide = lw.broadcast_to(x, shape) * row + lw.broadcast_to(y, shape)
        flags = lw.exp(x * 0.5) - y > 1
        small = lw.abs(n) // 3 + n.astype("int16") * 2
        return [bits(each) for each in (wide, lw.where(flags, x, y * 2), flags, small.astype("float64") / 7)]

    with lw.use_backend(backend):
        arguments = (
            numbers(length),
            numbers(length, seed=1),
            own(np.arange(length) % 200 - 100, "int8"),
            numbers(3, 1, seed=2),
        )
        with chains(NEVER):
            expected = call(*arguments)
        before = run()
        assert call(*arguments) == expected
        assert run() > before


def test_results_that_nothing_reads_are_not_computed() -> None:
    x = numbers(1000)
    before = lw.memory_stats()
    y = lw.exp(x * 2 + 1)
    z = x - 1
    del z
    assert lw.memory_stats()["num_allocs"] == before["num_allocs"]
    y.tolist()
    assert lw.memory_stats()["num_allocs"] == before["num_allocs"] + 1  # none for x * 2, x * 2 + 1 and x - 1
    assert run() == before["chains_run"] + 1


def test_a_chain_whose_results_are_gone_keeps_no_operands() -> None:
    before = lw.memory_stats()["allocated_bytes"]
    x = numbers(1000)
    y = x * 2
    z = y + 1
    del x, y
    assert lw.memory_stats()["allocated_bytes"] > before
    del z
    assert lw.memory_stats()["allocated_bytes"] == before


def test_intermediate_results_in_use_are_computed() -> None:
    x = numbers(5000)
    y = x * 2
    z = lw.exp(y) + y
    w = lw.sum(z)
    with chains(NEVER):
        assert bits(y) == bits(x * 2)
        assert bits(z) == bits(lw.exp(x * 2) + x * 2)
        assert w.item() == lw.sum(z).item()


@pytest.mark.parametrize(
    "write",
    [
        "x[0] = 100",
        "x += 1",
        "lw.add(x, 1, out=x)",
        "lw.exp(y, out=x)",
        "x[x > 0] = 0",
        "x[:, ::2] = x[:, 1::2]",
        "np.asarray(x)[:] = 0",
        "np.from_dlpack(x)[:] = 0",
        "memoryview(x).cast('B')[0] = 1",
        "x[[1, 2], [3, 4]] = 9",
    ],
)
def test_a_write_waits_for_what_reads_the_old_elements(write: str) -> None:
    x, y = numbers(4, 6), numbers(4, 6, seed=1)
    before = np.array(x)
    z = x * y + x
    exec(write, {"x": x, "y": y, "lw": lw, "np": np})
    assert not np.array_equal(np.asarray(x), before)
    np.testing.assert_array_equal(np.asarray(z), before * np.asarray(y) + before)


def test_what_others_share_is_read_at_once() -> None:
    array = np.ones(1000, np.float32)
    shared, exported = lw.asarray(array), own(np.ones(1000))
    view = np.asarray(exported)
    results = [shared + 1, exported * 2, lw.add(array, 1)]
    array[:] = view[:] = 7
    assert [each[5].item() for each in results] == [2, 2, 2]


@pytest.mark.parametrize(
    "reads",
    [
        "y.item()", "y.tolist()", "str(y)", "bool(y)", "float(y)", "y[0]", "y.tobytes()", "y.T", "y.reshape(1)",
        "lw.sum(y)", "np.asarray(y)", "np.from_dlpack(y)", "bytes(memoryview(y))", "copy.copy(y)", "pickle.dumps(y)",
        "ctypes.c_float.from_address(y._data_pointer()).value", "list(y)", "lw.tril(y)", "lw.nonzero(y)", "y == y",
        "lw.take(lw.ones(9), y.astype('int64'), axis=0)", "lw.ones(9)[y.astype('int32')]", "y.to('scalar')", "~(y > 1)",
        "lw.concat([y, y])", "lw.take(y, 0, axis=0)", "y @ y", "lw.softmax(y)", "lw.asarray([y.item()])",
    ],
)  # fmt: skip
def test_every_way_to_read(reads: str) -> None:
    def call() -> str:
        names = {"lw": lw, "np": np, "copy": copy, "pickle": pickle, "ctypes": ctypes}
        return repr(eval(reads, {**names, "y": own([[1.5]]) * 2 + 1}))

    chained = call()
    with chains(NEVER):
        assert call() == chained


def test_out_that_waits() -> None:
    x, y = numbers(50), numbers(50, seed=1)
    z = x * y
    assert lw.subtract(z, x, out=z) is z
    np.testing.assert_array_equal(np.asarray(z), np.asarray(x) * np.asarray(y) - np.asarray(x))


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
def test_memory_runs_out() -> None:
    """The error comes when a result is read; another that is needed less can be computed then."""
    program = """
        import resource
        import lanewise as lw
        x = lw.ones((1 << 26,))
        lw.empty_cache()
        pages = int(open("/proc/self/statm").read().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (64 << 20),) * 2)
        y = x * 2 + 1
        try:
            y[0]
        except lw.OutOfMemoryError as error:
            print("cannot allocate" in str(error))
        print(x[5].item(), (lw.ones((1 << 20,)) * 3)[0].item())
    """
    assert python(program) == ["True", "1.0 3.0"]


def test_control_c(interrupted: Any) -> None:
    """What was being computed is lost, and says so; its operands are not."""
    before = """
def lost():
    try:
        y[0]
    except lw.DeviceError as error:
        return "Ctrl-C interrupted it" in str(error)
x = lw.full((1 << 27,), 0.5)
"""
    interrupted(before, "y = lw.tan(lw.sin(x) + 1); y[0]", "lost() and x[0].item() == 0.5")


def test_threads_compute_their_own_results() -> None:
    wrong: list[float] = []

    def work(seed: int) -> None:
        x = numbers(20_000, seed=seed)
        expected = float(np.asarray(x, copy=True)[7]) * 2.0**10
        for _ in range(200):
            y = x
            for _ in range(10):
                y = y * 2
            if y[7].item() != np.float32(expected):
                wrong.append(y[7].item())

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_read_and_overwrite_one_result() -> None:
    """Each reads what another one has just begun to compute, or overwrites what it reads."""
    x = numbers(300_000)
    expected = lw.exp(x * 2)[::1000].tolist()
    for _ in range(30):
        given, got = x.copy(), []
        y = lw.exp(given * 2)

        def read(y: lw.Tensor = y, got: list[Any] = got) -> None:
            got.append(y[::1000].tolist())

        def write(given: lw.Tensor = given) -> None:
            given[...] = 0

        threads = [threading.Thread(target=each) for each in (read, write, read)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert got == [expected, expected]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_computes_what_waits() -> None:
    y = numbers(1000) * 2 + 1
    child = os.fork()
    if not child:
        os._exit(int(abs(y[0].item()) < 100) + 40)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 41
    assert y[0].item() == numbers(1000)[0].item() * 2 + 1


def test_memory_stays_flat() -> None:
    x = numbers(256)
    before = lw.memory_stats()["allocated_bytes"]
    for i in range(100_000):
        y = x * i + 1
        if i % 3 == 0:
            y[0].item()
    del y
    (x + 1)[0].item()
    assert lw.memory_stats()["allocated_bytes"] == before


@pytest.mark.parametrize(("value", "chain"), [("0", 0), ("1", 1), ("", 1), ("perhaps", 1)])
def test_the_environment_variable(value: str, chain: int) -> None:
    program = """
        import lanewise as lw
        x = lw.ones(1 << 20)
        (x * 2 + 1)[0]
        (lw.ones(100) * 2 + 1)[0]
        print(lw.memory_stats()["chains_run"])
    """
    assert python(program, LANEWISE_FUSE=value) == [str(chain)]


def test_the_setting_says_what_it_was() -> None:
    assert _ext.set_chain_bytes(5) == 0
    assert _ext.set_chain_bytes(0) == 5
