"""Threads in a browser: starts web workers (workers.js), and lets them run the calls that
native/extension/call/workers.c passes to this module. threads.py imports it in Pyodide, when a program asks for several
threads.

A page's main thread must not block, so Python is suspended there until the workers have answered, where the browser can
do that (JavaScript Promise Integration, in code that runPythonAsync() runs); elsewhere such calls run on one thread.
"""

from __future__ import annotations

import warnings
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Final

import js
import pyodide_js
from pyodide.code import run_js
from pyodide.ffi import JsException, can_run_sync, create_proxy, run_sync, to_js

from lanewise import _ext
from lanewise.backends import libraries
from lanewise.errors import BackendError

__all__ = ["close", "start"]

MAX_PAGES: Final = 1 << 14  # of 64 KiB, so 1 GiB
RUNNING, FINISHED, LOST = 1, 2, 3  # what step() of workers.js returns

_ANCHOR: Final = create_proxy(bytearray(1))  # from which JavaScript gets Pyodide's memory
_pool: Any = None


def start(count: int) -> Coroutine[Any, Any, None]:
    """Ends running workers. Returns a coroutine that starts others. Raises BackendError where that is not possible."""
    close()
    if not hasattr(js, "Worker"):
        raise BackendError("expected a browser, got a JavaScript runtime without web workers; remove this call")
    if not getattr(js, "crossOriginIsolated", False):
        raise BackendError(
            "expected a page that is cross-origin isolated, got one that cannot share memory; serve it with the "
            "headers Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp"
        )
    return _start(count)


async def _start(count: int) -> None:
    global _pool
    backend = name = _ext.host_backend()
    files = []
    while name:
        files.append(libraries.checked_path(name).read_bytes())
        library = libraries.find(name)
        name = library.base if library else ""
    script = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    try:
        pool = await run_js(script)(script)(to_js(files), count, MAX_PAGES, _ANCHOR)
    except JsException as error:
        raise BackendError(f"cannot start workers: {error}", operation="init_threads") from None
    close()
    _pool = pool
    _ext.set_workers(_run, backend, count)


def close() -> None:
    """Ends the workers and releases their memory."""
    global _pool
    pool, _pool = _pool, None
    if pool:
        _ext.set_workers(None, _ext.host_backend(), 1)
        pool.end()


def _run(call: int) -> bool:
    """Runs the call at this address on the workers. Returns False if the calling thread has to do it."""
    pool = _pool
    if not pool.blocks and not can_run_sync():
        return False
    state = pool.step(call, True)
    try:
        while state == RUNNING:
            pyodide_js.checkInterrupt()
            if not pool.blocks:
                run_sync(pool.wait())
            state = pool.step(call, False)
    except BaseException:
        pool.cancel()
        raise
    if state == LOST and pool is _pool:
        reason = str(pool.lost)
        close()
        warnings.warn(f"lost the workers of init_threads ({reason}); using one thread", RuntimeWarning, stacklevel=2)
    return bool(state == FINISHED)
