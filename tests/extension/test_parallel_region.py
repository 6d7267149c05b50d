"""Tests that a call from inside a parallel region of OpenMP stays on its thread."""

from __future__ import annotations

import ctypes.util
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from native import compiler

Counts = Callable[..., list[int]]

# Prints how many threads the process has after a call inside a region, and after one outside.
PROGRAM = """
import ctypes

lw.set_num_threads(1)
x = lw.ones((1 << 22,))
lw.set_num_threads(4)
runtime = ctypes.CDLL(sys.argv[1])
counts = []


def call():
    assert float(lw.sum(lw.exp(x))) > 1 << 22
    counts.append(count())


{region}
call()
print(*counts)
"""
FAKE = """
int inside;
int omp_in_parallel(void) { return inside; }
"""


def test_calls_inside_a_region_start_no_workers(thread_counts: Counts, tmp_path: Path) -> None:
    """The library's name has a hash, and its symbols are not global, as in a wheel that brings its own runtime."""
    source, library = tmp_path / "openmp.c", tmp_path / "libgomp-a34b3233.so.1.0.0"
    source.write_text(FAKE)
    subprocess.run([*compiler.choose().command, "-shared", "-fPIC", source, "-o", library], check=True)
    region = "inside = ctypes.c_int.in_dll(runtime, 'inside')\ninside.value = 1\ncall()\ninside.value = 0"
    inside, outside = thread_counts(PROGRAM.format(region=region), str(library))
    assert (inside, outside > 1) == (1, True)


def test_a_region_of_gcc_s_runtime(thread_counts: Counts) -> None:
    """One of the region's two threads calls. The runtime keeps its second thread afterwards."""
    runtime = ctypes.util.find_library("gomp")
    if not runtime:
        pytest.skip("gcc's OpenMP runtime is not installed (Debian: libgomp1)")
    region = """
@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def body(_):
    if runtime.omp_get_thread_num() == 0:
        call()


runtime.GOMP_parallel(body, None, 2, 0)
"""
    inside, outside = thread_counts(PROGRAM.format(region=region), runtime)
    assert (inside, outside > 2) == (2, True)
