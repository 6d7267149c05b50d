"""Lanewise on WebGPU, for gpu.mjs."""

import json

import lanewise as lw

imported = {"calibration": repr(lw.get_calibration()), "dispatches": lw.memory_stats()["dispatches"]}
x = lw.asarray([1.0, 2.0, 3.0, 4.0]).to("wgpu")
# In a sample, and how many times x the result is. Adds into an existing tensor, so that each addition is a dispatch:
# `y = y + x` takes less than half of the time, because it becomes a dispatch for 32 additions.
ADDITIONS = (1280, 2)
result: lw.Tensor
values: lw.Tensor
dispatches = 0


def squares(_: object) -> float:
    return float(lw.sum(x * x))


def prepare() -> None:
    global result, values
    result = lw.zeros(4, device="wgpu")
    values = lw.asarray([float(i) for i in range(1000)]).to("wgpu")
    lw.synchronize("wgpu")


def record(count: int) -> None:
    for _ in range(count):
        lw.add(x, x, out=result)


def read() -> float:
    global dispatches
    lw.synchronize("wgpu")
    before, dispatches = dispatches, lw.memory_stats("wgpu")["dispatches"]
    assert dispatches - before >= ADDITIONS[0]
    return float(lw.sum(result))


def chain() -> float:
    y = values
    for _ in range(5):
        y = lw.relu(y * 0.5 + 1.0)
    return float(lw.sum(y))


def facts() -> str:
    (adapter,) = [info for info in lw.backends() if info.name == "wgpu"]
    return json.dumps({"settings": f"lanewise {lw.__version__} on {adapter.devices[0].name}", "imported": imported})
