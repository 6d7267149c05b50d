"""Tests what makes a call fast: no Python code between the call and its kernel, and memory from the cache."""

from __future__ import annotations

import sys

import pytest

import lanewise as lw

X, Y = lw.rand((1024,), seed=1), lw.rand((1024,), seed=2)
CALLS = {
    "operator": lambda: X + Y,
    "function": lambda: lw.add(X, Y),
    "number": lambda: X * 2.0,
    "method": lambda: X.sum(),
    "product": lambda: X @ Y,
}


def python_calls(function):
    """Returns the Python functions that run during one call."""
    names = []

    def note(frame, event, argument):
        if event == "call" and frame.f_code is not function.__code__:
            names.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return names


@pytest.mark.parametrize("name", CALLS)
def test_no_python_runs_between_a_call_and_its_kernel(name):
    CALLS[name]()
    assert python_calls(CALLS[name]) == []


def test_no_python_runs_for_arrays_of_numpy():
    np = pytest.importorskip("numpy", reason="takes its arrays")
    x, y = np.ones(1024, np.float32), np.ones(1024, np.float32)
    call = lambda: lw.add(x, y)  # noqa: E731
    call()
    assert python_calls(call) == []


def test_a_result_gets_the_memory_of_the_one_before():
    X + Y
    before = lw.memory_stats(X.backend)
    for _ in range(100):
        X + Y
    after = lw.memory_stats(X.backend)
    allocations = after["num_allocs"] - before["num_allocs"]
    assert allocations == after["num_cache_hits"] - before["num_cache_hits"] == 100
