"""Runs out of memory, and grows the heap while tensors, views and NumPy's arrays are in use. Each function returns what
test_memory.py compares. Blocks from malloc are never written to, so they take up no physical memory."""

from __future__ import annotations

import ctypes
from importlib.util import find_spec
from typing import Any

import lanewise as lw

BLOCK = 1 << 22  # elements of a tensor; 16 MiB as float32 or int32
LARGE = 1 << 28  # bytes of a block from malloc


def heap_bytes() -> int:
    import pyodide_js  # type: ignore[import-not-found]  # exists only in Pyodide

    return int(pyodide_js._module.HEAPU8.byteLength)


def refused(call: Any) -> dict[str, Any]:
    """Makes a call that must raise. Returns what it raised, and the result of an addition made afterwards."""
    try:
        call()
    except Exception as error:
        raised = [kind.__name__ for kind in type(error).__mro__]
        message = str(error)
    else:
        raised, message = [], "nothing was raised"
    return {"raised": raised, "message": message, "next": lw.add([1.0, 2.0], [3.0, 4.0]).tolist()}


def too_large() -> dict[str, dict[str, Any]]:
    """Requests more memory than the heap can ever hold, in several ways."""
    tall, wide = lw.ones((1 << 16, 1)), lw.ones((1, 1 << 16))
    return {
        "zeros": refused(lambda: lw.zeros((1 << 30,))),
        "zeros, beyond 32 bits": refused(lambda: lw.zeros((1 << 40,))),
        "add": refused(lambda: lw.add(tall, wide)),
        "matmul": refused(lambda: lw.matmul(tall, wide)),
        "arange": refused(lambda: lw.arange(1 << 30)),
        "concat": refused(lambda: lw.concat([lw.broadcast_to(lw.ones((1,)), (1 << 28,))] * 8)),
    }


def used_up() -> dict[str, Any]:
    """Fills the heap with malloc, then with tensors until one does not fit; then frees all of it and computes again."""
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    taken: list[int] = []
    while (address := library.malloc(LARGE)) and len(taken) < 64:
        taken.append(address)
    tensors: list[Any] = []

    def fill() -> None:
        while len(tensors) < 64:
            tensors.append(lw.ones((BLOCK,)))

    found = refused(fill)
    found["taken"] = len(taken) * LARGE
    highest = max((tensor.__array_interface__["data"][0], i) for i, tensor in enumerate(tensors))
    found["highest"] = highest[0]
    found["sum"] = float(lw.sum(tensors[highest[1]]))
    tensors.clear()
    for address in taken:
        library.free(ctypes.c_void_p(address))
    found["afterwards"] = float(lw.sum(lw.add(lw.ones((BLOCK,)), 1.0)))
    return found


def growth() -> dict[str, Any]:
    """Creates tensors until the heap has grown three times, then checks them, and views from before the growth."""
    first = lw.arange(BLOCK, dtype=lw.int32)
    view = memoryview(first)
    row = first[5:10]
    seen, written = None, None
    if find_spec("numpy"):
        import numpy as np

        array = np.arange(1000, dtype=np.int32)
        seen, written = np.asarray(first), lw.asarray(array)
    sizes = [heap_bytes()]
    kept = [first]
    while len(sizes) < 4:
        kept.append(lw.add(kept[-1], 1))
        if heap_bytes() != sizes[-1]:
            sizes.append(heap_bytes())
        if len(kept) > 200:
            raise AssertionError(f"expected the heap to grow three times, got sizes {sizes} after {len(kept)} blocks")
    wrong = [i for i, each in enumerate(kept) if not bool(lw.all(lw.equal(lw.subtract(each, i), first)))]
    found = {
        "sizes": sizes,
        "wrong": wrong,
        "view": view[BLOCK - 1] == BLOCK - 1,
        "row": row.tolist(),
    }
    if seen is not None and written is not None:
        array[7], seen[6] = -7, -6
        found["numpy"] = [seen[:5].tolist(), int(written[7]), row.tolist()]
    return found


def kept() -> dict[str, Any]:
    """Returns the memory statistics while a tensor exists, after it is freed, and after the cache of freed memory is
    limited to 1 MiB. Also returns the limit that was in effect before, and the default limit."""
    lw.empty_cache()
    tensor = lw.ones((BLOCK,))
    found = {"used": lw.memory_stats()}
    del tensor
    found["kept"] = lw.memory_stats()
    limit = lw.set_cache_limit(1 << 20)
    found["limited"] = lw.memory_stats()
    lw.set_cache_limit(None)
    lw.empty_cache()
    return {**found, "limit": limit, "default": lw.memory_stats()["cache_limit_bytes"]}


(
    {"kept": kept(), "too_large": too_large(), "growth": growth(), "used_up": used_up()}
    if __name__ == "__main__"
    else None
)
