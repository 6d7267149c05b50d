"""The number of threads that share the work of a call (native/threads.c). In WebAssembly it is always 1."""

from __future__ import annotations

import os

from lanewise import _ext
from lanewise.arguments import to_int
from lanewise.errors import ArgumentError, describe, named

__all__ = ["get_num_threads", "initialize", "set_num_threads"]


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


@named("LANEWISE_NUM_THREADS")
def initialize() -> None:
    """Reads LANEWISE_NUM_THREADS when lanewise is imported."""
    text = os.environ.get("LANEWISE_NUM_THREADS", "").strip()
    if text:
        _set(int(text) if text.isdecimal() and len(text) < 20 else text)  # int() fails for thousands of digits


def _set(number: int | str) -> None:
    maximum = 1024 if hasattr(_ext, "set_num_threads") else 1
    if isinstance(number, str) or not 1 <= number <= maximum:
        expected = f"a number of threads from 1 to {maximum}" if maximum > 1 else "1 thread in WebAssembly"
        raise ArgumentError(f"expected {expected}, got {describe(number)}")
    if maximum > 1:
        _ext.set_num_threads(number)
