"""Asks for WebGPU in a page whose adapter gives no device. Awaits, so it also runs where Python cannot be suspended."""

from __future__ import annotations

from typing import Any

import lanewise as lw

REFUSE = """
Object.defineProperty(GPUAdapter.prototype, "info", { value: { description: "Fake GPU" } });
GPUAdapter.prototype.requestDevice = async () => { throw new Error("no queue is left"); };
"""


def listed() -> str:
    return next(str(info) for info in lw.backends() if info.name == "wgpu")


async def errors_of(request: Any) -> str:
    try:
        await request("wgpu")
    except lw.DeviceError as error:
        return str(error)
    return ""


async def results() -> dict[str, Any]:
    from pyodide.code import run_js

    run_js(REFUSE)
    auto = await lw.init_backend("auto")
    first = listed()
    errors = [await errors_of(lw.init_backend), await errors_of(lw.reset)]
    return {"auto": auto.is_gpu, "first": first, "errors": errors, "listed": listed(), "cpu": (lw.ones(2) + 1).tolist()}


await results() if __name__ == "__main__" else None  # noqa: F704 (Pyodide runs programs with await at the top)
