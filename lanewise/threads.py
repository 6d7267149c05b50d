"""The number of threads that share the work of a call (native/threads.c). In WebAssembly it is always 1."""

from __future__ import annotations

import os
from collections.abc import Callable

from lanewise import _ext
from lanewise.arguments import to_int
from lanewise.errors import ArgumentError, describe, named

__all__ = ["get_num_threads", "initialize", "set_num_threads"]

MAX_SPIN = 1_000_000  # microseconds


@named("set_num_threads")
def set_num_threads(n: int) -> None:
    """Sets the largest number of threads, including the calling one, that share the work of a call.

    The number applies to the process, from the next call on. The default is LANEWISE_NUM_THREADS, or else the number of
    processors that this process may use. Small calls use fewer threads. No result depends on the number of threads.
    Raises ArgumentError unless n is from 1 to 1024, or 1 in WebAssembly.

    >>> import lanewise as lw
    >>> before = lw.get_num_threads()
    >>> lw.set_num_threads(1)
    >>> lw.get_num_threads()
    1
    >>> lw.set_num_threads(before)
    """
    _set(to_int("n", n))


def get_num_threads() -> int:
    """Returns the largest number of threads that share the work of a call; see set_num_threads()."""
    number: int = _ext.get_num_threads() if hasattr(_ext, "get_num_threads") else 1
    return number


def initialize() -> None:
    """Reads LANEWISE_NUM_THREADS and LANEWISE_SPIN_US when lanewise is imported."""
    _read("LANEWISE_NUM_THREADS", _set)
    _read("LANEWISE_SPIN_US", _set_spin)


def _read(variable: str, setter: Callable[[int | str], None]) -> None:
    """Passes the value of an environment variable to `setter`, as an int if it is one."""
    text = os.environ.get(variable, "").strip()
    if text:
        # int() fails for thousands of digits
        named(variable)(setter)(int(text) if text.isdecimal() and len(text) < 20 else text)


def _set(number: int | str) -> None:
    maximum = 1024 if hasattr(_ext, "set_num_threads") else 1
    if isinstance(number, str) or not 1 <= number <= maximum:
        expected = f"a number of threads from 1 to {maximum}" if maximum > 1 else "1 thread in WebAssembly"
        raise ArgumentError(f"expected {expected}, got {describe(number)}")
    if maximum > 1:
        _ext.set_num_threads(number)


def _set_spin(microseconds: int | str) -> None:
    if isinstance(microseconds, str) or not 0 <= microseconds <= MAX_SPIN:
        raise ArgumentError(f"expected microseconds from 0 to {MAX_SPIN}, got {describe(microseconds)}")
    if hasattr(_ext, "set_spin"):  # WebAssembly has one thread
        _ext.set_spin(microseconds)
