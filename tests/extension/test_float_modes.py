"""Results do not depend on the caller's floating-point modes, and calls leave these modes as they are."""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import lanewise as lw

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or not sys.platform.startswith("linux"), reason="sets x86's MXCSR through glibc"
)

FLUSH = 0x8040  # FTZ and DAZ: denormal results and arguments become zero
MODES = {"upward": 0x4000, "downward": 0x2000, "toward zero": 0x6000, "flush to zero": FLUSH}
MASK = 0xFFC0  # all bits except the exception flags


def read_modes() -> int:
    return int(_environment()[7]) & MASK


def _environment() -> ctypes.Array[ctypes.c_uint32]:
    environment = (ctypes.c_uint32 * 8)()
    assert ctypes.CDLL("libm.so.6").fegetenv(environment) == 0
    return environment


@contextmanager
def modes(bits: int) -> Iterator[None]:
    """Sets bits of this thread's MXCSR through the C library's floating-point environment."""
    libm = ctypes.CDLL("libm.so.6")
    before, changed = _environment(), _environment()
    changed[7] |= bits
    assert libm.fesetenv(changed) == 0
    try:
        yield
    finally:
        assert libm.fesetenv(before) == 0


X = lw.concat([lw.rand((200_000,), seed=1) * 8 - 4, lw.rand((1000,), seed=2) * 1e-38, lw.zeros((1,))])
CALLS = {
    "add": lambda x: x + x[::-1],
    "a number": lambda x: x * 0.1,
    "divide": lambda x: x / 3,
    "exp": lw.exp,
    "sum": lw.sum,
    "var": lw.var,
    "softmax": lambda x: lw.softmax(x[:200_000].reshape(200, 1000)),
    "matmul": lambda x: x[:160_000].reshape(400, 400) @ x[40_000:200_000].reshape(400, 400),
    "astype": lambda x: (x * 1000).astype(lw.float16),
    "small": lambda x: lw.exp(x[:100]) * 0.1,
    "denormals": lambda x: x[200_000:] * 0.5,
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", CALLS)
def test_results_are_those_of_the_default_modes(name, threads):
    before = lw.get_num_threads()
    lw.set_num_threads(threads)
    try:
        expected = CALLS[name](X).tobytes()
        for bits in MODES.values():
            with modes(bits):
                before_call = read_modes()
                results = CALLS[name](X)
                assert read_modes() == before_call
            assert results.tobytes() == expected
    finally:
        lw.set_num_threads(before)


def test_workers_have_the_default_modes():
    """The pool's threads have the default modes even if the caller has other modes when it starts them."""
    before = lw.get_num_threads()
    lw.set_num_threads(1)
    expected = lw.exp(X).tobytes()
    try:
        with modes(MODES["upward"] | FLUSH):
            lw.set_num_threads(5)
            results = [lw.exp(X) for _ in range(20)]
        assert all(result.tobytes() == expected for result in results)
    finally:
        lw.set_num_threads(before)
