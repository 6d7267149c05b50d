"""Measures Lanewise on WebGPU, and returns JSON. webgpu.py, in the folder above, runs this in a new page;
gpu_pyborch.py does the same with pyborch."""

import asyncio
import json
from time import perf_counter_ns

from pyodide.ffi import run_sync

SAMPLES, CALLS = 7, 1280
RUNS, SEEN_TWICE = 5, 2
PAUSE = 2.0  # seconds; long enough to compile a chain in the background, which begins when it is seen twice

began = perf_counter_ns()
import lanewise as lw  # noqa: E402

imported = {"calibration": repr(lw.get_calibration()), "dispatches": lw.memory_stats()["dispatches"]}
x = lw.asarray([1.0, 2.0, 3.0, 4.0]).to("wgpu")
number = float(lw.sum(x * x))
first = perf_counter_ns() - began


def recorded() -> float:
    """Returns the nanoseconds that an addition takes until it is recorded. Its result is an existing tensor, because
    an addition that waits in a chain, and whose result nobody has, would be left out."""
    lw.synchronize("wgpu")
    before = lw.memory_stats("wgpu")["dispatches"]
    start = perf_counter_ns()
    for _ in range(CALLS):
        lw.add(x, x, out=result)
    taken = perf_counter_ns() - start
    lw.synchronize("wgpu")
    assert lw.memory_stats("wgpu")["dispatches"] - before == CALLS
    return taken / CALLS


def fifteen() -> tuple[float, dict[str, int]]:
    """Returns the result of 15 elementwise operations and a sum, and what they needed."""
    before = lw.memory_stats("wgpu")
    y = values
    for _ in range(5):
        y = lw.relu(y * 0.5 + 1.0)
    total = float(lw.sum(y))
    after = lw.memory_stats("wgpu")
    return total, {name: after[name] - before[name] for name in ("dispatches", "submissions", "readbacks")}


(adapter,) = [info for info in lw.backends() if info.name == "wgpu"]
result = lw.zeros(4, device="wgpu")
values = lw.asarray([float(i) for i in range(1000)]).to("wgpu")
recorded()
samples = [recorded() for _ in range(SAMPLES)]
runs = []
for i in range(RUNS):
    if i == SEEN_TWICE:
        run_sync(asyncio.sleep(PAUSE))
    runs.append(fifteen())

json.dumps(
    {
        "settings": f"lanewise {lw.__version__} on {adapter.devices[0].name}",
        "imported": imported,
        "first": first,
        "recorded": samples,
        "results": [number, *(total for total, _ in runs)],
        "runs": [counts for _, counts in runs],
    }
)
