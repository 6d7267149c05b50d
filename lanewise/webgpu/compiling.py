"""What the players of desktop.py and browser.py share about compiling kernels: which ones a driver can compile, and the
note that tells the user, once in a process, why a call takes seconds: drivers compile kernels before they first run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

__all__ = ["SECONDS", "compiles_tiles", "note", "noted"]

SECONDS: Final = 2.0  # compiling may block a program for so long before note() is called

_has_noted = False


def compiles_tiles(adapter: str) -> bool:
    """Returns whether the driver of an adapter can compile the kernels for tiles. SwiftShader takes minutes and
    gigabytes for them, and Chromium then ends its GPU process."""
    return "swiftshader" not in adapter.lower()


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
    """Calls note() as soon as the block, together with the `seconds` that earlier blocks took, takes more than SECONDS.
    A timer in another thread does so, because a driver compiles inside a single call."""
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
