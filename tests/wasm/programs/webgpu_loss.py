"""Makes the device fail: destroys it, gives it a shader that does not compile and a dispatch that is too large, and
pretends that it has no memory left. Returns what test_webgpu.py compares. Ends with a device that works."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import js

import lanewise as lw
from lanewise.webgpu import provider, shaders


def said(call: Callable[[], Any]) -> str:
    try:
        return str(call())
    except lw.LanewiseError as error:
        return f"{type(error).__name__}: {error}"


async def said_async(call: Callable[[], Any]) -> str:
    try:
        return str(await call())
    except lw.LanewiseError as error:
        return f"{type(error).__name__}: {error}"


async def destroyed() -> dict[str, Any]:
    """Destroys the device. Which call notices that first differs: the browser tells it later."""
    x = lw.ones(3).to("wgpu")
    provider._players[0]._page.device.destroy()
    return {
        "numpy_async": await said_async(x.numpy_async),
        "cpu_async": await said_async(x.cpu_async),
        "read": said(x.tolist),
        "operation": said(lambda: x + x),
        "upload": said(lambda: lw.ones(3).to("wgpu")),
        "cpu": (lw.ones(3) + 1.0).tolist(),
        "reset": lw.reset("wgpu").value,
        "old tensor": said(x.tolist),
        "after": (lw.ones(3).to("wgpu") + 1.0).tolist(),
    }


def miscompiled() -> dict[str, Any]:
    """Replaces the text of one kernel by one with an error in it."""
    load = shaders.load

    def broken(index: int) -> shaders.Shader:
        shader = load(index)
        return replace(shader, source=f"{shader.source}\nfn f() -> u32 {{ return 1.5f; }}\n")

    lw.reset("wgpu")
    x = lw.ones(3).to("wgpu")
    shaders.load = broken
    try:
        y = lw.hypot(x, x)
        error = said(y.tolist)
    finally:
        shaders.load = load
    return {
        "error": error,
        "later": said(lambda: (x + x).tolist()),
        "cpu": (lw.ones(3) + 1.0).tolist(),
        "reset": lw.reset("wgpu").value,
        "after": (lw.ones(3).to("wgpu") * 3.0).tolist(),
    }


OVERSIZE = """() => {
    const { prototype } = GPUComputePassEncoder;
    const { dispatchWorkgroups } = prototype;
    prototype.dispatchWorkgroups = function () {
        prototype.dispatchWorkgroups = dispatchWorkgroups;
        this.dispatchWorkgroups(1 << 20);
    };
}"""


def oversized() -> dict[str, Any]:
    """Makes one dispatch larger than devices allow, which WebGPU finds when it is submitted."""
    x = lw.ones(3).to("wgpu") + 1.0
    before = x.tolist()
    js.eval(OVERSIZE)()
    y = x + x
    return {"before": before, "error": said(y.tolist), "reset": lw.reset("wgpu").value}


REFUSE = """(device, times) => {
    const pop = GPUDevice.prototype.popErrorScope;
    device.popErrorScope = async function () {
        const refuses = times-- > 0;
        await pop.call(this);
        return refuses ? { message: "no memory left" } : null;
    };
}"""


def out_of_memory() -> dict[str, Any]:
    """Refuses to create a large buffer once, then as often as Lanewise tries."""
    refuse, device = js.eval(REFUSE), provider._players[0]._page.device
    retries = lw.memory_stats("wgpu")["num_alloc_retries"]
    refuse(device, 1)
    total = float(lw.sum(lw.ones((1 << 22,)).to("wgpu")))
    retries = lw.memory_stats("wgpu")["num_alloc_retries"] - retries
    refuse(device, 2)
    error = said(lambda: lw.ones((1 << 23,)).to("wgpu").shape)
    refuse(device, 0)
    return {"total": total, "retries": retries, "error": error, "after": (lw.ones(3).to("wgpu") * 2.0).tolist()}


async def results() -> dict[str, Any]:
    return {
        "destroyed": await destroyed(),
        "miscompiled": miscompiled(),
        "oversized": oversized(),
        "out of memory": out_of_memory(),
    }


await results() if __name__ == "__main__" else None  # noqa: F704 (Pyodide runs programs with await at the top)
