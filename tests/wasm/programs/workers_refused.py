"""Asks for threads where there may be none. Returns the error, and whether matrix products are right nevertheless."""

from __future__ import annotations

from typing import Any

import lanewise as lw


async def results() -> dict[str, Any]:
    a = lw.randn((300, 300), seed=1)
    before, error = bytes(memoryview(a @ a)), ""
    try:
        await lw.init_threads(2)
    except lw.BackendError as raised:
        error = str(raised)
    after = bytes(memoryview(a @ a))
    threads = lw.get_num_threads()
    await lw.init_threads(1)
    return {"error": error, "same": before == after, "threads": threads, "ended": lw.get_num_threads()}


await results() if __name__ == "__main__" else None  # noqa: F704 (Pyodide runs programs with await at the top)
