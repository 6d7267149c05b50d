"""Measures Lanewise on WebGPU, and returns JSON. webgpu.py, in the folder above, runs this in a new page."""

import json
from time import perf_counter_ns

began = perf_counter_ns()
import lanewise as lw  # noqa: E402

imported = {"calibration": repr(lw.get_calibration()), "dispatches": lw.memory_stats()["dispatches"]}
x = lw.asarray([1.0, 2.0, 3.0, 4.0]).to("wgpu")
number = float(lw.sum(x * x))
first = perf_counter_ns() - began

from tests.bench.browser.page.gpu import measured  # noqa: E402

CALLS = 1280
(adapter,) = [info for info in lw.backends() if info.name == "wgpu"]
result = lw.zeros(4, device="wgpu")
values = lw.asarray([float(i) for i in range(1000)]).to("wgpu")


def additions() -> tuple[float, float]:
    """Adds into an existing tensor, so that each addition is a dispatch. `y = y + x` takes less than half of the time,
    because it becomes a dispatch for 32 additions."""
    lw.synchronize("wgpu")
    before = lw.memory_stats("wgpu")["dispatches"]
    start = perf_counter_ns()
    for _ in range(CALLS):
        lw.add(x, x, out=result)
    taken = perf_counter_ns() - start
    lw.synchronize("wgpu")
    assert lw.memory_stats("wgpu")["dispatches"] - before == CALLS
    return taken / CALLS, float(lw.sum(result)) / 2


def chain() -> float:
    y = values
    for _ in range(5):
        y = lw.relu(y * 0.5 + 1.0)
    return float(lw.sum(y))


settings = f"lanewise {lw.__version__} on {adapter.devices[0].name}"
json.dumps({**measured(settings, first, number, additions, chain), "imported": imported})
