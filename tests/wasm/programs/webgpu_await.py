"""Opens WebGPU and reads tensors by `await`, which works whether or not the browser can suspend Python. Returns what
test_webgpu.py compares."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import Any

import pyodide_js
from pyodide.ffi import can_run_sync

import lanewise as lw

# Runs below JavaScript that cannot be suspended, as the handler of an event does.
PLAIN = """
import lanewise as lw

def said(call):
    try:
        return str(call())
    except lw.BackendError as error:
        return type(error).__name__ + ": " + str(error)

said(lambda: EXPRESSION)
"""


def plain(expression: str) -> str:
    """Evaluates an expression by runPython(). Returns its text, or its error."""
    return str(pyodide_js.runPython(PLAIN.replace("EXPRESSION", expression)))


async def fetched(tensor: lw.Tensor) -> Any:
    host = await tensor.cpu_async()
    return host.tolist() if host.device == "cpu" else host.device


async def numpy_async(tensor: lw.Tensor) -> list[Any]:
    """Returns the elements and whether they can be written, or what numpy_async() says without NumPy."""
    try:
        array = await tensor.numpy_async()
    except ImportError as error:
        return [str(error)]
    return [array.tolist(), array.flags.writeable]


async def results() -> dict[str, Any]:
    found: dict[str, Any] = {"can wait": can_run_sync(), "numpy": bool(find_spec("numpy"))}
    found["before"] = plain("lw.ones(3).to('wgpu')")
    found["without await"] = [plain("lw.init_backend('wgpu')"), plain("lw.init_backend('auto').is_gpu")]
    found["opened"] = (await lw.init_backend("wgpu")).value
    found["again"] = (await lw.init_backend("WebGPU")).value
    auto = await lw.init_backend("auto")  # a software adapter is chosen only by its name
    found["auto"] = auto.is_gpu
    x = lw.arange(12, dtype=lw.float32).to("wgpu").reshape((3, 4))
    found["computed"] = await fetched(x * 2 + 1)
    found["transposed"] = await fetched(x.T)
    found["bool view"] = await fetched((x > 4)[1:, 1:3])
    found["float16"] = await fetched(x[0].astype(lw.float16)[1:])
    found["scalar"] = await fetched(lw.sum(x))
    found["empty"] = await fetched(x[:0])
    found["on the CPU"] = await fetched(lw.arange(3))
    found["numpy_async"] = await numpy_async(x[0])
    found["numpy_async on the CPU"] = await numpy_async(lw.arange(3))
    readbacks = lw.memory_stats("wgpu")["readbacks"]
    found["together"] = await asyncio.gather(fetched(x[0]), fetched(x[1] + 1), fetched(x[2]))
    found["readbacks"] = lw.memory_stats("wgpu")["readbacks"] - readbacks
    pyodide_js.globals["kept"] = x
    found["read"] = plain("kept[0].tolist()")
    found["shown"] = [plain(f"{show}(kept[0, :2])") for show in ("repr", "str")]
    found["reset"] = (await lw.reset("wgpu")).value
    found["after reset"] = await fetched(lw.ones(3).to("wgpu") + 1)
    return found


await results() if __name__ == "__main__" else None  # noqa: F704 (Pyodide runs programs with await at the top)
