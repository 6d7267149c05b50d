"""Measures pyborch on WebGPU, as gpu_lanewise.py measures Lanewise."""

import json
from importlib.metadata import version
from time import perf_counter_ns

SAMPLES, CALLS, RUNS = 7, 320, 3

began = perf_counter_ns()
import borch_webgpu as torch  # type: ignore[import-not-found] # noqa: E402

x = torch.tensor([1.0, 2.0, 3.0, 4.0])
number = float((x * x).sum().item())
first = perf_counter_ns() - began


def recorded() -> float:
    (x + x).sum().item()
    with torch.no_grad(), torch.scope():  # without these, it keeps every result
        start = perf_counter_ns()
        for _ in range(CALLS):
            x + x
        return (perf_counter_ns() - start) / CALLS


def fifteen() -> tuple[float, dict[str, int]]:
    before = torch.dispatches(), torch.submits()
    y = values
    for _ in range(5):
        y = torch.relu(y * 0.5 + 1.0)
    total = float(y.sum().item())
    return total, {"dispatches": torch.dispatches() - before[0], "submissions": torch.submits() - before[1]}


values = torch.tensor([float(i) for i in range(1000)])
recorded()
samples = [recorded() for _ in range(SAMPLES)]
runs = [fifteen() for _ in range(RUNS)]

json.dumps(
    {
        "settings": f"pyborch {version('pyborch')}",
        "first": first,
        "recorded": samples,
        "results": [number, *(total for total, _ in runs)],
        "runs": [counts for _, counts in runs],
    }
)
