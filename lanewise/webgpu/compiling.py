"""Tells the user, once in a process, why a call takes seconds: drivers compile kernels before they first run.

Used by the players of desktop.py and browser.py.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

__all__ = ["SECONDS", "note", "noted"]

SECONDS: Final = 2.0  # the longest time for which new kernels block a program without a word

_has_noted = False


def note(adapter: str) -> None:
    """Logs that the program waits for an adapter."""
    global _has_noted
    if _has_noted:
        return
    _has_noted = True
    import logging

    message = "lanewise: waiting for %s, which compiles each kernel before it first runs in a process"
    logging.getLogger("lanewise").warning(message, adapter)


@contextlib.contextmanager
def noted(adapter: str, seconds: float) -> Iterator[None]:
    """Calls note() if the block takes so long that, with these seconds before, new kernels block the program too long.
    Drivers compile inside one call of theirs, so another thread looks at the clock."""
    if _has_noted:
        yield
        return
    import threading

    timer = threading.Timer(max(SECONDS - seconds, 0), note, [adapter])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
