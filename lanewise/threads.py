"""How many threads share the work of a call. The threads themselves are native/threads.c's; WebAssembly has one."""

from __future__ import annotations

import os

from lanewise import _ext
from lanewise.arguments import to_int
from lanewise.errors import ArgumentError

__all__ = ["get_num_threads", "initialise", "set_num_threads"]


def set_num_threads(n: int) -> None:
    """Lets `n` threads at most, the calling one among them, share the work of a call.

    It holds for the process, from the next call on. Before, it is what LANEWISE_NUM_THREADS says, or as many as this
    process may use processors. Work that does not pay for a thread stays on the one that calls. No result depends on
    how many threads there are. ArgumentError unless n is from 1 to 1024, in WebAssembly 1.

    >>> import lanewise as lw
    >>> before = lw.get_num_threads()
    >>> lw.set_num_threads(1)
    >>> lw.get_num_threads()
    1
    >>> lw.set_num_threads(before)
    """
    _set("set_num_threads: n", to_int("set_num_threads", "n", n))


def get_num_threads() -> int:
    """How many threads at most share the work of a call; see set_num_threads()."""
    number: int = _ext.get_num_threads() if hasattr(_ext, "get_num_threads") else 1
    return number


def initialise() -> None:
    """Takes LANEWISE_NUM_THREADS when lanewise is imported."""
    name = "LANEWISE_NUM_THREADS"
    text = os.environ.get(name, "").strip()
    if text:
        _set(name, int(text) if text.isdecimal() and len(text) < 20 else text)  # int() refuses thousands of digits


def _set(name: str, number: int | str) -> None:
    most = 1024 if hasattr(_ext, "set_num_threads") else 1
    if isinstance(number, str) or not 1 <= number <= most:
        wanted = f"a number from 1 to {most}" if most > 1 else "1, WebAssembly has no more"
        raise ArgumentError(f"{name} is {number!r}; give {wanted}")
    if most > 1:
        _ext.set_num_threads(number)
