"""Logs that the first read in a page waits for kernels to be compiled, as if that took too long."""

from __future__ import annotations

import logging
from typing import Any

import lanewise as lw


def results() -> list[list[str]]:
    from lanewise.webgpu import compiling

    compiling.SECONDS = 0.0  # type: ignore[misc]
    notes: list[str] = []
    handler: Any = logging.Handler()
    handler.emit = lambda record: notes.append(record.getMessage())
    logging.getLogger("lanewise").addHandler(handler)
    x = lw.ones(3).to("wgpu")
    counts = []
    for _ in range(2):
        (x + 1).tolist()
        counts.append(list(notes))
        compiling._has_noted = False
    return counts


results() if __name__ == "__main__" else None
