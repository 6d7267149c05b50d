"""The number of threads that share the work of a call: those of native/pool/threads.c or, in a browser, the web workers
that init_threads() starts (workers.py)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from lanewise import _ext
from lanewise.errors import ArgumentError, describe, named
from lanewise.functions.arguments import to_int

__all__ = ["get_num_threads", "init_threads", "initialize", "set_num_threads"]

MAX_SPIN = 1_000_000  # microseconds
MAX_THREADS = 1024
MAX_WORKERS = 64
HAS_POOL = hasattr(_ext, "set_num_threads")  # not in WebAssembly


@named("set_num_threads")
def set_num_threads(n: int) -> None:
    """Sets the largest number of threads, including the calling one, that share the work of a call.

    The number applies to the process, from the next call on. The default is LANEWISE_NUM_THREADS, or else the number of
    processors that this process may use. Small calls use fewer threads, and no call uses more than there are
    processors. No result depends on the number of threads.
    Raises ArgumentError unless n is from 1 to 1024. In WebAssembly, n may only be the current number, or 1,
    which ends the workers of init_threads() and releases their memory.

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
    number: int = _ext.get_num_threads()
    return number


@named("init_threads")
def init_threads(n: int) -> Coroutine[Any, Any, None]:
    """Sets the number of threads as set_num_threads() does, also in a browser, where `await` starts n web workers.

    Workers share long matrix products, conv2d and attention; other calls run on one thread. The page has to be
    cross-origin isolated; otherwise BackendError names the HTTP headers that it needs. `lw.set_num_threads(1)` ends the
    workers. Raises ArgumentError unless n is from 1 to 1024, or to 64 in WebAssembly.

    >>> import asyncio
    >>> import lanewise as lw
    >>> before = lw.get_num_threads()
    >>> asyncio.run(lw.init_threads(2))  # in a notebook: await lw.init_threads(2)
    >>> lw.get_num_threads()
    2
    >>> lw.set_num_threads(before)
    """
    number = _check(to_int("n", n), MAX_THREADS if HAS_POOL else MAX_WORKERS)
    if number > 1 and not HAS_POOL:
        from lanewise.backends import workers

        return workers.start(number)
    _set(number)
    return _done()


async def _done() -> None:
    """Returns at once."""


def initialize() -> None:
    """Reads LANEWISE_NUM_THREADS and LANEWISE_SPIN_US when lanewise is imported, and says which thread Ctrl-C stops."""
    if HAS_POOL:
        _ext.set_main_thread(threading.main_thread().ident)
    _read("LANEWISE_NUM_THREADS", _set)
    _read("LANEWISE_SPIN_US", _set_spin)


def _read(variable: str, setter: Callable[[int | str], None]) -> None:
    """Passes the value of an environment variable to `setter`, as an int if it is one."""
    text = os.environ.get(variable, "").strip()
    if text:
        # int() fails for thousands of digits
        named(variable)(setter)(int(text) if text.isdecimal() and len(text) < 20 else text)


def _check(number: int | str, maximum: int) -> int:
    if isinstance(number, str) or not 1 <= number <= maximum:
        raise ArgumentError(f"expected a number of threads from 1 to {maximum}, got {describe(number)}")
    return number


def _set(number: int | str) -> None:
    if HAS_POOL:
        _ext.set_num_threads(_check(number, MAX_THREADS))
    elif number == 1:
        if get_num_threads() > 1:
            from lanewise.backends import workers

            workers.close()
    elif number != get_num_threads():
        raise ArgumentError(
            f"expected 1 thread or as many as there are ({get_num_threads()}), got {describe(number)}; "
            "await lw.init_threads(n) to have n"
        )


def _set_spin(microseconds: int | str) -> None:
    if isinstance(microseconds, str) or not 0 <= microseconds <= MAX_SPIN:
        raise ArgumentError(f"expected microseconds from 0 to {MAX_SPIN}, got {describe(microseconds)}")
    if HAS_POOL:
        _ext.set_spin(microseconds)
